/**
 * Sends that are asked for again under the client's own key: the first answer counts, and nothing is sent a second time.
 *
 * A request that comes while the first one is under way waits for the answer of that one, which has its own deadline. After a crash, or when the
 * platform did not answer, the stored message tells what became of it.
 */
import { done, refuse, type InstanceId, type Message, type Result, type SendKey, type UsedSendKey } from '../model.ts';
import type { Ports } from '../ports.ts';

type Send = (key: SendKey | null) => Promise<Result<Message>>;

interface UnderWay {
  readonly request: string;
  readonly answer: Promise<Result<Message>>;
}

const otherRequest = refuse('conflict', 'the Idempotency-Key was used with another request');

/** Statuses that only a message has which reached the platform. */
const left: ReadonlySet<string> = new Set(['Sent', 'Delivered', 'Read', 'Played']);

export class SendOnce {
  readonly #ports: Pick<Ports, 'sendKeys' | 'messages' | 'digest' | 'time'>;
  /** Milliseconds for which a key counts. */
  readonly #age: number;
  readonly #underWay = new Map<string, UnderWay>();

  constructor(ports: Pick<Ports, 'sendKeys' | 'messages' | 'digest' | 'time'>, age: number) {
    this.#ports = ports;
    this.#age = age;
  }

  /** `send` is called at most once; with null when there is no key. */
  run(id: InstanceId, once: { readonly key: string; readonly request: string } | undefined, send: Send): Promise<Result<Message>> {
    if (once === undefined) return send(null);
    const { digest } = this.#ports;
    const key = { hash: digest(once.key), request: digest(once.request) };
    const name = `${id} ${key.hash}`;
    const first = this.#underWay.get(name);
    if (first) return first.request === key.request ? first.answer : Promise.resolve(otherRequest);
    const answer = this.#answer(id, key, send).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, { request: key.request, answer });
    return answer;
  }

  async #answer(id: InstanceId, key: SendKey, send: Send): Promise<Result<Message>> {
    const used = await this.#ports.sendKeys.find(id, key.hash);
    if (used === null || used.at <= this.#ports.time.now() - this.#age) return send(key);
    if (used.request !== key.request) return otherRequest;
    return used.answer ?? this.#stateOf(id, used);
  }

  /** A receipt may have shown by now that a message arrived whose acknowledgement was lost. */
  async #stateOf(id: InstanceId, { messageId }: UsedSendKey): Promise<Result<Message>> {
    const message = await this.#ports.messages.byId(id, messageId);
    if (message && left.has(message.status)) return done(message);
    return refuse('unknown', message?.error || 'whether the message was sent is not known', { messageId });
  }
}
