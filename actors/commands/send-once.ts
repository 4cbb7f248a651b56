/**
 * Sends and campaigns that are asked for again under the client's own key: the first answer counts, and nothing is sent or made a second time.
 *
 * A request that comes while the first one is under way waits for the answer of that one, which has its own deadline. After a crash, or when the
 * platform did not answer, the stored message tells what became of it.
 */
import type { GivenKey } from '../face.ts';
import { done, refuse, type DoneOnce, type InstanceId, type Message, type Result, type SendKey, type UsedSendKey } from '../model.ts';
import type { Ports } from '../ports.ts';

type Perform<T extends DoneOnce> = (key: SendKey | null) => Promise<Result<T>>;

interface UnderWay {
  readonly request: string;
  readonly answer: Promise<Result<DoneOnce>>;
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

  /** `perform` is called at most once; with null when there is no key. The request names its call: what is found under the key is of the same kind. */
  run<T extends DoneOnce>(id: InstanceId, once: GivenKey | undefined, perform: Perform<T>): Promise<Result<T>> {
    if (once === undefined) return perform(null);
    const { digest } = this.#ports;
    const key = { hash: digest(once.key), request: digest(once.request) };
    const name = `${id} ${key.hash}`;
    const first = this.#underWay.get(name);
    if (first) return first.request === key.request ? (first.answer as Promise<Result<T>>) : Promise.resolve(otherRequest);
    const answer = this.#answer(id, key, perform).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, { request: key.request, answer });
    return answer;
  }

  async #answer<T extends DoneOnce>(id: InstanceId, key: SendKey, perform: Perform<T>): Promise<Result<T>> {
    const used = await this.#ports.sendKeys.find(id, key.hash);
    if (used === null || used.at <= this.#ports.time.now() - this.#age) return perform(key);
    if (used.request !== key.request) return otherRequest;
    return (used.answer ?? (await this.#stateOf(id, used))) as Result<T>;
  }

  /** Of a send, since a campaign is stored with its answer. A receipt may have shown by now that a message arrived whose acknowledgement was lost. */
  async #stateOf(id: InstanceId, { messageId }: UsedSendKey): Promise<Result<Message>> {
    const message = await this.#ports.messages.byId(id, messageId);
    if (message && left.has(message.status)) return done(message);
    return refuse('unknown', message?.error || 'whether the message was sent is not known', { messageId });
  }
}
