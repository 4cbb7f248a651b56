/** Messages to be sent, as plain data, because they are stored while they wait in the asynchronous queue. */
import type {
  ChannelInviteContent,
  ContactContent,
  EventContent,
  EventEditContent,
  GroupInviteContent,
  InteractiveContent,
  LocationContent,
  MediaContent,
  PollContent,
  TextContent,
} from './content.ts';

// The audience of a status post.

/** The chat id of all status posts. */
export const statusChat = 'status@broadcast';

/** A person with whom the account has a chat, or who is in the address book of the account. */
export interface KnownContact {
  readonly chatId: string;
  /** The LID of the person; '' if unknown. */
  readonly chatLid: string;
  /** The source of the person's name: the address book (`named`), the person's own choice (`pushName`), or none (`number`). */
  readonly known: 'named' | 'pushName' | 'number';
}

/** The audience that the client asked for. */
export interface AudienceWish {
  /** Numbers and ids as the client wrote them. Null selects the recipients by the privacy setting of the account. */
  readonly recipients: readonly string[] | null;
  /** The largest number of recipients; 0 for the gateway's own limit. */
  readonly most: number;
  /** Contacts that were read from storage when the message was accepted. Empty if `recipients` are given. */
  readonly contacts: readonly KnownContact[];
}

/** The report about the selection of a post's recipients. Counts are numbers of people. */
interface AudienceReport {
  /** True if the client gave the recipients; false if they follow the privacy setting. */
  readonly explicit: boolean;
  /** True if the account has no privacy setting on the platform, so the platform's default applies. */
  readonly usualPrivacy: boolean;
  readonly contacts: Readonly<Record<KnownContact['known'], number>>;
  readonly requested: number;
  readonly resolved: number;
  readonly discarded: number;
  /** The first discarded recipients, as examples. */
  readonly examples: readonly { readonly input: string; readonly reason: string }[];
  readonly most: number;
}

/** The selected audience. The audience is stored with the message, because a retry needs the same recipients. */
export interface Audience {
  /** The setting that the post announces: all contacts, only some, or all but some. */
  readonly setting: 'contacts' | 'allowlist' | 'denylist';
  /** Jids without a device. All are LIDs or all are numbers, depending on the addressing of the account. */
  readonly recipients: readonly string[];
  readonly report: AudienceReport;
}

export * from './content.ts';

/**
 * The kinds of content. A new kind needs an interface in `content.ts`, a line in this union, a line in the table of placeholders (`actors/text.ts`),
 * and a composer. The composers are in `src/platform/outbound/compose.ts`.
 */
export type SendContent =
  | TextContent
  | PollContent
  | ContactContent
  | LocationContent
  | GroupInviteContent
  | ChannelInviteContent
  | EventContent
  | EventEditContent
  | MediaContent
  | InteractiveContent;

/** One message to be sent, after validation. */
export interface Send {
  /** The number as the client wrote it: digits, or a jid with any suffix. */
  readonly number: string;
  readonly content: SendContent;
  /** The id of the quoted message, in any form; '' for none. */
  readonly replyTo: string;
  /** Digits or jids; `all` for every member of a group. */
  readonly mentions: readonly string[];
  readonly forward: boolean;
  /** True if placeholders in the text are not replaced. */
  readonly literal?: boolean;
  /** The audience of a status post. Other messages have none. */
  readonly audience?: AudienceWish | null;
}

/** Steps before a message is sent. */
export interface Preparation {
  /** The time of visible typing before the message. In milliseconds. */
  readonly delay: number;
  /** True to send read receipts for the unread messages of the chat. */
  readonly readChat: boolean;
  readonly readMessages: boolean;
}

/** The remaining work of a message in the asynchronous queue. `send` is null if the message is composed already. */
export interface QueuedSend extends Preparation {
  readonly send: Send | null;
}
