/** What an instance's settings of its proxy come to at this moment. Pure. */
import type { ProxySettings, Route } from '../model.ts';

export interface ProxyPolicy {
  /** Sessions may connect from the server's own address. */
  readonly direct: boolean;
  /** How long the fallback is used before a new connection tries the owner's proxy again, in milliseconds. */
  readonly primaryEvery: number;
}

/** Failures of a proxy in a row before its fallback, or another managed proxy, is used: the first one may be the network's fault. */
export const failuresBeforeFallback = 2;

const through = (url: string, managed: boolean): Route => ({ via: 'proxy', url, managed });
const serverRoute = ({ managedUrl }: ProxySettings, direct: boolean): Route =>
  managedUrl === '' ? { via: direct ? 'direct' : 'nowhere' } : through(managedUrl, true);

/** `primary`: the owner's proxy is tried although the fallback is in use. */
export const routeOf = (settings: ProxySettings, direct: boolean, primary = false): Route => {
  if (settings.mode === 'custom' && (primary || settings.fallbackSince === null)) return through(settings.url, false);
  if (settings.mode === 'none') return { via: direct ? 'direct' : 'nowhere' };
  return serverRoute(settings, direct);
};

export const effectiveOf = ({ mode, fallbackSince }: ProxySettings): 'custom' | 'internal' | 'direct' => {
  if (mode === 'none') return 'direct';
  return mode === 'custom' && fallbackSince === null ? 'custom' : 'internal';
};
