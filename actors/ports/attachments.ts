/** Files on their way into messages. */
import type { Attachment, GivenFile, InstanceId, Result } from '../model.ts';

/** Pictures for the platform: of a group or a person (`portrait`, square) or of a product (in its own proportions). */
export interface Portraits {
  /** Makes a JPEG from a URL, a data URL or base64. Refuses like `Attachments.take`, and with `notConvertible` for a file that is no picture. */
  take(source: string, as: 'portrait' | 'product'): Promise<Result<Uint8Array>>;
}

export interface Attachments {
  /**
   * Fetches a file from the client's source, prepares it for its kind, and keeps it for the instance. Refuses with `invalid` if the source has no
   * usable file, and with `tooLarge` or `notConvertible`. `limited`: too many files are in preparation. `unavailable`: the server stops. `notFound`:
   * the instance was removed meanwhile. Time, bytes and memory are bounded. A refusal leaves no file behind.
   */
  take(instance: InstanceId, given: GivenFile): Promise<Result<Attachment>>;
}
