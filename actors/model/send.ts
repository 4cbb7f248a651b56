/** Messages to be sent, as plain data, because they are stored while they wait in the asynchronous queue. */
import type { AudienceWish } from './audience.ts';
import type { ChannelInviteContent, ContactContent, GroupInviteContent, LocationContent } from './content/cards.ts';
import type { EventContent, EventEditContent } from './content/event.ts';
import type { InteractiveContent } from './content/interactive.ts';
import type { MediaContent } from './content/media.ts';
import type { PollContent } from './content/poll.ts';
import type { TextContent } from './content/text.ts';

export type * from './content/cards.ts';
export type * from './content/event.ts';
export * from './content/media.ts';
export type * from './content/interactive.ts';
export type * from './content/poll.ts';
export type * from './content/text.ts';

/**
 * The kinds of content. A new kind needs a file in `content/`, a line in this union, a line in the table of placeholders (`actors/text.ts`), and a
 * composer. The composers are in `src/platform/outbound/compose.ts`.
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
  /** Id of the quoted message, in any form; '' for none. */
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
  /** True if the unread messages of the chat get read receipts. */
  readonly readChat: boolean;
  readonly readMessages: boolean;
}

/** The remaining work of a message in the asynchronous queue. `send` is null if the message is composed already. */
export interface QueuedSend extends Preparation {
  readonly send: Send | null;
}
