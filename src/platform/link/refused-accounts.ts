/** Refuses to be linked to an account that the instance may not have, before the device is signed: its phone then lists no device. */
import { getBinaryNodeChild, S_WHATSAPP_NET, type BinaryNode, type WASocket } from '@whiskeysockets/baileys';
import { userOf } from '../wire/jid.ts';

const event = 'CB:iq,,pair-success';

/** The number of the account that the device would belong to; '' when the platform names none. */
const numberOf = (stanza: BinaryNode): string =>
  userOf(getBinaryNodeChild(getBinaryNodeChild(stanza, 'pair-success'), 'device')?.attrs['jid'] ?? '');

/**
 * Answers a pairing with an account that is not allowed as tulir/whatsmeow does (`PrePairCallback`), and calls `refused`. The library, which would sign
 * whatever comes, sees only the others. Throws when the library does not listen as it did.
 */
export const refuseAccounts = (
  sock: Pick<WASocket, 'ws' | 'sendNode'>,
  isRefused: (number: string) => boolean,
  refused: () => void,
): void => {
  const listeners = sock.ws.listeners(event) as ((stanza: BinaryNode) => unknown)[];
  if (listeners.length !== 1) throw new Error(`the library has ${listeners.length} listeners that end a pairing`);
  const [link] = listeners;
  sock.ws.removeAllListeners(event);
  // The promise goes to the emitter, which catches its rejection.
  sock.ws.on(event, async (stanza: BinaryNode) => {
    if (!isRefused(numberOf(stanza))) return link?.(stanza);
    const error: BinaryNode = { tag: 'error', attrs: { code: '500', text: 'internal-error' } };
    try {
      await sock.sendNode({ tag: 'iq', attrs: { to: S_WHATSAPP_NET, type: 'error', id: stanza.attrs['id'] ?? '' }, content: [error] });
    } finally {
      refused();
    }
  });
};
