/** Gateway methods for proxies. */
import type { InstanceId, ProxyCatalogue, ProxyMode, ProxyRegion, ProxySettings, Result } from '../model.ts';

export interface ProxyView {
  readonly settings: ProxySettings;
  /** The current route of a connection: the owner's proxy, the server's route (also as the fallback), or direct. */
  readonly effective: 'custom' | 'internal' | 'direct';
}

/** A change of the proxy settings. Absent fields keep their values. An absent mode follows from the other fields. */
export interface ProxyChange {
  readonly mode?: ProxyMode;
  /** The URL with its credentials. The masked form of the stored URL keeps the stored one. */
  readonly url?: string;
  readonly fallback?: boolean;
  readonly region?: ProxyRegion;
  /** True to choose another managed proxy of the same region. */
  readonly rotate?: boolean;
  /** A confirmation for the mode `none`, which reveals the server's own address. */
  readonly confirmNone?: boolean;
}

export interface ProxyFace {
  proxy(id: InstanceId): Result<ProxyView>;
  /**
   * Tests the proxy, then stores it. `restarted`: the running session reconnects through the gate with the same credentials. Refuses with
   * `unavailable` if the server has no working managed proxy, or with `conflict` if no other proxy is left to rotate to.
   */
  changeProxy(id: InstanceId, change: ProxyChange): Promise<Result<ProxyView & { readonly restarted: boolean; readonly rotated: boolean }>>;
  /** Returns the catalogue. Refuses (`unavailable`) if the server has none. */
  proxyCatalogue(): Result<ProxyCatalogue>;
}
