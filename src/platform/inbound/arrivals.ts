/** Tells the durable inbox which messages the library's events have carried, and whether the files that they name have arrived. */
import { type BaileysEventMap, getHistoryMsg, PROCESSABLE_HISTORY_TYPES, proto } from '@whiskeysockets/baileys';
import type { BaileysEvent } from '../events/library-values.ts';
import type { Directory } from '../wire/jid.ts';
import { isFromOwnPhone, isPhoneOnly } from './forgeries.ts';
import type { DurableInbox } from './durable-inbox.ts';

// The parts of a phone's history that the gateway takes. The library asks before it fetches one, and the durable
// inbox before it waits for one.

/** Returns true for recent history. A full history is years of messages. */
export const historyWanted = ({ syncType }: proto.Message.IHistorySyncNotification): boolean =>
  syncType !== proto.HistorySync.HistorySyncType.FULL && PROCESSABLE_HISTORY_TYPES.some((known) => known === syncType);

const { StubType } = proto.WebMessageInfo;

type History = Pick<proto.Message.IHistorySyncNotification, 'syncType' | 'chunkOrder' | 'peerDataRequestSessionId'>;

/** Names a part of a history, which is reported twice: by the message that points to it, and by its content. */
const nameOf = ({ syncType, chunkOrder, peerDataRequestSessionId }: History | BaileysEventMap['messaging-history.set']): string =>
  JSON.stringify([syncType ?? null, chunkOrder ?? null, peerDataRequestSessionId ?? null]);

type Inbox = Pick<DurableInbox, 'reported' | 'fetching' | 'fetched' | 'handling' | 'forged'>;

interface ArrivalParts {
  readonly directory: Directory;
  /** The checks of history files. `expect` must be called before the library fetches the file. */
  readonly files: { expect(part: proto.Message.IHistorySyncNotification): void };
}

export const reportArrivals = (inbox: Inbox, event: BaileysEvent, { directory, files }: ArrivalParts): void => {
  if (event.name === 'messaging-history.set') inbox.fetched(nameOf(event.data));
  if (event.name !== 'messages.upsert') return;
  for (const arrived of event.data.messages) {
    const { key, message, messageStubType } = arrived;
    if (messageStubType === StubType.CIPHERTEXT) continue;
    const fromOwnPhone = isFromOwnPhone(inbox.handling(key.id ?? ''), directory);
    if (message && isPhoneOnly(message) && !fromOwnPhone) {
      // The library works on the same message after this event.
      arrived.message = {};
      inbox.forged('phoneOnly');
      inbox.reported(key.id ?? '');
      continue;
    }
    const history = message && getHistoryMsg(message);
    // A file that is awaited keeps its message in the log for weeks. Only the own phone may cause this.
    if (history && historyWanted(history) && fromOwnPhone) {
      files.expect(history);
      inbox.fetching(key.id ?? '', nameOf(history));
    } else inbox.reported(key.id ?? '');
  }
};
