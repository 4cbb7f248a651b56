/**
 * The platform's notices that few one-time keys are left, taken from the library: it adds 5 keys to fewer than 5, and of 300 new contacts in a burst 165
 * got none. Contacts without a one-time key begin their session with the signed pre-key alone.
 */
import { getBinaryNodeChild, S_WHATSAPP_NET, type BinaryNode, type WASocket } from '@whiskeysockets/baileys';
import type { SpentKeys } from '../keys/spent-keys.ts';
import type { Handlers } from './durable-inbox.ts';

/** Keys that the platform has after a notice. */
const wanted = 400;
/** Keys in one upload. The library makes them on the event loop, 0.15 ms each. */
const atOnce = 50;

type Sock = Pick<WASocket, 'authState' | 'query' | 'sendMessageAck' | 'uploadPreKeys'>;

const isNotice = (node: BinaryNode): boolean =>
  node.attrs['type'] === 'encrypt' && node.attrs['from'] === S_WHATSAPP_NET && getBinaryNodeChild(node, 'count') !== undefined;

/** Asks how many keys are left. A notice may be old: it is repeated when its acknowledgement was lost, and others come while keys are on their way. */
const countOf = async (sock: Sock): Promise<number> => {
  const answer = await sock.query({
    tag: 'iq',
    attrs: { xmlns: 'encrypt', type: 'get', to: S_WHATSAPP_NET },
    content: [{ tag: 'count', attrs: {} }],
  });
  return Number(getBinaryNodeChild(answer, 'count')?.attrs['value']) || 0;
};

/** A notice is acknowledged after the upload, so that the platform repeats it when that failed. */
export const withPreKeyNotices = (handlers: Handlers, sock: Sock, spent: Pick<SpentKeys, 'counted' | 'uploaded'>): Handlers => {
  let running: Promise<void> | null = null;
  /** Begins when the running one is over: keys may be given out while others are on their way. */
  let next: Promise<void> | null = null;

  const upload = async (count: number): Promise<void> => {
    const { creds } = sock.authState;
    const before = creds.firstUnuploadedPreKeyId;
    await sock.uploadPreKeys(count);
    const after = creds.firstUnuploadedPreKeyId;
    // An upload of the library that was under way is waited for in place of this one. A try that failed left other ids behind.
    if (after - before >= count) await spent.uploaded(after - count, after - 1);
  };

  const refill = async (): Promise<void> => {
    const left = await countOf(sock);
    await spent.counted(left);
    for (let count = left; count < wanted; count += atOnce) await upload(Math.min(atOnce, wanted - count));
  };
  const begin = (): Promise<void> =>
    (running = refill().finally(() => {
      running = null;
    }));
  const refilled = (): Promise<void> => {
    if (running === null) return begin();
    return (next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return begin();
      }));
  };
  return {
    ...handlers,
    async notification(node) {
      if (!isNotice(node)) return handlers.notification(node);
      await refilled();
      return sock.sendMessageAck(node);
    },
  };
};
