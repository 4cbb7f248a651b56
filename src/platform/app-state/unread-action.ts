/** Records of the shared state for which the library has no event, and how they are found: it mentions them in its log alone. */
import type { proto } from '@whiskeysockets/baileys';

export interface SharedAction {
  /** The name of the action, and what it is about. */
  readonly index: readonly string[];
  readonly value: proto.ISyncActionValue;
}

const sentence = 'unprocessable update';

/** The record that a line of the library's log is about; undefined for all other lines. */
export const unreadActionOf = (fields: unknown, message: string | undefined): SharedAction | undefined => {
  if (message !== sentence || typeof fields !== 'object' || fields === null || !('syncAction' in fields)) return undefined;
  const { syncAction, index } = fields.syncAction as { readonly syncAction?: proto.ISyncActionData; readonly index?: unknown };
  if (!Array.isArray(index) || !index.every((part) => typeof part === 'string')) return undefined;
  return { index, value: syncAction?.value ?? {} };
};
