/** Messages as they are stored. */
import type { Audience, QueuedSend } from './send.ts';
import type { AiMetadata } from './chatbot.ts';
import type { PostMarks } from './channel.ts';

/** The statuses of a message in the order of progress; '' for received messages. */
export const messageStatuses = ['', 'Queued', 'Canceled', 'Failed', 'Sent', 'Delivered', 'Read', 'Played', 'Deleted'] as const;

export type MessageStatus = (typeof messageStatuses)[number];

/** One message as it is stored; unique by (instance, messageId, chatId). */
export interface Message {
  /** The short id: `r` and 7 hex digits. */
  readonly id: string;
  /** The id that the platform knows. */
  readonly messageId: string;
  /** The jid of a group. For a person, the phone jid if it is known, else the LID. */
  readonly chatId: string;
  readonly chatLid: string;
  readonly sender: string;
  readonly senderPn: string;
  readonly senderLid: string;
  readonly senderName: string;
  /** URL of a small picture of the sender, for messages that arrive in a group. Not stored. */
  readonly senderImage?: string;
  readonly groupName: string;
  readonly isGroup: boolean;
  readonly fromMe: boolean;
  readonly wasSentByApi: boolean;
  /** The type, such as `Conversation` or `ImageMessage`. */
  readonly messageType: string;
  /** `text`, `media`, `poll`, `reaction`, … */
  readonly type: string;
  /** `image`, `ptt`, …; '' for messages without media. */
  readonly mediaType: string;
  readonly source: string;
  readonly timestamp: number;
  readonly status: MessageStatus;
  readonly text: string;
  /** The id of the quoted message. */
  readonly quoted: string;
  /** In an edit: the id of the edited message. In an edited message: the id of its last edit. */
  readonly edited: string;
  /** The id of the message to which this message reacts. */
  readonly reaction: string;
  readonly vote: string;
  readonly convertOptions: string;
  readonly buttonOrListId: string;
  readonly error: string;
  /** The other party of a call. Only messages with messageType `call` have one. */
  readonly peer?: CallPeer | null;
  /** A plain string, or JSON with the protocol's field names and bytes as base64. A call has the fields that the interface defines. */
  readonly content: unknown;
  readonly sendFunction: string;
  readonly sendPayload: unknown;
  readonly fileUrl: string;
  /** The time until which the message is pinned in its chat; 0 for no pin. In Unix milliseconds. */
  readonly pinnedUntil: number;
  /** True if the account starred the message, on any device. */
  readonly starred?: boolean;
  readonly trackSource: string;
  readonly trackId: string;
  /** The campaign of the message, and the position of its recipient in the campaign. Absent or '' for messages outside campaigns. */
  readonly sendFolderId?: string;
  readonly sendPosition?: number;
  /** The audience of an own status post. Absent for other messages. */
  readonly audience?: Audience | null;
  /** The request to the model and its response, for a message that an agent wrote. */
  readonly aiMetadata?: AiMetadata | null;
  /** The marks of a channel post. Absent for other messages. */
  readonly post?: PostMarks | null;
  /** The remaining work of a message in the asynchronous queue; null for every other message. */
  readonly queuedSend: QueuedSend | null;
  /** The encoded protobuf message for quotes, forwards and retry requests; null if there is none. */
  readonly raw: Uint8Array | null;
}

/** Default values of the fields that most messages leave empty. Spread these defaults before the fields of the message. */
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

/** Returns the text that a person wrote, or the option that a person tapped; '' for every other type. */
export const inputTextOf = ({ type, mediaType, text, vote }: Pick<Message, 'type' | 'mediaType' | 'text' | 'vote'>): string => {
  if (type !== 'text' && type !== 'media') return '';
  return (tappedKinds.has(mediaType) ? vote : text).trim();
};

export interface CallPeer {
  readonly chatId: string;
  readonly name: string;
  /** URL of a small picture; '' if there is none. */
  readonly image: string;
}

/** A change that a message makes to an earlier message of its chat. */
export interface Revision {
  /** Platform id of the earlier message. */
  readonly messageId: string;
  /** The new text or caption. The text applies only if the author of the earlier message sent the change. */
  readonly text?: string;
  /** The end of the pin; 0 removes the pin. In Unix milliseconds. */
  readonly pinnedUntil?: number;
}

/** The receipt states in the order in which a message reaches them. */
export const receiptStates = ['Delivered', 'Read', 'Played'] as const;

export type ReceiptState = (typeof receiptStates)[number];

/** The confirmations of an own message by one member of a group. A time is that of the first confirmation; 0 for none. In Unix milliseconds. */
export interface Receipt {
  readonly messageId: string;
  /** The LID if it is known, else the phone jid. */
  readonly member: string;
  /** The phone jid; '' if unknown. */
  readonly memberPn: string;
  readonly deliveredAt: number;
  readonly readAt: number;
  readonly playedAt: number;
}

/** Numbers of members by receipt state, for a message whose single receipts are no longer stored. A member who read the message also counts as delivered. */
export interface ReceiptCounts {
  readonly delivered: number;
  readonly read: number;
  readonly played: number;
}

/** The key of a message that can be marked as read. */
export interface ReadKey {
  readonly chatId: string;
  readonly messageId: string;
  readonly sender: string;
}
