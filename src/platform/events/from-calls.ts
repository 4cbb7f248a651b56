/** Calls: those that ring now, and those that the phone remembers. */
import { proto, type WACallEvent, type WAMessage } from '@whiskeysockets/baileys';
import type { Call, Entry } from '#actors/model.ts';
import { numberOf } from './content-json.ts';
import { chatOf, type Directory, personOf } from '../wire/directory.ts';
import { isGroup } from '../wire/jid.ts';
import { unwrapped } from './message-kinds.ts';

/** Steps of a call that people care about. The others are how devices find each other, and the library's word for what it does not know. */
const reported: ReadonlySet<WACallEvent['status']> = new Set(['offer', 'accept', 'reject', 'timeout', 'terminate']);

export const fromCall = (call: WACallEvent, directory: Directory): Entry[] => {
  if (!reported.has(call.status)) return [];
  const caller = call.from || call.chatId;
  const { id: chatId } = chatOf(directory, call.groupJid ?? caller, call.groupJid ? null : call.callerPn);
  const live: Call = {
    id: call.id,
    chatId,
    isGroup: call.isGroup ?? false,
    caller: personOf(directory, caller, call.callerPn),
    status: call.status,
    isVideo: call.isVideo ?? false,
    offline: call.offline,
    at: call.date.getTime(),
  };
  return [{ kind: 'news', lane: chatId, news: { type: 'call', call: live } }];
};

const { StubType } = proto.WebMessageInfo;

/** Calls that nobody took stand among the messages of a chat as notices; the flag tells whether there was a picture. */
const missed: ReadonlyMap<number, boolean> = new Map([
  [StubType.CALL_MISSED_VOICE, false],
  [StubType.CALL_MISSED_VIDEO, true],
  [StubType.CALL_MISSED_GROUP_VOICE, false],
  [StubType.CALL_MISSED_GROUP_VIDEO, true],
]);

/** A call of the past, null for a message that is none. */
export const pastCall = (source: WAMessage, directory: Directory): Call | null => {
  const log = unwrapped(source.message)?.callLogMesssage;
  const video = log ? log.isVideo === true : missed.get(source.messageStubType ?? -1);
  if (video === undefined) return null;
  const { key } = source;
  const { id: chatId } = chatOf(directory, key.remoteJid, key.fromMe ? null : key.remoteJidAlt);
  const caller = key.fromMe ? directory.me.pn : key.participant || key.remoteJid;
  const outcome = log ? proto.Message.CallLogMessage.CallOutcome[log.callOutcome ?? 0] : 'MISSED';
  return {
    id: key.id ?? '',
    chatId,
    isGroup: isGroup(chatId),
    caller: personOf(directory, caller, key.participantAlt ?? (isGroup(chatId) ? null : key.remoteJidAlt)),
    status: (outcome ?? '').toLowerCase(),
    isVideo: video,
    fromMe: key.fromMe === true,
    seconds: numberOf(log?.durationSecs),
    at: numberOf(source.messageTimestamp) * 1000,
  };
};
