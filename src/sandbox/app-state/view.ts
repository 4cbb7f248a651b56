/**
 * Reads the records of the app state as a phone does. A record is ignored if its action is unknown, its collection does not fit the action, or its version is
 * too new. The reader of an action may ignore further records. `ignored` lists all ignored records with the reasons.
 */
import { proto } from '@whiskeysockets/baileys';
import { isGroupJid, parseUser } from '../address.ts';
import type { ChatSettings, Digits, MessageSettings, SettingsView } from '../interface.ts';
import type { People } from '../people.ts';
import type { MessageStore, Stored } from '../store/messages.ts';
import type { Action } from './codec.ts';
import type { CollectionName } from './collection.ts';

export interface Known {
  readonly people: People;
  readonly messages: MessageStore;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer U)[] | undefined ? U[] : T[K] };
type Draft = Writable<Omit<SettingsView, 'chats' | 'messages'>> & {
  readonly chats: Map<string, Writable<ChatSettings>>;
  readonly messages: Map<string, Writable<MessageSettings>>;
};

/** Reads the record of an action. `about`: the index without the name of the action. Returns the reason if the phone ignores the record. */
type Reader = (phone: Phone, about: readonly string[], value: proto.ISyncActionValue) => string | undefined;

interface Row {
  readonly collection: CollectionName;
  readonly version: number;
  readonly read: Reader;
}

/** The number of newest messages in which the phone looks for the timer of disappearing messages. */
const timersFrom = 2_000;

const numberOf = (value: unknown): number => Number(value ?? 0);

/** A phone that reads the records of its account. */
class Phone {
  readonly draft: Draft;
  readonly #owner: Digits;
  readonly #known: Known;

  constructor(owner: Digits, known: Known, versions: SettingsView['versions']) {
    this.#owner = owner;
    this.#known = known;
    const lists = { labels: [], contacts: [], quickReplies: [], mutedStatuses: [], ignored: [] };
    this.draft = { ...lists, chats: new Map(), messages: new Map(), versions };
  }

  /** Returns the chat of a jid: the number of a person, or the jid of a group. */
  chatOf(jid: string | undefined): string | undefined {
    if (jid !== undefined && isGroupJid(jid)) return jid;
    return this.#known.people.resolve(jid)?.person.number;
  }

  /**
   * Changes the settings of the chat that a jid names. Returns the reason if the phone finds no such chat. Phones index people by LID, and find no chat under a
   * number.
   */
  inChat(jid: string | undefined, change: (chat: Writable<ChatSettings>) => void): string | undefined {
    const chat = this.chatOf(jid);
    if (chat === undefined) return 'no such chat';
    if (parseUser(jid)?.addressing === 'pn') return 'a chat with a person is named by its LID';
    this.inStored(chat, change);
    return undefined;
  }

  /** Changes the settings of a chat. `chat` is a number or the jid of a group. */
  inStored(chat: string, change: (chat: Writable<ChatSettings>) => void): void {
    const settings = this.draft.chats.get(chat) ?? { chat };
    change(settings);
    this.draft.chats.set(chat, settings);
  }

  /**
   * Changes the settings of a message. The list names the chat, the message id, `1` for an own message or else `0`, and the author. Returns the reason if the
   * phone finds no such message.
   */
  onMessage(
    [jid, id = '', fromMe, participant]: readonly string[],
    change: (message: Writable<MessageSettings>) => void,
  ): string | undefined {
    const chat = this.chatOf(jid);
    const stored = this.#known.messages.find(this.#owner, id);
    if (chat === undefined || !stored || this.chatOf(stored.chat) !== chat) return 'no such message';
    if (fromMe !== undefined && !this.#wrote(stored, fromMe, participant)) return 'no such message: another author';
    const settings = this.draft.messages.get(id) ?? { chat, id };
    change(settings);
    this.draft.messages.set(id, settings);
    return undefined;
  }

  /** Returns the time of the latest message among the ids; undefined if the phone has none of them. In Unix milliseconds. */
  latestOf(ids: readonly string[]): number | undefined {
    const times = ids.flatMap((id) => this.#known.messages.find(this.#owner, id)?.at ?? []);
    return times.length > 0 ? Math.max(...times) : undefined;
  }

  #wrote({ author, chat }: Stored, fromMe: string, participant: string | undefined): boolean {
    if (fromMe === '1') return author === '';
    if (!isGroupJid(chat)) return author !== '';
    return this.chatOf(participant) === author;
  }
}

const without = <T>(list: readonly T[] | undefined, one: T): T[] => (list ?? []).filter((other) => other !== one);

/**
 * Returns the time up to which messages are removed. This is the time of the latest message that the range names. Without such a message, the result is the end
 * of the range's last second. Without a range, the result is the time of the action. In Unix milliseconds.
 */
function rangeEnd(
  phone: Phone,
  range: proto.SyncActionValue.ISyncActionMessageRange | null | undefined,
  value: proto.ISyncActionValue,
): number {
  const named = phone.latestOf((range?.messages ?? []).map(({ key }) => key?.id ?? ''));
  const seconds = numberOf(range?.lastMessageTimestamp);
  return named ?? (seconds > 0 ? seconds * 1000 + 999 : numberOf(value.timestamp));
}

const rows: Readonly<Record<string, Row>> = {
  archive: {
    collection: 'regular_low',
    version: 3,
    read: (phone, [jid], { archiveChatAction }) => phone.inChat(jid, (chat) => (chat.archived = archiveChatAction?.archived === true)),
  },
  pin_v1: {
    collection: 'regular_low',
    version: 5,
    read: (phone, [jid], { pinAction, timestamp }) =>
      phone.inChat(jid, (chat) => (pinAction?.pinned ? (chat.pinnedAt = numberOf(timestamp)) : delete chat.pinnedAt)),
  },
  markChatAsRead: {
    collection: 'regular_low',
    version: 3,
    read: (phone, [jid], { markChatAsReadAction }) =>
      phone.inChat(jid, (chat) => (chat.markedUnread = markChatAsReadAction?.read !== true)),
  },
  lock: {
    collection: 'regular_low',
    version: 7,
    read: (phone, [jid], { lockChatAction }) => phone.inChat(jid, (chat) => (chat.locked = lockChatAction?.locked === true)),
  },
  note_edit: {
    collection: 'regular_low',
    version: 7,
    read: (phone, _about, { noteEditAction: note }) =>
      phone.inChat(note?.chatJid ?? undefined, (chat) =>
        note?.deleted ? delete chat.note : (chat.note = note?.unstructuredContent ?? ''),
      ),
  },
  mute: {
    collection: 'regular_high',
    version: 2,
    read: (phone, [jid], { muteAction }) =>
      phone.inChat(jid, (chat) =>
        muteAction?.muted ? (chat.mutedUntil = numberOf(muteAction.muteEndTimestamp) || -1) : delete chat.mutedUntil,
      ),
  },
  star: {
    collection: 'regular_high',
    version: 2,
    read: (phone, about, { starAction }) => phone.onMessage(about, (message) => (message.starred = starAction?.starred === true)),
  },
  deleteMessageForMe: {
    collection: 'regular_high',
    version: 3,
    read: (phone, about) => phone.onMessage(about, (message) => (message.deletedForMe = true)),
  },
  clearChat: {
    collection: 'regular_high',
    version: 6,
    read: (phone, [jid, starred], value) =>
      phone.inChat(jid, (chat) => {
        chat.clearedUntil = rangeEnd(phone, value.clearChatAction?.messageRange, value);
        if (starred === '0') chat.keptStarred = true;
      }),
  },
  deleteChat: {
    collection: 'regular_high',
    version: 6,
    read: (phone, [jid], value) =>
      phone.inChat(jid, (chat) => (chat.deletedUntil = rangeEnd(phone, value.deleteChatAction?.messageRange, value))),
  },
  userStatusMute: {
    collection: 'regular_high',
    version: 7,
    read: (phone, [jid], { userStatusMuteAction }) => {
      const number = phone.chatOf(jid);
      if (number === undefined) return 'no such person';
      if (userStatusMuteAction?.muted) phone.draft.mutedStatuses.push(number);
      return undefined;
    },
  },
  favorites: {
    collection: 'regular_high',
    version: 1,
    read: (phone, _about, { favoritesAction }) => {
      for (const { id } of favoritesAction?.favorites ?? []) phone.inChat(id ?? undefined, (chat) => (chat.favorite = true));
      return undefined;
    },
  },
  label_edit: {
    collection: 'regular',
    version: 3,
    read: ({ draft }, [id = ''], { labelEditAction: label }) => {
      if (!label?.deleted) draft.labels.push({ id, name: label?.name ?? '', color: label?.color ?? 0 });
      return undefined;
    },
  },
  label_jid: {
    collection: 'regular',
    version: 3,
    read: (phone, [label = '', jid], { labelAssociationAction }) =>
      phone.inChat(jid, (chat) => {
        chat.labels = [...without(chat.labels, label), ...(labelAssociationAction?.labeled ? [label] : [])];
      }),
  },
  label_message: {
    collection: 'regular',
    version: 3,
    read: (phone, [label = '', jid = '', id = ''], { labelAssociationAction }) =>
      phone.onMessage([jid, id], (message) => {
        message.labels = [...without(message.labels, label), ...(labelAssociationAction?.labeled ? [label] : [])];
      }),
  },
  label_reordering: {
    collection: 'regular',
    version: 3,
    read: ({ draft }, _about, { labelReorderingAction }) => {
      draft.labelOrder = (labelReorderingAction?.sortedLabelIds ?? []).map(String);
      return undefined;
    },
  },
  quick_reply: {
    collection: 'regular',
    version: 2,
    read: ({ draft }, [id = ''], { quickReplyAction: reply }) => {
      if (!reply?.deleted) draft.quickReplies.push({ id, shortcut: reply?.shortcut ?? '', message: reply?.message ?? '' });
      return undefined;
    },
  },
  contact: {
    collection: 'critical_unblock_low',
    version: 2,
    read: (phone, [jid], { contactAction }) => {
      const number = phone.chatOf(jid);
      if (number === undefined || parseUser(jid)?.addressing !== 'pn') return 'a contact is named by its number';
      const name = contactAction?.fullName || contactAction?.firstName || '';
      phone.draft.contacts.push({ number, name, onPhone: contactAction?.saveOnPrimaryAddressbook === true });
      return undefined;
    },
  },
  setting_pushName: {
    collection: 'critical_block',
    version: 1,
    read: ({ draft }, _about, { pushNameSetting }) => {
      draft.pushName = pushNameSetting?.name ?? '';
      return undefined;
    },
  },
  setting_locale: {
    collection: 'critical_block',
    version: 3,
    read: ({ draft }, _about, { localeSetting }) => {
      draft.locale = localeSetting?.locale ?? '';
      return undefined;
    },
  },
};

/** Returns the collection and the version under which a phone writes an action. Throws for an unknown action. */
export const placeOfAction = (name: string): { readonly collection: CollectionName; readonly version: number } => {
  const row = rows[name];
  if (!row) throw new Error(`no such action: ${name}`);
  return row;
};

function read(phone: Phone, collection: CollectionName, { index: [name = '', ...about], value, version }: Action): string | undefined {
  const row = Object.hasOwn(rows, name) ? rows[name] : undefined;
  if (!row) return 'an unknown action';
  if (row.collection !== collection) return `belongs to ${row.collection}`;
  if (version > row.version) return `version ${version} is too new`;
  return row.read(phone, about, value);
}

type SharedRecord = { readonly collection: CollectionName; readonly action: Action };

/** Reads the settings of an account from the records of all its collections. */
export function viewSettings(
  owner: Digits,
  records: readonly SharedRecord[],
  versions: SettingsView['versions'],
  known: Known,
): SettingsView {
  const phone = new Phone(owner, known, versions);
  for (const { collection, action } of records) {
    const reason = read(phone, collection, action);
    if (reason !== undefined) phone.draft.ignored.push({ collection, index: action.index, reason });
  }
  for (const { chat, content } of known.messages.latest(owner, timersFrom)) {
    const setting = content?.protocolMessage;
    if (setting?.type !== proto.Message.ProtocolMessage.Type.EPHEMERAL_SETTING) continue;
    phone.inStored(phone.chatOf(chat) ?? chat, (settings) => (settings.disappearing = setting.ephemeralExpiration ?? 0));
  }
  return { ...phone.draft, chats: [...phone.draft.chats.values()], messages: [...phone.draft.messages.values()] };
}
