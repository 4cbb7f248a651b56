/** What the gateway offers on proxies. */
import type { InstanceId, ProxyCatalogue, ProxyMode, ProxyRegion, ProxySettings, Result } from '../model.ts';

export interface ProxyView {
  readonly settings: ProxySettings;
  /** What a connection goes through now: the owner's proxy, the server's route (which may be the fallback), or nothing. */
  readonly effective: 'custom' | 'internal' | 'direct';
}

/** Fields that are absent stay as they are. Without a mode it follows from the other fields. */
export interface ProxyChange {
  readonly mode?: ProxyMode;
  /** With credentials. The masked form of the stored one means the stored one. */
  readonly url?: string;
  readonly fallback?: boolean;
  readonly region?: ProxyRegion;
  /** Another managed proxy of the same region. */
  readonly rotate?: boolean;
  /** The mode `none` shows the server's own address, and has to be confirmed. */
  readonly confirmNone?: boolean;
}

export interface ProxyFace {
  proxy(id: InstanceId): Result<ProxyView>;
  /**
   * Tests the proxy, then stores it. `restarted`: the running session connects anew, through the gate, with the same credentials. Refused
   * (`unavailable`) where managed proxies are asked for and the server has none that works; (`conflict`) when there is none to rotate to.
   */
  changeProxy(id: InstanceId, change: ProxyChange): Promise<Result<ProxyView & { readonly restarted: boolean; readonly rotated: boolean }>>;
  /** Refused (`unavailable`) when the server has none. */
  proxyCatalogue(): Result<ProxyCatalogue>;
}
