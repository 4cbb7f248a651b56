/** Instances as they are stored. */
import type { ProxySettings } from './proxy.ts';

/** The id of an instance: `r` and 14 hex digits. */
export type InstanceId = string;

/** The four statuses of the API. */
export const statuses = ['disconnected', 'connecting', 'connected', 'hibernated'] as const;

export type Status = (typeof statuses)[number];

/**
 * The state that the operator requested last. The wanted state decides what happens at the next start, so it is always stored. `unlinked`: the
 * session still has to log out at the platform and lose its credentials. The wanted state then becomes `offline`.
 */
export const wantedStates = ['offline', 'online', 'asleep', 'unlinked'] as const;

export type Wanted = (typeof wantedStates)[number];

/** Browsers and systems that the platform accepts in a request of a pairing code. The first of each list is the default. */
export const deviceBrowsers = ['chrome', 'edge', 'firefox', 'safari'] as const;
export const deviceSystems = ['Windows', 'Mac OS', 'Linux'] as const;

/** One instance as it is stored. */
export interface InstanceRecord {
  readonly id: InstanceId;
  readonly name: string;
  /** Bearer credential of the instance. The token is looked up by hash and encrypted at rest. */
  readonly token: string;
  readonly wanted: Wanted;
  /** The fencing token. The epoch grows with each owner, and every write of the instance carries it, so a former owner cannot write. */
  readonly epoch: number;
  /** The phone number of the account in digits. The number is kept while the instance is disconnected. */
  readonly owner: string;
  /** The own device jid, such as `5534…:57@s.whatsapp.net`; '' before the first pairing and after a logout. */
  readonly jid: string;
  readonly lid: string;
  readonly profileName: string;
  readonly profilePicUrl: string;
  readonly isBusiness: boolean;
  /** The operating system of the phone in lower case, such as `android`. */
  readonly platform: string;
  /** The name in the phone's list of linked devices; '' for `Dormouse`. */
  readonly systemName: string;
  /** One of `deviceBrowsers`, shown in the phone's list; '' for `chrome`. */
  readonly browser: string;
  /** One of `deviceSystems`, used in the request of a pairing code; '' for `Windows`. */
  readonly system: string;
  readonly lastDisconnect: number | null;
  /** The reason for people, such as `401: logged out from another device`. */
  readonly lastDisconnectReason: string;
  /** The stable machine-readable reason (`CloseCause`); '' for none. */
  readonly lastDisconnectCause: string;
  readonly adminField01: string;
  readonly adminField02: string;
  readonly aiApikey: string;
  readonly chatbotEnabled: boolean;
  readonly chatbotIgnoreGroups: boolean;
  readonly chatbotStopConversation: string;
  readonly chatbotStopMinutes: number;
  readonly chatbotStopWhenYouSendMsg: number;
  /** The shortest pause between two messages of the asynchronous queue. The actual pause is random, up to `msgDelayMax`. In seconds. */
  readonly msgDelayMin: number;
  readonly msgDelayMax: number;
  /** True while the data of the former account is removed because another account was allowed. Only an empty instance connects. */
  readonly accountLeaves: boolean;
  readonly fieldsMap: Readonly<Record<string, unknown>> | null;
  /** Sealed at rest; null if no proxy was ever chosen. */
  readonly proxy: ProxySettings | null;
  readonly lastActiveAt: number;
  readonly created: number;
  readonly updated: number;
}

/** Fields of an instance that change after its creation. */
export type InstancePatch = Partial<Omit<InstanceRecord, 'id' | 'epoch' | 'created' | 'updated'>>;

/** The right to write for an instance. A write with an outdated epoch fails with `EpochLost`. */
export interface Claim {
  readonly instanceId: InstanceId;
  readonly epoch: number;
}
