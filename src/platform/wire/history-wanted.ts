/** The parts of a phone's history that the gateway takes. The library asks before it fetches one, and the inbound gate before it waits for one. */
import { PROCESSABLE_HISTORY_TYPES, proto } from '@whiskeysockets/baileys';

/** Returns true for recent history. A full history is years of messages. */
export const historyWanted = ({ syncType }: proto.Message.IHistorySyncNotification): boolean =>
  syncType !== proto.HistorySync.HistorySyncType.FULL && PROCESSABLE_HISTORY_TYPES.some((known) => known === syncType);
