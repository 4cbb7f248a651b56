/** Deletes messages at the platform, or in the asynchronous queue. */
import type { Gateway } from '../views.ts';
import { done, refuse, unknownInstance, type InstanceId, type Result } from '../model.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { perform } from './perform.ts';

interface Sessions {
  readonly ports: Pick<Ports, 'messages' | 'time'>;
  cell(id: InstanceId): Cell | null;
  awake(id: InstanceId): Promise<Result<Cell>>;
}

const beingSent = refuse('conflict', 'the message is being sent: try again in a moment', { retryAfter: 1 });

/** Implements `Gateway.deleteMessage`. */
export async function deleteMessage(sessions: Sessions, id: InstanceId, messageId: string): ReturnType<Gateway['deleteMessage']> {
  const { messages, time } = sessions.ports;
  const message = await messages.byId(id, messageId);
  if (message?.status !== 'Queued' || !message.fromMe) return perform(sessions, id, 'message.delete', { id: messageId });
  const cell = sessions.cell(id);
  if (cell === null) return unknownInstance;
  const isCancelled = message.queuedSend !== null && (await cell.queue.cancel(message));
  return isCancelled ? done({ messageId: message.messageId, at: time.now() }) : beingSent;
}
