/**
 * Turns the events of an instance into messages in Chatwoot. A courier calls this class instead of posting to a receiver. The courier decides about order,
 * retries and pauses. A repeated attempt continues where the last one ended.
 *
 * The row of a message is stored before the post, and gets the id in Chatwoot afterwards. A missing id means that the reply was lost. The connector then
 * searches for the message in its conversation before it posts the message again.
 */
import {
  EpochLost,
  StorageFailure,
  type Attempt,
  type ChatwootAnswer,
  type ChatwootFailure,
  type ChatwootPost,
  type ChatwootStatus,
  type Ports,
} from '../ports.ts';
import type {
  ChatwootMessage,
  ChatwootTarget,
  Claim,
  Delivery,
  InstanceId,
  KeptFile,
  Result,
  ToldChat,
  ToldEvent,
  Webhook,
} from '../model.ts';
import { KeyedMutex } from '../waiting.ts';
import { Conversations, failed, failedKey, type InboxOf, linkOf, sourceIdOf, trackIdOf, trackSource } from './conversations.ts';
import { deletedDraft, type Draft, draftOf } from './texts.ts';

interface ConnectorHost {
  readonly ports: Pick<Ports, 'chatwoot' | 'chatwootRows' | 'readEvent' | 'files' | 'digest' | 'time' | 'log'>;
  /** The size of the largest file that is sent to Chatwoot. A larger file is replaced by its URL. In bytes. */
  readonly fileBytes: number;
  claim(instance: InstanceId): Claim;
  /** Returns the file of a message. A missing file is fetched from the platform. */
  file(instance: InstanceId, messageId: string): Promise<Result<KeptFile>>;
}

const delivered: Attempt = { ok: true, status: 200 };
/** Outcome for a reaction, a deletion or a status whose message is not in Chatwoot yet. The delivery is retried. */
const waiting: Attempt = { ok: false, error: 'the message that this event belongs to is not in Chatwoot yet', waits: true };

/** The progress value of messages whose delivery status is not tracked: incoming messages and notes. */
const notFollowed = 9;
const order: readonly ChatwootStatus[] = ['sent', 'delivered', 'read'];

/** The status of messages in the words of Chatwoot. */
const statuses: Readonly<Record<string, ChatwootStatus>> = {
  Delivered: 'delivered',
  Read: 'read',
  Played: 'read',
  Failed: 'failed',
  Canceled: 'failed',
};

/**
 * The largest number of pages in which a lost message is searched (`mostPages`). The largest tolerated lag of Chatwoot's clock in milliseconds (`clocksApart`).
 */
const mostPages = 20;
const clocksApart = 600_000;

type Known = ChatwootMessage & { readonly at: number };

interface Prepared extends Pick<ChatwootPost, 'text' | 'file'> {
  /** The text with the URL of the file in place of the file. */
  readonly linked: string;
  release(): Promise<void>;
}

/** Statuses with which Chatwoot refuses a file for its size or its type. */
const tooMuch: ReadonlySet<number> = new Set([413, 422]);

export class Connector {
  readonly #host: ConnectorHost;
  readonly #conversations: Conversations;
  /** Serializes the status changes of each Chatwoot message, so that an older status never overtakes a newer one. */
  readonly #statuses = new KeyedMutex();

  constructor(host: ConnectorHost) {
    this.#host = host;
    this.#conversations = new Conversations(host.ports.chatwoot, host.ports.chatwootRows);
  }

  /** Makes one attempt. Never rejects. */
  async deliver(webhook: Webhook, row: Delivery): Promise<Attempt> {
    const { ports } = this.#host;
    try {
      const event = ports.readEvent(row.type, row.body);
      const at = this.inboxOf(webhook, row.instanceId);
      return event === null || at === null ? delivered : await this.#deliver(at, event, row.attempts);
    } catch (error) {
      if (error instanceof StorageFailure || error instanceof EpochLost) return { ok: false, error: 'the database is not available now' };
      ports.log.error({ instance: row.instanceId, event: row.type, error }, 'chatwoot.surprised');
      return { ok: false, error: 'the event could not be turned into a message for Chatwoot' };
    }
  }

  /** Returns null if the webhook does not deliver to Chatwoot. */
  inboxOf({ url, chatwoot }: Webhook, instance: InstanceId): InboxOf | null {
    if (chatwoot === undefined) return null;
    return this.#inboxAt({ ...chatwoot, url }, chatwoot.newConversations, instance);
  }

  /** Returns the inbox of this name, either the current inbox or a former inbox of the instance. Returns null if the name is unknown. */
  inboxNamed(webhook: Webhook, instance: InstanceId, name: string): InboxOf | null {
    const now = this.inboxOf(webhook, instance);
    if (now === null || now.inbox === name) return now;
    const former = (webhook.chatwoot?.former ?? []).map((target) => this.#inboxAt(target, now.newConversations, instance));
    return former.find(({ inbox }) => inbox === name) ?? null;
  }

  #inboxAt(target: ChatwootTarget, newConversations: boolean, instance: InstanceId): InboxOf {
    const inbox = this.#host.ports.digest(`${target.url} ${target.accountId} ${target.inboxId}`).slice(0, 32);
    return { claim: this.#host.claim(instance), target, inbox, newConversations };
  }

  async #deliver(at: InboxOf, event: ToldEvent, attempts: number): Promise<Attempt> {
    if (event.kind === 'status') return this.#status(at, event);
    const { message, chat } = event;
    const origin = message.trackSource === trackSource ? linkOf(message.trackId) : null;
    if (origin !== null) {
      await this.#save(at, { key: message.messageId, ...origin, progress: 0 });
      return delivered;
    }
    const draft = draftOf(message, chat);
    return draft === null ? delivered : this.#once(at, chat, draft, attempts);
  }

  async #known({ claim, inbox }: InboxOf, key: string): Promise<Known | null> {
    return key === '' ? null : ((await this.#host.ports.chatwootRows.messages(claim.instanceId, inbox, [key]))[0] ?? null);
  }

  #save({ claim, inbox }: InboxOf, message: ChatwootMessage): Promise<void> {
    return this.#host.ports.chatwootRows.saveMessage(claim, inbox, message, this.#host.ports.time.now());
  }

  async #once(at: InboxOf, chat: ToldChat, draft: Draft, attempts: number): Promise<Attempt> {
    const known = await this.#known(at, draft.key);
    if (known !== null && known.id > 0) return delivered;
    const lost = known === null || known.conversationId === 0 ? null : await this.#lookedFor(at, known);
    if (lost !== null) return lost;
    const about = await this.#known(at, draft.about);
    if (draft.isNote) return about === null ? delivered : about.id === 0 ? waiting : this.#note(at, draft, about);
    const outcome = await this.#posted(at, chat, draft, attempts, about);
    if (!outcome.ok) await this.#markWaited(at, draft);
    return outcome;
  }

  /** Records that a message is under way. Reactions and deletions that arrive before its next attempt then wait for the message. */
  async #markWaited(at: InboxOf, { key, incoming }: Draft): Promise<void> {
    if ((await this.#known(at, key)) === null)
      await this.#save(at, { key, conversationId: 0, id: 0, progress: incoming ? notFollowed : 0 });
  }

  async #posted(at: InboxOf, chat: ToldChat, draft: Draft, attempts: number, about: ChatwootMessage | null): Promise<Attempt> {
    const prepared = await this.#prepared(at, draft, attempts);
    if ('ok' in prepared) return prepared;
    try {
      const outcome = await this.#post(at, chat, draft, prepared, about);
      const isFileRefused = !outcome.ok && prepared.file !== null && tooMuch.has(outcome.status ?? 0);
      return isFileRefused ? await this.#post(at, chat, draft, { ...prepared, text: prepared.linked, file: null }, about) : outcome;
    } finally {
      await prepared.release();
    }
  }

  /**
   * Searches for a message after the reply to its post was lost, back to the time of that post. Returns the outcome if the message was found, or if the search
   * failed. Returns null if the conversation does not have the message.
   */
  async #lookedFor(at: InboxOf, { at: tried, ...known }: Known): Promise<Attempt | null> {
    for (let page = 0, before = 0; page < mostPages; page += 1) {
      const found = await this.#host.ports.chatwoot.listed(at.target, known.conversationId, before);
      if (!found.ok) return found.status === 404 ? null : found;
      const same = found.value.find(({ sourceId }) => sourceId === sourceIdOf(known.key));
      if (same !== undefined) {
        await this.#save(at, { ...known, id: same.id });
        return delivered;
      }
      const oldest = Math.min(...found.value.map(({ id }) => id));
      const isBack = found.value.some((one) => one.at !== null && one.at < tried - clocksApart);
      if (isBack || found.value.length === 0 || oldest === before) return null;
      before = oldest;
    }
    return null;
  }

  async #note(at: InboxOf, { key, text }: Draft, { conversationId, id }: ChatwootMessage): Promise<Attempt> {
    const post = { text, incoming: false, private: true, sourceId: sourceIdOf(key), replyTo: id, file: null };
    const posted = await this.#noted(at, { key, conversationId, id: 0, progress: notFollowed }, post);
    return posted.ok || posted.status === 404 ? delivered : posted;
  }

  /** Posts a message. If the conversation was deleted, a new conversation replaces it. */
  async #post(at: InboxOf, chat: ToldChat, draft: Draft, { text, file }: Prepared, about: ChatwootMessage | null): Promise<Attempt> {
    const { key, incoming } = draft;
    for (let isAgain = false; ; isAgain = true) {
      const conversation = await this.#conversations.of(at, chat);
      if (!conversation.ok) return conversation;
      const conversationId = conversation.value;
      const replyTo = about?.conversationId === conversationId ? about.id : 0;
      const post = { text, incoming, private: false, sourceId: sourceIdOf(key), replyTo, file };
      const posted = await this.#noted(at, { key, conversationId, id: 0, progress: incoming ? notFollowed : 0 }, post);
      if (posted.ok || posted.status !== 404 || isAgain) return posted;
      await this.#conversations.forget(at, chat.chatId);
    }
  }

  async #noted(at: InboxOf, message: ChatwootMessage, post: ChatwootPost): Promise<Attempt> {
    await this.#save(at, message);
    const posted = await this.#host.ports.chatwoot.post(at.target, message.conversationId, post);
    if (!posted.ok) return posted;
    await this.#save(at, { ...message, id: posted.value });
    return delivered;
  }

  /** Prepares the text and the file. A file that is temporarily unavailable delays the message once. After that the message is posted without the file. */
  async #prepared({ claim }: InboxOf, { key, text, hasFile }: Draft, attempts: number): Promise<Prepared | ChatwootFailure> {
    const withReason = (reason: string): string => [text, `[${reason}]`].filter((part) => part !== '').join('\n');
    const plain = { text, linked: text, file: null, release: () => Promise.resolve() };
    const without = (reason: string): Prepared => ({ ...plain, text: withReason(reason) });
    if (!hasFile) return plain;
    const kept = await this.#host.file(claim.instanceId, key);
    if (!kept.ok) {
      const isTemporary = ['notSent', 'unavailable', 'unknown', 'limited'].includes(kept.refusal.reason);
      if (isTemporary && attempts === 0)
        return { ok: false, error: `the file of the message could not be fetched: ${kept.refusal.message}` };
      return without(`file: ${kept.refusal.message}`);
    }
    const { size, url, mimetype, filename, name } = kept.value;
    const link = `file of ${Math.ceil(size / 1_000_000)} MB: ${url}`;
    if (size > this.#host.fileBytes) return without(link);
    const copy = await this.#host.ports.files.localCopy(kept.value);
    if (copy === null) return without('file: the file was removed meanwhile');
    const file = { path: copy.path, name: filename || name, mimetype, size };
    return { text, linked: withReason(link), file, release: () => copy.release() };
  }

  async #status(at: InboxOf, { messageIds, state, fromMe, error }: Extract<ToldEvent, { kind: 'status' }>): Promise<Attempt> {
    const status = statuses[state];
    const rows = await this.#host.ports.chatwootRows.messages(at.claim.instanceId, at.inbox, messageIds);
    for (const row of rows) {
      const outcome =
        state === 'Deleted' ? await this.#deleted(at, row, fromMe) : status ? await this.#moved(at, row, status, error) : delivered;
      if (!outcome.ok) return outcome;
    }
    return delivered;
  }

  #deleted(at: InboxOf, { key }: ChatwootMessage, fromMe: boolean): Promise<Attempt> {
    return this.#once(at, { chatId: '', name: '', image: '' }, deletedDraft(key, fromMe), 0);
  }

  /**
   * Reports a status to Chatwoot. In a group every member confirms separately, and Chatwoot gets the first confirmation. After one of several parts failed,
   * Chatwoot gets no status of other parts.
   */
  #moved(at: InboxOf, row: ChatwootMessage, status: ChatwootStatus, error: string): Promise<Attempt> {
    const progress = order.indexOf(status);
    const isNews = status === 'failed' ? row.progress < order.indexOf('read') : progress > row.progress;
    if (!isNews) return Promise.resolve(delivered);
    if (row.id === 0) return Promise.resolve(waiting);
    return this.#inTurn(at, row, async () => {
      const parts = await this.#host.ports.chatwootRows.messagesOf(at.claim.instanceId, at.inbox, row.id);
      const isOtherFailed = parts.some((part) => part.key !== row.key && part.progress === failed);
      if (!isOtherFailed) {
        const reason = status === 'failed' ? error || 'WhatsApp did not accept the message' : '';
        const set = await this.#host.ports.chatwoot.setStatus(at.target, row, status, reason);
        if (!set.ok && set.status !== 404) return set;
      }
      await this.#save(at, { ...row, progress });
      return delivered;
    });
  }

  /** Shows a message of Chatwoot as failed. With `hasParts` the failure is stored first, so that receipts of the other parts do not overwrite it. */
  showFailed(
    at: InboxOf,
    { conversationId, id }: Pick<ChatwootMessage, 'conversationId' | 'id'>,
    { reason, hasParts }: { readonly reason: string; readonly hasParts: boolean },
  ): Promise<ChatwootAnswer<null>> {
    return this.#inTurn(at, { conversationId, id }, async () => {
      if (hasParts) await this.#save(at, { key: failedKey({ conversationId, id }), conversationId, id, progress: failed });
      return this.#host.ports.chatwoot.setStatus(at.target, { conversationId, id }, 'failed', reason);
    });
  }

  #inTurn<T>({ claim, inbox }: InboxOf, message: Pick<ChatwootMessage, 'conversationId' | 'id'>, task: () => Promise<T>): Promise<T> {
    return this.#statuses.run(`${claim.instanceId} ${inbox} ${trackIdOf(message)}`, task);
  }
}
