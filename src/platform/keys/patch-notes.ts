/**
 * Notes about patches of the shared state whose outcome is not known yet. A note is stored before its patch is sent. The platform does not report a patch to
 * the device that sent it. After a lost answer or a kill, the collection must therefore be read again.
 */
import { ALL_WA_PATCH_NAMES } from '@whiskeysockets/baileys';
import type { KeyWriter } from './key-writer.ts';

export const patchType = 'gateway-patch';
/** The type of the version of a collection. */
export const versionType = 'app-state-sync-version';
/** The cache keys of the versions of all collections, in the form `type id`. */
export const versionKeys = ALL_WA_PATCH_NAMES.map((name) => `${versionType} ${name}`);

type OpenNote = readonly [collection: string, number: number];

export interface PatchNotes {
  /**
   * Stores a note. Resolves with a function that removes the note. Call this function after the changes of the patch were given to the
   * recorder.
   */
  begin(collection: string): Promise<() => void>;
  /** Collections with a note, and the numbers of the notes. */
  readonly open: readonly OpenNote[];
  /** Removes the note when all entries so far are stored, unless a newer note has replaced it. Call this after the collection was read again. */
  settled(note: OpenNote): void;
}

/** Stores the notes among the keys. `afterStored` runs work when all entries that were given to the recorder before are stored. */
export class StoredPatchNotes implements PatchNotes {
  readonly #writer: () => KeyWriter;
  readonly #afterStored: (work: () => void) => void;
  /** The number of the last patch of each collection that has a note. The number of a note from an earlier run is 0. */
  readonly #last = new Map<string, number>();
  #count = 0;

  constructor(writer: () => KeyWriter, afterStored: (work: () => void) => void) {
    this.#writer = writer;
    this.#afterStored = afterStored;
  }

  /** Loads a note of an earlier run. */
  load(collection: string): void {
    this.#last.set(collection, 0);
  }

  async begin(collection: string): Promise<() => void> {
    const number = (this.#count += 1);
    this.#last.set(collection, number);
    this.#writer().put(patchType, collection, number);
    await this.#writer().flush();
    return () => this.#end(collection, number);
  }

  get open(): readonly OpenNote[] {
    return [...this.#last];
  }

  settled([collection, number]: OpenNote): void {
    this.#end(collection, number);
  }

  /** Removes the note, unless another patch of the collection has begun meanwhile. */
  #end(collection: string, number: number): void {
    this.#afterStored(() => {
      if (this.#last.get(collection) !== number) return;
      this.#last.delete(collection);
      this.#writer().put(patchType, collection, null);
    });
  }
}
