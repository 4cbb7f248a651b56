/** Performs one operation on a live session within a deadline, and records its results. */
import { notConnected, type Picture, type PictureKind, type Result } from '../model.ts';
import type { AnswerOf, InputOf, OperationName, Outcome, TypingState } from '../operations.ts';
import type { Cell } from './cell.ts';

/**
 * Performs one operation inside a task of `Cell.request`, with the `signal` of that task. The entries of the handler are recorded before the promise
 * resolves.
 */
export async function performIn<N extends OperationName>(
  cell: Cell,
  signal: AbortSignal,
  name: N,
  input: InputOf<N>,
): Promise<Outcome<AnswerOf<N>>> {
  if (signal.aborted) return notConnected;
  const outcome = await cell.link.perform({ name, input }, { signal, deadline: cell.deadline() });
  if (outcome.ok && outcome.entries) await Promise.all(outcome.entries.map((entry) => cell.recorder.tell(entry)));
  return outcome;
}

/** Shows typing, for a call or by itself. Writes nothing without a live session. */
export const writeTyping =
  (cell: Cell) =>
  async (chatId: string, state: TypingState, signal?: AbortSignal): Promise<Result<null>> => {
    const write = (during: AbortSignal): Promise<Result<null>> => performIn(cell, during, 'chat.typing', { chatId, state });
    if (signal) return write(signal);
    return (await cell.request(write)?.catch(() => null)) ?? notConnected;
  };

/** Asks for a picture in a separate request. Resolves with null without a live session. */
export const askForPicture =
  (cell: Cell) =>
  async (id: string, kind: PictureKind): Promise<Outcome<Picture> | null> => {
    // The chart takes no request while it starts another one.
    await Promise.resolve();
    return cell.request((signal) => performIn(cell, signal, 'picture.look', { id, kind }));
  };
