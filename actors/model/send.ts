/** Messages to be sent, as plain data: they are stored while they wait in the asynchronous queue. */
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
 * What a message can hold. A new kind is a file in `content/`, and a line here, in the table of placeholders (`actors/text.ts`) and in the
 * composers of the adapter (`src/platform/outbound/compose.ts`).
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

/** One message to be sent (contract/behaviour.md, "Sends"), after validation. */
export interface Send {
  /** As the client wrote it: digits, or a jid with any suffix of specification 2.8. */
  readonly number: string;
  readonly content: SendContent;
  /** Id of the message to quote, in any form; '' for none. */
  readonly replyTo: string;
  /** Digits or jids; `all` for every member of a group. */
  readonly mentions: readonly string[];
  readonly forward: boolean;
  /** Placeholders in it stay as they stand. */
  readonly literal?: boolean;
  /** Of a status post only. */
  readonly audience?: AudienceWish | null;
}

/** What precedes a message. */
export interface Preparation {
  /** Milliseconds of visible typing before the message. */
  readonly delay: number;
  /** Read receipts for what is unread in the chat. */
  readonly readChat: boolean;
  readonly readMessages: boolean;
}

/** What a message of the asynchronous queue still needs. `send` is null when the message is composed already. */
export interface QueuedSend extends Preparation {
  readonly send: Send | null;
}
