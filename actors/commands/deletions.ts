/** Deletes messages at the platform, or in the asynchronous queue. */
import type { MessageFace } from '../views.ts';
import { done, refuse, unknownInstance, type InstanceId } from '../model.ts';
import { type Cells, perform, type Waker, type WithPorts } from './host.ts';

type Host = Cells & Waker & WithPorts<'messages' | 'time'>;

const beingSent = refuse('conflict', 'the message is being sent: try again in a moment', { retryAfter: 1 });

/** Implements `Gateway.deleteMessage`. */
export async function deleteMessage(host: Host, id: InstanceId, messageId: string): ReturnType<MessageFace['deleteMessage']> {
  const { messages, time } = host.ports;
  const message = await messages.byId(id, messageId);
  if (message?.status !== 'Queued' || !message.fromMe) return perform(host, id, 'message.delete', { id: messageId });
  const cell = host.cell(id);
  if (cell === null) return unknownInstance;
  const isCancelled = message.queuedSend !== null && (await cell.queue.cancel(message));
  return isCancelled ? done({ messageId: message.messageId, at: time.now() }) : beingSent;
}
