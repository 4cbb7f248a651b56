/**
 * The library moves a contact's sessions from its number to its LID once it knows that they are one person, and writes over those that stand
 * under the LID. The contact goes on in whichever it knows: a message in one that was written over can never be read. Here both stay.
 */

interface StoredSession {
  readonly indexInfo: { readonly used: number; readonly closed: number };
}

/** The library's record for an address: its sessions, of which at most one is open. */
interface StoredRecord {
  readonly _sessions: Readonly<Record<string, StoredSession>>;
}

const open = -1;

const isRecord = (value: unknown): value is StoredRecord => typeof value === 'object' && value !== null && '_sessions' in value;

/** `moved` with the sessions of `there` behind it, which can still be read and are not written in any more; of one that both know the newer. */
export const mergeRecords = (moved: unknown, there: unknown, now: number): unknown => {
  if (!isRecord(moved) || !isRecord(there)) return moved;
  const sessions: Record<string, StoredSession> = { ...moved._sessions };
  for (const [name, session] of Object.entries(there._sessions)) {
    const { indexInfo } = session;
    const same = sessions[name];
    if (same === undefined)
      sessions[name] = { ...session, indexInfo: { ...indexInfo, closed: indexInfo.closed === open ? now : indexInfo.closed } };
    else if (indexInfo.used > same.indexInfo.used)
      sessions[name] = { ...session, indexInfo: { ...indexInfo, closed: same.indexInfo.closed } };
  }
  return { ...moved, _sessions: sessions };
};
