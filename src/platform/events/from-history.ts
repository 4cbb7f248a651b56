/** Converts the history from a phone: chats, messages, status posts, calls and labels. Each batch is stored as a whole and becomes one event. */
import { type BaileysEventMap, type Contact, proto, type WAMessage } from '@whiskeysockets/baileys';
import type { Call, ChatLabel, ChatPatch, Entry, Label, Message, Past } from '#actors/model.ts';
import { type BaileysEvent, numberOf } from './library-values.ts';
import { chatOf, type Directory, isGroup, statusJid } from '../wire/jid.ts';
import { pastCall } from './from-calls.ts';
import { contactPatch, conversationPatch, fromSharedAction, labelOf } from './from-chats.ts';
import { type Converted, convertMessage } from './from-messages.ts';
import { unwrapped } from './message-kinds.ts';

/** The largest numbers of items and of bytes in one batch. The body of its event may have 256 KiB (`src/contract/news.ts`). */
const mostItems = 200;
const mostBytes = 230 * 1024;
/** The number of bytes by which the form of an item in the event exceeds the size that `bytesOf` returns. */
const viewBytes: Readonly<Record<Past['of'], number>> = {
  messages: 250,
  status: 250,
  chats: 1_800,
  labels: 150,
  chat_labels: 150,
  calls: 100,
};

/** Work in slices. The caller yields to the event loop after each slice. */
type Sliced<T> = Generator<void, T>;

/** The number of messages that one slice converts. A slice that only measures items has twice as many. Each slice takes a few milliseconds. */
const sliceOf = 100;

/** Returns the size of an item in the event, in bytes. The encoded form and the chat of a message are not part of the event. */
const bytesOf = (item: object): number => {
  const counted = 'message' in item ? (item.message as object) : item;
  return Buffer.byteLength(JSON.stringify('raw' in counted ? { ...counted, raw: null } : counted));
};

function* inBatches<T extends object>(items: readonly T[], overhead: number): Sliced<readonly (readonly T[])[]> {
  const batches: T[][] = [];
  let room = 0;
  for (const [n, item] of items.entries()) {
    if (n % (2 * sliceOf) === 0) yield;
    const bytes = overhead + bytesOf(item);
    const last = batches.at(-1);
    if (last !== undefined && last.length < mostItems && bytes <= room) last.push(item);
    else {
      batches.push([item]);
      room = mostBytes;
    }
    room -= bytes;
  }
  return batches;
}

function* entriesIn<P extends Past>(of: P['of'], items: readonly P['items'][number][]): Sliced<Entry[]> {
  const batches = yield* inBatches<object>(items, viewBytes[of]);
  return batches.map((batch, index) => ({ kind: 'history', past: { of, items: batch } as Past, number: index + 1, total: batches.length }));
}

/** Runs sliced work without pauses. */
const atOnce = <T>(work: Sliced<T>): T => {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
};

const entriesOf = <P extends Past>(of: P['of'], items: readonly P['items'][number][]): Entry[] => atOnce(entriesIn<P>(of, items));

interface PastMessages {
  readonly messages: Converted[];
  readonly status: Message[];
  readonly calls: Call[];
  /** The newest message of each chat. */
  readonly newest: ReadonlyMap<string, Converted>;
}

function* sorted(sources: readonly WAMessage[], directory: Directory): Sliced<PastMessages> {
  const newest = new Map<string, Converted>();
  const past: PastMessages = { messages: [], status: [], calls: [], newest };
  for (const [n, source] of sources.entries()) {
    if (n % sliceOf === 0) yield;
    const call = pastCall(source, directory);
    if (call !== null) past.calls.push(call);
    const talk = unwrapped(source.message)?.protocolMessage;
    const converted = talk || call !== null ? null : convertMessage(source, directory);
    if (converted === null) continue;
    const { chatId, timestamp } = converted.message;
    if (chatId === statusJid) past.status.push({ ...converted.message, raw: null });
    else past.messages.push(converted);
    if (converted.standsAlone && timestamp >= (newest.get(chatId)?.message.timestamp ?? 0)) newest.set(chatId, converted);
  }
  return past;
}

/** Adds the names of contacts to the chats of this part. The names of a contact without a chat in this part become a separate entry without an event. */
const withNames = (
  chats: ReadonlyMap<string, ChatPatch>,
  contacts: readonly Contact[],
  directory: Directory,
): { chats: Map<string, ChatPatch>; others: Entry[] } => {
  const named = new Map(chats);
  const others: Entry[] = [];
  for (const contact of contacts) {
    const patch = contactPatch(contact, directory);
    if (patch === null) continue;
    const chat = named.get(patch.chatId);
    if (chat !== undefined) named.set(patch.chatId, { ...chat, ...patch });
    else others.push({ kind: 'chat', chat: patch, create: false });
  }
  return { chats: named, others };
};

const { COMPLETE_AND_NO_MORE_MESSAGE_REMAIN_ON_PRIMARY: noMore } = proto.Conversation.EndOfHistoryTransferType;

/** Returns an entry that marks the end of this part, with the progress of the transfer. */
const transferOf = ({ peerDataRequestSessionId, progress, chats }: BaileysEventMap['messaging-history.set'], messages: number): Entry[] => {
  const requestId = peerDataRequestSessionId ?? '';
  if (requestId === '' && typeof progress !== 'number') return [];
  const more = chats.some(({ endOfHistoryTransferType }) => endOfHistoryTransferType !== noMore);
  const transfer = { requestId, messages, more, progress: requestId === '' ? (progress ?? null) : null };
  return [{ kind: 'history', past: { of: 'messages', items: [] }, number: 1, total: 1, transfer }];
};

/**
 * Converts a part of the history: first chats with their newest messages, then messages, calls and status posts. The chats of a requested history are ignored.
 */
export function* historySlices(history: BaileysEventMap['messaging-history.set'], directory: Directory): Sliced<Entry[]> {
  const past = yield* sorted(history.messages, directory);
  const patches = new Map<string, ChatPatch>();
  const isAsked = Boolean(history.peerDataRequestSessionId);
  for (const conversation of history.chats) {
    const patch = isAsked ? null : conversationPatch(conversation, directory);
    if (patch === null || patch.chatId === statusJid) continue;
    const { chatId } = patch;
    const unreadCount = Math.max(0, numberOf(conversation.unreadCount));
    patches.set(chatId, { ...past.newest.get(chatId)?.chatAsLast, ...patch, isGroup: isGroup(chatId), unreadCount });
  }
  const { chats, others } = withNames(patches, history.contacts, directory);
  const messages = past.messages.map((converted) => {
    const { message, chat, chatAsLast } = converted;
    return { message, chat: !isAsked && past.newest.get(message.chatId) === converted ? chatAsLast : chat };
  });
  return [
    ...others,
    ...(yield* entriesIn('chats', [...chats.values()])),
    ...(yield* entriesIn('messages', messages)),
    ...(yield* entriesIn('calls', past.calls)),
    ...(yield* entriesIn('status', past.status)),
    ...transferOf(history, messages.length),
  ];
}

export const fromHistory = (history: BaileysEventMap['messaging-history.set'], directory: Directory): Entry[] =>
  atOnce(historySlices(history, directory));

/** Converts the first synchronisation of the shared state: names of people, marks and labels of chats, and the records that `fromSharedAction` reads. */
export const fromFirstState = (events: readonly BaileysEvent[], directory: Directory): Entry[] => {
  const labels: Label[] = [];
  const labelled: ChatLabel[] = [];
  const chats = new Map<string, ChatPatch>();
  const names: Entry[] = [];
  const others: Entry[] = [];
  for (const event of events) {
    if (event.name === 'labels.edit') labels.push(labelOf(event.data));
    if (event.name === 'labels.association') {
      const { association, type } = event.data;
      const { id: chatId } = chatOf(directory, association.chatId);
      // Labels of single messages are left out, because the API does not show them.
      if (!('messageId' in association)) labelled.push({ chatId, labelId: association.labelId, labeled: type === 'add' });
    }
    if (event.name === 'chats.update') {
      for (const update of event.data) {
        const patch = conversationPatch(update, directory);
        if (patch !== null && Object.keys(patch).length > 1) chats.set(patch.chatId, { ...chats.get(patch.chatId), ...patch });
      }
    }
    if (event.name === 'contacts.upsert') {
      for (const contact of event.data) {
        const chat = contactPatch(contact, directory);
        if (chat !== null) names.push({ kind: 'chat', chat, create: false });
      }
    }
    if (event.name === 'app-state.action') {
      for (const entry of fromSharedAction(event.data, directory)) {
        if (entry.kind === 'chat') chats.set(entry.chat.chatId, { ...chats.get(entry.chat.chatId), ...entry.chat });
        else others.push(entry);
      }
    }
  }
  return [
    ...names,
    ...entriesOf('chats', [...chats.values()]),
    ...entriesOf('labels', labels),
    ...entriesOf('chat_labels', labelled),
    ...others,
  ];
};
