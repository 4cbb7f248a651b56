/** Peer messages between a phone and its own device: answers to the device's requests, and the history at the first login. */
import { deflateSync } from 'node:zlib';
import { proto } from '@whiskeysockets/baileys';
import { isGroupJid, isGroupOrStatus, jidOf, pnJid, statusJid, toldPn } from '../address.ts';
import { erasedOf } from './shown.ts';
import type { Parts } from '../parts.ts';
import type { Device, Person } from '../people.ts';
import type { Stored } from '../store/messages.ts';

const { Type } = proto.Message.ProtocolMessage;
const { HistorySyncType } = proto.HistorySync;
type HistoryType = proto.HistorySync.HistorySyncType;

/** The largest number of stored messages in a history, in addition to the invented messages. */
const maxHistory = 2000;
/** The usual number of messages at which a chunk of the history is full. */
const chunkMessages = 500;

/** Answers a device's request without waiting for the delivery. A failed delivery is logged. A sleeping phone does not answer. */
export function answerPeer(parts: Parts, person: Person, device: Device, requestId: string, message: proto.IMessage): void {
  const { peerDataOperationRequestMessage: request, appStateSyncKeyRequest: keys } = message.protocolMessage ?? {};
  if (person.asleep) return;
  const type = request?.peerDataOperationRequestType;
  const { PeerDataOperationRequestType: Operation } = proto.Message;
  const tell = (answer: proto.IMessage | Promise<proto.IMessage>): void => {
    Promise.resolve(answer)
      .then((made) => parts.outbox.sendPeer(person, device, made, parts.random.messageId()))
      .catch((error: unknown) => parts.log.warn({ error: String(error) }, 'peer.failed'));
  };
  if (keys) tell(parts.appState.keyShare(person, keys.keyIds ?? []));
  if (!request) return;
  if (type === Operation.PLACEHOLDER_MESSAGE_RESEND) tell(resent(parts, person, requestId, request));
  if (type === Operation.HISTORY_SYNC_ON_DEMAND) {
    const conversations = earlier(parts, person, request.historySyncOnDemandRequest ?? {});
    tell(notification(parts, { syncType: HistorySyncType.ON_DEMAND, conversations }, requestId));
  }
}

/** Largest number of messages that a phone sends for one on-demand request for history. */
const mostOnDemand = 50;

/**
 * Returns messages of a chat before the oldest message that the device has. If the phone does not have that message, returns the messages before its time. This
 * time is in seconds, although the name of its field ends with `Ms`.
 */
function earlier(
  parts: Parts,
  person: Person,
  asked: proto.Message.PeerDataOperationRequestMessage.IHistorySyncOnDemandRequest,
): proto.IConversation[] {
  const chat = asked.chatJid ?? '';
  const all = parts.messages.everything(person.number, chat);
  const anchor = all.findIndex(({ id }) => id === asked.oldestMsgId);
  const before = anchor >= 0 ? all.slice(0, anchor) : all.filter(({ at }) => at < Number(asked.oldestMsgTimestampMs ?? 0) * 1000);
  const given = before.slice(-Math.min(asked.onDemandMsgCount ?? mostOnDemand, mostOnDemand));
  const { EndOfHistoryTransferType: End } = proto.Conversation;
  const isWhole = given.length === before.length;
  const endOfHistoryTransferType = isWhole
    ? End.COMPLETE_AND_NO_MORE_MESSAGE_REMAIN_ON_PRIMARY
    : End.COMPLETE_BUT_MORE_MESSAGES_REMAIN_ON_PRIMARY;
  return conversationsOf(parts, person, given).map((conversation) => ({ ...conversation, endOfHistoryTransferType }));
}

function resent(parts: Parts, person: Person, stanzaId: string, request: proto.Message.IPeerDataOperationRequestMessage): proto.IMessage {
  const peerDataOperationResult = (request.placeholderMessageResendRequest ?? []).flatMap(({ messageKey }) => {
    const stored = messageKey?.id ? parts.messages.find(person.number, messageKey.id) : undefined;
    if (!stored?.content) return [];
    const webMessageInfoBytes = proto.WebMessageInfo.encode(toWebMessage(parts, person, stored)).finish();
    return [{ placeholderMessageResendResponse: { webMessageInfoBytes } }];
  });
  const peerDataOperationRequestResponseMessage = {
    peerDataOperationRequestType: proto.Message.PeerDataOperationRequestType.PLACEHOLDER_MESSAGE_RESEND,
    stanzaId,
    peerDataOperationResult,
  };
  return { protocolMessage: { type: Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE, peerDataOperationRequestResponseMessage } };
}

/**
 * Sends the history to a device, once: the key of the app state, the chats, and the push names of the people in these chats. `withheld` leaves out the key or
 * the history.
 */
export async function sendHistory(parts: Parts, device: Device): Promise<void> {
  if (device.history.sent) return;
  const person = parts.people.ensure(device.number);
  const past = [...inventHistory(parts, person, device), ...parts.messages.latest(person.number, maxHistory)];
  const erased = erasedOf(parts, person.number);
  const kept = past.filter((one) => one.content !== undefined && !erased(one));
  const partners = [...new Set(kept.flatMap(({ author }) => (author === '' ? [] : [author])))].map((number) => parts.people.ensure(number));
  const phoneNumberToLidMappings = [person, ...partners].flatMap((one) => {
    const pnJid = toldPn(one);
    return pnJid === undefined ? [] : [{ pnJid, lidJid: jidOf(one, 'lid') }];
  });
  const { withheld, perNotification = chunkMessages } = device.history;
  const messages = withheld === 'keys' ? [] : [parts.appState.keyShare(person)];
  const chunks = withheld === 'history' ? [] : chunksOf(conversationsOf(parts, person, kept), perNotification);
  for (const [index, conversations] of chunks.entries()) {
    const first = index === 0;
    const place = { chunkOrder: index + 1, progress: Math.ceil(((index + 1) / chunks.length) * 100) };
    const syncType = first ? HistorySyncType.INITIAL_BOOTSTRAP : HistorySyncType.RECENT;
    messages.push(await notification(parts, { syncType, conversations, ...place, ...(first ? { phoneNumberToLidMappings } : {}) }));
  }
  const pushnames = partners.map((one) => ({ id: toldPn(one) ?? jidOf(one, 'lid'), pushname: parts.people.pushName(one) }));
  if (pushnames.length > 0 && withheld !== 'history')
    messages.push(await notification(parts, { syncType: HistorySyncType.PUSH_NAME, pushnames }));
  for (const message of messages) await parts.outbox.sendPeer(person, device, message, parts.random.messageId());
  device.history = { ...device.history, sent: true };
  parts.people.saveDevice(device);
}

/** Splits a history into chunks of whole chats with about `most` messages each. There is at least one chunk. */
function chunksOf(conversations: readonly proto.IConversation[], most: number): proto.IConversation[][] {
  const chunks: proto.IConversation[][] = [[]];
  let messages = 0;
  for (const conversation of conversations) {
    if (messages >= most) {
      chunks.push([]);
      messages = 0;
    }
    chunks.at(-1)?.push(conversation);
    messages += conversation.messages?.length ?? 0;
  }
  return chunks;
}

/** Largest length of a compressed history inside its notification, in bytes. A longer history becomes a file of the media host. */
const mostInline = 4_096;

/** Makes an encoded history with an unknown field of zeros. The history is large, but has no content. */
function swollen(megabytes: number): Uint8Array {
  const length = megabytes * 1024 * 1024;
  // Field 1000 with a length, both as variable-length integers.
  const head = proto.HistorySync.encode({ syncType: HistorySyncType.RECENT }).finish();
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]);
  return Buffer.concat([head, Buffer.from([...varint(1000 * 8 + 2), ...varint(length)]), Buffer.alloc(length)]);
}

async function notification(
  { media, faults }: Parts,
  history: proto.IHistorySync & { readonly syncType: HistoryType },
  peerDataRequestSessionId?: string,
): Promise<proto.IMessage> {
  const full = { conversations: [], chunkOrder: 1, progress: 100, ...history };
  const bomb = faults.take('historyBomb');
  const packed = deflateSync(bomb ? swollen(bomb.code ?? 256) : proto.HistorySync.encode(full).finish());
  const place = packed.length > mostInline ? await media.seal('md-msg-hist', packed) : { initialHistBootstrapInlinePayload: packed };
  const historySyncNotification = {
    syncType: history.syncType,
    chunkOrder: full.chunkOrder,
    progress: full.progress,
    ...place,
    ...(peerDataRequestSessionId === undefined ? {} : { peerDataRequestSessionId }),
  };
  return { protocolMessage: { type: Type.HISTORY_SYNC_NOTIFICATION, historySyncNotification } };
}

function conversationsOf(parts: Parts, person: Person, past: readonly Stored[]): proto.IConversation[] {
  const chats = new Map<string, Stored[]>();
  for (const one of past) chats.set(one.chat, [...(chats.get(one.chat) ?? []), one]);
  return [...chats].map(([id, messages]) => {
    const partner = isGroupJid(id) ? undefined : parts.people.resolve(id)?.person;
    const group = parts.groups.find(id);
    return {
      id: partner?.withoutNumber ? jidOf(partner, 'lid') : id,
      ...(partner ? { pnJid: toldPn(partner) ?? null, lidJid: jidOf(partner, 'lid') } : {}),
      ...(group ? { name: group.subject } : {}),
      conversationTimestamp: Math.floor((messages.at(-1)?.at ?? 0) / 1000),
      unreadCount: 0,
      // The newest messages come first, as on real phones.
      messages: messages
        .toReversed()
        .map((one, index) => ({ message: toWebMessage(parts, person, one), msgOrderId: messages.length - index })),
    };
  });
}

function toWebMessage(parts: Parts, person: Person, { id, chat, author, at, content, view }: Stored): proto.IWebMessageInfo {
  const participant = isGroupOrStatus(chat) ? jidOf(author === '' ? person : parts.people.ensure(author), 'pn') : undefined;
  return {
    key: { remoteJid: chat, fromMe: author === '', id, ...(participant === undefined ? {} : { participant }) },
    ...(content ? { message: content } : {}),
    messageTimestamp: Math.floor(at / 1000),
    ...(view ? { pushName: view.pushName } : {}),
    ...(participant === undefined ? {} : { participant }),
  };
}

/** Makes an invented history. Every second message is from the owner. Calls and status posts are from the partners. */
function inventHistory(parts: Parts, person: Person, { history }: Device): Stored[] {
  const now = Date.now();
  const partner = (index: number): Person => parts.people.ensure(`1555010${String(1000 + index)}`);
  const stored = (chat: string, author: string, at: number, content: proto.IMessage): Stored => ({
    owner: person.number,
    id: parts.random.messageId(),
    chat,
    author,
    at,
    attempts: 0,
    confirmed: 'read',
    content,
    extra: { addressing: 'pn' },
  });
  const many = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));
  const chats = many(history.chats, (chat) =>
    many(history.messages, (index) => {
      const at = now - (history.messages - index) * 60_000 - chat * 3_600_000;
      const { number } = partner(chat);
      return stored(pnJid(number), index % 2 === 0 ? number : '', at, { conversation: `Message ${index + 1} of the past` });
    }),
  ).flat();
  const missed = { isVideo: false, callOutcome: proto.Message.CallLogMessage.CallOutcome.MISSED };
  const calls = many(history.calls ?? 0, (index) => {
    const { number } = partner(index);
    return stored(pnJid(number), number, now - index * 60_000, { callLogMesssage: missed });
  });
  const statuses = many(history.statuses ?? 0, (index) =>
    stored(statusJid, partner(index).number, now - index * 60_000, { extendedTextMessage: { text: `Status ${index + 1} of the past` } }),
  );
  return [...chats, ...calls, ...statuses];
}
