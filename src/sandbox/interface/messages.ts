/** Messages, their receipts, calls, presence and typing. */
import type { MediaFacts } from '../content.ts';
import type { InteractiveView } from '../interactive.ts';
import type { Digits } from './common.ts';

/** A file that a simulated person sends. `data`: the bytes of the file in base64. */
interface MediaContent {
  readonly kind: 'image' | 'video' | 'gif' | 'audio' | 'ptt' | 'document' | 'sticker';
  readonly data: string;
  readonly mimetype?: string;
  readonly caption?: string;
  readonly fileName?: string;
  readonly seconds?: number;
}

/** The contents that a simulated person can send. Message ids are those of the platform (`messageid`). */
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
  /** Edits a message. With `secret`, the edit is encrypted under the secret of the message that it changes. */
  | { readonly kind: 'edit'; readonly messageId: string; readonly text: string; readonly secret?: boolean }
  /** Deletes an own message. An admin of the group can delete any message. */
  | { readonly kind: 'delete'; readonly messageId: string }
  /** Pins a message for `seconds`; 0 removes the pin. */
  | { readonly kind: 'pin'; readonly messageId: string; readonly seconds: number }
  /** Keeps a disappearing message in the chat. With `on: false`, the message can disappear again. */
  | { readonly kind: 'keep'; readonly messageId: string; readonly on: boolean }
  | { readonly kind: 'poll'; readonly name: string; readonly options: readonly string[]; readonly selectable?: number }
  | { readonly kind: 'pollVote'; readonly messageId: string; readonly options: readonly string[] }
  /**
   * Taps a button or a row of a list, found by its id or its label. `form` is the form of the answer, which depends on the kind and the version of the app. If
   * `form` is absent, the tapped message defines the form. `latitude` and `longitude` are for a button that requests a location.
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
  /** `startTime` is in Unix seconds. */
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
  /** Changes an own event. Absent fields stay unchanged. */
  | { readonly kind: 'eventEdit'; readonly messageId: string; readonly name?: string; readonly isCanceled?: boolean }
  /** A product from the catalog of the business `owner` as customers see it, with a question about it. */
  | { readonly kind: 'product'; readonly owner: Digits; readonly productId: string; readonly text?: string }
  | {
      readonly kind: 'order';
      readonly owner: Digits;
      readonly items: readonly { readonly productId: string; readonly quantity: number }[];
      readonly text?: string;
    }
  /** Any message of the protocol as JSON, with bytes in base64. It is for contents that have no kind of their own. */
  | { readonly kind: 'message'; readonly message: Readonly<Record<string, unknown>> };

/** A message that a person received, after its decryption. */
export interface ReceivedMessage {
  readonly id: string;
  /** The chat as the receiver sees it: the sender's jid, or the group's. */
  readonly chat: string;
  readonly from: Digits;
  readonly pushName: string;
  /** The time of the message, in Unix milliseconds. */
  readonly at: number;
  /** The type of the Signal envelope that carried the message. `plain`: another simulated phone sent the message, or the message could not be decrypted. */
  readonly envelope: 'pkmsg' | 'msg' | 'skmsg' | 'plain';
  /** The first field of the protobuf message, such as `conversation`, `imageMessage` or `reactionMessage`; edits and deletions are a `protocolMessage`. */
  readonly kind: string;
  /** The text or caption, '' when there is none. */
  readonly text: string;
  /** The decrypted protobuf message as JSON, bytes as base64. */
  readonly content: unknown;
  /** The time after which the phone removes the message, in seconds; absent if the message does not expire. */
  readonly expiration?: number;
  /** The media of the message, which were downloaded and verified. Absent if the message has none. */
  readonly media?: { readonly bytes: number; readonly sha256: string } & MediaFacts;
  /** The parts that a user can tap. Absent if the message has no such parts, or if the phone does not show the message. */
  readonly interactive?: InteractiveView;
  /** SHA-256 in hex of the header files of the message and of its cards, which were downloaded and verified. */
  readonly heads?: readonly string[];
  /** The reason why the message could not be decrypted. `text` is '' in this case. */
  readonly error?: string;
  /** The inner message as JSON, if the message has a second layer of encryption that the phone could decrypt. */
  readonly opened?: unknown;
  /** The reason why the phone accepted the message but does not show it. Real phones do this when the stanza lacks an attribute. */
  readonly hidden?: string;
}

/** A message as the phone shows it. It includes the changes by later messages that the phone accepted. */
export interface ShownMessage {
  readonly id: string;
  readonly from: Digits;
  /** The text or caption; '' if there is none or if the message was deleted. */
  readonly text: string;
  readonly edited: boolean;
  readonly deleted: boolean;
  /** Emojis by the number of the person who reacted. */
  readonly reactions: Readonly<Record<Digits, string>>;
  /** The time at which the pin ends, in Unix milliseconds; 0 if the message is not pinned. */
  readonly pinnedUntil: number;
  readonly kept: boolean;
  /** True if the message was read on this phone or on one of its linked devices. */
  readonly read: boolean;
}

/** Messages and presence of people. */
export interface MessagesMethods {
  /** Sends a message of a person to `to` (digits, or a group's jid). The message waits while the receiver is offline. Returns the platform's message id. */
  send(
    from: Digits,
    to: string,
    content: Content,
    /**
     * `addressing` is the form of the sender's jid. If it is absent, the last message of the receiver to the sender defines the form. Without such a message
     * the form is the number. If the platform hides one of the two numbers, the form is always the LID.
     */
    options?: { readonly addressing?: 'pn' | 'lid'; readonly id?: string },
  ): Promise<{ readonly id: string }>;
  /** Returns the messages that `number` received, oldest first. A message that could not be decrypted has `error`. */
  received(number: Digits): readonly ReceivedMessage[];
  /** Returns the messages that the phone of `number` shows in a chat (a number or the jid of a group), oldest first. */
  shown(number: Digits, chat: string): readonly ShownMessage[];
  /**
   * Makes the phone of `number` ask an account to send a message again, even if the phone never got the message. With `group`, the request comes from this
   * group, even if the person is no member.
   */
  askAgain(number: Digits, of: Digits, messageId: string, group?: string): Promise<void>;
  /** Confirms messages that `number` received: the messages in `ids`, or else all messages of `chat` that lack this receipt. */
  receipt(
    number: Digits,
    input: { readonly type: 'delivered' | 'read' | 'played'; readonly ids?: readonly string[]; readonly chat?: string },
  ): Promise<void>;
  /** Sends the presence of a person. Composing, recording and paused belong to a chat (`to`). Available and unavailable are for all chats. */
  presence(
    number: Digits,
    input: { readonly state: 'composing' | 'recording' | 'paused' | 'available' | 'unavailable'; readonly to?: string },
  ): Promise<void>;
}

// Calls: their signalling, without sound.

/**
 * A step of a call. The caller offers and ends the call. The called person accepts or rejects it on the phone. `timeout` ends a call to which the called person
 * did not react.
 */
export interface CallStep {
  readonly step: 'offer' | 'accept' | 'reject' | 'timeout' | 'terminate';
  /** The id of the call. Absent in an offer: a new call gets a new id. */
  readonly id?: string;
  readonly video?: boolean;
}

/** A call with the steps so far. */
export interface CallView {
  readonly id: string;
  readonly from: Digits;
  readonly to: Digits;
  readonly video: boolean;
  /** The steps. `by`: the person whose phone or client made the step. `at`: Unix time in milliseconds. */
  readonly steps: readonly { readonly step: CallStep['step']; readonly by: Digits; readonly at: number }[];
}

/** Calls between people. */
export interface CallsMethods {
  /** Makes a step of a call from `from` to `to`. Returns the call's id. */
  call(from: Digits, to: Digits, step: CallStep): Promise<{ readonly id: string }>;
  /** Returns all calls since the start, oldest first. */
  callLog(): readonly CallView[];
}
