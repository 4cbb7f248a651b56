/**
 * Idempotent sends and campaigns under a client's key. A repeated request gets the first answer and has no further effect.
 *
 * A request that arrives while the first one runs waits for the first answer, which has its own deadline. After a crash, or without an answer of
 * the platform, the status of the stored message is the answer.
 */
import type { GivenKey } from '../views.ts';
import { done, refuse, type DoneOnce, type InstanceId, type Message, type Result, type SendKey, type UsedSendKey } from '../model.ts';
import type { Ports } from '../ports.ts';
import { freedAt } from '../session/send-keys.ts';

type Perform<T extends DoneOnce> = (key: SendKey | null) => Promise<Result<T>>;

interface UnderWay {
  readonly request: string;
  readonly answer: Promise<Result<DoneOnce>>;
}

const otherRequest = refuse('conflict', 'the Idempotency-Key was used with another request');

/** Statuses that prove that a message has reached the platform. */
const left: ReadonlySet<string> = new Set(['Sent', 'Delivered', 'Read', 'Played']);

export class SendOnce {
  readonly #ports: Pick<Ports, 'sendKeys' | 'messages' | 'digest'>;
  readonly #underWay = new Map<string, UnderWay>();

  constructor(ports: Pick<Ports, 'sendKeys' | 'messages' | 'digest'>) {
    this.#ports = ports;
  }

  /** Calls `perform` at most once, with null if there is no key. The request names its call, so a stored answer has the right type. */
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
    // A stored key counts whatever its age. The expiry alone decides that a key is too old, and it trusts no clock that jumped.
    const used = await this.#ports.sendKeys.find(id, key.hash);
    if (used === null || used.at === freedAt) return perform(key);
    if (used.request !== key.request) return otherRequest;
    return (used.answer ?? (await this.#stateOf(id, used))) as Result<T>;
  }

  /**
   * Returns the state of a send. Campaigns need no such state, because a campaign is stored with its answer. A receipt may have proved that a message
   * arrived although its acknowledgement was lost.
   */
  async #stateOf(id: InstanceId, { messageId }: UsedSendKey): Promise<Result<Message>> {
    const message = await this.#ports.messages.byId(id, messageId);
    if (message && left.has(message.status)) return done(message);
    return refuse('unknown', message?.error || 'the message may or may not have been sent', { messageId });
  }
}
