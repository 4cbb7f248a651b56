/** The hosts for uploads and the token for them: queried from the platform, and cached for as long as it says. */
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, type WASocket } from '@whiskeysockets/baileys';

export interface MediaHosts {
  readonly auth: string;
  /** Host names, with a port where there is one, in the order in which they are tried; at least one. */
  readonly names: readonly string[];
  /** Unix milliseconds. */
  readonly until: number;
}

const request: BinaryNode = {
  tag: 'iq',
  attrs: { type: 'set', xmlns: 'w:m', to: '@s.whatsapp.net' },
  content: [{ tag: 'media_conn', attrs: {} }],
};

const hostsOf = (answer: BinaryNode, now: number): MediaHosts => {
  const { attrs = {} } = getBinaryNodeChild(answer, 'media_conn') ?? {};
  const hosts = getBinaryNodeChildren(getBinaryNodeChild(answer, 'media_conn'), 'host').map(({ attrs: host }) => host);
  const ordered = [...hosts.filter(({ type }) => type !== 'fallback'), ...hosts.filter(({ type }) => type === 'fallback')];
  const names = [...ordered.map(({ hostname }) => hostname), ...ordered.map(({ fallback_hostname: name }) => name)];
  const seconds = Math.min(Number(attrs['ttl'] ?? 0), Number(attrs['auth_ttl'] ?? attrs['ttl'] ?? 0));
  return {
    auth: attrs['auth'] ?? '',
    names: [...new Set(names.filter((name): name is string => Boolean(name)))],
    until: now + (Number.isFinite(seconds) ? seconds : 0) * 1000,
  };
};

/**
 * Asks by itself and not through the library, which remembers a question that failed for as long as its connection lasts. Rejects with what
 * the library's query rejects with.
 */
export const createMediaHosts = (sock: Pick<WASocket, 'query'>, now: () => number) => {
  let known: Promise<MediaHosts> | null = null;
  const ask = (): Promise<MediaHosts> => {
    const asked: Promise<MediaHosts> = sock.query(request).then((answer: BinaryNode) => hostsOf(answer, now()));
    known = asked;
    asked.catch(() => {
      if (known === asked) known = null;
    });
    return asked;
  };
  /** Newer ones than those whose right was refused or has run out. */
  const after = async (stale: MediaHosts): Promise<MediaHosts> => {
    const hosts = await (known ?? ask());
    return hosts === stale ? ask() : hosts;
  };
  return {
    after,
    async current(): Promise<MediaHosts> {
      const hosts = await (known ?? ask());
      return hosts.until > now() ? hosts : after(hosts);
    },
  };
};

export type MediaHostList = ReturnType<typeof createMediaHosts>;
