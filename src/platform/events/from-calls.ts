/** Calls: those that ring now, and those that the phone remembers. */
import { proto, type WACallEvent, type WAMessage } from '@whiskeysockets/baileys';
import type { Entry } from '#actors/model.ts';
import { numberOf } from './content-json.ts';
import { addressesOf, chatOf, type Directory } from '../directory.ts';
import { bare, isGroup } from '../jid.ts';
import { unwrapped } from './message-kinds.ts';

/** The rest is how devices find each other, and the library's word for what it does not know. */
const told: ReadonlySet<WACallEvent['status']> = new Set(['offer', 'accept', 'reject', 'timeout', 'terminate']);

export const fromCall = (call: WACallEvent, directory: Directory): Entry[] => {
  if (!told.has(call.status)) return [];
  const caller = call.from || call.chatId;
  const { id: chatid } = chatOf(directory, call.groupJid ?? caller, call.groupJid ? null : call.callerPn);
  const { pn, lid } = addressesOf(directory, caller, call.callerPn);
  const payload = {
    call: {
      id: call.id,
      chatid,
      from: bare(caller),
      sender_pn: pn,
      sender_lid: lid,
      status: call.status,
      isVideo: call.isVideo ?? false,
      isGroup: call.isGroup ?? false,
      offline: call.offline,
      timestamp: call.date.getTime(),
    },
  };
  return [{ kind: 'event', type: 'call', lane: chatid, payload }];
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
export const pastCall = (source: WAMessage, directory: Directory): Readonly<Record<string, unknown>> | null => {
  const log = unwrapped(source.message)?.callLogMesssage;
  const video = log ? log.isVideo === true : missed.get(source.messageStubType ?? -1);
  if (video === undefined) return null;
  const { key } = source;
  const { id: chatid } = chatOf(directory, key.remoteJid, key.fromMe ? null : key.remoteJidAlt);
  const caller = key.fromMe ? directory.me.pn : key.participant || key.remoteJid;
  const { pn, lid } = addressesOf(directory, caller, key.participantAlt ?? (isGroup(chatid) ? null : key.remoteJidAlt));
  const outcome = log ? proto.Message.CallLogMessage.CallOutcome[log.callOutcome ?? 0] : 'MISSED';
  return {
    id: key.id ?? '',
    chatid,
    from: bare(caller),
    sender_pn: pn,
    sender_lid: lid,
    status: (outcome ?? '').toLowerCase(),
    isVideo: video,
    isGroup: isGroup(chatid),
    fromMe: key.fromMe === true,
    seconds: numberOf(log?.durationSecs),
    timestamp: numberOf(source.messageTimestamp) * 1000,
  };
};
