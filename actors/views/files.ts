/** Gateway methods for files. */
import type { InstanceId, Result } from '../model.ts';
import type { ByteRange, KeptFile } from '../ports.ts';

export interface DownloadWish {
  /** The id of the message in any form. */
  readonly messageId: string;
  /** True to download the file of the quoted message. */
  readonly quoted: boolean;
  /** Conversion of audio to MP3: `can` converts if this machine is able to, `must` refuses otherwise, `no` keeps the original. */
  readonly mp3: 'can' | 'must' | 'no';
  /** True to transcribe speech to text. A transcription needs an API key. */
  readonly transcribe: boolean;
  /** The API key of the transcription service; '' for the instance's own key. */
  readonly apiKey: string;
}

export interface Download {
  readonly file: KeptFile;
  /** True if the file was kept already and the platform was not asked. */
  readonly cached: boolean;
  readonly transcription?: string;
}

export interface FileFace {
  /** Returns the file of a message. A kept file is returned even while the session is disconnected. */
  download(id: InstanceId, wish: DownloadWish): Promise<Result<Download>>;
  /** Returns a file of any instance by its public name; null if there is none. */
  file(name: string): Promise<KeptFile | null>;
  /** Reads a file or a range of it; null if the file is missing. The reader must read to the end or return the iterator. */
  readFile(file: KeptFile, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>;
}
