/** Files as the gateway would store them. Every source is available, unless a test says otherwise. */
import { createHash } from 'node:crypto';
import { done, type Attachment, type GivenFile, type Result } from '#actors/model.ts';
import type { Attachments } from '#actors/ports.ts';

export const attachmentOf = ({ source, filename, mimetype }: GivenFile): Attachment => ({
  name: `kept-${source.length}`,
  url: `http://127.0.0.1:3000/files/kept-${source.length}`,
  hash: createHash('sha256').update(source).digest('hex'),
  size: source.length,
  mimetype: mimetype || 'application/octet-stream',
  filename,
  thumbnail: null,
  width: null,
  height: null,
  seconds: null,
  waveform: null,
  isAnimated: false,
});

export class FakeAttachments implements Attachments {
  /** Sources of the requested files, in order. */
  readonly taken: string[] = [];
  /** Returns the result for a file. A promise delays the result. */
  answer: (given: GivenFile) => Result<Attachment> | Promise<Result<Attachment>> = (given) => done(attachmentOf(given));

  async take(_instance: string, given: GivenFile): Promise<Result<Attachment>> {
    this.taken.push(given.source);
    return this.answer(given);
  }
}
