/**
 * Resolves names that users gave. The look-up of the system (`getaddrinfo`) occupies a thread of Node's pool until the name server answers, and only two
 * threads do look-ups. A few names whose servers stay silent would stop the look-ups of the whole process for minutes. Queries of a `Resolver` need no thread.
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { callbackify } from 'node:util';

type AllOptions = LookupOptions & { readonly all: true };
type Find = (host: string, options: AllOptions) => Promise<LookupAddress[]>;
/** A look-up in the form of `dns.lookup`, which returns all addresses. */
export type Resolve = (
  host: string,
  options: AllOptions,
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

interface NameOptions {
  /** The name servers, such as `127.0.0.1:53`. Those of the system if absent. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  readonly resolverFile?: string;
  /** The time limit of the first query; 1,500 if absent. The second query waits twice as long. In milliseconds. */
  readonly queryMs?: number;
  readonly system?: Find;
}

/**
 * The time for which a resolver is used. A resolver reads the name servers of the system only when it is made, and the name servers may change. In
 * milliseconds.
 */
const resolverLifeMs = 30_000;
/** The longest wait of a system look-up for the look-ups before it. In milliseconds. */
const turnMs = 5_000;

/**
 * Error codes of queries after which the look-up of the system is tried, because the system may know other sources. These errors come without a long wait, so
 * the look-up of the system is rarely slow.
 */
const unknownNames: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EREFUSED']);

const failure = (code: string, host: string): NodeJS.ErrnoException => Object.assign(new Error(`getaddrinfo ${code} ${host}`), { code });

/** Returns the addresses of a name in the text of a hosts file. */
const addressesIn = (text: string, host: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
    .filter(([, ...names]) => names.some((name) => name.toLowerCase() === host.toLowerCase()))
    .map(([address = '']) => address)
    .filter((address) => isIP(address) > 0);

/**
 * Returns the names to query for a host name, in their order. `text`: the content of `resolv.conf(5)`. A name with fewer dots than `ndots` is looked up in the
 * search domains first. In a cluster of Kubernetes (`ndots:5`), `hooks.dev` is the service `hooks` of the namespace `dev`, and not a name of the internet.
 */
const queriedNames = (text: string, host: string): readonly string[] => {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const domains = lines.findLast(([word]) => word === 'search' || word === 'domain')?.slice(1) ?? [];
  const option = lines.flatMap(([word, ...options]) => (word === 'options' ? options : [])).findLast((one) => one.startsWith('ndots:'));
  const dots = host.split('.').length - 1;
  const isSearched = !host.endsWith('.') && dots < Number(option?.slice('ndots:'.length) ?? 1);
  return isSearched ? [...domains.map((domain) => `${host}.${domain.replace(/^\.|\.$/g, '')}`), host] : [host];
};

/** Returns true if this machine has IPv6 addresses and no IPv4 address. Loopback addresses are ignored. */
const isIpv6Only = (): boolean => {
  const families = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).filter(({ internal }) => !internal).map((one) => one.family),
  );
  return families.includes('IPv6') && !families.includes('IPv4');
};

/**
 * Returns the addresses of `family`: 4, 6, or 0 for both. If this machine has only IPv6, IPv6 addresses come first, because some connectors try only the first
 * address.
 */
const wanted = (addresses: readonly string[], family: number): LookupAddress[] => {
  const found = addresses.map((address) => ({ address, family: isIP(address) })).filter((one) => family === 0 || one.family === family);
  return found.length > 1 && isIpv6Only() ? found.toSorted((a, b) => b.family - a.family) : found;
};

/** Runs one system look-up after another, so that names whose servers stay silent occupy at most one thread. */
class SerialLookups {
  readonly #system: Find;
  #last: Promise<unknown> = Promise.resolve();

  constructor(system: Find) {
    this.#system = system;
  }

  ask(host: string, family: number): Promise<LookupAddress[]> {
    const begun = performance.now();
    const answer = this.#last.then(() => {
      if (performance.now() - begun > turnMs) throw failure('EAI_AGAIN', host);
      return this.#system(host, { family, all: true });
    });
    this.#last = answer.catch(() => undefined);
    return answer;
  }
}

/** Asks the name servers. */
class Queries {
  readonly #servers: readonly string[] | undefined;
  readonly #queryMs: number;
  #resolver: Resolver | null = null;
  #madeAt = 0;

  constructor(servers: readonly string[] | undefined, queryMs: number) {
    this.#servers = servers;
    this.#queryMs = queryMs;
  }

  /**
   * Returns the addresses of `family`: 4, 6, or 0 for both with IPv4 first. Rejects if there are none. If one query finds no such name and the other query
   * fails, rejects with the failure.
   */
  async addresses(host: string, family: number): Promise<readonly string[]> {
    const resolver = this.#current();
    const answers = await Promise.allSettled([
      ...(family === 6 ? [] : [resolver.resolve4(host)]),
      ...(family === 4 ? [] : [resolver.resolve6(host)]),
    ]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found;
    const errors = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as NodeJS.ErrnoException] : []));
    throw errors.find(({ code }) => !unknownNames.has(code)) ?? errors[0] ?? failure('ENOTFOUND', host);
  }

  #current(): Resolver {
    if (this.#resolver === null || performance.now() - this.#madeAt > resolverLifeMs) {
      this.#resolver = new Resolver({ timeout: this.#queryMs, tries: 2 });
      this.#madeAt = performance.now();
      if (this.#servers) this.#resolver.setServers(this.#servers);
    }
    return this.#resolver;
  }
}

/**
 * Makes a look-up for names that users gave. The order is that of most systems: the hosts file, the name servers, then everything else that the system
 * knows. Fails with the codes of `dns.lookup`.
 */
export const createResolve = ({
  servers,
  hostsFile = '/etc/hosts',
  resolverFile = '/etc/resolv.conf',
  queryMs = 1_500,
  system = lookup,
}: NameOptions = {}): Resolve => {
  const lookups = new SerialLookups(system);
  const queries = new Queries(servers, queryMs);
  const underWay = new Map<string, Promise<LookupAddress[]>>();
  const find = async (host: string, family: number): Promise<LookupAddress[]> => {
    const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');
    const [hosts, settings] = await Promise.all([read(hostsFile), read(resolverFile)]);
    const listed = wanted(addressesIn(hosts, host), family);
    if (listed.length > 0) return listed;
    for (const name of queriedNames(settings, host)) {
      try {
        return wanted(await queries.addresses(name, family), family);
      } catch (error) {
        if (!unknownNames.has((error as NodeJS.ErrnoException).code)) throw failure('EAI_AGAIN', host);
      }
    }
    return lookups.ask(host, family);
  };
  const addressesOf: Find = (host, options) => {
    // A name without a dot belongs to the network of the gateway, such as a container. No stranger can delay the answer of its name server.
    if (isIP(host) > 0 || !host.includes('.') || /\.localhost\.?$/.test(host)) return system(host, options);
    const family = options.family === 'IPv4' ? 4 : options.family === 'IPv6' ? 6 : (options.family ?? 0);
    // Concurrent callers with the same name share one look-up.
    const key = `${family} ${host}`;
    const found = underWay.get(key) ?? find(host, family).finally(() => underWay.delete(key));
    underWay.set(key, found);
    return found;
  };
  return callbackify(addressesOf);
};
