/**
 * Records of the shared state for which the library has no event, and how they are found: it mentions them in its log alone. Its event of a deleted chat
 * does not say up to which message.
 */
import type { proto } from '@whiskeysockets/baileys';

export interface SharedAction {
  /** The name of the action, and what it is about. */
  readonly index: readonly string[];
  readonly value: proto.ISyncActionValue;
}

/** Selects the records that are taken from a line of the log. */
const taken: Readonly<Record<string, (name: string) => boolean>> = {
  'unprocessable update': () => true,
  'processing sync action': (name) => name === 'deleteChat',
};

/** The record that a line of the library's log is about; undefined for all other lines. */
export const unreadActionOf = (fields: unknown, message: string | undefined): SharedAction | undefined => {
  const isTaken = message !== undefined && Object.hasOwn(taken, message) ? taken[message] : undefined;
  if (isTaken === undefined || typeof fields !== 'object' || fields === null || !('syncAction' in fields)) return undefined;
  const { syncAction, index } = fields.syncAction as { readonly syncAction?: proto.ISyncActionData; readonly index?: unknown };
  if (!Array.isArray(index) || !index.every((part) => typeof part === 'string') || !isTaken(index[0] ?? '')) return undefined;
  return { index, value: syncAction?.value ?? {} };
};
