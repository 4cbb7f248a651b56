/** Messages as they are stored (specification 2.5). */
import type { Audience } from './audience.ts';
import type { AiMetadata } from './chatbot.ts';
import type { PostMarks } from './post.ts';
import type { QueuedSend } from './send.ts';

/** Lifecycle of a message (specification 3.2); '' for messages received. The order is the order of progress. */
export const messageStatuses = ['', 'Queued', 'Canceled', 'Failed', 'Sent', 'Delivered', 'Read', 'Played', 'Deleted'] as const;

export type MessageStatus = (typeof messageStatuses)[number];

/** One message as it is stored (specification 2.5); unique by (instance, messageId, chatId). */
export interface Message {
  /** `r` and 7 hex digits. */
  readonly id: string;
  /** Id at the platform. */
  readonly messageId: string;
  /** Phone jid where it is known, group jid, or the LID as a last resort. */
  readonly chatId: string;
  readonly chatLid: string;
  readonly sender: string;
  readonly senderPn: string;
  readonly senderLid: string;
  readonly senderName: string;
  /** Address of a small picture of the sender, of a message that arrives in a group; not stored. */
  readonly senderImage?: string;
  readonly groupName: string;
  readonly isGroup: boolean;
  readonly fromMe: boolean;
  readonly wasSentByApi: boolean;
  /** Such as `Conversation`, `ImageMessage` (table in contract/events.md). */
  readonly messageType: string;
  /** `text`, `media`, `poll`, `reaction`, … */
  readonly type: string;
  /** `image`, `ptt`, …; '' for what is no media. */
  readonly mediaType: string;
  readonly source: string;
  readonly timestamp: number;
  readonly status: MessageStatus;
  readonly text: string;
  /** Id of the quoted message. */
  readonly quoted: string;
  /** Id of the message that this one edits; of a message that was edited, the id of its last edit. */
  readonly edited: string;
  /** Id of the message that this one reacts to. */
  readonly reaction: string;
  readonly vote: string;
  readonly convertOptions: string;
  readonly buttonOrListId: string;
  readonly error: string;
  /** Whom a call was with. Of messages with messageType `call` only. */
  readonly peer?: CallPeer | null;
  /** Plain string, or JSON with the field names of the protocol, bytes as base64; of a call, what the interface tells about it. */
  readonly content: unknown;
  readonly sendFunction: string;
  readonly sendPayload: unknown;
  readonly fileUrl: string;
  /** Until when it is pinned in its chat, in Unix milliseconds; 0 when it is not. */
  readonly pinnedUntil: number;
  /** The account starred it, on any device. */
  readonly starred?: boolean;
  readonly trackSource: string;
  readonly trackId: string;
  /** The campaign that it belongs to, and its recipient there; absent or '' for every other message. */
  readonly sendFolderId?: string;
  readonly sendPosition?: number;
  /** Of an own status post only. */
  readonly audience?: Audience | null;
  /** Of a message that an agent wrote. */
  readonly aiMetadata?: AiMetadata | null;
  /** Of a post of a channel only. */
  readonly post?: PostMarks | null;
  /** Set while the message waits in the asynchronous queue; null for every other message. */
  readonly queuedSend: QueuedSend | null;
  /** The encoded protobuf message, for quoting, forwarding and retry requests; null when there is none. */
  readonly raw: Uint8Array | null;
}

/** What most messages leave empty: spread it before the fields that a message has. */
export const emptyMessage = {
  senderName: '',
  groupName: '',
  wasSentByApi: false,
  mediaType: '',
  source: '',
  status: '',
  text: '',
  quoted: '',
  edited: '',
  reaction: '',
  vote: '',
  convertOptions: '',
  buttonOrListId: '',
  error: '',
  sendFunction: '',
  sendPayload: null,
  fileUrl: '',
  pinnedUntil: 0,
  trackSource: '',
  trackId: '',
  queuedSend: null,
  raw: null,
} as const satisfies Partial<Message>;

const tappedKinds: ReadonlySet<string> = new Set(['list_response', 'buttons_response', 'native_flow_response']);

/** What somebody wrote, or chose of buttons and lists; '' for everything else. */
export const wordsOf = ({ type, mediaType, text, vote }: Pick<Message, 'type' | 'mediaType' | 'text' | 'vote'>): string => {
  if (type !== 'text' && type !== 'media') return '';
  return (tappedKinds.has(mediaType) ? vote : text).trim();
};

export interface CallPeer {
  readonly chatId: string;
  readonly name: string;
  /** URL of a small picture, '' when there is none. */
  readonly image: string;
}

/** What a message does to an earlier one of its chat. */
export interface Revision {
  /** Platform id of the earlier message. */
  readonly messageId: string;
  /** Its new text or caption. Counts only when the author of the earlier message says so. */
  readonly text?: string;
  /** Unix milliseconds; 0 takes the pin away. */
  readonly pinnedUntil?: number;
}

/** In the order in which a message goes through them. */
export const receiptStates = ['Delivered', 'Read', 'Played'] as const;

export type ReceiptState = (typeof receiptStates)[number];

/** What one member of a group confirmed of an own message. Times in Unix milliseconds, of the first confirmation; 0 for what was not confirmed. */
export interface Receipt {
  readonly messageId: string;
  /** The LID where it is known, else the phone jid. */
  readonly member: string;
  /** The phone jid, '' when it is not known. */
  readonly memberPn: string;
  readonly deliveredAt: number;
  readonly readAt: number;
  readonly playedAt: number;
}

/** Members of a group by how far they came, of a message whose receipts are kept as counts alone. Who read it also got it. */
export interface ReceiptCounts {
  readonly delivered: number;
  readonly read: number;
  readonly played: number;
}

/** A message that can be marked as read. */
export interface ReadKey {
  readonly chatId: string;
  readonly messageId: string;
  readonly sender: string;
}
