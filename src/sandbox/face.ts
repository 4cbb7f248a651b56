/**
 * What the simulated platform offers to its control interface (HTTP, page) and to tests.
 *
 * The world (accounts, devices, contacts, groups, queues) implements it; `control/` and the page only speak through it.
 * Every method rejects with a `SandboxError` when its input makes no sense; nothing else is an ordinary failure.
 */

/** International number, digits only. */
export type Digits = string;

/** One linked device of a phone, as the phone's "linked devices" list would show it. */
export interface DeviceView {
  /** Device number on the platform, 1 or more; the phone itself is 0. */
  readonly device: number;
  /** Unix time in milliseconds. */
  readonly linkedAt: number;
  /** An authenticated connection is open now. */
  readonly connected: boolean;
  /** Push name of the registration payload or of the last presence. */
  readonly pushName: string;
  /** Stanzas waiting for the device to come back. */
  readonly queued: number;
}

/** A simulated person: every person has a phone; those with linked devices are the gateway's accounts. */
export interface PersonView {
  readonly number: Digits;
  /** Alternative identifier, 15 digits, stable, never equal to a number. */
  readonly lid: Digits;
  readonly name: string;
  readonly devices: readonly DeviceView[];
}

/** Media bytes travel as bare base64. */
interface MediaContent {
  readonly kind: 'image' | 'video' | 'gif' | 'audio' | 'ptt' | 'document' | 'sticker';
  readonly data: string;
  readonly mimetype?: string;
  readonly caption?: string;
  readonly fileName?: string;
  readonly seconds?: number;
}

/** What a simulated person can send. Message ids are the platform's (`messageid`). */
export type Content =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly replyTo?: string;
      readonly mentions?: readonly Digits[];
      readonly forwarded?: boolean;
    }
  | MediaContent
  | { readonly kind: 'reaction'; readonly messageId: string; readonly emoji: string }
  | { readonly kind: 'edit'; readonly messageId: string; readonly text: string }
  | { readonly kind: 'delete'; readonly messageId: string }
  | { readonly kind: 'poll'; readonly name: string; readonly options: readonly string[]; readonly selectable?: number }
  | { readonly kind: 'pollVote'; readonly messageId: string; readonly options: readonly string[] }
  | { readonly kind: 'contact'; readonly displayName: string; readonly vcard: string }
  | { readonly kind: 'location'; readonly latitude: number; readonly longitude: number; readonly name?: string }
  /** Any message of the protocol, as JSON with bytes in base64: for what the kinds above have no words for. */
  | { readonly kind: 'message'; readonly message: Readonly<Record<string, unknown>> };

/** A setting on a phone that its linked devices share. `chat` is a number or the jid of a group. */
export type Setting =
  | { readonly kind: 'label'; readonly labelId: string; readonly name: string; readonly color: number; readonly deleted?: boolean }
  | { readonly kind: 'chatLabel'; readonly labelId: string; readonly chat: string; readonly on: boolean }
  | { readonly kind: 'archive' | 'pin' | 'read'; readonly chat: string; readonly on: boolean }
  /** `until` in Unix milliseconds, 0 ends it. */
  | { readonly kind: 'mute'; readonly chat: string; readonly until: number }
  /** Without a name the contact is taken out of the address book. */
  | { readonly kind: 'contact'; readonly number: Digits; readonly name?: string };

/** What holds in a group; `approval`: admins let people in, `adminAdd`: only they add, `ephemeral`: messages disappear after so many seconds (0: never). */
export type GroupRule =
  | { readonly action: 'announce' | 'locked' | 'approval' | 'adminAdd'; readonly on: boolean }
  | { readonly action: 'ephemeral'; readonly seconds: number }
  /** The link by which people join is made new. */
  | { readonly action: 'invite' };

/** A step of a call. The caller offers and terminates; the other one accepts or rejects on the phone; nobody reacting is a time-out. */
export interface CallStep {
  readonly step: 'offer' | 'accept' | 'reject' | 'timeout' | 'terminate';
  /** Of the offer that the step belongs to; an offer without one gets a new one. */
  readonly id?: string;
  readonly video?: boolean;
}

/** What a person received and really decrypted. */
export interface ReceivedMessage {
  readonly id: string;
  /** Chat it stands in from this person's view: the sender's jid, or the group's. */
  readonly chat: string;
  readonly from: Digits;
  readonly pushName: string;
  /** Unix time in milliseconds. */
  readonly at: number;
  /** Which Signal envelope carried it. */
  readonly envelope: 'pkmsg' | 'msg' | 'skmsg' | 'plain';
  /** First field of the protobuf message, such as `conversation` or `imageMessage`; edits, deletions and reactions keep their own names. */
  readonly kind: string;
  /** Text or caption, '' when there is none. */
  readonly text: string;
  /** The decrypted protobuf message as JSON, bytes as base64. */
  readonly content: unknown;
  /** Present when the message carried media that was downloaded and verified. */
  readonly media?: { readonly bytes: number; readonly sha256: string };
  /** Present when it could not be decrypted; then `text` is ''. */
  readonly error?: string;
}

export interface GroupView {
  /** `…@g.us` */
  readonly jid: string;
  readonly subject: string;
  readonly description: string;
  readonly creator: Digits;
  readonly announce: boolean;
  readonly locked: boolean;
  readonly participants: readonly { readonly number: Digits; readonly admin: 'admin' | 'superadmin' | null }[];
}

/**
 * A fault, on demand. `number` limits it to one account, without it every account (and every new connection) is meant.
 * `times` says how many connections it hits (default: the live ones once for those that hit live connections, 1 otherwise; 0 clears it);
 * for `noAck`, `ackError` and `duplicate` it counts messages. A fault for live connections that finds fewer than it wants waits for the
 * next logins. Faults of the upgrade and the handshake happen before anybody said who connects: they take no `number`.
 */
export interface Fault {
  readonly kind:
    | 'close' // close the WebSocket, `code` (1000 default)
    | 'reset' // TCP reset
    | 'silence' // keep the socket, say nothing more, not even pongs
    | 'streamError' // <stream:error code=…>, `code`; without a code: none at all
    | 'streamEnd' // <xmlstreamend/>
    | 'conflict' // stream error "replaced"
    | 'deviceRemoved' // stream error 401 device_removed
    | 'loginFailure' // the next login gets <failure reason=code>
    | 'refuseUpgrade' // the next upgrade gets HTTP `code`
    | 'silentHandshake' // the next connection never gets a server hello
    | 'garbageHandshake' // … or one that cannot be parsed
    | 'badCertificate' // … or one with a wrong issuer serial
    | 'corruptFrame' // a transport frame that does not decrypt
    | 'noLogin' // the next login is never answered, pings are
    | 'closeAfterLogin' // the socket closes right after <success>
    | 'delay' // every stanza of the server waits `ms`
    | 'noAck' // sent messages are not acknowledged
    | 'ackError' // sent messages are refused with error `code`
    | 'duplicate'; // the next messages to the account are delivered twice
  readonly number?: Digits;
  readonly code?: number;
  readonly ms?: number;
  readonly times?: number;
}

/** Counters since the start; the tests' oracle. */
export interface Stats {
  readonly connections: { readonly open: number; readonly total: number };
  readonly handshakes: number;
  readonly pairings: number;
  readonly logins: {
    readonly total: number;
    readonly failed: number;
    /** Logins of a device that already had a live connection. */
    readonly double: number;
    /** Highest count within any one second. */
    readonly perSecondMax: number;
    readonly byNumber: Readonly<Record<Digits, number>>;
  };
  readonly messages: {
    readonly fromClients: number;
    readonly toClients: number;
    /** Messages to clients for which a client receipt (delivery) or ack came back. */
    readonly acknowledged: number;
    readonly decrypted: number;
    readonly undecryptable: number;
    readonly retryReceipts: number;
  };
  readonly signatures: { readonly verified: number; readonly rejected: number };
  readonly media: { readonly uploads: number; readonly downloads: number };
  /** What the platform was asked and does not know, `xmlns/type/child` → count; must stay empty in our own tests. */
  readonly unknown: Readonly<Record<string, number>>;
}

/** A bad request to the sandbox: `status` is the HTTP status that the control interface answers. */
export class SandboxError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Something happened that a page shows; pushed to listeners in order. */
export type WorldEvent =
  | { readonly type: 'person'; readonly person: PersonView }
  | { readonly type: 'message'; readonly to: Digits; readonly message: ReceivedMessage }
  | { readonly type: 'group'; readonly group: GroupView }
  | {
      readonly type: 'receipt';
      readonly to: Digits;
      readonly id: string;
      readonly kind: 'delivered' | 'read' | 'played';
      readonly by: Digits;
    }
  | { readonly type: 'presence'; readonly of: Digits; readonly chat: string; readonly state: string };

/**
 * A past that a phone hands over at the first login beside its own messages: so many invented chats, so many messages in each; so many missed
 * calls and status posts.
 */
export interface History {
  readonly chats: number;
  readonly messages: number;
  readonly calls?: number;
  readonly statuses?: number;
}

/** The face of the simulated platform. */
export interface Sandbox {
  /** The phone takes the text inside the QR code and links the waiting client. Makes the person when `number` is new or absent. */
  scan(input: { readonly qr: string; readonly number?: Digits; readonly name?: string; readonly history?: History }): Promise<PersonView>;
  /** The phone's owner types the pairing code which the gateway shows. */
  enterCode(input: {
    readonly number: Digits;
    readonly code: string;
    readonly name?: string;
    readonly history?: History;
  }): Promise<PersonView>;
  /** The phone removes its linked devices: the client gets 401 device_removed; offline ones get 401 at their next login. */
  logout(number: Digits): Promise<void>;
  /** A person writes to `to` (digits, or a group's jid). Queued when the account is offline. Answers with the platform's message id. */
  send(
    from: Digits,
    to: string,
    content: Content,
    options?: { readonly addressing?: 'pn' | 'lid'; readonly id?: string },
  ): Promise<{ readonly id: string }>;
  /** What `number` received and decrypted, oldest first. */
  received(number: Digits): readonly ReceivedMessage[];
  /** `number` confirms messages that it received (all unconfirmed ones of `chat` when `ids` is absent). */
  receipt(
    number: Digits,
    input: { readonly type: 'delivered' | 'read' | 'played'; readonly ids?: readonly string[]; readonly chat?: string },
  ): Promise<void>;
  /** Typing, recording, paused (in a chat) or available, unavailable. */
  presence(
    number: Digits,
    input: { readonly state: 'composing' | 'recording' | 'paused' | 'available' | 'unavailable'; readonly to?: string },
  ): Promise<void>;
  createGroup(input: {
    readonly subject: string;
    readonly creator: Digits;
    readonly participants: readonly Digits[];
    /** How members are named on the wire; by number when absent. */
    readonly addressing?: 'pn' | 'lid';
  }): Promise<GroupView>;
  updateGroup(
    jid: string,
    by: Digits,
    change:
      | { readonly action: 'add' | 'remove' | 'promote' | 'demote'; readonly participants: readonly Digits[] }
      | { readonly action: 'subject' | 'description'; readonly text: string }
      | GroupRule,
  ): Promise<GroupView>;
  /** The phone's owner changes a setting that linked devices share; those that come later learn it too. */
  change(number: Digits, setting: Setting): Promise<void>;
  /** `from` calls `to`, or somebody ends it. Answers with the call's id. */
  call(from: Digits, to: Digits, step: CallStep): Promise<{ readonly id: string }>;
  /** A channel (`…@newsletter`) posts to its followers. */
  post(channel: string, input: { readonly followers: readonly Digits[]; readonly content: Content }): Promise<{ readonly id: string }>;
  /** Makes or renames a person without a linked device; numbers need no registration before they are written to. */
  putPerson(input: { readonly number: Digits; readonly name?: string; readonly autoDeliver?: boolean }): Promise<PersonView>;
  people(): readonly PersonView[];
  groups(): readonly GroupView[];
  fault(fault: Fault): Promise<{ readonly hit: number }>;
  stats(): Stats;
  /** Public halves that a client must trust: Noise root key (hex, 32 bytes) and the TLS authority of the media host (PEM). */
  trust(): { readonly noiseRoot: string; readonly mediaAuthority: string };
  subscribe(listener: (event: WorldEvent) => void): () => void;
}
