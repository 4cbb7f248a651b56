/**
 * The people whom the account blocks, as the platform lists them at the login. The library asks for the list and drops the answer. A new device gets
 * its chats after the login, with the history of the phone: the list is reported once more behind it.
 */
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, type WASocket } from '@whiskeysockets/baileys';
import type { BaileysEvent } from './library-values.ts';

export interface BlockedPeople {
  /** Follows changes of the list, and reports the list again behind each part of the history. */
  observe(event: BaileysEvent): void;
}

export const watchBlocked = (sock: Pick<WASocket, 'ws'>, tell: (event: BaileysEvent) => void): BlockedPeople => {
  const blocked = new Set<string>();
  const asEvent = (): BaileysEvent => ({ name: 'blocklist.set', data: { blocklist: [...blocked] } });
  sock.ws.on('CB:iq,,list', (answer: BinaryNode) => {
    const items = getBinaryNodeChildren(getBinaryNodeChild(answer, 'list'), 'item');
    blocked.clear();
    for (const { attrs } of items) if (attrs['jid']) blocked.add(attrs['jid']);
    if (blocked.size > 0) tell(asEvent());
  });
  return {
    observe(event) {
      if (event.name === 'blocklist.update') {
        for (const jid of event.data.blocklist)
          if (event.data.type === 'add') blocked.add(jid);
          else blocked.delete(jid);
      }
      if (event.name === 'messaging-history.set' && blocked.size > 0) tell(asEvent());
    },
  };
};
