/**
 * Decides which addresses from users may be reached. A URL is checked when it is configured. Each resolved address is checked at every connection.
 */
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { createResolve, type Resolve } from './names.ts';

/** All guards of the process use this function, so that they share queries and the queue of system look-ups. */
const resolveNames = createResolve();

type Class = 'metadata' | 'loopback' | 'private' | 'unspecified' | 'link-local' | 'multicast' | 'reserved';

/**
 * The special ranges of the registries of IANA (RFC 6890 and later). The first class that matches applies. All other addresses are public. Metadata services
 * (AWS, Alibaba, Azure, Oracle) come first, because most of their addresses are inside ranges of other classes.
 */
const policy: readonly (readonly [Class, readonly string[]])[] = [
  ['metadata', ['169.254.169.254/32', '169.254.170.2/32', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32']],
  // Metadata services of AWS, Google and Oracle over IPv6, in the private range.
  ['metadata', ['fd00:ec2::254/128', 'fd20:ce::254/128', 'fd00:c1::a9fe:a9fe/128']],
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', '64:ff9b:1::/48']],
  ['unspecified', ['0.0.0.0/8', '::/128']],
  ['link-local', ['169.254.0.0/16', 'fe80::/10', 'fec0::/10']],
  ['multicast', ['224.0.0.0/4', 'ff00::/8']],
  // IPv4 ranges of the registry, then the IPv6 ranges: IPv4-compatible, discard, 2001::/23 with Teredo, and documentation.
  ['reserved', ['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '240.0.0.0/4']],
  ['reserved', ['::/96', '100::/64', '2001::/23', '2001:db8::/32', '3fff::/20']],
];

/**
 * IPv6 ranges that lead to an IPv4 address: NAT64 (RFC 6052), IPv4-translated addresses (RFC 2765), and 6to4. `BlockList` itself matches mapped addresses
 * (`::ffff:…`).
 */
const wrappings: readonly ((address: string, prefix: number) => readonly [string, number])[] = [
  (address, prefix) => [`64:ff9b::${address}`, 96 + prefix],
  (address, prefix) => [`::ffff:0:${address}`, 96 + prefix],
  (address, prefix) => {
    const [a, b, c, d] = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
    return [`2002:${a}${b}:${c}${d}::`, 16 + prefix];
  },
];

const listOf = (subnets: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = '', bits] = subnet.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    const prefix = Number(bits ?? (family === 'ipv4' ? 32 : 128));
    list.addSubnet(address, prefix, family);
    if (family === 'ipv4') for (const wrap of wrappings) list.addSubnet(...wrap(address, prefix), 'ipv6');
  }
  return list;
};

const lists = policy.map(([name, subnets]) => [name, listOf(subnets)] as const);

/** The refusal of a connection whose address is not allowed. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ADDRESS_REFUSED';
}

export interface GuardOptions {
  /** Allowed addresses beside public ones: `private`, `loopback`, subnets and addresses. A subnet or an address in `allow` overrides all other rules. */
  readonly allow: readonly string[];
  /** The name of the setting that has the value of `allow`. Refusals contain this name. */
  readonly setting?: string;
  readonly resolve?: Resolve;
}

export class AddressGuard {
  readonly #setting: string;
  readonly #words: ReadonlySet<string>;
  readonly #exceptions: BlockList;
  /** Resolves a name for a connector. Fails with `AddressRefused` if one of the addresses is not allowed. */
  readonly lookup: LookupFunction;

  constructor({ allow, setting = 'ALLOW_PRIVATE_RECEIVERS', resolve = resolveNames }: GuardOptions) {
    this.#setting = setting;
    this.#words = new Set(allow);
    this.#exceptions = listOf(allow.filter((entry) => isIP(entry.split('/')[0] ?? '') > 0));
    this.lookup = (host, options, callback) =>
      resolve(host, { ...options, all: true }, (error, found) => {
        if (error) return callback(error, []);
        const refusal = found.map(({ address }) => this.#refusalOf(address)).find((reason) => reason !== null);
        if (refusal) return callback(new AddressRefused(`url points to ${this.#notAllowed(refusal)}`), []);
        const [first] = found;
        if (options.all || !first) return callback(null, found);
        callback(null, first.address, first.family);
      });
  }

  /**
   * Returns the reason to refuse this URL, such as `url points to an address that is not allowed (loopback): see …`. Returns null if
   * the URL may be used. Resolves no names.
   */
  checkUrl(text: string): string | null {
    const url = URL.parse(text);
    if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return 'url must start with http:// or https://';
    if (url.username || url.password) return 'url must not hold credentials';
    // The parser has turned every notation of an IPv4 address (hex, octal, one number) into dotted decimals.
    const refusal = this.checkHost(url.hostname.replace(/^\[|\]$/g, ''));
    return refusal === null ? null : `url points to ${refusal}`;
  }

  /**
   * Returns the reason to refuse a host, as the end of a sentence such as `an address that is not allowed (loopback): see …`. Returns null if the host
   * may be used. Names other than `localhost` are accepted, because `lookup` checks their addresses.
   */
  checkHost(host: string): string | null {
    const local = /^(?:.*\.)?localhost\.?$/.test(host);
    const refusal = isIP(host) > 0 || local ? this.#refusalOf(local ? '127.0.0.1' : host) : null;
    return refusal === null ? null : this.#notAllowed(refusal);
  }

  #notAllowed(found: Class): string {
    return `an address that is not allowed (${found}): see ${this.#setting}`;
  }

  #refusalOf(literal: string): Class | null {
    const address = literal.split('%')[0] ?? '';
    const version = isIP(address);
    if (version === 0) return 'reserved';
    const family = version === 4 ? 'ipv4' : 'ipv6';
    if (this.#exceptions.check(address, family)) return null;
    const found = lists.find(([, list]) => list.check(address, family))?.[0];
    return found === undefined || this.#words.has(found) ? null : found;
  }
}

// The HTTP client for addresses that users gave. It is guarded, pooled and bounded, and its errors contain no secret.

/** Makes the client. `connections`: the largest number of connections for each host. `most`: the largest size of an answer, in bytes; -1 for no bound. */
export const createAgent = (guard: AddressGuard, timeoutMs: number, connections = 64, most = -1): Agent =>
  new Agent({
    // Without multiplexing, an answer never waits for another answer on the same connection. A slow receiver holds its own connections only.
    allowH2: false,
    pipelining: 1,
    connections,
    keepAliveTimeout: 10_000,
    connect: { lookup: guard.lookup, timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: 16_384,
    maxResponseSize: most,
  });

/** Returns a signal that aborts after `ms`, and a function that clears its timer. An `AbortSignal.timeout` would outlive each request that ends earlier. */
export const deadline = (ms: number): { readonly signal: AbortSignal; readonly clear: () => void } => {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
};

const sentences: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'connection closed before the answer'],
  [/^ENOTFOUND$/, 'host not found'],
  [/^EAI_/, 'host name could not be looked up'],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'host unreachable'],
  [/^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/, 'no answer in time'],
  [/^(?:UND_ERR_ABORTED|ABORT_ERR|AbortError)$/, 'no answer in time'],
  [/^(?:UND_ERR_DESTROYED|UND_ERR_CLOSED)$/, 'the server is stopping'],
  [/^(?:HTTPParserError|HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES)/, 'the answer is not valid HTTP'],
  [/CERT|VERIFY|SSL|TLS|EPROTO/, 'TLS failed'],
];

/** Returns a readable reason without the URL or any part of the URL. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AddressRefused) return error.message;
  const { code, name } = error as { code?: unknown; name?: unknown };
  const word = typeof code === 'string' ? code : String(name);
  const sentence = sentences.find(([pattern]) => pattern.test(word))?.[1];
  return sentence === undefined ? word : sentence === 'TLS failed' ? `${sentence} (${word})` : sentence;
};
