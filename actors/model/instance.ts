/**
 * Instances as they are stored, and the route of their sessions to the platform: the owner's proxy, the route of the server, or a direct
 * connection.
 */

// The route of a session to the platform.

/**
 * The modes of the proxy settings. `custom`: a proxy of the owner. `internal`: the server's route, which is a managed proxy or a direct connection.
 * `none`: no proxy.
 */
export const proxyModes = ['custom', 'internal', 'none'] as const;

export type ProxyMode = (typeof proxyModes)[number];

/** A place, in the spelling of the catalogue of managed proxies. A field with '' matches any place. */
export interface ProxyRegion {
  readonly country: string;
  readonly state: string;
  readonly city: string;
}

/** The proxy settings of an instance. The settings contain passwords and are sealed at rest. */
export interface ProxySettings {
  readonly mode: ProxyMode;
  /** Address of the owner's proxy with its credentials; '' in the other modes. */
  readonly url: string;
  /** True if the session uses the server's route while the owner's proxy fails. */
  readonly fallback: boolean;
  readonly region: ProxyRegion;
  /** The managed proxy that was chosen for mode `internal` or for the fallback; '' if the server's route is direct. */
  readonly managedUrl: string;
  /** The time of the last test or connection that showed whether the proxy works; null before the first one. In Unix milliseconds. */
  readonly lastTestAt: number | null;
  /** The error of the last test or connection; '' if the proxy worked. */
  readonly lastTestError: string;
  /** The start of the fallback; null if the fallback is not in use. In Unix milliseconds. */
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

/** Masks the credentials in an address for display. Parses the address as the connection does, because `http:user:pass@host` has credentials too. */
export const maskedProxy = (url: string): string => {
  if (!url.includes('@')) return url;
  const parsed = URL.parse(url);
  return parsed === null || parsed.host === '' ? '***' : `${parsed.protocol}//***:***@${parsed.host}`;
};

/**
 * A city of the catalogue. `proxies` are address templates with `{country}`, `{state}`, `{city}` and `{session}`. Many providers choose the place and
 * the exit address from the user name.
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

/**
 * The route of the next connection. `nowhere`: a proxy is required and none is known. `unreadable`: the stored settings cannot be decrypted.
 * `managed`: the operator's proxy, whose address may be private.
 */
export type Route =
  | { readonly via: 'direct' }
  | { readonly via: 'nowhere' }
  | { readonly via: 'unreadable' }
  | { readonly via: 'proxy'; readonly url: string; readonly managed: boolean };

// Instances as they are stored.

/** The id of an instance: `r` and 14 hex digits. */
export type InstanceId = string;

/** The four statuses of the API. */
export const statuses = ['disconnected', 'connecting', 'connected', 'hibernated'] as const;

export type Status = (typeof statuses)[number];

/**
 * The state that the session should have. API calls, the schedule of hibernation, and closes without a reconnect change the wanted state. The wanted
 * state is always stored, because it decides what the next start does with the session. `unlinked`: the session still has to log out at the platform and
 * delete its credentials. Afterwards the wanted state becomes `offline`.
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
  /** The fencing token. Each new owner increments the epoch. Every write of the instance carries the epoch, so a former owner cannot write. */
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
  /** The human-readable reason, such as `401: logged out from another device`. */
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
  /**
   * True while the gateway removes the data of the former account, because another account was paired. The new account goes live only when all of this
   * data is removed.
   */
  readonly accountLeaves: boolean;
  readonly fieldsMap: Readonly<Record<string, unknown>> | null;
  /** Sealed at rest; null if no proxy was ever chosen. */
  readonly proxy: ProxySettings | null;
  readonly lastActiveAt: number;
  readonly created: number;
  readonly updated: number;
  /**
   * The names of the sealed fields that cannot be decrypted, such as `token, proxy`. These fields are empty in the record. Absent if all fields are
   * readable. Never stored.
   */
  readonly unreadable?: string;
}

/** New values of fields that may change after the creation of the instance. */
export type InstancePatch = Partial<Omit<InstanceRecord, 'id' | 'epoch' | 'created' | 'updated' | 'unreadable'>>;

/** The sealed fields of a record, and their names in the interface. */
const sealedFields = { token: 'token', proxy: 'proxy', aiApikey: 'ai_apikey' } as const satisfies Partial<
  Record<keyof InstancePatch, string>
>;
type SealedField = keyof typeof sealedFields;

/** Returns the names of the fields that cannot be decrypted; '' for none. */
export const unreadableFields = (isUnreadable: Readonly<Record<SealedField, boolean>>): string =>
  (Object.keys(sealedFields) as SealedField[])
    .filter((field) => isUnreadable[field])
    .map((field) => sealedFields[field])
    .join(', ');

/** Returns true if the field of the record cannot be decrypted. */
export const unreadableIn = ({ unreadable = '' }: InstanceRecord, field: SealedField): boolean =>
  unreadable.split(', ').includes(sealedFields[field]);

/** Returns the record with the change. A sealed field that is written again is readable afterwards. */
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
  /** The origin of the version. `rolledBack`: the platform refuses the version of the last look-up, so an older version is used. */
  readonly source: 'setting' | 'lookedUp' | 'builtIn' | 'rolledBack';
  /** The time of the last successful look-up; 0 if there was none. In Unix milliseconds. */
  readonly checkedAt: number;
  /** The error of the last look-up, in a sentence; '' if the look-up worked. */
  readonly error: string;
}

/**
 * Returns the sort key of a name in natural order: without case and accents, and with the length before each number, so that `shop 2` precedes `shop 10`.
 * For ten thousand names, these keys cost 5 ms more than a conversion to lower case. An Intl.Collator costs 15 ms more, because it works in each
 * comparison.
 */
export const naturalKey = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/0*(\d+)/g, (_, digits: string) => `${String.fromCharCode(0x30 + Math.min(digits.length, 40))}${digits}`);
