/**
 * Checks proxies, and reads the operator's file of managed proxies.
 */
import { readFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { DEFAULT_CONNECTION_CONFIG } from '@whiskeysockets/baileys';
import type { ProxyCatalogue, ProxyCity, ProxyCountry } from '#actors/model.ts';
import { agentThrough } from './route.ts';
import { Tunnel, type TunnelParts } from './tunnel.ts';

// The check of a proxy's address, and the test with a request to the platform.

const proxySchemes = ['http:', 'https:', 'socks5:', 'socks5h:', 'socks:'];

/** The limit of a user name or a password in bytes. SOCKS5 encodes each length in one byte. */
const longestCredential = 255;

/** Returns the fault of a proxy's address as a text; null for a usable address. */
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

/** Returns the platform's address with `http:` or `https:` instead of the WebSocket scheme. The host also answers ordinary requests. */
export const platformAddress = (url: string | null): URL => {
  const address = new URL(url ?? String(DEFAULT_CONNECTION_CONFIG.waWebSocketUrl));
  const secure = address.protocol === 'wss:';
  return new URL(`${secure ? 'https' : 'http'}://${address.host}${address.pathname}`);
};

/** The extra time beyond the tunnel's own time limit. In milliseconds. */
const graceMs = 500;

const lateText = 'no answer of the platform came through it in time';
const awayText = 'the platform cannot be reached through it';

/**
 * Tests a proxy with a request to the platform. Any answer proves a connection in both directions. Over TLS, it also proves that the platform answered.
 * Resolves with '' after an answer, and otherwise with the fault. Has a time limit, because the proxy may hang.
 */
export const testProxy = (parts: TunnelParts, to: URL): Promise<string> => {
  const tunnel = new Tunnel(parts);
  const secure = to.protocol === 'https:';
  let failure = '';
  const agent = agentThrough(tunnel, { secure, failed: ({ message }) => (failure = message) });
  const { promise, resolve } = Promise.withResolvers<string>();
  // This limit is later than the tunnel's own limit, whose error is more precise.
  const timer = setTimeout(() => resolve(failure || lateText), parts.timeoutMs + graceMs);
  const request = (secure ? secureRequest : plainRequest)(to, { agent });
  request.once('response', (response) => {
    response.resume();
    resolve('');
  });
  // With this listener, Node reports an unexpected status 101. Without this listener, Node would only destroy the connection.
  request.once('upgrade', () => resolve(awayText));
  // The request is destroyed when the result is known. This listener then ignores the error of the destroyed request.
  request.on('error', () => resolve(failure || awayText));
  request.once('close', () => resolve(failure || awayText));
  request.end();
  return promise.finally(() => {
    clearTimeout(timer);
    request.destroy();
    tunnel.close();
  });
};

// The operator's file of managed proxies. With an invalid file, the program does not start, and the error names the path of the invalid value.

type Json = Readonly<Record<string, unknown>>;

const objectOf = (value: unknown, where: string): Json => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${where} must be an object`);
  return value as Json;
};

const listOf = (value: unknown, where: string): readonly unknown[] => {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Error(`${where} must be a list`);
  return value;
};

const textOf = (value: unknown, where: string, pattern: RegExp = /\S/): string => {
  if (typeof value !== 'string' || !pattern.test(value)) throw new Error(`${where} must be a text like ${pattern.source}`);
  return value;
};

/** Reads a list of proxies. An address must be valid after each placeholder is replaced by a word. Placeholders are usually in the credentials. */
const proxiesOf = (value: unknown, where: string): readonly string[] =>
  listOf(value, where).map((entry, n) => {
    const address = textOf(entry, `${where}[${n}]`);
    const objection = proxyObjection(address.replaceAll(/\{(?:session|country|state|city)\}/g, 'x'));
    if (objection !== null) throw new Error(`${where}[${n}] is no proxy: ${objection}`);
    return address;
  });

const cityOf = (entry: unknown, where: string): ProxyCity => {
  const { value, label, state = '', state_label: stateLabel = '', raw_city: rawCity, proxies } = objectOf(entry, where);
  const name = textOf(value, `${where}.value`, /^[a-z0-9-]{1,64}$/);
  return {
    value: name,
    label: label === undefined ? name : textOf(label, `${where}.label`),
    state: textOf(state, `${where}.state`, /^[a-z0-9-]{0,16}$/),
    stateLabel: textOf(stateLabel, `${where}.state_label`, /^/),
    rawCity: rawCity === undefined ? name : textOf(rawCity, `${where}.raw_city`),
    proxies: proxiesOf(proxies, `${where}.proxies`),
  };
};

const countryOf = (entry: unknown, where: string): ProxyCountry => {
  const { value, label, proxies, cities } = objectOf(entry, where);
  const name = textOf(value, `${where}.value`, /^[a-z]{2}$/);
  return {
    value: name,
    label: label === undefined ? name : textOf(label, `${where}.label`),
    proxies: proxiesOf(proxies, `${where}.proxies`),
    cities: listOf(cities, `${where}.cities`).map((city, n) => cityOf(city, `${where}.cities[${n}]`)),
  };
};

/** Reads the file. Returns null if `path` is ''. Throws if the file cannot be read or is not valid. */
export const readCatalogue = (path: string): ProxyCatalogue | null => {
  if (path === '') return null;
  try {
    const { countries } = objectOf(JSON.parse(readFileSync(path, 'utf8')), 'the file');
    return listOf(countries, 'countries').map((country, n) => countryOf(country, `countries[${n}]`));
  } catch (error) {
    throw new Error(`PROXY_CATALOG cannot be used: ${error instanceof Error ? error.message : 'unknown error'}`, { cause: error });
  }
};
