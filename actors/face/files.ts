/** What the gateway offers on files. */
import type { InstanceId, Result } from '../model.ts';
import type { ByteRange, KeptFile } from '../ports.ts';

export interface DownloadWish {
  /** Any form of a message's id. */
  readonly messageId: string;
  /** The file of the message that this one quotes. */
  readonly quoted: boolean;
  /** Sound as MP3: `can`, where this machine can make one; `must`, else refused; `no`, as it was sent. */
  readonly mp3: 'can' | 'must' | 'no';
  /** What is spoken, as text; without any key there is none. */
  readonly transcribe: boolean;
  /** Instead of the instance's own key for the service that transcribes; '' for none. */
  readonly apiKey: string;
}

export interface Download {
  readonly file: KeptFile;
  /** The platform was not asked: the file was kept already. */
  readonly cached: boolean;
  readonly transcription?: string;
}

export interface FileFace {
  /** The file of a message. One that is kept already is given also while the session is disconnected. */
  download(id: InstanceId, wish: DownloadWish): Promise<Result<Download>>;
  /** A file by its public name, of any instance; null when there is none. */
  file(name: string): Promise<KeptFile | null>;
  /** The bytes of a file, or some of them; null when it is gone. The reader must read to the end or return the iterator. */
  readFile(file: KeptFile, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>;
}
