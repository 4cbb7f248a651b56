/** Loopback names and addresses, which always mean this machine. */
import { isIPv4 } from 'node:net';

/** Host names in URLs that mean this machine without a DNS look-up. */
export const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

const hostnameOf = (host: string): string => {
  const url = URL.parse(`http://${host}`);
  return url !== null && url.pathname === '/' && url.username === '' ? url.hostname : '';
};

/** Returns true for a loopback name or address, with or without a port. A request with any other name could be a DNS rebinding attack. */
export const isLoopback = (host: string): boolean => {
  const name = hostnameOf(host);
  return loopbackHosts.has(name) || name.endsWith('.localhost') || (isIPv4(name) && name.startsWith('127.'));
};

/** Returns true for a loopback address to listen on. An IPv6 address has no brackets. */
export const isLoopbackAddress = (address: string): boolean => isLoopback(address.includes(':') ? `[${address}]` : address);
