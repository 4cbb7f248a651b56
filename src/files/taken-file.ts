/** A file on this machine's disk that nobody keeps yet. */

export interface TakenFile {
  /** In a temporary folder of the data folder. */
  readonly path: string;
  /** Bytes; never 0. */
  readonly size: number;
  /** SHA-256 of the bytes, in hex: the same bytes are the same file. */
  readonly hash: string;
  /** By content, not by name or by what a server said; `application/octet-stream` when the content tells nothing. */
  readonly mimetype: string;
  /** As the source named it, without folders; '' when it had no name. */
  readonly filename: string;
  /** Removes the file unless it was moved away. Idempotent, never rejects. */
  discard(): Promise<void>;
}
