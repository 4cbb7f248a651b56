/** The platform's own media hosts. A message or a client may name any other, and its owner would learn our address. */
import { DEF_MEDIA_HOST, type WASocket } from '@whiskeysockets/baileys';

const isPlatforms = (host: string): boolean => host === DEF_MEDIA_HOST || host.endsWith('.whatsapp.net');

/** Hosts that the platform offers for transfers now; none when it does not answer. */
export const offeredHosts = (sock: Pick<WASocket, 'refreshMediaConn'>): Promise<readonly string[]> =>
  sock.refreshMediaConn(false).then(
    ({ hosts }) => hosts.map(({ hostname }) => hostname),
    () => [],
  );

/** `host`: with its port, where it has one. */
export const isMediaHost = (host: string, offered: readonly string[]): boolean =>
  host !== '' && (isPlatforms(host) || offered.includes(host));

/**
 * The address of a path on a host; null when the path leads elsewhere. Senders of messages choose the path, and could write `@127.0.0.1/x` or
 * `.example.org/x`, which continue the name of the host.
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
