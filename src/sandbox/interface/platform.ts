/** The platform as a whole: faults on demand, counters, the roots that clients must trust, and the stream of events. */
import type { ChannelView, GroupView } from './groups.ts';
import type { Digits } from './common.ts';
import type { ReceivedMessage } from './messages.ts';
import type { PersonView } from './people.ts';

/** The faults of a forged chain, one for each check of a client (tulir/whatsmeow 75186f80). All signatures are valid, except with `root` and `signature`. */
export const chainForgeries = [
  'issuer', // the intermediate certificate names an issuer that clients do not accept
  'root', // the intermediate certificate is signed by another root
  'signature', // the leaf is signed by another key than the intermediate's
  'leafIssuer', // the leaf names another issuer than the intermediate certificate
  'leafKey', // the leaf contains a key other than the platform's static key
  'leafExpired',
  'leafEarly', // the leaf is not valid yet
  'intermediateExpired',
  'intermediateEarly',
] as const;
export type ChainForgery = (typeof chainForgeries)[number];

/**
 * A fault that a test or a user injects. `number` limits the fault to one account. Without `number` the fault applies to every account and every new
 * connection. `times` counts the connections that the fault hits. For `noAck`, `ackError`, `refuseStrangers`, `garble` and `duplicate` it counts messages. For
 * `refuseLookups`, `refuseQuery`, `pictureSilence` and the faults of media it counts requests. 0 clears the fault. By default a fault of open connections hits
 * all of them, and any other fault hits once. If fewer connections are open than `times`, the remaining uses wait for the next logins. Some kinds accept no
 * `number`, because the step that they break is not assigned to an account. `world/platform.ts` lists these kinds.
 */
export interface Fault {
  readonly kind:
    | 'close' // close the WebSocket, `code` (1000 default)
    | 'reset' // TCP reset
    | 'silence' // keep the socket and send no more data, not even pongs
    | 'streamError' // <stream:error code=…> with `code`; without `code` the attribute is absent
    | 'streamEnd' // <xmlstreamend/>
    | 'conflict' // stream error "replaced"
    | 'deviceRemoved' // stream error 401 device_removed
    | 'loginFailure' // the next login gets <failure reason=code>
    | 'registrationRefresh' // the next scan is answered with <companion_reg_refresh/>, and the secret in the QR code becomes invalid
    | 'rotateQr' // the same, with <pair-device-rotate-qr/>
    | 'voidCode' // the next code that is typed is void: `refresh_code`
    | 'voidCodeByHand' // the same, with `force_manual_refresh`
    | 'earlySuccess' // the next registration gets <success> before the pairing
    | 'emptyHello' // the next typed code begins with a `primary_hello` without its key
    | 'repeatHello' // the next typed code leads to `code` times `primary_hello` (3 default)
    | 'refuseUpgrade' // the next upgrade gets HTTP `code`
    | 'silentHandshake' // the next connection never gets a server hello
    | 'garbageHandshake' // the next connection gets a server hello that cannot be parsed
    | 'badCertificate' // the next connection gets wrong certificates; `forgery` selects the fault (`issuer` default)
    | 'forgedAccount' // the next pairing has an account signature of another key
    | 'historyBomb' // the next part of a history inflates to `code` megabytes (256 default), as a file or, below 4 KB, within its message
    | 'forgedPairing' // the next pairing is authenticated with a wrong secret
    | 'forgedKeys' // the next bundle of keys that the account asks for has a signed pre-key that its owner did not sign; `query`: only keys of this contact
    | 'keysUsedUp' // before the next contact asks for keys of the account, all one-time keys but five are given out
    | 'identityUntold' // the next phone that is set up again with new keys is not announced; `number` is the number of the phone
    | 'silentDevices' // no contact is notified of the next device that the account links or unlinks
    | 'corruptFrame' // a transport frame that does not decrypt
    | 'noLogin' // the next login is never answered, but pings are answered
    | 'closeAfterLogin' // the socket closes right after <success>
    | 'delay' // every stanza of the platform waits `ms`
    | 'noAck' // sent messages are not acknowledged
    | 'ackError' // sent messages are refused with error `code`
    | 'refuseStrangers' // messages to people who never wrote to the account are refused with `code` (463 default, 475)
    | 'refuseLookups' // requests about whether numbers have accounts are refused with `code` (429 default)
    | 'refuseQuery' // requests whose name (`xmlns/type/child`) begins with `query` are refused with `code` (403 default)
    | 'pictureSilence' // requests for pictures are never answered
    | 'garble' // sent messages reach the phones damaged, and the phones ask for them again
    | 'retryLost' // requests of phones to send a message of the account again are lost
    | 'uploadRefused' // uploads are answered with HTTP `code` (507 default)
    | 'uploadUnauthorised' // the permission to upload expires: 401 until the client requests a new one
    | 'uploadSlow' // the host does not read an upload for `ms`
    | 'uploadCut' // the connection breaks after half of the bytes of an upload
    | 'duplicate' // the next messages to the account are delivered twice
    | 'mediaGone' // the next downloads get HTTP `code` (410 default), as if the host had deleted the file
    | 'mediaCut' // the next downloads break off in the middle
    | 'mediaSlow' // the next downloads wait `ms` before each 16 KiB
    | 'mediaForged' // the next downloads have a changed byte, in the middle or `code` bytes before the end
    | 'mediaRefused' // the phone answers the next request to upload a file again with error `code` (2 default)
    | 'mediaSilence'; // the phone does not answer the next request to upload a file again
  readonly number?: Digits;
  readonly code?: number;
  readonly ms?: number;
  readonly query?: string;
  readonly forgery?: ChainForgery;
  readonly times?: number;
}

/** Counters since the start. Tests compare the gateway with them. */
export interface Stats {
  readonly connections: { readonly open: number; readonly total: number };
  /** Sockets and file transfers by their source address. With a proxy it is the address of the proxy. */
  readonly addresses: Readonly<Record<string, { readonly sockets: number; readonly files: number }>>;
  readonly handshakes: number;
  readonly pairings: number;
  readonly logins: {
    readonly total: number;
    readonly failed: number;
    /** Logins of a device that already had a live connection. */
    readonly double: number;
    /** The largest number of logins within one second. */
    readonly perSecondMax: number;
    readonly byNumber: Readonly<Record<Digits, number>>;
    /** The times of the account's latest login, and of the latest end of one of its connections, in Unix milliseconds; 0 if never. */
    readonly times: Readonly<Record<Digits, { readonly loggedIn: number; readonly closed: number }>>;
  };
  readonly messages: {
    readonly fromClients: number;
    readonly toClients: number;
    /** Messages to clients that were confirmed by a client receipt (delivery) or an ack. */
    readonly acknowledged: number;
    readonly decrypted: number;
    readonly undecryptable: number;
    readonly retryReceipts: number;
  };
  readonly signatures: { readonly verified: number; readonly rejected: number };
  /** Requests that look up numbers, and the numbers in them. */
  readonly lookups: { readonly requests: number; readonly numbers: number };
  /** Requests that read one group, and those for all groups of an account. */
  readonly groups: { readonly metadata: number; readonly lists: number };
  /** Requests that read one channel, those for all channels that an account follows, and those for a page of posts. */
  readonly channels: { readonly metadata: number; readonly lists: number; readonly posts: number };
  /** Requests for pictures of people and groups. */
  readonly pictures: number;
  readonly media: {
    /** Uploads that began, including refused and interrupted uploads. */
    readonly begun: number;
    /** Files that arrived completely. */
    readonly uploads: number;
    /** Uploads that resumed an interrupted upload. */
    readonly resumed: number;
    readonly uploadsByHost: Readonly<Record<string, number>>;
    readonly downloads: number;
  };
  /** Numbers of patches of shared settings. `patches`: stored. `conflicts`: based on an old version. `refused`: not authentic or malformed, by reason. */
  readonly settings: { readonly patches: number; readonly conflicts: number; readonly refused: Readonly<Record<string, number>> };
  /** Requests that the platform does not know, `xmlns/type/child` → count. Must stay empty in the tests. */
  readonly unknown: Readonly<Record<string, number>>;
}

/** An event that a page shows. Listeners get events in order. */
export type WorldEvent =
  | { readonly type: 'person'; readonly person: PersonView }
  | { readonly type: 'message'; readonly to: Digits; readonly message: ReceivedMessage }
  | { readonly type: 'group'; readonly group: GroupView }
  | { readonly type: 'channel'; readonly channel: ChannelView }
  /** A post is new, was changed, was seen, or got a reaction. */
  | { readonly type: 'post'; readonly channel: string; readonly serverId: number }
  | {
      readonly type: 'receipt';
      readonly to: Digits;
      readonly id: string;
      readonly kind: 'delivered' | 'read' | 'played';
      readonly by: Digits;
    }
  | { readonly type: 'presence'; readonly of: Digits; readonly chat: string; readonly state: string };

/**
 * Rules for the versions of clients, such as `2.3000.1040000000`. A version older than `connect` gets 405 when it connects. A version older than `link` gets no
 * `pair-success` when it is linked.
 */
export interface VersionRules {
  /** The version of the current web client, which `/sw.js` names. */
  readonly current?: string;
  /** A version that is refused with 405, even if it is new. */
  readonly broken?: string;
  /**
   * True if requests in the older form are refused (look-ups, new groups) or have no effect (typing, about texts). Clients used this form
   * before the summer of 2026.
   */
  readonly newForms?: boolean;
  readonly connect?: string;
  readonly link?: string;
}

export interface Stanza {
  readonly tag: string;
  readonly attrs: Readonly<Record<string, string>>;
  readonly content?: Uint8Array | readonly Stanza[];
}

/** Functions of the platform as a whole. */
export interface PlatformMethods {
  /** Replaces the rules about versions. Connections that are open stay open. */
  requireVersion(rules: VersionRules): void;
  /** Returns the version of the current web client, which `/sw.js` names; null if it names none. */
  currentVersion(): string | null;
  fault(fault: Fault): Promise<{ readonly hit: number }>;
  /** Delivers a stanza to the linked devices of an account, as an attacker on the path could. Content is bytes or further stanzas. */
  inject(number: Digits, stanza: Stanza): Promise<void>;
  stats(): Stats;
  /** Returns the roots that a client must trust: the Noise root key (32 bytes in hex) and the TLS authority of the media host (PEM). */
  trust(): { readonly noiseRoot: string; readonly mediaAuthority: string };
  subscribe(listener: (event: WorldEvent) => void): () => void;
}
