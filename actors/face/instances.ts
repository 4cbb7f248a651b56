/** What the gateway offers on instances. */
import type { InstanceId, InstancePatch, InstanceRecord, PasskeyNotice, ProxyRegion, Result, Status } from '../model.ts';

/** A record together with what its actor says now. */
export interface InstanceView {
  readonly record: InstanceRecord;
  readonly status: Status;
  /** Authenticated and live. */
  readonly connected: boolean;
  /** Credentials of a finished pairing exist. */
  readonly loggedIn: boolean;
  /** PNG data URL, '' when there is none now. */
  readonly qrcode: string;
  readonly paircode: string;
  /** The platform asks for the account's passkey; null or absent: it does not. */
  readonly passkey?: PasskeyNotice | null;
  readonly presence: 'available' | 'unavailable';
}

/** What the answers of a disconnect and of a removal say beside the instance. */
export interface Unlinked {
  /** Why the phone still lists the device, so that somebody has to remove it there; '' when it does not. */
  readonly stillLinked: string;
}

/** An instance that was logged out. */
export interface DisconnectedView extends InstanceView, Unlinked {}

/** How an instance presents itself when it is linked; '' is the usual value. Kept for the next pairing. */
export type DeviceLook = Pick<InstanceRecord, 'systemName' | 'browser' | 'system'>;

/** Commands on instances. An id that is unknown is a refusal `notFound`. */
export interface InstanceFace {
  /** With a region it gets a managed proxy, which is tested first (`changeProxy`). */
  create(
    input: { readonly name: string; readonly adminField01: string; readonly adminField02: string } & DeviceLook,
    region?: ProxyRegion,
  ): Promise<Result<InstanceView>>;
  all(): readonly InstanceView[];
  /** The same, as their owners see them, on whatever nodes those are. */
  everywhere(): Promise<readonly InstanceView[]>;
  view(id: InstanceId): InstanceView | null;
  /** The same as the owner of the session sees it, on whatever node that is. */
  current(id: InstanceId): Promise<InstanceView | null>;
  /**
   * Starts pairing or connecting; the same request joins what is under way, another one begins a pairing anew. Answers when there is what it asked for
   * (a QR, the code for its number, a connection) or a refusal, at the latest after some seconds.
   */
  connect(
    id: InstanceId,
    options: {
      readonly phone?: string;
      readonly region?: ProxyRegion;
      /** Another account than before may be paired: the instance then begins empty. */
      readonly allowAccountChange?: boolean;
    } & Partial<DeviceLook>,
  ): Promise<Result<InstanceView>>;
  /** Logs out and deletes the credentials. What a crash or a stop interrupts is taken up again. */
  disconnect(id: InstanceId): Promise<Result<DisconnectedView>>;
  /** Closes the running session and opens it again with the same credentials. */
  reset(id: InstanceId): Promise<Result<InstanceView>>;
  /** Closes the session, keeps the credentials. */
  hibernate(id: InstanceId): Promise<Result<InstanceView>>;
  update(id: InstanceId, patch: InstancePatch): Promise<Result<InstanceView>>;
  /** Names of lead fields: those that are given change, empty ones go. Calls at once lose nothing of each other. */
  nameLeadFields(id: InstanceId, names: Readonly<Record<string, string>>): Promise<Result<InstanceView>>;
  /** Logs out and deletes the instance with everything that belongs to it; its rows go in the background. */
  remove(id: InstanceId): Promise<Result<Unlinked>>;
  /**
   * The new token; the old one is void at once and its streams end. `held`: the caller's token; refused (`conflict`) when it is void by now, so that
   * of several calls with one token one is answered with a token. Whoever holds none leaves it out.
   */
  rotateToken(id: InstanceId, held?: string): Promise<Result<InstanceView>>;
  /** The new admin token, 50 letters and digits; `capped` with `retryAfter` inside the cooldown. */
  rotateAdminToken(): Promise<Result<string>>;
  presence(id: InstanceId, presence: 'available' | 'unavailable'): Promise<Result<null>>;
}
