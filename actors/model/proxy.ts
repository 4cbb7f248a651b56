/** How a session reaches the platform: through a proxy of its owner, by the server's own route, or directly. */

/** `custom`: a proxy of the owner's. `internal`: the server's route, which is a managed proxy where there is a catalogue. `none`: no proxy. */
export const proxyModes = ['custom', 'internal', 'none'] as const;

export type ProxyMode = (typeof proxyModes)[number];

/** A place of the catalogue, by the values that stand there; '' is any. */
export interface ProxyRegion {
  readonly country: string;
  readonly state: string;
  readonly city: string;
}

/** What is stored with an instance, sealed: it holds passwords. */
export interface ProxySettings {
  readonly mode: ProxyMode;
  /** Address of the owner's proxy with its credentials; '' in the other modes. */
  readonly url: string;
  /** The server's route is taken while the owner's proxy fails. */
  readonly fallback: boolean;
  readonly region: ProxyRegion;
  /** The managed proxy that was chosen for mode `internal` or for the fallback; '' when the server's route is a direct one. */
  readonly managedUrl: string;
  /** Unix milliseconds of the last test or use that said whether the proxy works; null before the first. */
  readonly lastTestAt: number | null;
  /** What was wrong then; '' when it worked. */
  readonly lastTestError: string;
  /** Unix milliseconds since when the fallback is used; null while it is not. */
  readonly fallbackSince: number | null;
  readonly fallbackReason: string;
}

export const noProxy: ProxySettings = {
  mode: 'none',
  url: '',
  fallback: false,
  region: { country: '', state: '', city: '' },
  managedUrl: '',
  lastTestAt: null,
  lastTestError: '',
  fallbackSince: null,
  fallbackReason: '',
};

/** An address as it may be shown. It is read as the connection reads it: `http:user:pass@host` has credentials too. */
export const maskedProxy = (url: string): string => {
  if (!url.includes('@')) return url;
  const parsed = URL.parse(url);
  return parsed === null || parsed.host === '' ? '***' : `${parsed.protocol}//***:***@${parsed.host}`;
};

/**
 * A place of the catalogue. `proxies` are addresses in which `{country}`, `{state}`, `{city}` and `{session}` are filled in: many providers choose
 * place and exit by the name of the user.
 */
export interface ProxyCity {
  readonly value: string;
  readonly label: string;
  readonly state: string;
  readonly stateLabel: string;
  /** The provider's own spelling, which `{city}` becomes. */
  readonly rawCity: string;
  readonly proxies: readonly string[];
}

export interface ProxyCountry {
  readonly value: string;
  readonly label: string;
  /** For the whole country, and for its cities that have none of their own. */
  readonly proxies: readonly string[];
  readonly cities: readonly ProxyCity[];
}

export type ProxyCatalogue = readonly ProxyCountry[];

/** What the next connection goes through. `nowhere`: it needs a proxy and has none. `managed`: the proxy is the operator's, and may lie anywhere. */
export type Route =
  | { readonly via: 'direct' }
  | { readonly via: 'nowhere' }
  | { readonly via: 'proxy'; readonly url: string; readonly managed: boolean };
