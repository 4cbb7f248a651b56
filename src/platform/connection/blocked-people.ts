/**
 * Whom the account blocks, as the platform says at the login. The library asks for it and drops the answer. A new device gets its chats later than
 * that, with the past of the phone: they are marked when they are there.
 */
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, type WASocket } from '@whiskeysockets/baileys';
import type { BaileysEvent } from '../events/baileys-event.ts';

export interface BlockedPeople {
  /** Keeps what an event tells, and reports them again behind the past of a phone. */
  learn(event: BaileysEvent): void;
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
    learn(event) {
      if (event.name === 'blocklist.update') {
        for (const jid of event.data.blocklist)
          if (event.data.type === 'add') blocked.add(jid);
          else blocked.delete(jid);
      }
      if (event.name === 'messaging-history.set' && blocked.size > 0) tell(asEvent());
    },
  };
};
