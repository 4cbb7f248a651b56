/** Changes of the library and of libsignal in memory, made once for the phones. */
import { SenderKeyState } from '@whiskeysockets/baileys/lib/Signal/Group/sender-key-state.js';
import { TOKEN_MAP } from '@whiskeysockets/baileys/lib/WABinary/constants.js';

// The library stores the seeds of skipped group messages as Node writes buffers in JSON, with a list of numbers. It revives buffers only from base64.
// A group message that arrives after a later one could then not be read. Here the seed becomes a buffer again before it is used.

let repaired = false;

/** Once per process; later calls do nothing. */
export const repairSenderKeys = (): void => {
  if (repaired) return;
  repaired = true;
  const { prototype } = SenderKeyState;
  const remove = prototype.removeSenderMessageKey;
  prototype.removeSenderMessageKey = function (iteration) {
    const key = this.getStructure().senderMessageKeys.find((one) => one.iteration === iteration);
    if (key) key.seed = Buffer.from(key.seed);
    return remove.call(this, iteration);
  };
};

// Reads a Signal message as Signal's own library does: each session with the sender is tried on a copy, and the one that fits is promoted,
// which means that answers are written in it. libsignal 6 advances the ratchet of every session that it tries and stores those that did not
// fit.

interface StoredSession {
  /** `closed` is -1 in the open session, else the time at which it was closed, in milliseconds. */
  readonly indexInfo: { readonly closed: number; readonly used: number };
  readonly _chains: unknown;
}

/** libsignal's record for one device: sessions by the base key that began them. */
export interface StoredRecord {
  readonly _sessions: Readonly<Record<string, StoredSession>>;
}

/** The stored sessions with one device. */
export interface Sessions {
  /** Null after the library deleted the record in this turn. */
  load(): StoredRecord | null | undefined;
  store(record: StoredRecord): void;
}

const open = -1;

/** The open session first, then those that were used last. */
const inOrder = ({ _sessions }: StoredRecord): [string, StoredSession][] =>
  Object.entries(_sessions).toSorted(
    ([, { indexInfo: a }], [, { indexInfo: b }]) => Number(b.closed === open) - Number(a.closed === open) || b.used - a.used,
  );

/** The session `name` open, every other one closed. */
const promote = (record: StoredRecord, name: string): StoredRecord => {
  const now = Date.now();
  const closedAt = (one: string, { closed }: { readonly closed: number }): number => {
    if (one === name) return open;
    return closed === open ? now : closed;
  };
  const sessions = Object.entries(record._sessions).map(([one, session]) => {
    const indexInfo = { ...session.indexInfo, closed: closedAt(one, session.indexInfo) };
    return [one, { ...session, indexInfo }] as const;
  });
  return { ...record, _sessions: Object.fromEntries(sessions) };
};

/** For a message that names its session. The session that was used is the one whose chains moved. */
export const decryptFirst = async <T>(sessions: Sessions, decrypt: () => Promise<T>): Promise<T> => {
  const before = sessions.load()?._sessions ?? {};
  const result = await decrypt();
  const after = sessions.load();
  const chains = (session: StoredSession | undefined): string => JSON.stringify(session?._chains);
  if (!after) return result;
  const used = Object.keys(after._sessions).find((name) => chains(before[name]) !== chains(after._sessions[name]));
  if (used !== undefined) sessions.store(promote(after, used));
  return result;
};

/** For a message that does not name its session. Rejects without a change when it fits none of them. */
export const decryptOnCopies = async <T>(sessions: Sessions, decrypt: () => Promise<T>): Promise<T> => {
  const record = sessions.load() ?? { _sessions: {} };
  let failure: unknown = new Error('no session with the sender');
  for (const [name, session] of inOrder(record)) {
    sessions.store({ ...record, _sessions: { [name]: session } });
    try {
      const result = await decrypt();
      sessions.store(promote({ ...record, _sessions: { ...record._sessions, ...sessions.load()?._sessions } }, name));
      return result;
    } catch (error) {
      // Another session may fit; this one stays as it was.
      failure = error;
      sessions.store(record);
    }
  }
  throw failure;
};

// The library writes words that are often used as numbers, which it looks up in a plain object: a text such as `constructor` finds what
// every object inherits, and the stanza is written wrong. Here that object stops inheriting.

/** Idempotent. */
export const repairStanzaWords = (): void => {
  Object.setPrototypeOf(TOKEN_MAP, null);
};
