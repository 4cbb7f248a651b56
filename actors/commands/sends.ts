/** Sends messages, one after the other in each chat, at once or through the asynchronous queue. */
import { hasFilesToTake, withFilesTaken } from '../attachments.ts';
import {
  done,
  type DoneOnce,
  type InstanceId,
  type Message,
  notConnected,
  refuse,
  type Result,
  type Send,
  type IdempotencyKey,
  statusChat,
  unknownInstance,
  type UsedSendKey,
} from '../model.ts';
import { channelProblem, contentProblem } from '../policy/content-rules.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { damageOf } from '../session/status.ts';
import { recipientOf } from '../session/requests.ts';
import { accept, filled, freedAt, labelled, sendNow, type SendNow, type SendPorts, usedBy } from '../session/sending.ts';
import type { WithCells, WithPolicy, WithPorts } from './host.ts';
import type { Register } from './register.ts';
import type { GivenKey, MessageMethods, SendOptions } from '../views.ts';

/** The parts of the supervisor that these commands need. */
type Host = WithCells &
  WithPorts<keyof SendPorts | 'attachments' | 'sendKeys'> &
  WithPolicy<'queue' | 'statusRecipients'> & {
    readonly accepting: boolean;
    readonly register: Pick<Register, 'view'>;
  };

// Idempotent sends and campaigns under the `Idempotency-Key` of a client. A repeated request gets the first answer and has no further effect.
//
// A request that arrives while the first one runs waits for the first answer, which has its own deadline. After a crash, or without an answer of the platform,
// the answer follows from the status of the stored message.

type Perform<T extends DoneOnce> = (key: IdempotencyKey | null) => Promise<Result<T>>;

interface UnderWay {
  readonly request: string;
  readonly answer: Promise<Result<DoneOnce>>;
}

const otherRequest = refuse('conflict', 'the Idempotency-Key was used with another request');

/** Statuses that prove that a message has reached the platform. */
const reachedPlatform: ReadonlySet<string> = new Set(['Sent', 'Delivered', 'Read', 'Played']);

export class SendOnce {
  readonly #ports: Pick<Ports, 'sendKeys' | 'messages' | 'digest'>;
  readonly #underWay = new Map<string, UnderWay>();

  constructor(ports: Pick<Ports, 'sendKeys' | 'messages' | 'digest'>) {
    this.#ports = ports;
  }

  /**
   * Calls `perform` at most once for each idempotency key. Without a key, calls `perform` with null each time. The text of the request (`once.request`) names
   * its command, so that an answer that was stored for the same text has the type `T`.
   */
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

  async #answer<T extends DoneOnce>(id: InstanceId, key: IdempotencyKey, perform: Perform<T>): Promise<Result<T>> {
    // A stored key counts at any age. Only the job that removes expired keys decides that a key is too old, because this job does not trust a clock that
    // jumped.
    const used = await this.#ports.sendKeys.find(id, key.hash);
    if (used === null || used.at === freedAt) return perform(key);
    if (used.request !== key.request) return otherRequest;
    return (used.answer ?? (await this.#stateOf(id, used))) as Result<T>;
  }

  /**
   * Returns the answer to a repeated send if no answer was stored. The answer follows from the status of the message. A receipt may have proved that the
   * message arrived although its acknowledgement was lost. Campaigns do not need this, because a campaign is stored with its answer.
   */
  async #stateOf(id: InstanceId, { messageId }: UsedSendKey): Promise<Result<Message>> {
    const message = await this.#ports.messages.byId(id, messageId);
    if (message && reachedPlatform.has(message.status)) return done(message);
    return refuse('unknown', message?.error || 'the message may or may not have been sent', { messageId });
  }
}

type SendCommands = Pick<MessageMethods, 'send' | 'queue' | 'clearQueue'>;

const queueable = new Set(['connecting', 'connected', 'hibernated']);

/**
 * Returns true if the session may take messages for its queue. A session that reconnects by itself may. A session that a person has to connect or to pair may
 * not.
 */
const takesAsync = ({ record, view }: Cell): boolean => record.jid !== '' && queueable.has(view.status);

async function sendLater(
  host: Host,
  cell: Cell,
  { send: given, options, key }: Pick<SendNow, 'send' | 'options' | 'key'>,
): Promise<Result<Message>> {
  const { ports, policy } = host;
  const damage = damageOf(cell);
  if (damage) return damage;
  if (!takesAsync(cell)) return notConnected;
  const { jid, lid, profileName } = cell.record;
  const chat = cell.link.chatOf(given.number);
  if (!chat.ok) return chat;
  // A message to a known number is sent to the form of the number that the platform knows. An unknown number is looked up when the message is sent.
  const chatId = (await cell.recipients.known(chat.value)) ?? chat.value.chatId;
  const number = chatId === chat.value.chatId ? given.number : chatId;
  const whole = await filled(ports, cell, null, { ...given, number }, chatId);
  if (!whole.ok) return whole;
  const send = whole.value;
  const draft = cell.link.draft(send, { jid, lid, name: profileName });
  if (!draft.ok) return draft;
  if (send.replyTo !== '' && !(await ports.messages.byId(cell.record.id, send.replyTo)))
    return refuse('invalid', `the quoted message ${send.replyTo} is unknown`);
  if (!cell.queue.reserve())
    return refuse('limited', `the asynchronous queue is full (${policy.queue.items} messages)`, { retryAfter: 60 });
  const { delay, readChat, readMessages } = options;
  const queuedSend = { send: draft.value.raw === null ? send : null, delay, readChat, readMessages };
  const message = { ...labelled(draft.value, send, options), queuedSend };
  let stored: Message;
  try {
    stored = await accept(cell, message, key && usedBy(key, message, ports.time.now(), done(message)));
  } catch (error) {
    cell.queue.release();
    throw error;
  }
  cell.queue.push(stored);
  return done(stored);
}

/** Returns the cell of the instance, or a refusal that the send would get in any case. Called before files are fetched and converted. */
async function possible(host: Host, id: InstanceId, send: Send, options: SendOptions): Promise<Result<Cell>> {
  const cell = host.cells.get(id);
  if (!cell) return unknownInstance;
  const chat = cell.link.chatOf(send.number);
  if (!chat.ok) return chat;
  if (options.async) return damageOf(cell) ?? (takesAsync(cell) ? done(cell) : notConnected);
  const awake = await host.cells.awake(id);
  return awake.ok && !awake.value.view.connected ? notConnected : awake;
}

/**
 * Fetches and keeps the files of a send, so that no stored message contains the bytes of a file. Messages to a chat leave in the order in which their files are
 * ready, so a slow file server delays only its own message.
 */
async function ready(host: Host, id: InstanceId, send: Send, options: SendOptions): Promise<Result<Send>> {
  if (!hasFilesToTake(send.content)) return done(send);
  const cell = await possible(host, id, send, options);
  if (!cell.ok) return cell;
  const content = await withFilesTaken(send.content, (given) => host.ports.attachments.take(id, given));
  return content.ok ? done({ ...send, content: content.value }) : content;
}

/** Takes the files of a send on this node, so that no bytes travel to the owner of the session. */
export const withFilesHere = async ({ ports }: WithPorts<'attachments' | 'time'>, id: InstanceId, send: Send): Promise<Result<Send>> => {
  const problem = contentProblem(send.content);
  if (problem !== null) return refuse('invalid', problem);
  if (!hasFilesToTake(send.content)) return done(send);
  const content = await withFilesTaken(send.content, (given) => ports.attachments.take(id, given));
  return content.ok ? done({ ...send, content: content.value }) : content;
};

/** Adds the audience of a status post, within the gateway's limit. By default the account's privacy setting selects the people. */
const withAudience = (send: Send, bound: number): Send => {
  if (send.number !== statusChat) return send;
  const { recipients = null, most = 0 } = send.audience ?? {};
  return { ...send, audience: { recipients, most: most > 0 ? Math.min(most, bound) : bound, contacts: [] } };
};

export function sendCommands(host: Host, once: SendOnce): SendCommands {
  const { ports, policy } = host;

  const sendInOrder = (id: InstanceId, given: Send, options: SendOptions, key: IdempotencyKey | null): Promise<Result<Message>> =>
    host.cells.live(id, async (cell, signal) => {
      const recipient = await recipientOf(cell, signal, given.number);
      if (!recipient.ok) return recipient;
      const { chatId, number } = recipient.value;
      const send = { ...given, number };
      return cell.chatMutex.run(chatId, async (release) =>
        // The session may have disconnected while the message waited for its turn.
        signal.aborted ? notConnected : sendNow(ports, cell, signal, { send, options, chatId, key }, release),
      );
    });

  const sendAny = async (id: InstanceId, given: Send, options: SendOptions, key: IdempotencyKey | null): Promise<Result<Message>> => {
    const problem = channelProblem(given) ?? contentProblem(given.content);
    if (problem !== null) return refuse('invalid', problem);
    const prepared = await ready(host, id, withAudience(given, policy.statusRecipients), options);
    if (!prepared.ok) return prepared;
    const send = prepared.value;
    if (options.async) {
      const cell = host.cells.get(id);
      if (!cell) return unknownInstance;
      const accepted = await sendLater(host, cell, { send, options, key });
      // No caller waits for the wake. If the wake fails, the next sweep of hibernated sessions tries again.
      if (accepted.ok && cell.view.status === 'hibernated') host.cells.awake(id).catch(() => undefined);
      return accepted;
    }
    const first = await sendInOrder(id, send, options, key);
    // The session may have hibernated while the message waited for its turn. The message was not accepted, so the send wakes the session and tries again.
    return first === notConnected && host.register.view(id)?.record.wanted === 'asleep' ? sendInOrder(id, send, options, key) : first;
  };

  return {
    send: (id, send, options) => once.run(id, options.once, (key) => sendAny(id, send, options, key)),
    async queue(id) {
      const cell = host.cells.get(id);
      const ready = cell?.view.connected ?? false;
      const pending = cell?.queue.pending ?? 0;
      const processing = cell?.queue.processing ?? false;
      const nextAt = cell?.queue.nextAt ?? null;
      return {
        status: processing ? 'processing' : pending === 0 ? 'idle' : ready ? 'processing' : 'waiting_connection',
        pending,
        processingNow: processing,
        acceptingNewMessages: host.accepting && cell !== null && takesAsync(cell),
        sessionReady: ready,
        resetting: false,
        ...(nextAt === null ? {} : { nextAt }),
      };
    },
    async clearQueue(id) {
      const cell = host.cells.get(id);
      return cell ? done(await cell.queue.clear()) : unknownInstance;
    },
  };
}
