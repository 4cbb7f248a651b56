/** Files on their way into messages. */
import type { Attachment, GivenFile, InstanceId, Result } from '../model.ts';

export interface Attachments {
  /**
   * Takes a file from where the client has it, prepares it for its kind and keeps it for the instance. Refused with `invalid` (nothing usable is
   * there), `tooLarge`, `notConvertible`, `limited` (too much is prepared at once), `unavailable` (the server stops), or `notFound` when the
   * instance was removed meanwhile. Bounded in time, bytes and memory; a refusal leaves no file behind.
   */
  take(instance: InstanceId, given: GivenFile): Promise<Result<Attachment>>;
}
