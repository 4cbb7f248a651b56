/** Connects the asynchronous queue of a session with the platform, and restores the messages that an earlier run accepted. */
import { done, type InstanceId, type Message, type Refusal, type Result } from '../model.ts';
import { FileUnreadable, type Ports } from '../ports.ts';
import { performIn, recipientOf, type Recorded } from './requests.ts';
import { between } from '../policy/pacing.ts';
import type { QueueLimits } from '../policy/policy.ts';
import { givenUp } from './obstacles.ts';
import type { QueueHost, Sending, SendQueue } from './queue.ts';
import type { InstanceView } from '../views.ts';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import { giveUp, prepare, transmit, type Sendable, type SendPorts } from './sending.ts';

const reasons = {
  tooOld: { status: 'Failed', error: 'it waited too long in the asynchronous queue' },
  cancelled: { status: 'Canceled', error: '' },
  accountChanged: { status: 'Canceled', error: 'another account was paired' },
  unreadable: { status: 'Failed', error: givenUp.unreadable },
  unanswered: { status: 'Failed', error: givenUp.unanswered },
  broken: { status: 'Failed', error: 'an unexpected error of the gateway' },
} as const;

/**
 * Returns the message with its content. If the content could not be composed at acceptance, it is composed now, and stored before the first frame is
 * written.
 */
async function complete(cell: Sendable, signal: AbortSignal, message: Message): Promise<Result<Message>> {
  const send = message.queuedSend?.send;
  if (!send) return done(message);
  const composed = await performIn(cell, signal, 'message.compose', { send, draft: message });
  if (!composed.ok) return composed;
  const { fileUrl, trackId, trackSource, sendFunction, sendPayload, queuedSend } = message;
  const whole = {
    ...composed.value,
    fileUrl,
    trackId,
    trackSource,
    sendFunction,
    sendPayload,
    queuedSend: queuedSend && { ...queuedSend, send: null },
  };
  await cell.recorder.append({ kind: 'composed', message: whole });
  return done(whole);
}

/** The pause before a recipient or a group is looked up again after the platform did not answer. In milliseconds. */
const lookupPauseMs = 5_000;

/** The pause before a file is read again. In milliseconds. */
const filePauseMs = 30_000;

type Postponement = Exclude<Sending, 'done'>;

/** Returns the postponement of a message of which nothing left, or whose connection was lost (`isLost`). */
const again = (on: string, isLost: boolean): Postponement =>
  isLost ? 'later' : { waitMs: lookupPauseMs, obstacle: { on, why: 'unanswered' } };

/**
 * Returns the postponement of a message after a look-up of its recipient or group (`on`) was refused; null if the refusal is final. `gone` is true if the
 * connection ended.
 */
export const postponed = ({ reason, connectionLost, retryAfter }: Refusal, on: string, gone: boolean): Postponement | null => {
  if (reason === 'limited') return { waitMs: (retryAfter ?? 1) * 1000 };
  const isLost = gone || connectionLost === true;
  return isLost || reason === 'notSent' ? again(on, isLost) : null;
};

/** Sends a queued message. After `later`, the message is sent again under the same id, which receivers dedupe. */
async function sendQueued(ports: SendPorts, cell: Sendable, signal: AbortSignal, queued: Message): Promise<Sending> {
  const recipient = await recipientOf(cell, signal, queued.chatId);
  if (!recipient.ok) {
    const postponement = postponed(recipient.refusal, queued.chatId, signal.aborted);
    if (postponement !== null) return postponement;
    await giveUp(cell, queued, 'Failed', recipient.refusal.message);
    return 'done';
  }
  const whole = await complete(cell, signal, queued);
  if (whole.ok && queued.queuedSend) await prepare(ports, cell, signal, whole.value, queued.queuedSend);
  const sent = whole.ok ? await transmit(cell, signal, whole.value, { to: recipient.value.chatId }) : whole;
  if (sent.ok) return 'done';
  const { reason, connectionLost = false, message } = sent.refusal;
  if (reason === 'notSent' || connectionLost) return again(queued.chatId, signal.aborted || connectionLost);
  await giveUp(cell, queued, 'Failed', message);
  return 'done';
}

/** Sends a queued message like `sendQueued`. A file that cannot be read, although the store of files works, is an obstacle. */
async function attempt(ports: SendPorts, cell: Sendable, signal: AbortSignal, queued: Message): Promise<Sending> {
  try {
    return await sendQueued(ports, cell, signal, queued);
  } catch (error) {
    if (error instanceof FileUnreadable) return { waitMs: filePauseMs, obstacle: { on: error.file, why: 'unreadable' } };
    throw error;
  }
}

/** A session with an asynchronous queue. */
interface QueueingSession extends Sendable {
  readonly view: InstanceView;
  readonly workers: SupervisedWorkers;
}

/** Returns the host of the queue of a session. `held` returns the reason why nothing may be sent now, or ''. */
export const queueHostOf = (
  ports: SendPorts & Pick<Ports, 'chance'>,
  limits: QueueLimits,
  held: () => string,
  cell: QueueingSession,
): QueueHost => ({
  time: ports.time,
  limits,
  live: () => cell.view.connected,
  held,
  pace: () => between(cell.record.msgDelayMin * 1000, cell.record.msgDelayMax * 1000, ports.chance.random()),
  async read(limit, hasSent) {
    // A message that was already sent must not be read as `Queued` again.
    if (hasSent) await cell.recorder.recorded();
    return ports.messages.queued(cell.record.id, limit);
  },
  send: async (message) => (await cell.request((signal) => attempt(ports, cell, signal, message))) ?? 'later',
  giveUp: (message, why) => giveUp(cell, message, reasons[why].status, reasons[why].error),
  supervise: (input) => cell.workers.supervise(input),
});

/** An instance whose queue can be restored. */
interface Queued {
  readonly view: InstanceView;
  readonly queue: SendQueue;
}

/** The functions that `restoreQueues` calls. `Session` is the caller's type of an instance. */
interface QueueRestore<Session> {
  /** Existing cells. */
  readonly cells: ReadonlyMap<InstanceId, Session>;
  cellOf(id: InstanceId): Session | null;
  wake(cell: Session): void;
  /** Repeats work while storage is unavailable. */
  untilStored<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Restores the queues of an earlier run at the start of the process. The queues can then be listed and cleared. A hibernated session is woken for its
 * queue.
 */
export async function restoreQueues<Session extends Queued>(
  { messages }: Pick<Ports, 'messages'>,
  { cells, cellOf, wake, untilStored }: QueueRestore<Session>,
): Promise<void> {
  let known: ReadonlyMap<InstanceId, number> = new Map();
  const found = await untilStored(() => {
    // Clients may have queued messages since the start of the process. The count of storage includes these messages, and perhaps some that are being stored.
    known = new Map([...cells].map(([id, { queue }]) => [id, queue.stored]));
    return messages.queueing();
  });
  for (const { id, queued } of found) {
    const cell = queued > 0 ? cellOf(id) : null;
    if (!cell) continue;
    cell.queue.restore(queued, known.get(id));
    if (cell.view.status === 'hibernated') wake(cell);
  }
}

/** The largest number of messages in one query. */
const batch = 500;

/** Fails unfinished messages of an earlier run whose caller waited for an answer. The caller got an error, and may have sent the message again. */
export async function failInterrupted(cell: Recorded, messages: readonly Message[]): Promise<void> {
  await Promise.all(
    messages.map((message) =>
      giveUp(cell, message, 'Failed', 'interrupted by a restart of the gateway: it is not known whether the message was sent'),
    ),
  );
  await cell.recorder.recorded();
}

/** Fails all interrupted messages from before `since` (Unix milliseconds). */
export async function failAllInterrupted({ messages }: Pick<Ports, 'messages'>, cell: Recorded, since: number): Promise<void> {
  // Messages carry whole seconds. A message of this run may therefore look up to a second older than the start.
  const before = since - 1000;
  for (;;) {
    const given = await messages.interrupted(cell.record.id, before, batch);
    await failInterrupted(cell, given);
    if (given.length < batch) return;
  }
}
