/** People, their phones and accounts, the clients that are linked to them, and passkeys. */
import type { Digits } from './common.ts';

// People, their phones and the clients that are linked to them.

/** One linked device of a phone, as the phone's "linked devices" list would show it. */
interface DeviceView {
  /** Number of the device on the platform, 1 or more. The phone is 0. */
  readonly device: number;
  /** The time of the pairing, in Unix milliseconds. */
  readonly linkedAt: number;
  /** True while an authenticated connection is open. */
  readonly connected: boolean;
  /** The push name of the registration payload, or a later push name that the client sent with its presence. */
  readonly pushName: string;
  /**
   * Address of the remote end of the connection, `address:port`. With a proxy it is the address of the proxy. Absent without a connection.
   */
  readonly address?: string;
  /** The number of stanzas that wait for the device's confirmation. */
  readonly queued: number;
}

/** The audience of status posts. A white list has the numbers that see the posts, and a black list the numbers that do not see them. */
export interface StatusPrivacy {
  readonly type: 'contacts' | 'whitelist' | 'blacklist';
  readonly numbers: readonly Digits[];
}

/** A simulated person. Every person has a phone. A person with linked devices is an account of the gateway. */
export interface PersonView {
  readonly number: Digits;
  /** An alternative identifier of 15 digits, which never equals a number. It changes only with `registeredAnew`. */
  readonly lid: Digits;
  /** The push name; '' for an account that has none. */
  readonly name: string;
  readonly devices: readonly DeviceView[];
}

/**
 * The history that a phone sends at the first login, in addition to its own messages. It has `chats` invented chats with `messages` messages each, `calls`
 * missed calls and `statuses` status posts. `perNotification` is the number of messages in a full notification; 500 if absent. With `withheld: 'keys'`, the
 * phone sends the keys of its app state only on request. With `withheld: 'history'`, it sends no history.
 */
export interface History {
  readonly chats: number;
  readonly messages: number;
  readonly calls?: number;
  readonly statuses?: number;
  readonly perNotification?: number;
  readonly withheld?: 'keys' | 'history';
}

/** The platform's limits for messages to people who never wrote to the account. */
export interface Restrictions {
  /** The time-lock. While it is active, messages to strangers are refused with 463. `until` is in Unix milliseconds. */
  readonly timeLock?: { readonly active: boolean; readonly until?: number; readonly type?: string };
  /** The quota of new chats. With `CAPPED`, messages to strangers are refused with 475. Times are in Unix milliseconds. */
  readonly capping?: {
    readonly status: 'NONE' | 'FIRST_WARNING' | 'SECOND_WARNING' | 'CAPPED';
    readonly used?: number;
    readonly total?: number;
    readonly cycleStart?: number;
    readonly cycleEnd?: number;
  };
  /** True if the platform only knows the older query for the quota. */
  readonly oldQueries?: boolean;
}

/** People, and the clients that are linked to them. */
export interface PeopleMethods {
  /** Makes the phone scan a QR code (`qr`: its text) and link the client that shows it. Creates a person if `number` is new or absent. */
  scan(input: { readonly qr: string; readonly number?: Digits; readonly name?: string; readonly history?: History }): Promise<PersonView>;
  /** Enters the pairing code that the client shows, for the phone's owner. */
  enterCode(input: {
    readonly number: Digits;
    readonly code: string;
    readonly name?: string;
    readonly history?: History;
  }): Promise<PersonView>;
  /**
   * Removes the linked devices of the phone. A connected client gets 401 (device_removed) at once, an offline client gets 401 at its next
   * login.
   */
  logout(number: Digits): Promise<void>;
  /** Creates a person, or changes the given fields of a person. A message to an unknown number also creates a person. */
  putPerson(input: {
    readonly number: Digits;
    readonly name?: string;
    readonly autoDeliver?: boolean;
    /** The name of a verified business; '' for other accounts. */
    readonly businessName?: string;
    /** True if the number has no account any more. */
    readonly absent?: boolean;
    /** True if messages to the number are refused with 463, and messages to the LID are accepted. */
    readonly migrated?: boolean;
    /** True if the platform hides the LID of this number. The person can then only be reached by the number. */
    readonly withoutLid?: boolean;
    /** True if the platform hides the number of this person. All stanzas then have only the LID. */
    readonly withoutNumber?: boolean;
    /**
     * True if messages to the person, and their repetitions, are refused with 463 unless they show a privacy token of the person. Additions to
     * groups are then refused with 403. The person's phone adds the token to its messages.
     */
    readonly needsTokens?: boolean;
    /** True if the app was installed again on the phone, which then has other keys. Linked devices of other people are notified. */
    readonly reinstalled?: boolean;
    /**
     * True if the account was deleted, and the number has a new account with another LID and other keys. Messages to the former LID are lost,
     * and are acknowledged with `refresh_lid` (WhiskeySockets/Baileys 2661, oxidezap/whatsapp-rust 1313).
     */
    readonly registeredAnew?: boolean;
    /** True if the phone answers no request of its linked devices. */
    readonly asleep?: boolean;
    /** True if the phone has the app for businesses. */
    readonly business?: boolean;
    /** False if the person sends no read receipts. */
    readonly readReceipts?: boolean;
    /** The audience of the person's status posts. `unavailable`: the platform answers 503. */
    readonly statusPrivacy?: StatusPrivacy | 'unavailable';
  }): Promise<PersonView>;
  /** Restricts an account, or frees it, and notifies its linked devices. Absent fields stay unchanged. */
  restrict(number: Digits, restrictions: Restrictions): Promise<void>;
  people(): readonly PersonView[];
}

// The account's profile and privacy, and the people whom it blocks. Clients and the owner of the phone change them.

export interface AccountView {
  readonly about: string;
  /** Privacy by category (`profile`, `status`, `last`, `online`, `groupadd`, `readreceipts`, `calladd`, `messages`): `all`, `contacts`, `none`, … */
  readonly privacy: Readonly<Record<string, string>>;
  readonly blocked: readonly Digits[];
  readonly picture?: { readonly id: string; readonly url: string };
  /** The time after which messages of new chats disappear, in seconds; 0: never. */
  readonly disappearing: number;
  readonly online: boolean;
  /** People to whose presence the connected clients subscribed. */
  readonly subscriptions: readonly Digits[];
}

export interface AccountMethods {
  account(number: Digits): AccountView;
  /** Changes the account on the owner's phone. `picture` has the bytes in base64; '' removes the picture. */
  changeAccount(
    number: Digits,
    change: {
      readonly about?: string;
      /** '' for none. */
      readonly username?: string;
      readonly privacy?: Readonly<Record<string, string>>;
      readonly blocked?: readonly Digits[];
      readonly picture?: string;
    },
  ): Promise<AccountView>;
}

// Passkeys of accounts. A device is linked to an account with a passkey only after the owner has signed a challenge.

/** `PublicKeyCredentialRequestOptionsJSON`, as the platform sends it. Binary values are base64url without padding. */
export interface RequestOptions {
  readonly challenge: string;
  /** In milliseconds. */
  readonly timeout: number;
  readonly rpId: string;
  readonly allowCredentials: readonly { readonly id: string; readonly type: 'public-key' }[];
  readonly userVerification: 'required';
  readonly extensions: { readonly uvm: boolean };
}

/** The result of a browser's `PublicKeyCredential.toJSON()`, reduced to the fields that the platform reads. */
export interface Assertion {
  readonly id: string;
  readonly rawId: string;
  readonly type: 'public-key';
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle: string | null;
  };
}

/** The stages in their order. `refused`: the ceremony failed. */
export type CeremonyStage = 'requested' | 'proven' | 'revealed' | 'linking' | 'refused';

/**
 * Faults of the ceremony. `refuse`: every assertion is refused. `bare`: the request names no options. `stall`: the client gets no continuation. `twice`: the
 * client gets two continuations.
 */
export type CeremonyFault = 'refuse' | 'bare' | 'stall' | 'twice';

export interface PasskeyView {
  /** The credential id, base64url. */
  readonly id: string;
  /** The stage of the ceremony that waits for this passkey; null if there is none. */
  readonly stage: CeremonyStage | null;
  /** The code that the phone shows; '' before the phone has a code. */
  readonly code: string;
  /** True if the phone does not ask its owner to compare codes. */
  readonly handedOff: boolean;
}

/** `PublicKeyCredentialCreationOptionsJSON` and `RegistrationResponseJSON` of WebAuthn. */
type CreationOptions = Readonly<Record<string, unknown>>;
export type Registration = Readonly<Record<string, unknown>>;

export interface PasskeysMethods {
  /** Returns the options that a real authenticator needs to make a passkey for the account. */
  passkeyOptions(number: Digits): Promise<CreationOptions>;
  /** Gives the account a passkey of a real authenticator. Without `registration`, the sandbox makes a passkey and keeps its private key. */
  givePasskey(number: Digits, given: { readonly registration?: Registration; readonly fault?: CeremonyFault }): Promise<PasskeyView>;
  passkey(number: Digits): PasskeyView;
  /** Removes the passkey of the account. */
  takePasskey(number: Digits): Promise<void>;
  /** Signs like the owner's browser on a page of `origin`. Needs a passkey whose private key the sandbox keeps. */
  signWithPasskey(number: Digits, options: RequestOptions, origin?: string): Promise<Assertion>;
}
