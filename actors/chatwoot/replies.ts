/**
 * Sends the messages that agents wrote in Chatwoot. The rows of these messages were stored before Chatwoot got the answer to its post. The rows of one
 * conversation are sent one after another, and conversations run concurrently. Messages wait for a session that is not connected. A message that can never
 * be sent is shown as failed in its conversation.
 *
 * Every message has an idempotency key, so that no message is sent twice after a crash.
 */
import { Alarm } from '../delivery/alarm.ts';
import type { SendOptions } from '../views.ts';
import type {
  ChatwootNews,
  ChatwootRefused,
  ChatwootReply,
  InstanceId,
  InstanceRecord,
  Message,
  Refusal,
  Result,
  Send,
  SendContent,
  Webhook,
} from '../model.ts';
import type { ChatwootPolicy } from '../policy/policy.ts';
import { EpochLost, StorageFailure, type Ports } from '../ports.ts';
import type { SupervisedWorker, SupervisedWorkers } from '../policy/supervised-workers.ts';
import { storageRetryMs, type UnderWay } from '../waiting.ts';
import { addresseeOf, countParts, failureOf, partsOf } from './texts.ts';
import type { Connector } from './connector.ts';
import { deletedKey, failed, type InboxOf, trackIdOf, trackSource, untold } from './conversations.ts';

export interface RepliesHost {
  readonly ports: Pick<Ports, 'chatwootRows' | 'time' | 'log'>;
  readonly policy: ChatwootPolicy;
  readonly workers: SupervisedWorkers;
  readonly connector: Pick<Connector, 'inboxOf' | 'inboxNamed' | 'showFailed'>;
  /** The work that a stop waits for. */
  readonly underWay: UnderWay;
  /** Returns the current connector of an instance, or null if this process does not own the instance. */
  webhook(instance: InstanceId): Webhook | null;
  /** Returns the instances of this process that have a connector. */
  connected(): readonly InstanceId[];
  send(instance: InstanceId, send: Send, options: SendOptions): Promise<Result<Message>>;
  account(instance: InstanceId): Pick<InstanceRecord, 'owner' | 'lid'>;
  /** Deletes an own message for all participants, by its id on the platform. */
  remove(instance: InstanceId, messageId: string): Promise<Result<unknown>>;
}

type Written = Extract<ChatwootNews, { kind: 'message' }>;
type WrittenReply = ChatwootReply & { readonly news: Written };

/** The step after an attempt. */
type Step =
  | { readonly kind: 'done' }
  /** The row was changed after it was read. The next run reads the row again. */
  | { readonly kind: 'changed' }
  /** Retries the parts that were not refused, after at least `refusal.retryAfter` seconds. `reason` is shown if no retry is left. */
  | { readonly kind: 'later'; readonly refusal: Refusal; readonly refused: readonly ChatwootRefused[]; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

const done: Step = { kind: 'done' };
const temporary: ReadonlySet<string> = new Set(['notSent', 'unavailable', 'limited', 'capped']);
/** Refusals after which a deletion is retried. The set includes a message that is still being sent, and an unknown outcome. */
const comesLater: ReadonlySet<string> = new Set([...temporary, 'conflict', 'unknown']);

/** Back-off before the attempts after the first. The last value repeats. In milliseconds. */
const waits = [1_000, 2_000, 5_000, 10_000, 30_000] as const;
/** The longest wait of a row, in milliseconds. If a row would wait longer, the wall clock was put back since the row was stored. The row then counts as due. */
const longestWait = 60_000;
/** The largest number of attempts to report a failed message to Chatwoot. */
const mostReports = 12;
/** The largest number of checks of a message with an unknown outcome. A receipt may show the outcome meanwhile. */
const mostLooks = 3;
/** The largest number of consecutive attempts during which the process ended. After the last of them the message is reported as failed. */
const mostBegun = 5;
/** Reasons why a stored message is not sent any more. */
const switchedOff = 'the connector was switched off before the message was sent';
const setAside = 'the message could not be sent: the process ended during every attempt';
const movedAway = 'the instance was connected to another inbox before the message was sent';
/** The largest number of conversations that one query returns. */
const page = 500;

export class Replies {
  readonly #host: RepliesHost;
  readonly #worker: SupervisedWorker;
  readonly #alarm: Alarm;
  /** Conversations with work under way, and their number per instance. */
  readonly #busy = new Set<string>();
  readonly #ofInstance = new Map<InstanceId, number>();
  /** Rows, with their instances, whose last attempt ended with a storage error. The stored `begun` counts this attempt, but the process survived it. */
  readonly #ended = new Map<number, InstanceId>();
  #isStopped = false;

  constructor(host: RepliesHost) {
    this.#host = host;
    this.#worker = host.workers.supervise({ name: 'chatwoot', run: () => this.#run() });
    this.#alarm = new Alarm(host.ports.time, () => this.wake());
  }

  /** Starts a run, because messages were stored, or may wait since an earlier run. */
  wake(): void {
    this.#worker.wake();
  }

  /** Stops taking rows. Work under way continues to its end. */
  stop(): void {
    this.#isStopped = true;
    this.#worker.stop();
    this.#alarm.clear();
  }

  async #run(): Promise<void> {
    const { policy, ports } = this.#host;
    const { chatwootRows, time } = ports;
    // The rows of an instance that left this process are handled elsewhere.
    for (const [seq, instance] of this.#ended) if (this.#host.webhook(instance) === null) this.#ended.delete(seq);
    if (this.#isStopped || this.#busy.size >= policy.atOnce) return;
    let heads: readonly ChatwootReply[];
    try {
      // The query also returns rows that are under way. Its limit for an instance equals the slots of the instance, so every free slot can get a row.
      heads = await chatwootRows.replies(this.#host.connected(), page, policy.atOncePerInstance);
    } catch (error) {
      if (!(error instanceof StorageFailure)) throw error;
      return this.#alarm.set(time.now() + storageRetryMs);
    }
    for (const head of heads) {
      // The instance may be gone, or may have moved to another node.
      if (this.#host.webhook(head.instanceId) === null) continue;
      const wait = head.notBefore - time.now();
      if (wait > 0 && wait <= longestWait) this.#alarm.set(head.notBefore);
      else this.#begin(head);
    }
  }

  #begin(reply: ChatwootReply): void {
    const { atOnce, atOncePerInstance } = this.#host.policy;
    const { instanceId, news } = reply;
    const lane = `${instanceId} ${news.conversationId}`;
    const own = this.#ofInstance.get(instanceId) ?? 0;
    if (this.#isStopped || this.#busy.has(lane) || this.#busy.size >= atOnce || own >= atOncePerInstance) return;
    this.#busy.add(lane);
    this.#ofInstance.set(instanceId, own + 1);
    const end = (): void => {
      this.#busy.delete(lane);
      const left = (this.#ofInstance.get(instanceId) ?? 1) - 1;
      if (left > 0) this.#ofInstance.set(instanceId, left);
      else this.#ofInstance.delete(instanceId);
      this.wake();
    };
    void this.#host.underWay.track(this.#finish(reply)).then(end, (error: unknown) => {
      // Storage is unavailable, or the instance has another owner. The row is checked again a little later.
      if (!(error instanceof StorageFailure || error instanceof EpochLost)) this.#worker.crashed(error);
      this.#alarm.set(this.#host.ports.time.now() + storageRetryMs);
      this.#host.ports.time.setTimeout(end, storageRetryMs);
    });
  }

  async #finish(reply: ChatwootReply): Promise<void> {
    const { ports, connector, webhook } = this.#host;
    const own = webhook(reply.instanceId);
    const now = own && connector.inboxOf(own, reply.instanceId);
    if (!own?.chatwoot || !now) return;
    const at = connector.inboxNamed(own, reply.instanceId, reply.inbox);
    if (at === null) {
      ports.log.warn({ instance: reply.instanceId, error: 'the inbox is no longer known' }, 'chatwoot.notReported');
      return ports.chatwootRows.removeReply(now.claim, reply.seq);
    }
    const failure = reply.failure || this.#setAside(reply) || (at.inbox !== now.inbox ? movedAway : own.enabled ? '' : switchedOff);
    const step =
      failure === '' ? await this.#counted(at, reply, own.chatwoot.signMessages) : ({ kind: 'failed', reason: failure } as const);
    // If the instance moved to another node, that node handles the row again. Idempotency keys prevent a second send. A changed row is handled by the next run.
    if (webhook(reply.instanceId) === null || step.kind === 'changed') return;
    if (step.kind === 'done') return ports.chatwootRows.removeReply(at.claim, reply.seq);
    if (step.kind === 'later')
      return this.#postpone(at, { ...reply, attempts: reply.attempts + 1, refused: step.refused }, step.refusal.retryAfter);
    return this.#report(at, reply, step.reason);
  }

  #setAside({ begun, seq }: ChatwootReply): string {
    return begun >= mostBegun && !this.#ended.has(seq) ? setAside : '';
  }

  /**
   * Stores that an attempt begins, then makes the attempt. If the attempt kills the process, the stored count stays. Another account may have been paired
   * since the row was read. The rows of the former account were then marked as failed, and no attempt begins.
   */
  async #counted(at: InboxOf, reply: ChatwootReply, sign: boolean): Promise<Step> {
    const { seq, begun } = reply;
    const begins = await this.#host.ports.chatwootRows.beginReply(at.claim, { seq, begun: this.#ended.delete(seq) ? 1 : begun + 1 });
    if (!begins) return { kind: 'changed' };
    try {
      return await this.#attempt(at, reply, sign);
    } catch (error) {
      this.#ended.set(seq, reply.instanceId);
      throw error;
    }
  }

  async #attempt(at: InboxOf, reply: ChatwootReply, sign: boolean): Promise<Step> {
    const { at: since, attempts } = reply;
    const step = await this.#do(at, reply, sign).catch((error: unknown): Step => {
      if (error instanceof StorageFailure || error instanceof EpochLost) throw error;
      this.#host.ports.log.error({ instance: at.claim.instanceId, error }, 'chatwoot.surprised');
      return { kind: 'failed', reason: 'the message could not be sent' };
    });
    if (step.kind !== 'later') return step;
    const isOver =
      step.refusal.reason === 'unknown' ? attempts + 1 >= mostLooks : this.#host.ports.time.now() - since >= this.#host.policy.replyWait;
    return isOver ? { kind: 'failed', reason: step.reason } : step;
  }

  #do(at: InboxOf, reply: ChatwootReply, sign: boolean): Promise<Step> {
    const { news } = reply;
    return news.kind === 'deleted' ? this.#remove(at, news) : this.#send(at, { ...reply, news }, sign);
  }

  /**
   * Sends the parts one after another. Parts that an earlier attempt sent are deduplicated by their idempotency keys. A refused part is stored before the next
   * part is tried. After a kill, the part is therefore not repeated, and its failure is not lost.
   */
  async #send(at: InboxOf, reply: WrittenReply, sign: boolean): Promise<Step> {
    const { news } = reply;
    if (await this.#isDeleted(at, news)) return done;
    const number = await this.#numberOf(at, news);
    if (number === '') return { kind: 'failed', reason: 'the contact has no telephone number' };
    const quoted = await this.#quoted(at, news.replyTo);
    let { refused } = reply;
    for (const [index, forms] of partsOf(news, sign).entries()) {
      if (refused.some(({ part }) => part === index)) continue;
      const sent = await this.#sendPart(at, news, { number, replyTo: index === 0 ? quoted : '', index }, forms);
      if (sent.ok) {
        await this.#sentPart(at, news, sent.value);
        continue;
      }
      const { refusal } = sent;
      const all = [...refused, { part: index, reason: refusal.message }];
      const isLater = temporary.has(refusal.reason) || refusal.reason === 'unknown';
      if (isLater) return { kind: 'later', refusal, refused, reason: failureOf(news, all) };
      refused = all;
      await this.#host.ports.chatwootRows.postponeReply(at.claim, { ...reply, refused });
    }
    return refused.length === 0 ? done : { kind: 'failed', reason: failureOf(news, refused) };
  }

  /** Sends a part in the first form to which its file can be converted. */
  async #sendPart(
    { claim, inbox }: InboxOf,
    news: Written,
    { number, replyTo, index }: { readonly number: string; readonly replyTo: string; readonly index: number },
    forms: readonly SendContent[],
  ): Promise<Result<Message>> {
    let last: Result<Message> | null = null;
    for (const [form, content] of forms.entries()) {
      // Braces in the text of an agent are meant for the contact. As placeholders they could show notes about a lead to the lead.
      const send: Send = { number, content, replyTo, mentions: [], forward: false, literal: true };
      // The request of a part changes when its chat becomes known, or when signatures are switched. Only the key identifies the part, so the key also
      // stands for the request.
      const key = `chatwoot ${inbox} ${news.id} ${index} ${form}`;
      const once = { key, request: key };
      const about = { trackSource, trackId: trackIdOf(news), label: '', payload: null };
      last = await this.#host.send(claim.instanceId, send, {
        ...about,
        delay: 0,
        readChat: false,
        readMessages: false,
        async: true,
        once,
      });
      if (last.ok || last.refusal.reason !== 'notConvertible') return last;
    }
    if (last === null) throw new Error('a part of a message has no form');
    return last;
  }

  /** Stores the link to the sent message, so that receipts find it. Answers of the contact then come to this conversation. */
  async #sentPart({ claim, inbox }: InboxOf, { conversationId, id, contact }: Written, { messageId, chatId }: Message): Promise<void> {
    const { chatwootRows, time } = this.#host.ports;
    const [known] = await chatwootRows.messages(claim.instanceId, inbox, [messageId]);
    // A receipt may have stored the row first.
    if (known === undefined) await chatwootRows.saveMessage(claim, inbox, { key: messageId, conversationId, id, progress: 0 }, time.now());
    const chat = await chatwootRows.chat(claim.instanceId, inbox, chatId);
    if (chat?.conversationId === conversationId || contact.id === 0 || contact.sourceId === '') return;
    const { id: contactId, sourceId } = contact;
    const begun = { chatId, ...untold, ...chat, contactId, sourceId, conversationId };
    await chatwootRows.saveChat(claim, inbox, begun);
  }

  async #numberOf({ claim, inbox }: InboxOf, { conversationId, contact }: Written): Promise<string> {
    const known = await this.#host.ports.chatwootRows.chatOf(claim.instanceId, inbox, conversationId);
    return known ?? addresseeOf(contact, this.#host.account(claim.instanceId));
  }

  /** Returns the platform id of a Chatwoot message, or '' if it is unknown. Notes about messages do not count. */
  async #quoted({ claim, inbox }: InboxOf, id: number): Promise<string> {
    if (id === 0) return '';
    const found = await this.#host.ports.chatwootRows.messagesOf(claim.instanceId, inbox, id);
    return found.find(({ key }) => !key.includes(':'))?.key ?? '';
  }

  /** Returns true if the message was deleted. Chatwoot may report the deletion before the message. */
  async #isDeleted({ claim, inbox }: InboxOf, news: Written): Promise<boolean> {
    return (await this.#host.ports.chatwootRows.messages(claim.instanceId, inbox, [deletedKey(news)])).length > 0;
  }

  /**
   * Deletes sent parts, and cancels queued parts. Chatwoot already knows of the deletion, so the note about the deletion is stored as posted. Because of the
   * row of the deletion, Chatwoot gets no later status of the message.
   */
  async #remove({ claim, inbox }: InboxOf, { conversationId, id }: ChatwootNews): Promise<Step> {
    const { chatwootRows, time, log } = this.#host.ports;
    await chatwootRows.saveMessage(
      claim,
      inbox,
      { key: deletedKey({ conversationId, id }), conversationId, id, progress: failed },
      time.now(),
    );
    for (const row of await chatwootRows.messagesOf(claim.instanceId, inbox, id)) {
      if (row.key.includes(':')) continue;
      await chatwootRows.saveMessage(claim, inbox, { ...row, key: `${row.key}:deleted` }, time.now());
      const removed = await this.#host.remove(claim.instanceId, row.key);
      if (removed.ok) continue;
      const { refusal } = removed;
      if (comesLater.has(refusal.reason)) return { kind: 'later', refusal, refused: [], reason: refusal.message };
      log.warn({ instance: claim.instanceId, reason: refusal.message }, 'chatwoot.notDeleted');
    }
    return done;
  }

  #postpone({ claim }: InboxOf, { attempts, ...reply }: ChatwootReply, retryAfter = 0): Promise<void> {
    const { chatwootRows, time } = this.#host.ports;
    const wait = Math.min(longestWait, Math.max(retryAfter * 1_000, waits[Math.min(attempts, waits.length) - 1] ?? 0));
    return chatwootRows.postponeReply(claim, { ...reply, attempts, notBefore: time.now() + wait });
  }

  async #report(at: InboxOf, reply: ChatwootReply, reason: string): Promise<void> {
    const { chatwootRows, log } = this.#host.ports;
    const { news, seq, failure } = reply;
    this.#ended.delete(seq);
    const set =
      news.kind === 'deleted'
        ? ({ ok: true } as const)
        : await this.#host.connector.showFailed(at, news, { reason, hasParts: countParts(news) > 1 });
    const attempts = failure === '' ? 1 : reply.attempts + 1;
    if (!set.ok && set.status !== 404 && attempts < mostReports) return this.#postpone(at, { ...reply, attempts, failure: reason });
    if (!set.ok) log.warn({ instance: at.claim.instanceId, error: set.error }, 'chatwoot.notReported');
    return chatwootRows.removeReply(at.claim, seq);
  }
}
