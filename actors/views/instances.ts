/** Gateway methods for instances. */
import type { InstanceId, InstancePatch, InstanceRecord, PasskeyNotice, ProxyRegion, Result, Status } from '../model.ts';

/** A record with the current state of its actor. */
export interface InstanceView {
  readonly record: InstanceRecord;
  readonly status: Status;
  /** True if the session is authenticated and live. */
  readonly connected: boolean;
  /** True if credentials of a finished pairing exist. */
  readonly loggedIn: boolean;
  /** PNG data URL of the current QR code; '' if there is none. */
  readonly qrcode: string;
  readonly paircode: string;
  /** The passkey stage, if the platform asks for the account's passkey; else null or absent. */
  readonly passkey?: PasskeyNotice | null;
  readonly presence: 'available' | 'unavailable';
}

/** The additional fields in the answers of a disconnect and of a removal. */
export interface Unlinked {
  /** The reason why the phone still lists the device, so that a person has to remove it; '' if the phone does not list it. */
  readonly stillLinked: string;
}

/** An instance that was logged out. */
export interface DisconnectedView extends InstanceView, Unlinked {}

/** The presentation of an instance on the phone's list of devices; '' for the default. Kept for the next pairing. */
export type DeviceLook = Pick<InstanceRecord, 'systemName' | 'browser' | 'system'>;

/** Commands on instances. The commands refuse an unknown id with `notFound`. */
export interface InstanceFace {
  /** Creates an instance. With a region it gets a managed proxy, which is tested first (`changeProxy`). */
  create(
    input: { readonly name: string; readonly adminField01: string; readonly adminField02: string } & DeviceLook,
    region?: ProxyRegion,
  ): Promise<Result<InstanceView>>;
  all(): readonly InstanceView[];
  /** Returns all instances as their owners see them, on any node. */
  everywhere(): Promise<readonly InstanceView[]>;
  view(id: InstanceId): InstanceView | null;
  /** Returns the instance as the owner of its session sees it, on any node. */
  current(id: InstanceId): Promise<InstanceView | null>;
  /**
   * Starts pairing or connecting. The same request joins a pairing in progress; another request restarts the pairing. Resolves with the requested
   * result (a QR, the code for the number, a connection) or a refusal, within some seconds.
   */
  connect(
    id: InstanceId,
    options: {
      readonly phone?: string;
      readonly region?: ProxyRegion;
      /** True if another account may be paired. The instance then starts empty. */
      readonly allowAccountChange?: boolean;
    } & Partial<DeviceLook>,
  ): Promise<Result<InstanceView>>;
  /** Logs out and deletes the credentials. The next start resumes an interrupted logout. */
  disconnect(id: InstanceId): Promise<Result<DisconnectedView>>;
  /** Closes the running session and reopens it with the same credentials. */
  reset(id: InstanceId): Promise<Result<InstanceView>>;
  /** Closes the session and keeps the credentials. */
  hibernate(id: InstanceId): Promise<Result<InstanceView>>;
  update(id: InstanceId, patch: InstancePatch): Promise<Result<InstanceView>>;
  /** Sets names of lead fields; '' removes a name. Concurrent calls do not overwrite each other's names. */
  nameLeadFields(id: InstanceId, names: Readonly<Record<string, string>>): Promise<Result<InstanceView>>;
  /** Logs out and deletes the instance with all its data. The rows of the instance are deleted in the background. */
  remove(id: InstanceId): Promise<Result<Unlinked>>;
  /**
   * Creates a new token. The old token becomes void at once and its streams end. `held`: the caller's token. A void token is refused (`conflict`), so
   * of concurrent calls with one token only one succeeds. An administrator leaves `held` out.
   */
  rotateToken(id: InstanceId, held?: string): Promise<Result<InstanceView>>;
  /** Creates a new admin token of 50 letters and digits. Refuses with `limited` and `retryAfter` during the cooldown. */
  rotateAdminToken(): Promise<Result<string>>;
  presence(id: InstanceId, presence: 'available' | 'unavailable'): Promise<Result<null>>;
}
