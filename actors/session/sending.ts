/** The steps of a message that was accepted: stored as `Queued`, shown as typing, written, confirmed, recorded. */
import type { ChatPatch, Entry, InstanceId, Message, MessageStatus } from '../model.ts';
import type { Composed, Ports, Transmission } from '../ports.ts';
import type { Cell } from './cell.ts';
import type { QueueHost } from './queue.ts';

/** Messages of an earlier run that are looked at when a session is live again. */
const interruptedLimit = 1000;

/** What the chat shows of a message that was just written. */
const chatAfter = (message: Message): ChatPatch => ({
  chatId: message.chatId,
  isGroup: message.isGroup,
  lastMessageText: message.text,
  lastMessageType: message.messageType,
  lastMessageSender: message.sender,
  lastMessageTimestamp: message.timestamp,
});

const progress = (message: Message, status: MessageStatus, at: number, error: string): Entry => ({
  kind: 'status',
  messageIds: [message.messageId],
  chatId: message.chatId,
  status,
  ...(error === '' ? {} : { error }),
  sender: message.sender,
  senderPn: message.senderPn,
  senderLid: message.senderLid,
  fromMe: true,
  at,
});

/** A message that will not be sent any more. Storage that is away hears of it later; nobody waits for that. */
export const giveUp = (cell: Cell, message: Message, status: 'Failed' | 'Canceled', error: string): Promise<void> =>
  cell.recorder.tell(progress(message, status, message.timestamp, error));

/**
 * Stores a message before anything is written. When that fails it is not sent: a statement whose answer was lost may have stored it all the same,
 * and what is recorded next keeps it from being sent at some later start.
 */
export async function accept(cell: Cell, message: Message): Promise<void> {
  try {
    await cell.recorder.append({ kind: 'queued', message, chat: chatAfter(message) });
  } catch (error) {
    void giveUp(cell, message, 'Failed', 'it could not be stored when it was accepted');
    throw error;
  }
}

/**
 * Writes a composed message and records what became of it. It is out then, so that storage which is away keeps nobody waiting: the status is
 * stored when storage is back.
 */
export async function transmit(cell: Cell, composed: Composed): Promise<Transmission> {
  const sent = await composed.transmit();
  if (sent.ok) await cell.recorder.tell(progress(composed.message, 'Sent', sent.at, ''));
  else if (sent.reason !== 'closed' && sent.reason !== 'notSent') await giveUp(cell, composed.message, 'Failed', sent.error);
  return sent;
}

const isAsync = (message: Message): boolean => (message.sendPayload as { readonly async?: unknown } | null)?.async === true;

/** How the queue of a cell sends: as an operation of its chart; a session that goes away meanwhile leaves the message in the queue. */
export const queueHostOf =
  (ports: Ports) =>
  (cell: Cell): QueueHost => ({
    live: () => cell.view.connected,
    async send(message) {
      const answer = cell.request(() => transmit(cell, cell.link.recompose(message)));
      const sent = answer && (await answer);
      return sent === null || (!sent.ok && (sent.reason === 'closed' || sent.reason === 'notSent')) ? 'later' : 'done';
    },
    failed: (error) => ports.log.error({ instance: cell.record.id, error }, 'queue.failed'),
  });

/** Puts what an earlier run left in the asynchronous queue back into it; the rest of what it left. */
async function requeue(ports: Ports, cell: Cell, since: number): Promise<readonly Message[]> {
  const waiting = await ports.messages.waiting(cell.record.id, 'Queued', interruptedLimit);
  // Messages carry whole seconds, as the platform counts them.
  const old = waiting.filter((message) => message.timestamp + 1000 <= since);
  cell.queue.push(old.filter(isAsync));
  return old.filter((message) => !isAsync(message));
}

/** Queues of an earlier run, as soon as the process is up: they can be seen and cleared, and a sleeping session is to be woken for them. */
export async function restoreQueues(
  ports: Ports,
  cellOf: (id: InstanceId) => Cell | null,
  since: number,
  wake: (cell: Cell) => void,
  patiently: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<void> {
  for (const id of await patiently(() => ports.messages.queueing())) {
    const cell = cellOf(id);
    if (!cell) continue;
    await patiently(() => requeue(ports, cell, since));
    if (cell.queue.pending > 0 && cell.view.status === 'hibernated') wake(cell);
  }
}

/**
 * Messages that an earlier run accepted and did not finish: queued ones go on; those whose caller waited for an answer are failed, because the
 * caller has had an error and may have sent them again.
 */
export async function cancelInterrupted(ports: Ports, cell: Cell, since: number): Promise<void> {
  const given = await requeue(ports, cell, since);
  await Promise.all(
    given.map((message) => giveUp(cell, message, 'Failed', 'interrupted by a restart of the gateway: whether it was sent is not known')),
  );
}
