/** Chats and messages, as in the answers and events of the server. The file has types only, and the browser does not load it. Times are Unix milliseconds. */

export interface Chat {
  /** The short id, which is part of the page's address. */
  readonly id: string;
  readonly wa_chatid: string;
  /** The second id of the same person; '' if it is not known. */
  readonly wa_chatlid: string;
  readonly name: string;
  readonly wa_name: string;
  readonly wa_contactName: string;
  readonly lead_name: string;
  readonly phone: string;
  readonly wa_isGroup: boolean;
  readonly wa_isPinned: boolean;
  readonly wa_archived: boolean;
  readonly wa_unreadCount: number;
  readonly wa_lastMsgTimestamp: number;
  readonly wa_lastMessageTextVote: string;
  readonly wa_lastMessageType: string;
}

export interface Message {
  /** Short id in answers, `<owner>:<messageid>` in events. */
  readonly id: string;
  readonly messageid: string;
  readonly chatid: string;
  readonly sender: string;
  readonly senderName: string;
  readonly sender_pn: string | null;
  readonly isGroup: boolean;
  readonly fromMe: boolean;
  readonly messageType: string;
  readonly messageTimestamp: number;
  /** The status of the message; '' for messages of other people. */
  readonly status: string;
  readonly text: string;
  /** Id of the message that this message answers. */
  readonly quoted: string;
  /** In an edit: the id of the edited message. In an edited message: the id of its last edit. */
  readonly edited: string;
  /** Id of the message that a reaction is for. */
  readonly reaction: string;
  readonly vote: string;
  readonly error: string;
  /** The content comes from strangers, so every field may be missing or of another type. */
  readonly content: unknown;
  readonly fileURL: string;
}

/** The event of a message, with the chat of the message. */
export interface MessageEvent {
  readonly data: Message & { readonly chat: Chat };
}

export interface UpdateEvent {
  readonly data: {
    readonly state: string;
    readonly event: { readonly MessageIDs: readonly string[]; readonly chatid: string; readonly FileURL?: string };
  };
}

/** One emoji below a message. */
export interface Reaction {
  readonly emoji: string;
  readonly count: number;
  readonly isOwn: boolean;
}

/** A message in the form that the page shows. */
export interface Item {
  readonly message: Message;
  readonly text: string;
  readonly isEdited: boolean;
  readonly reactions: readonly Reaction[];
}
