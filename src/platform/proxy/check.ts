/** Checks a proxy: its address, and whether an answer of the platform comes through it. */
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { DEFAULT_CONNECTION_CONFIG } from '@whiskeysockets/baileys';
import { agentThrough } from './agents.ts';
import { createTunnel, type TunnelParts } from './tunnel.ts';

export const proxySchemes = ['http:', 'https:', 'socks5:', 'socks5h:', 'socks:'];

/** Credentials of SOCKS5 have one byte for their length. */
const longestCredential = 255;

/** Returns why an address cannot be that of a proxy; null if it can. */
export const proxyObjection = (text: string): string | null => {
  const url = URL.parse(text);
  if (url === null || !proxySchemes.includes(url.protocol) || url.hostname === '')
    return `proxy_url must start with ${proxySchemes.map((scheme) => `${scheme}//`).join(', ')} and name a host`;
  if ((url.pathname !== '' && url.pathname !== '/') || url.search !== '' || url.hash !== '')
    return 'proxy_url must not have anything behind host and port';
  try {
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    const bytes = Math.max(Buffer.byteLength(user), Buffer.byteLength(password));
    // eslint-disable-next-line no-control-regex
    return bytes > longestCredential || /[\0-\x1f\x7f]/.test(user + password) ? 'the credentials of proxy_url make no sense' : null;
  } catch {
    return 'the credentials of proxy_url are not percent-encoded correctly';
  }
};

/** The platform's address as one that answers usual requests. */
export const platformAddress = (url: string | null): URL => {
  const address = new URL(url ?? String(DEFAULT_CONNECTION_CONFIG.waWebSocketUrl));
  const secure = address.protocol === 'wss:';
  return new URL(`${secure ? 'https' : 'http'}://${address.host}${address.pathname}`);
};

/** Milliseconds. */
const graceMs = 500;

const lateText = 'no answer of the platform came through it in time';
const awayText = 'the platform cannot be reached through it';

/**
 * Any answer of the platform will do: it shows that bytes go both ways, and over TLS from whom. '' when one came, else what was wrong. Ends in time,
 * whatever the proxy does.
 */
export const testProxy = (parts: TunnelParts, to: URL): Promise<string> => {
  const tunnel = createTunnel(parts);
  const secure = to.protocol === 'https:';
  let failure = '';
  const agent = agentThrough(tunnel, { secure, failed: ({ message }) => (failure = message) });
  const { promise, resolve } = Promise.withResolvers<string>();
  // Later than the tunnel's own limit, which says more exactly what is missing.
  const timer = setTimeout(() => resolve(failure || lateText), parts.timeoutMs + graceMs);
  const request = (secure ? secureRequest : plainRequest)(to, { agent });
  request.once('response', (response) => {
    response.resume();
    resolve('');
  });
  // The request asks for no other protocol. Without this listener a 101 would end the request without an event.
  request.once('upgrade', () => resolve(awayText));
  // Also after the end, when the connection is closed under it.
  request.on('error', () => resolve(failure || awayText));
  request.once('close', () => resolve(failure || awayText));
  request.end();
  return promise.finally(() => {
    clearTimeout(timer);
    request.destroy();
    tunnel.close();
  });
};
