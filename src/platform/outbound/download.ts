/** Downloads the file of a message from the media host. If the host has deleted the file, the phone is asked to upload it again. */
import {
  type BinaryNode,
  decodeMediaRetryNode,
  decryptMediaRetryData,
  DEF_MEDIA_HOST,
  encryptMediaRetryRequest,
  proto,
  type WAMessageKey,
  type WASocket,
} from '@whiskeysockets/baileys';
import { type Message, type Refusal, refuse, type Result } from '#actors/model.ts';
import type { OperationControl, TakenFile } from '#actors/ports.ts';
import { MediaBroken, MediaForged, MediaGone, type MediaPart, mediaPartOf, mediaStream } from './media-stream.ts';
import { notSent, refused } from '../wire/outcomes.ts';
import { keyOf } from './about.ts';
import type { LiveConnection } from './live-connection.ts';

// The request to the account's phone to upload a file again. The library's own request may wait for ever, even after a failed answer. This request has a
// time limit, and each outcome is a value.

const { ResultType } = proto.MediaRetryNotification;

/** The phone's answer. `refused`: the phone does not have the file either. `silent`: the phone did not answer in time, and may be offline. */
type RetryAnswer = { readonly directPath: string } | 'refused' | 'silent';

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

/** Asks the phone, and waits for at most `ms`. Also resolves with `silent` if the signal aborts or the connection ends. Never rejects. */
const askPhone = async (
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

// The platform's own media hosts. A message or a client may name any host, and the owner of that host would learn the address of the gateway.

const isPlatforms = (host: string): boolean => host === DEF_MEDIA_HOST || host.endsWith('.whatsapp.net');

/** Returns the hosts that the platform offers for transfers now; an empty list if it does not answer. */
const offeredHosts = (sock: Pick<WASocket, 'refreshMediaConn'>): Promise<readonly string[]> =>
  sock.refreshMediaConn(false).then(
    ({ hosts }) => hosts.map(({ hostname }) => hostname),
    () => [],
  );

/** Returns true if a host belongs to the platform. `host` includes the port if there is one. */
const isMediaHost = (host: string, offered: readonly string[]): boolean => host !== '' && (isPlatforms(host) || offered.includes(host));

/**
 * Returns the address of a path on a host. Returns null if the path leads to another host. The senders of messages choose the path, and could write
 * `@127.0.0.1/x` or `.example.org/x`, which would change the host.
 */
export const addressOn = (host: string, path: string): string | null => {
  const [base, url] = [URL.parse(`https://${host}/`), path.startsWith('/') ? URL.parse(path, `https://${host}/`) : null];
  return base !== null && url !== null && url.origin === base.origin && url.username === '' ? url.href : null;
};

/** Returns true if all of these addresses lead to hosts of the platform. */
export const areMediaHosts = async (sock: Pick<WASocket, 'refreshMediaConn'>, urls: readonly string[]): Promise<boolean> => {
  const parsed = urls.map((url) => URL.parse(url));
  if (parsed.some((url) => url?.protocol !== 'https:')) return false;
  const hosts = parsed.map((url) => url?.host ?? '');
  if (hosts.every(isPlatforms)) return true;
  const offered = await offeredHosts(sock);
  return hosts.every((host) => isMediaHost(host, offered));
};

type Failed = { readonly ok: false; readonly refusal: Refusal };

interface MediaHost {
  readonly host: string;
  /**
   * True if the platform offers the host for transfers now. For any other host, the address guard also checks the resolved address, unless a proxy resolves it.
   */
  readonly offered: boolean;
}

/** Returns the hosts for a download. The host that the message names comes first, if it belongs to the platform. */
const hostsFor = async ({ sock }: LiveConnection, { url }: MediaPart): Promise<readonly MediaHost[]> => {
  const named = URL.parse(url)?.host ?? '';
  const offered = await offeredHosts(sock);
  const usable = isMediaHost(named, offered) ? [named] : [];
  const hosts = new Set([...usable, ...offered, ...(offered.length === 0 ? [DEF_MEDIA_HOST] : [])]);
  return [...hosts].map((host) => ({ host, offered: offered.includes(host) }));
};

const pathOf = ({ directPath, url }: MediaPart): string => {
  const named = URL.parse(url);
  return directPath || `${named?.pathname ?? ''}${named?.search ?? ''}`;
};

const tooLarge = (most: number): Failed => refuse('tooLarge', `the media is larger than the ${most} bytes that are allowed`);

/** Converts the refusal of invalid bytes into a refusal by the platform, because the caller did not cause it. */
const ofPlatform = (taken: Result<TakenFile>): Result<TakenFile> =>
  !taken.ok && taken.refusal.reason === 'invalid' ? refused(null, taken.refusal.message) : taken;

/**
 * Checks the hash of a downloaded file, which proves that it is the file of the message. An unencrypted file has no other protection, so its hash must be
 * present. Throws `MediaForged`.
 */
const verified = async ({ sha256, mediaKey }: MediaPart, taken: Result<TakenFile>): Promise<Result<TakenFile>> => {
  if (!taken.ok) return ofPlatform(taken);
  if ((sha256 === null && mediaKey !== null) || (sha256 !== null && taken.value.hash === sha256.toString('hex'))) return taken;
  await taken.value.discard();
  throw new MediaForged(sha256 === null ? 'an unencrypted file has no hash' : 'the file has another hash');
};

/** Downloads a file, with at most two attempts. The second attempt uses another host if there is one. */
const fetchFrom = async (connection: LiveConnection, part: MediaPart, signal: AbortSignal): Promise<Result<TakenFile>> => {
  const { downloads } = connection;
  const hosts = await hostsFor(connection, part);
  const [first = { host: DEF_MEDIA_HOST, offered: false }, second = first] = hosts;
  const attempt = async ({ host, offered }: MediaHost): Promise<Result<TakenFile>> => {
    const url = addressOn(host, pathOf(part));
    if (url === null) throw new MediaForged('its path leads away from the media hosts');
    const dispatcher = offered ? downloads.dispatcher : downloads.guarded;
    const stream = mediaStream(part, { url, signal, dispatcher, silenceMs: downloads.silenceMs });
    const { instance, most: maxBytes } = downloads;
    return verified(part, await downloads.receive(stream, { instance, filename: part.facts.filename, maxBytes, signal }));
  };
  return attempt(first).catch((error: unknown) => {
    if (error instanceof MediaBroken && !signal.aborted) return attempt(second);
    throw error;
  });
};

const goneText = 'the media is gone: neither the platform nor the phone has it any more';

/** Downloads the file of a message. `quoted`: true for the file of the quoted message. */
export const download = async (
  connection: LiveConnection,
  { message, quoted }: { readonly message: Message; readonly quoted: boolean },
  { signal }: Pick<OperationControl, 'signal'>,
): Promise<Result<TakenFile>> => {
  const part = mediaPartOf(message, quoted);
  if (part === null) return refuse('invalid', 'no media found in message');
  if (part.facts.size > connection.downloads.most) return tooLarge(connection.downloads.most);
  try {
    try {
      return await fetchFrom(connection, part, signal);
    } catch (error) {
      if (!(error instanceof MediaGone) || part.mediaKey === null || quoted) throw error;
    }
    const answer = await askPhone(connection.sock, keyOf(message), part.mediaKey, { ms: connection.downloads.phoneMs, signal });
    if (answer === 'silent')
      return refuse('unknown', 'the platform has dropped the media, and the phone did not answer in time: try again when it is online');
    if (answer === 'refused') return refuse('notFound', goneText);
    return await fetchFrom(connection, { ...part, url: '', directPath: answer.directPath }, signal);
  } catch (error) {
    if (signal.aborted) return notSent;
    return failureOf(error);
  }
};

const failureOf = (error: unknown): Failed => {
  if (error instanceof MediaGone) return refuse('notFound', goneText);
  if (error instanceof MediaForged) return refused(null, `the media is not what the message says: ${error.message}`);
  if (error instanceof MediaBroken) return refused(null, `the media could not be downloaded: ${error.message}`);
  throw error;
};
