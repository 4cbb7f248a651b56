/**
 * Asks the account's phone to put a file on the media host again.
 *
 * The library's own way waits for ever, and after a failed answer too late; here the wait has an end, and every answer is a value.
 */
import {
  type BinaryNode,
  decodeMediaRetryNode,
  decryptMediaRetryData,
  encryptMediaRetryRequest,
  proto,
  type WAMessageKey,
  type WASocket,
} from '@whiskeysockets/baileys';

const { ResultType } = proto.MediaRetryNotification;

/** `refused`: the phone does not have it either. `silent`: it did not answer in time, it may be off. */
export type RetryAnswer = { readonly directPath: string } | 'refused' | 'silent';

const readAnswer = (node: BinaryNode, mediaKey: Uint8Array, id: string): RetryAnswer => {
  const { error, media } = decodeMediaRetryNode(node);
  if (error || !media) return 'refused';
  try {
    const { result, directPath } = decryptMediaRetryData(media, mediaKey, id);
    return result === ResultType.SUCCESS && directPath ? { directPath } : 'refused';
  } catch {
    return 'refused';
  }
};

/** Resolves within `ms`; `silent` as well when the signal aborts or the connection ends. Never rejects for what phone and network do. */
export const askPhone = async (
  sock: WASocket,
  key: WAMessageKey,
  mediaKey: Uint8Array,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
): Promise<RetryAnswer> => {
  const id = key.id ?? '';
  const { promise, resolve } = Promise.withResolvers<RetryAnswer>();
  const silent = (): void => resolve('silent');
  const hear = (node: BinaryNode): void => {
    if (node.attrs['id'] === id) resolve(readAnswer(node, mediaKey, id));
  };
  const timer = setTimeout(silent, ms);
  signal.addEventListener('abort', silent);
  sock.ws.on('CB:notification,type:mediaretry', hear);
  sock.ws.on('close', silent);
  try {
    await sock.sendNode(encryptMediaRetryRequest(key, mediaKey, sock.user?.id ?? ''));
    return await promise;
  } catch {
    return 'silent';
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', silent);
    sock.ws.off('CB:notification,type:mediaretry', hear);
    sock.ws.off('close', silent);
  }
};
