/**
 * The platform's notices that few one-time keys are left, taken from the library: it adds 5 keys to fewer than 5, and of 300 new contacts in a burst 165
 * got none. Contacts without a one-time key begin their session with the signed pre-key alone.
 */
import { getBinaryNodeChild, S_WHATSAPP_NET, type BinaryNode, type WASocket } from '@whiskeysockets/baileys';
import type { Handlers } from './inbound-gate.ts';

/** Keys that the platform has after a notice. */
const wanted = 400;
/** Keys in one upload. The library makes them on the event loop, 0.15 ms each. */
const atOnce = 50;

/** Returns the number of keys that a notice says are left; null for other stanzas. */
const leftBy = (node: BinaryNode): number | null => {
  const { from, type } = node.attrs;
  const count = getBinaryNodeChild(node, 'count')?.attrs['value'];
  return type === 'encrypt' && from === S_WHATSAPP_NET && count !== undefined ? Number(count) || 0 : null;
};

/** A notice is acknowledged after the upload, so that the platform repeats it when that failed. */
export const withPreKeyNotices = (handlers: Handlers, sock: Pick<WASocket, 'sendMessageAck' | 'uploadPreKeys'>): Handlers => {
  let running: Promise<void> | null = null;
  /** Begins when the running one is over: keys may be given out while others are on their way. */
  let next: Promise<void> | null = null;
  const refill = async (left: number): Promise<void> => {
    for (let count = left; count < wanted; count += atOnce) await sock.uploadPreKeys(Math.min(atOnce, wanted - count));
  };
  const begin = (left: number): Promise<void> =>
    (running = refill(left).finally(() => {
      running = null;
    }));
  const refilled = (left: number): Promise<void> => {
    if (running === null) return begin(left);
    return (next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return begin(left);
      }));
  };
  return {
    ...handlers,
    async notification(node) {
      const left = leftBy(node);
      if (left === null) return handlers.notification(node);
      await refilled(left);
      return sock.sendMessageAck(node);
    },
  };
};
