/** Reports to the durable inbox which messages the library's events contain, and which history files have arrived. */
import { type BaileysEventMap, getHistoryMsg, PROCESSABLE_HISTORY_TYPES, proto } from '@whiskeysockets/baileys';
import type { BaileysEvent } from '../events/library-values.ts';
import type { Directory } from '../wire/jid.ts';
import { isFromOwnPhone, isPhoneOnly } from './forgeries.ts';
import type { DurableInbox } from './durable-inbox.ts';

// The selection of history parts. The library calls `historyWanted` before it fetches a part. `reportArrivals` calls `historyWanted` before the durable inbox
// waits for a part.

/** Returns true for a part of the history that the library can process. Returns false for a full history, which has years of messages. */
export const historyWanted = ({ syncType }: proto.Message.IHistorySyncNotification): boolean =>
  syncType !== proto.HistorySync.HistorySyncType.FULL && PROCESSABLE_HISTORY_TYPES.some((known) => known === syncType);

const { StubType } = proto.WebMessageInfo;

type History = Pick<proto.Message.IHistorySyncNotification, 'syncType' | 'chunkOrder' | 'peerDataRequestSessionId'>;

/** Returns a name for a part of the history. The part is reported twice: by the message that announces it, and by its content. */
const nameOf = ({ syncType, chunkOrder, peerDataRequestSessionId }: History | BaileysEventMap['messaging-history.set']): string =>
  JSON.stringify([syncType ?? null, chunkOrder ?? null, peerDataRequestSessionId ?? null]);

type Inbox = Pick<DurableInbox, 'reported' | 'fetching' | 'fetched' | 'handling' | 'forged'>;

interface ArrivalParts {
  readonly directory: Directory;
  /** The checks of history files. Call `expect` before the library fetches the file. */
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
      // The message is emptied, because the library processes the same object after this event.
      arrived.message = {};
      inbox.forged('phoneOnly');
      inbox.reported(key.id ?? '');
      continue;
    }
    const history = message && getHistoryMsg(message);
    // A missing file keeps its message in the log for up to 30 days. Only the account's own phone may cause this.
    if (history && historyWanted(history) && fromOwnPhone) {
      files.expect(history);
      inbox.fetching(key.id ?? '', nameOf(history));
    } else inbox.reported(key.id ?? '');
  }
};
