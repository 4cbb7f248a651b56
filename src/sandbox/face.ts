/**
 * What the simulated platform offers to its control interface (HTTP, page) and to tests.
 *
 * The world (accounts, devices, contacts, groups, queues) implements it; `control/` and the page use nothing else.
 * Every method rejects with a `SandboxError` when its input makes no sense. Any other rejection is a bug.
 */

import type { InteractiveView } from './interactive.ts';
import type { MediaFacts } from './content.ts';

/** International number, digits only. */
export type Digits = string;

/** One linked device of a phone, as the phone's "linked devices" list would show it. */
export interface DeviceView {
  /** Device number on the platform, 1 or more; the phone itself is 0. */
  readonly device: number;
  /** Unix time in milliseconds. */
  readonly linkedAt: number;
  /** True while an authenticated connection is open. */
  readonly connected: boolean;
  /** The push name of the registration payload, or a later one that the client sent with its presence. */
  readonly pushName: string;
  /** Stanzas that wait for the device's confirmation. */
  readonly queued: number;
}

/** A simulated person. Every person has a phone; those with linked devices are accounts of the gateway. */
export interface PersonView {
  readonly number: Digits;
  /** Alternative identifier, 15 digits, stable, never equal to a number. */
  readonly lid: Digits;
  /** The push name; '' for an account that has none. */
  readonly name: string;
  readonly devices: readonly DeviceView[];
}

/** `data`: the bytes in base64. */
interface MediaContent {
  readonly kind: 'image' | 'video' | 'gif' | 'audio' | 'ptt' | 'document' | 'sticker';
  readonly data: string;
  readonly mimetype?: string;
  readonly caption?: string;
  readonly fileName?: string;
  readonly seconds?: number;
}

/** What a simulated person can send. Message ids are those of the platform (`messageid`). */
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
  /** `secret`: the edit travels encrypted under the secret of the message that it changes. */
  | { readonly kind: 'edit'; readonly messageId: string; readonly text: string; readonly secret?: boolean }
  /** An own message, or as an admin of the group anybody's. */
  | { readonly kind: 'delete'; readonly messageId: string }
  /** `seconds`: 0 takes the pin away. */
  | { readonly kind: 'pin'; readonly messageId: string; readonly seconds: number }
  /** Keeps a disappearing message in the chat, or lets it go. */
  | { readonly kind: 'keep'; readonly messageId: string; readonly on: boolean }
  | { readonly kind: 'poll'; readonly name: string; readonly options: readonly string[]; readonly selectable?: number }
  | { readonly kind: 'pollVote'; readonly messageId: string; readonly options: readonly string[] }
  /**
   * A tap on a button or on a row of a list, by its id or its label. `form`: of the answer, as phones of several kinds and ages give it; the one of the
   * tapped message when left out. `latitude`, `longitude`: for a button that asks for the place.
   */
  | {
      readonly kind: 'tap';
      readonly messageId: string;
      readonly option: string;
      readonly form?: 'native' | 'buttons' | 'list' | 'template';
      readonly latitude?: number;
      readonly longitude?: number;
    }
  | { readonly kind: 'contact'; readonly displayName: string; readonly vcard: string }
  | { readonly kind: 'location'; readonly latitude: number; readonly longitude: number; readonly name?: string }
  /** Times in Unix seconds. */
  | {
      readonly kind: 'event';
      readonly name: string;
      readonly startTime: number;
      readonly description?: string;
      readonly isCanceled?: boolean;
    }
  | {
      readonly kind: 'eventAnswer';
      readonly messageId: string;
      readonly answer: 'going' | 'notGoing' | 'maybe';
      readonly extraGuests?: number;
    }
  /** Changes an own event; what is absent stays. */
  | { readonly kind: 'eventEdit'; readonly messageId: string; readonly name?: string; readonly isCanceled?: boolean }
  /** Any message of the protocol, as JSON with bytes in base64, for what the kinds above do not cover. */
  | { readonly kind: 'message'; readonly message: Readonly<Record<string, unknown>> };

/** A setting on a phone that its linked devices share. `chat` is a number or the jid of a group. */
export type Setting =
  | { readonly kind: 'label'; readonly labelId: string; readonly name: string; readonly color: number; readonly deleted?: boolean }
  | { readonly kind: 'chatLabel'; readonly labelId: string; readonly chat: string; readonly on: boolean }
  | { readonly kind: 'archive' | 'pin' | 'read'; readonly chat: string; readonly on: boolean }
  /** `until`: Unix time in milliseconds; 0 ends the muting. */
  | { readonly kind: 'mute'; readonly chat: string; readonly until: number }
  /** Without a name the contact is removed from the address book. */
  | { readonly kind: 'contact'; readonly number: Digits; readonly name?: string };

/** A rule of a group. `approval`: admins confirm who joins. `adminAdd`: only admins add people. `ephemeral`: messages disappear after so many seconds (0: never). */
export type GroupRule =
  | { readonly action: 'announce' | 'locked' | 'approval' | 'adminAdd'; readonly on: boolean }
  | { readonly action: 'ephemeral'; readonly seconds: number }
  /** Replaces the link by which people join. */
  | { readonly action: 'invite' };

/** A step of a call. The caller offers and terminates; the other side accepts or rejects on the phone; without a reaction the call times out. */
export interface CallStep {
  readonly step: 'offer' | 'accept' | 'reject' | 'timeout' | 'terminate';
  /** The id of the call. Absent in an offer: a new call gets a new id. */
  readonly id?: string;
  readonly video?: boolean;
}

/** A message that a person received, after its decryption. */
export interface ReceivedMessage {
  readonly id: string;
  /** The chat as the receiver sees it: the sender's jid, or the group's. */
  readonly chat: string;
  readonly from: Digits;
  readonly pushName: string;
  /** Unix time in milliseconds. */
  readonly at: number;
  /** The Signal envelope that carried it. */
  readonly envelope: 'pkmsg' | 'msg' | 'skmsg' | 'plain';
  /** The first field of the protobuf message, such as `conversation`, `imageMessage` or `reactionMessage`; edits and deletions are a `protocolMessage`. */
  readonly kind: string;
  /** The text or caption, '' when there is none. */
  readonly text: string;
  /** The decrypted protobuf message as JSON, bytes as base64. */
  readonly content: unknown;
  /** Present when the message has media; the file was downloaded and verified. */
  readonly media?: { readonly bytes: number; readonly sha256: string } & MediaFacts;
  /** Present when the message has something to tap, and the phone shows it. */
  readonly interactive?: InteractiveView;
  /** Present when the message could not be decrypted; `text` is '' then. */
  readonly error?: string;
  /** Present when part of the message is encrypted once more, and the phone could open it: the message inside, as JSON. */
  readonly opened?: unknown;
  /** Present when the phone took the message and shows nothing of it, as real phones do when the stanza lacks what they need: why. */
  readonly hidden?: string;
}

/** A message as the phone shows it: what other messages did to it is applied, as far as the phone accepts that. */
export interface ShownMessage {
  readonly id: string;
  readonly from: Digits;
  /** The text or caption, '' when there is none or it was deleted. */
  readonly text: string;
  readonly edited: boolean;
  readonly deleted: boolean;
  /** Emojis by the number of who reacted. */
  readonly reactions: Readonly<Record<Digits, string>>;
  /** Unix time in milliseconds; 0 when it is not pinned. */
  readonly pinnedUntil: number;
  readonly kept: boolean;
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
 * A fault, on demand. `number` limits it to one account; without it the fault is for every account and every new connection.
 * `times` is the number of connections that it hits, or of messages for `noAck`, `ackError`, `refuseStrangers`, `garble` and `duplicate`, of requests for
 * uploads; 0 clears the fault. Default: all
 * open connections for a fault that is applied to open connections, else 1. When fewer connections are open than `times`, the rest waits for
 * the next logins. Faults of the upgrade, the handshake and of uploads take no `number`, because the client does not say which account it belongs to.
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
    | 'refuseStrangers' // messages to people who never wrote to the account are refused with `code` (463 default, 475)
    | 'garble' // sent messages reach the phones broken, which ask for them again
    | 'uploadRefused' // uploads are answered with HTTP `code` (507 default)
    | 'uploadUnauthorised' // the right to upload runs out: 401 until it is asked for again
    | 'uploadSlow' // nothing of an upload is read for `ms`
    | 'uploadCut' // the connection breaks after half of what an upload sends
    | 'duplicate'; // the next messages to the account are delivered twice
  readonly number?: Digits;
  readonly code?: number;
  readonly ms?: number;
  readonly times?: number;
}

/** Counters since the start. Tests compare the gateway with them. */
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
  readonly media: {
    /** Files that arrived whole. */
    readonly uploads: number;
    /** Uploads that went on where an earlier one broke off. */
    readonly resumed: number;
    readonly uploadsByHost: Readonly<Record<string, number>>;
    readonly downloads: number;
  };
  /** Requests that the platform does not know, `xmlns/type/child` → count. Must stay empty in our tests. */
  readonly unknown: Readonly<Record<string, number>>;
}

/** A bad request to the sandbox. `status` is the HTTP status of the control interface's answer. */
export class SandboxError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** An event that a page shows. Listeners get events in order. */
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
 * The history that a phone sends at the first login, beside its own messages: the number of invented chats, of messages in each of them, of
 * missed calls and of status posts.
 */
export interface History {
  readonly chats: number;
  readonly messages: number;
  readonly calls?: number;
  readonly statuses?: number;
}

/** Everything that can be done with the simulated platform. */
export interface Sandbox {
  /** The phone scans a QR code (`qr`: the text inside it) and links the client that shows it. Makes a person when `number` is new or absent. */
  scan(input: { readonly qr: string; readonly number?: Digits; readonly name?: string; readonly history?: History }): Promise<PersonView>;
  /** The phone's owner types the pairing code that the client shows. */
  enterCode(input: {
    readonly number: Digits;
    readonly code: string;
    readonly name?: string;
    readonly history?: History;
  }): Promise<PersonView>;
  /** The phone removes its linked devices. A connected client gets 401 (device_removed) at once, an offline one gets 401 at its next login. */
  logout(number: Digits): Promise<void>;
  /** A person writes to `to` (digits, or a group's jid). The message waits while the receiver is offline. Returns the platform's message id. */
  send(
    from: Digits,
    to: string,
    content: Content,
    options?: { readonly addressing?: 'pn' | 'lid'; readonly id?: string },
  ): Promise<{ readonly id: string }>;
  /** What `number` received and decrypted, oldest first. */
  received(number: Digits): readonly ReceivedMessage[];
  /** What the phone of `number` shows in a chat (a number or the jid of a group), oldest first. */
  shown(number: Digits, chat: string): readonly ShownMessage[];
  /** `number` confirms messages that it received: those in `ids`, else all unconfirmed ones of `chat`. */
  receipt(
    number: Digits,
    input: { readonly type: 'delivered' | 'read' | 'played'; readonly ids?: readonly string[]; readonly chat?: string },
  ): Promise<void>;
  /** Composing, recording and paused happen in a chat (`to`); available and unavailable are for everybody. */
  presence(
    number: Digits,
    input: { readonly state: 'composing' | 'recording' | 'paused' | 'available' | 'unavailable'; readonly to?: string },
  ): Promise<void>;
  createGroup(input: {
    readonly subject: string;
    readonly creator: Digits;
    readonly participants: readonly Digits[];
    /** How members are named on the wire. Absent: by number. */
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
  /** The phone's owner changes a setting that all linked devices share, including those that are linked later. */
  change(number: Digits, setting: Setting): Promise<void>;
  /** A step of a call from `from` to `to`. Returns the call's id. */
  call(from: Digits, to: Digits, step: CallStep): Promise<{ readonly id: string }>;
  /** A channel (`…@newsletter`) posts to its followers. */
  post(channel: string, input: { readonly followers: readonly Digits[]; readonly content: Content }): Promise<{ readonly id: string }>;
  /** Makes or renames a person. Nobody needs to be made before being written to. */
  putPerson(input: { readonly number: Digits; readonly name?: string; readonly autoDeliver?: boolean }): Promise<PersonView>;
  people(): readonly PersonView[];
  groups(): readonly GroupView[];
  fault(fault: Fault): Promise<{ readonly hit: number }>;
  stats(): Stats;
  /** What a client must trust: the Noise root key (32 bytes in hex) and the TLS authority of the media host (PEM). */
  trust(): { readonly noiseRoot: string; readonly mediaAuthority: string };
  subscribe(listener: (event: WorldEvent) => void): () => void;
}
