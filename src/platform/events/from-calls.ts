/** Converts calls: ringing calls, and past calls from the phone's log. */
import { proto, type WACallEvent, type WAMessage } from '@whiskeysockets/baileys';
import type { Call, Entry } from '#actors/model.ts';
import { chatOf, type Directory, isGroup, personOf } from '../wire/jid.ts';
import { type BaileysEvent, numberOf } from './library-values.ts';
import { unwrapped } from './message-kinds.ts';

/** Steps of a call that are reported. The other steps set up the connection between devices, or are unknown to the library. */
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

/** Notices of missed calls among the messages of a chat. The flag is true for video calls. */
const missed: ReadonlyMap<number, boolean> = new Map([
  [StubType.CALL_MISSED_VOICE, false],
  [StubType.CALL_MISSED_VIDEO, true],
  [StubType.CALL_MISSED_GROUP_VOICE, false],
  [StubType.CALL_MISSED_GROUP_VIDEO, true],
]);

/** Reads a past call from a message. Returns null if the message is not a call. */
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

// Calls that ring on this connection, until they are accepted, rejected or ended.

interface RingingCall {
  readonly id: string;
  /** All ids by which the platform named the caller or the group of the call. */
  readonly people: readonly string[];
  /** The library's event of the offer. */
  readonly event: WACallEvent;
}

/** The largest number of calls in memory, which is far more than ring at the same time. The oldest call is dropped first. */
const most = 100;
const ends: ReadonlySet<WACallEvent['status']> = new Set(['accept', 'reject', 'timeout', 'terminate']);
/** The time after which a call without a reported end counts as ended. Phones ring for a minute. In milliseconds. */
const longest = 120_000;

export class RingingCalls {
  readonly #calls = new Map<string, RingingCall>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  observe(event: BaileysEvent): void {
    if (event.name !== 'call') return;
    for (const call of event.data) {
      if (ends.has(call.status)) this.end(call.id);
      if (call.status === 'offer' && !call.offline) this.#ring(call);
    }
  }

  /** Returns the newest call for which `fits` is true; null if there is none. */
  find(fits: (call: RingingCall) => boolean): RingingCall | null {
    return [...this.#calls.values()].findLast((call) => this.#now() - call.event.date.getTime() < longest && fits(call)) ?? null;
  }

  end(id: string): void {
    this.#calls.delete(id);
  }

  #ring(event: WACallEvent): void {
    const people = [event.from, event.chatId, event.callerPn, event.groupJid].filter((one) => one !== undefined && one !== '');
    this.#calls.set(event.id, { id: event.id, people: people as string[], event });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > most && oldest !== undefined) this.#calls.delete(oldest);
  }
}
