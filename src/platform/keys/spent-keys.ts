/**
 * Deletes one-time keys that the platform has given out and that no contact has used. A first message with such a key may still arrive, so each key stays for
 * 60 days. Without the deletion, every refill would leave up to 400 keys for ever.
 *
 * The platform reports the number of its keys, but not their ids. This module assumes that the platform gives out the oldest keys first, as the simulated
 * platform does. If this is wrong, some keys of each refill (as many as were left) may be deleted too early. A first message with a deleted key needs a retry
 * receipt.
 */
import type { SignalDataSet } from '@whiskeysockets/baileys';
import type { AuthState } from './auth-state.ts';

/** The key type under which the note is stored. */
const spentType = 'gateway-spent-keys';
const noteId = 'note';

const day = 86_400_000;
/** The time for which a key stays after it left the platform. The platform keeps a message that it could not deliver for 30 days. In milliseconds. */
const keptMs = 60 * day;
/** The longest time that counts between two notices. Without this limit, a clock that jumps forward would make all keys look old. In milliseconds. */
const longestMs = 30 * day;
/** The minimum time between two marks. It limits the size of the note. In milliseconds. */
const markMs = day;
/** The safety margin: this many keys count as still on the platform in addition to the reported number. It is the size of one upload. */
const margin = 50;
/** The largest number of remembered ids: the platform's stock after a refill, and the margin. */
const remembered = 450;
/** The largest number of keys that one write deletes. */
const mostAtOnce = 500;

type Range = readonly [first: number, last: number];

/** A mark: all keys up to `upTo` have left the platform. `ms`: the counted time since then. */
interface Mark {
  readonly upTo: number;
  readonly ms: number;
}

export interface SpentNote {
  /** Uploaded ids, the oldest first. */
  readonly uploads: readonly Range[];
  /** The marks, the oldest first. */
  readonly left: readonly Mark[];
  /** The time of the last notice. In Unix milliseconds. */
  readonly at: number;
}

export const emptyNote: SpentNote = { uploads: [], left: [], at: 0 };

const sizeOf = ([first, last]: Range): number => last - first + 1;

/** Returns the newest ranges that have `count` ids together. Returns null if there are fewer ids. */
const newest = (uploads: readonly Range[], count: number): readonly Range[] | null => {
  const kept: Range[] = [];
  let missing = count;
  for (const range of uploads.toReversed()) {
    if (missing <= 0) break;
    kept.unshift([Math.max(range[0], range[1] - missing + 1), range[1]]);
    missing -= sizeOf(range);
  }
  return missing > 0 ? null : kept;
};

/** Returns the note after an upload of these keys. */
export const afterUpload = (note: SpentNote, range: Range): SpentNote => {
  const uploads = [...note.uploads, range];
  return { ...note, uploads: newest(uploads, remembered) ?? uploads };
};

/** Returns the note after a report of `count` keys. `expired`: keys up to this id can be deleted; null for none. */
export const afterCount = (note: SpentNote, count: number, now: number): { readonly note: SpentNote; readonly expired: number | null } => {
  const passed = note.at === 0 ? 0 : Math.min(longestMs, Math.max(0, now - note.at));
  const marks = note.left.map(({ upTo, ms }) => ({ upTo, ms: ms + passed }));
  const first = newest(note.uploads, count + margin)?.[0]?.[0];
  const last = marks.at(-1);
  const isDue = first !== undefined && (last === undefined || (last.ms >= markMs && last.upTo < first - 1));
  const expired = marks.findLast(({ ms }) => ms >= keptMs)?.upTo ?? null;
  const left = marks.filter(({ ms }) => ms < keptMs);
  return { note: { ...note, left: isDue ? [...left, { upTo: first - 1, ms: 0 }] : left, at: now }, expired };
};

interface SpentKeysParts {
  readonly auth: Pick<AuthState, 'state' | 'storedIds' | 'durable'>;
  now(): number;
}

/** Updates the stored note of one session, and deletes old keys. The caller must wait for each call before the next one. */
export class SpentKeys {
  readonly #parts: SpentKeysParts;

  constructor(parts: SpentKeysParts) {
    this.#parts = parts;
  }

  /** Notes the number of keys on the platform, and deletes keys that left it long ago. Waits while the storage is unavailable. */
  async counted(count: number): Promise<void> {
    const { note, expired } = afterCount(await this.#read(), count, this.#parts.now());
    if (expired !== null) await this.#delete(expired);
    await this.#write(note);
  }

  async uploaded(first: number, last: number): Promise<void> {
    await this.#write(afterUpload(await this.#read(), [first, last]));
  }

  async #read(): Promise<SpentNote> {
    // The store accepts any type of key, but the library's types do not include this type.
    const found = await this.#parts.auth.state.keys.get(spentType as 'tctoken', [noteId]);
    return (found[noteId] as SpentNote | undefined) ?? emptyNote;
  }

  async #write(note: SpentNote): Promise<void> {
    await this.#parts.auth.state.keys.set({ [spentType]: { [noteId]: note } } as SignalDataSet);
  }

  async #delete(upTo: number): Promise<void> {
    const { auth } = this.#parts;
    const ids = (await auth.storedIds('pre-key', '')).filter((id) => Number(id) <= upTo);
    for (let from = 0; from < ids.length; from += mostAtOnce) {
      const gone = ids.slice(from, from + mostAtOnce);
      await auth.state.keys.set({ 'pre-key': Object.fromEntries(gone.map((id) => [id, null])) });
      await auth.durable();
    }
  }
}
