/** Files on their way into messages. */
import type { Attachment, GivenFile, InstanceId, Result } from '../model.ts';

/** Pictures that stand for something: a group or a person (`portrait`, square), a product (in its own proportions). */
export interface Portraits {
  /** A JPEG of what an address, a data URL or base64 leads to. Refused like a file of a message, or with `notConvertible` when it is no picture. */
  take(source: string, as: 'portrait' | 'product'): Promise<Result<Uint8Array>>;
}

export interface Attachments {
  /**
   * Takes a file from where the client has it, prepares it for its kind and keeps it for the instance. Refused with `invalid` (nothing usable is
   * there), `tooLarge`, `notConvertible`, `limited` (too much is prepared at once), `unavailable` (the server stops), or `notFound` when the
   * instance was removed meanwhile. Bounded in time, bytes and memory; a refusal leaves no file behind.
   */
  take(instance: InstanceId, given: GivenFile): Promise<Result<Attachment>>;
}
