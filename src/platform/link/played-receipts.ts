/** Receipts of groups by which members say that they played a message: the library reports them as read. */
import type { BaileysEventMap, BinaryNode, WASocket } from '@whiskeysockets/baileys';
import { createLruMap } from '#src/base/lru-map.ts';
import { bare, isGroup } from '../wire/jid.ts';

/** Messages whose receipt is on its way through the library. */
const most = 500;

type Updates = BaileysEventMap['message-receipt.update'];

const idsOf = ({ attrs, content }: BinaryNode): readonly (string | undefined)[] => {
  const list = Array.isArray(content) ? content.find(({ tag }) => tag === 'list')?.content : undefined;
  return [attrs['id'], ...(Array.isArray(list) ? list.map((item) => item.attrs['id']) : [])];
};

/** Listens to the socket, and answers with a function that says of reported receipts which of them were played. */
export const playedReceipts = (sock: WASocket): ((updates: Updates) => Updates) => {
  const played = createLruMap<true>(most);
  const keyOf = (id: string | null | undefined, member: string | null | undefined): string => `${id ?? ''} ${bare(member)}`;
  sock.ws.on('CB:receipt,type:played', (node: BinaryNode) => {
    if (!isGroup(node.attrs['from'] ?? '')) return;
    for (const id of idsOf(node)) played.set(keyOf(id, node.attrs['participant']), true);
  });
  return (updates) =>
    updates.map((update) => {
      const { key, receipt } = update;
      const name = keyOf(key.id, receipt.userJid);
      if (!receipt.readTimestamp || !played.get(name)) return update;
      played.delete(name);
      return { ...update, receipt: { ...receipt, playedTimestamp: receipt.readTimestamp } };
    });
};
