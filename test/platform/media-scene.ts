/** Sends of media with the simulated platform: files on the disk, sends, and the messages that the phones decrypted. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Attachment, MediaContent, Message, Send } from '#actors/model.ts';
import type { AnswerOf, InputOf, OperationName, Outcome } from '#actors/ports.ts';
import type { Fault } from '#src/sandbox/interface.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

export const friend = '5511900000812';

export class MediaScene {
  readonly bench: Bench;
  readonly instance: Instance;
  readonly #folder: string;
  #files = 0;

  private constructor(bench: Bench, instance: Instance, folder: string) {
    this.bench = bench;
    this.instance = instance;
    this.#folder = folder;
  }

  static async open(own: string): Promise<MediaScene> {
    const bench = await startBench();
    return new MediaScene(bench, await connected(bench, own), await mkdtemp(join(tmpdir(), 'dormouse-media-out-')));
  }

  /** Creates a file of random bytes, so that no earlier upload of it is cached. */
  async file(bytes: number, more: Partial<Attachment> = {}): Promise<Attachment> {
    const content = randomBytes(bytes);
    const name = join(this.#folder, String((this.#files += 1)));
    await writeFile(name, content);
    return {
      name,
      url: `http://127.0.0.1/files/${this.#files}`,
      hash: createHash('sha256').update(content).digest('hex'),
      size: bytes,
      mimetype: 'application/octet-stream',
      filename: '',
      thumbnail: null,
      width: null,
      height: null,
      seconds: null,
      waveform: null,
      isAnimated: false,
      ...more,
    };
  }

  async perform<N extends OperationName>(name: N, input: InputOf<N>, signal = new AbortController().signal, instance = this.instance) {
    const outcome: Outcome<AnswerOf<N>> = await instance.link.perform({ name, input }, { signal, deadline: Date.now() + 60_000 });
    return outcome;
  }

  sendOf(content: Pick<MediaContent, 'as' | 'file'> & Partial<MediaContent>, more: Partial<Omit<Send, 'content'>> = {}): Send {
    const base = { number: friend, replyTo: '', mentions: [], forward: false, ...more };
    return { ...base, content: { kind: 'media', caption: '', viewOnce: false, ...content } };
  }

  /** Composes a message, which uploads its file. */
  compose(send: Send, signal?: AbortSignal): Promise<Outcome<Message>> {
    return this.perform('message.compose', { send, draft: null }, signal);
  }

  /** Composes and transmits a message. Returns the message and the decrypted one of the phone. */
  async sent(send: Send) {
    const composed = await this.compose(send);
    if (!composed.ok) throw new Error(composed.refusal.message);
    const message = composed.value;
    const transmitted = await this.perform('message.transmit', { message });
    if (!transmitted.ok) throw new Error(transmitted.refusal.message);
    const seen = this.bench.running.sandbox.received(friend).find(({ id }) => id === message.messageId);
    if (!seen) throw new Error('the phone has nothing');
    return { message, seen };
  }

  async fault(kind: Fault['kind'], more: Partial<Fault> = {}): Promise<void> {
    await this.bench.running.sandbox.fault({ kind, ...more });
  }

  get media() {
    return this.bench.running.sandbox.stats().media;
  }

  async close(): Promise<void> {
    await this.bench.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
