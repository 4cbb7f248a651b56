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
  /** Sealed fields that do not open, such as `token, proxy`; the record has them empty. Absent when all open. Never stored. */
  readonly unreadable?: string;
}

/** Fields of an instance that change after it was made. */
export type InstancePatch = Partial<Omit<InstanceRecord, 'id' | 'epoch' | 'created' | 'updated' | 'unreadable'>>;

/** The sealed fields of a record, and their names in the interface. */
const sealedFields = { token: 'token', proxy: 'proxy', aiApikey: 'ai_apikey' } as const satisfies Partial<
  Record<keyof InstancePatch, string>
>;
type SealedField = keyof typeof sealedFields;

/** Returns the names of the fields that do not open; '' for none. */
export const unreadableFields = (isUnreadable: Readonly<Record<SealedField, boolean>>): string =>
  (Object.keys(sealedFields) as SealedField[])
    .filter((field) => isUnreadable[field])
    .map((field) => sealedFields[field])
    .join(', ');

/** True if the field of the record does not open. */
export const unreadableIn = ({ unreadable = '' }: InstanceRecord, field: SealedField): boolean =>
  unreadable.split(', ').includes(sealedFields[field]);

/** Returns the record with the change. A sealed field that is written anew can be read again. */
export const patched = (record: InstanceRecord, patch: InstancePatch): InstanceRecord => {
  if (record.unreadable === undefined) return { ...record, ...patch };
  const isLeft = (field: SealedField): boolean => unreadableIn(record, field) && patch[field] === undefined;
  const left = unreadableFields({ token: isLeft('token'), proxy: isLeft('proxy'), aiApikey: isLeft('aiApikey') });
  const { unreadable: _before, ...rest } = record;
  return { ...rest, ...patch, ...(left === '' ? {} : { unreadable: left }) };
};

/** The right to write for an instance. A write with an outdated epoch fails with `EpochLost`. */
export interface Claim {
  readonly instanceId: InstanceId;
  readonly epoch: number;
}

/** The client version that connections announce to the platform. */
export interface ClientVersionView {
  /** The version, such as `2.3000.1043857760`. */
  readonly version: string;
  /** The origin of the version. `rolledBack`: the platform refuses the version of the last look-up, so an older one is used. */
  readonly source: 'setting' | 'lookedUp' | 'builtIn' | 'rolledBack';
  /** The time of the last successful look-up. Unix milliseconds; 0 if there was none. */
  readonly checkedAt: number;
  /** The error of the last look-up, in a sentence; '' if the look-up worked. */
  readonly error: string;
}

/**
 * Returns the sort key of a name in natural order: without case and accents, and with the length before each number, so that `shop 2` precedes `shop 10`.
 * Ten thousand keys take 5 ms more than lower case. An Intl.Collator takes 15 ms more, because it works in each comparison.
 */
export const naturalKey = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/0*(\d+)/g, (_, digits: string) => `${String.fromCharCode(0x30 + Math.min(digits.length, 40))}${digits}`);
