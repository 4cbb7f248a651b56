/** Instances as they are stored (specification 2.1). */
import type { ProxySettings } from './proxy.ts';

/** `r` and 14 hex digits (behaviour.md, "Ids"). */
export type InstanceId = string;

/** The four words of the API (specification 2.1). */
export const statuses = ['disconnected', 'connecting', 'connected', 'hibernated'] as const;

export type Status = (typeof statuses)[number];

/**
 * What the operator asked for last; it decides what happens at the next start. Stored, never guessed. `unlinked`: to be logged out at the platform
 * and then to lose its credentials, which is not done yet; `offline` when it is.
 */
export const wantedStates = ['offline', 'online', 'asleep', 'unlinked'] as const;

export type Wanted = (typeof wantedStates)[number];

/** Browsers and systems that the platform takes in the request of a pairing code; the first ones are the usual ones. */
export const deviceBrowsers = ['chrome', 'edge', 'firefox', 'safari'] as const;
export const deviceSystems = ['Windows', 'Mac OS', 'Linux'] as const;

/** One registered instance as it is stored (specification 2.1). */
export interface InstanceRecord {
  readonly id: InstanceId;
  readonly name: string;
  /** Bearer credential of the instance; looked up by hash, encrypted at rest. */
  readonly token: string;
  readonly wanted: Wanted;
  /** Fencing token: grows with each owner. Every write of the instance carries it, so that a former owner writes nothing. */
  readonly epoch: number;
  /** Digits of the account; kept while disconnected. */
  readonly owner: string;
  /** Own device jid such as `5534…:57@s.whatsapp.net`, '' before the first pairing and after a logout. */
  readonly jid: string;
  readonly lid: string;
  readonly profileName: string;
  readonly profilePicUrl: string;
  readonly isBusiness: boolean;
  /** Lower case, such as `android`. */
  readonly platform: string;
  /** What the phone's list of linked devices shows; '' is `Dormouse`. */
  readonly systemName: string;
  /** One of `deviceBrowsers` as which the list shows the session; '' is `chrome`. */
  readonly browser: string;
  /** One of `deviceSystems`, which the request of a pairing code names; '' is `Windows`. */
  readonly system: string;
  readonly lastDisconnect: number | null;
  /** The sentence people read, such as `401: logged out from another device`. */
  readonly lastDisconnectReason: string;
  /** The stable machine-readable reason (`CloseCause`), '' when there was none. */
  readonly lastDisconnectCause: string;
  readonly adminField01: string;
  readonly adminField02: string;
  readonly aiApikey: string;
  readonly chatbotEnabled: boolean;
  readonly chatbotIgnoreGroups: boolean;
  readonly chatbotStopConversation: string;
  readonly chatbotStopMinutes: number;
  readonly chatbotStopWhenYouSendMsg: number;
  /** Seconds between two messages of the asynchronous queue: a random time from the one to the other. */
  readonly msgDelayMin: number;
  readonly msgDelayMax: number;
  /** Another account was allowed: what the one before had is being removed, and only an empty instance connects. */
  readonly accountLeaves: boolean;
  readonly fieldsMap: Readonly<Record<string, unknown>> | null;
  /** Sealed at rest; null where nobody ever chose. */
  readonly proxy: ProxySettings | null;
  readonly lastActiveAt: number;
  readonly created: number;
  readonly updated: number;
}

/** Fields of an instance that change after it was made. */
export type InstancePatch = Partial<Omit<InstanceRecord, 'id' | 'epoch' | 'created' | 'updated'>>;

/** Who writes for an instance: one whose epoch is not the stored one any more writes nothing (`EpochLost`). */
export interface Claim {
  readonly instanceId: InstanceId;
  readonly epoch: number;
}
