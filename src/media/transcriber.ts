/** Speech to text by a service with OpenAI's interface. The owner of the API key pays for each call. */
import { openAsBlob } from 'node:fs';
import { type Agent, FormData, fetch } from 'undici';
import { done, refuse, type Result } from '#actors/model.ts';
import type { Sounds } from '#actors/ports.ts';
import { type AddressGuard, createAgent, deadline, reasonOf } from '#src/webhooks/address-guard.ts';

interface TranscriberOptions {
  readonly guard: AddressGuard;
  readonly userAgent: string;
  /** The base address of the service, to which `/audio/transcriptions` is added. */
  readonly url: string;
  readonly model: string;
  readonly timeoutMs: number;
}

/** The size limit of an answer. The text of hours of speech is shorter. In bytes. */
const longest = 4_000_000;

const away = (what: string) => refuse('unavailable', `the transcription service ${what}`);

/** Makes the refusal. Its text omits the error text of the service, which may contain a part of the key. */
const refusalOf = (status: number) => {
  if (status === 401 || status === 403) return refuse('invalid', 'the transcription service does not take the key');
  if (status === 413) return refuse('tooLarge', 'the file is larger than the transcription service takes');
  if (status === 429) return refuse('limited', 'the transcription service is asked too often with this key, or its credit is used up');
  return status >= 500 ? away(`answered ${status}`) : refuse('invalid', `the transcription service refused the file (${status})`);
};

const wordsIn = (text: string): string | null => {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' && answer !== null && 'text' in answer && typeof answer.text === 'string' ? answer.text : null;
  } catch {
    return null;
  }
};

export class Transcriber implements Pick<Sounds, 'transcribe'> {
  readonly #options: TranscriberOptions;
  readonly #address: string;
  #agent: Agent | null = null;

  constructor(options: TranscriberOptions) {
    this.#options = options;
    this.#address = `${options.url}/audio/transcriptions`;
  }

  async transcribe({ path, name, mimetype }: Parameters<Sounds['transcribe']>[0], key: string): Promise<Result<string>> {
    const { guard, model, timeoutMs } = this.#options;
    const objection = guard.checkUrl(this.#address);
    if (objection !== null) return refuse('invalid', `TRANSCRIBE_URL cannot be used: ${objection}`);
    if (!/^[\x21-\x7e]+$/.test(key)) return refuse('invalid', 'the key for the transcription is no key');
    const form = new FormData();
    form.set('model', model);
    form.set('file', await openAsBlob(path, { type: mimetype }), name);
    const { signal, clear } = deadline(timeoutMs);
    try {
      return await this.#ask(form, key, signal);
    } catch (error) {
      const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
      return away(`cannot be reached: ${reasonOf(cause)}`);
    } finally {
      clear();
    }
  }

  async close(): Promise<void> {
    await this.#agent?.destroy();
  }

  async #ask(form: FormData, key: string, signal: AbortSignal): Promise<Result<string>> {
    const { guard, userAgent, timeoutMs } = this.#options;
    this.#agent ??= createAgent(guard, timeoutMs, 4, longest);
    const headers = { authorization: `Bearer ${key}`, 'user-agent': userAgent };
    const answer = await fetch(this.#address, { method: 'POST', body: form, headers, dispatcher: this.#agent, signal, redirect: 'error' });
    if (!answer.ok) {
      await answer.body?.cancel();
      return refusalOf(answer.status);
    }
    if (Number(answer.headers.get('content-length') ?? 0) > longest) return away('gave too long an answer');
    const words = wordsIn(await answer.text());
    return words === null ? away('gave no transcription') : done(words);
  }
}
