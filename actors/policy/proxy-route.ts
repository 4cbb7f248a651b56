/** Derives the current route from the proxy settings of an instance. Pure. */
import type { ProxySettings, Route } from '../model.ts';

export interface ProxyPolicy {
  /** True if sessions may connect from the server's own address. */
  readonly direct: boolean;
  /** The time for which the fallback is used before a new connection tries the owner's proxy again. In milliseconds. */
  readonly primaryEvery: number;
}

/** The number of consecutive failures before the fallback, or another managed proxy, is used. The network may have caused a single failure. */
export const failuresBeforeFallback = 2;

const through = (url: string, managed: boolean): Route => ({ via: 'proxy', url, managed });
const serverRoute = ({ managedUrl }: ProxySettings, direct: boolean): Route =>
  managedUrl === '' ? { via: direct ? 'direct' : 'nowhere' } : through(managedUrl, true);

/** Returns the route. `primary`: use the owner's proxy although the fallback is active. */
export const routeOf = (settings: ProxySettings, direct: boolean, primary = false): Route => {
  if (settings.mode === 'custom' && (primary || settings.fallbackSince === null)) return through(settings.url, false);
  if (settings.mode === 'none') return { via: direct ? 'direct' : 'nowhere' };
  return serverRoute(settings, direct);
};

export const effectiveOf = ({ mode, fallbackSince }: ProxySettings): 'custom' | 'internal' | 'direct' => {
  if (mode === 'none') return 'direct';
  return mode === 'custom' && fallbackSince === null ? 'custom' : 'internal';
};
