/** The route of a session to the platform: the owner's proxy, the route of the server, or a direct connection. */

/**
 * The modes of the proxy settings. `custom`: a proxy of the owner. `internal`: the server's route, which is a managed proxy if there is a catalogue.
 * `none`: no proxy.
 */
export const proxyModes = ['custom', 'internal', 'none'] as const;

export type ProxyMode = (typeof proxyModes)[number];

/** A place of the catalogue, in the spelling of the catalogue; '' matches any place. */
export interface ProxyRegion {
  readonly country: string;
  readonly state: string;
  readonly city: string;
}

/** The proxy settings of an instance. The settings hold passwords and are stored sealed. */
export interface ProxySettings {
  readonly mode: ProxyMode;
  /** Address of the owner's proxy with its credentials; '' in the other modes. */
  readonly url: string;
  /** True if the session uses the server's route while the owner's proxy fails. */
  readonly fallback: boolean;
  readonly region: ProxyRegion;
  /** The managed proxy that was chosen for mode `internal` or for the fallback; '' if the server's route is direct. */
  readonly managedUrl: string;
  /** The time of the last test or use that showed if the proxy works. Unix milliseconds; null before the first. */
  readonly lastTestAt: number | null;
  /** The error of that test or use; '' if the proxy worked. */
  readonly lastTestError: string;
  /** The start of the fallback. Unix milliseconds; null if the fallback is not in use. */
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

/** Masks the credentials in an address for display. The parser is that of the connection, because `http:user:pass@host` has credentials too. */
export const maskedProxy = (url: string): string => {
  if (!url.includes('@')) return url;
  const parsed = URL.parse(url);
  return parsed === null || parsed.host === '' ? '***' : `${parsed.protocol}//***:***@${parsed.host}`;
};

/**
 * A city of the catalogue. `proxies` are address templates with `{country}`, `{state}`, `{city}` and `{session}`. Many providers select the place and
 * the exit by the user name.
 */
export interface ProxyCity {
  readonly value: string;
  readonly label: string;
  readonly state: string;
  readonly stateLabel: string;
  /** The provider's own spelling. The spelling replaces `{city}`. */
  readonly rawCity: string;
  readonly proxies: readonly string[];
}

export interface ProxyCountry {
  readonly value: string;
  readonly label: string;
  /** Addresses for the whole country, and for its cities without addresses of their own. */
  readonly proxies: readonly string[];
  readonly cities: readonly ProxyCity[];
}

export type ProxyCatalogue = readonly ProxyCountry[];

/** The route of the next connection. `nowhere`: a proxy is required and none is known. `managed`: the operator's proxy, whose address may be private. */
export type Route =
  | { readonly via: 'direct' }
  | { readonly via: 'nowhere' }
  | { readonly via: 'unreadable' }
  | { readonly via: 'proxy'; readonly url: string; readonly managed: boolean };
