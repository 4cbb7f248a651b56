/**
 * Receipts for the account's own status posts. The library is configured to ignore stories, and then also ignores these receipts. They are read here, before
 * the library acknowledges them.
 */
import { type BinaryNode, getBinaryNodeChildren } from '@whiskeysockets/baileys';
import type { BaileysEvent } from '../events/baileys-event.ts';
import { bare, statusJid } from '../wire/jid.ts';
import type { Handlers } from './inbound-gate.ts';

type Receipts = Extract<BaileysEvent, { readonly name: 'message-receipt.update' }>;

interface Seen {
  readonly messageId: string | undefined;
  readonly jid: string | undefined;
  readonly type: string | undefined;
  readonly t: string | undefined;
}

/** Confirmations are gathered by post; a single one names its reader itself. */
const seenIn = (node: BinaryNode): readonly Seen[] => {
  const { id, participant, type, t } = node.attrs;
  const gathered = getBinaryNodeChildren(node, 'participants').flatMap((list) =>
    getBinaryNodeChildren(list, 'user').map(({ attrs }) => ({
      messageId: list.attrs['message_id'] ?? list.attrs['key'] ?? id,
      jid: attrs['jid'],
      type: attrs['type'] ?? type,
      t: attrs['t'] ?? t,
    })),
  );
  return gathered.length > 0 ? gathered : [{ messageId: id, jid: participant, type, t }];
};

const readTypes = new Set(['read', 'played', 'view']);

const receiptOf = ({ messageId, jid, type, t }: Seen): Receipts['data'] => {
  const isKnown = type === undefined || type === 'delivery' || readTypes.has(type);
  if (!messageId || !jid || !isKnown) return [];
  const at = Number(t ?? 0);
  const time = type !== undefined && readTypes.has(type) ? { readTimestamp: at } : { receiptTimestamp: at };
  return [{ key: { remoteJid: statusJid, id: messageId, fromMe: true }, receipt: { userJid: bare(jid), ...time } }];
};

/** Null when the receipt is of something else. */
export const statusReceipts = (node: BinaryNode): Receipts | null => {
  if (node.attrs['from'] !== statusJid) return null;
  const data = seenIn(node).flatMap(receiptOf);
  return data.length === 0 ? null : { name: 'message-receipt.update', data };
};

/** Reports these receipts before the library handles them. */
export const withStatusReceipts = (handlers: Handlers, tell: (event: BaileysEvent) => void): Handlers => ({
  ...handlers,
  receipt(node) {
    const event = statusReceipts(node);
    if (event !== null) tell(event);
    return handlers.receipt(node);
  },
});
