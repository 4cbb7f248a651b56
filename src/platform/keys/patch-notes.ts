/**
 * Notes of patches to the shared state that were sent and whose outcome is not known yet. A note is stored before its patch leaves: the platform does
 * not report this device's own patches to it. After a lost answer or a kill, the collection must be read again.
 */
import type { KeyWriter } from './key-writer.ts';

export const patchType = 'gateway-patch';

export interface PatchNotes {
  /**
   * Resolves when the note is stored, with a function that removes the note. Call this function after the changes of the patch were given
   * to the recorder.
   */
  begin(collection: string): Promise<() => void>;
  /** Collections with a note. */
  readonly open: readonly string[];
  /** Takes the note away after the collection was read again. */
  settled(collection: string): void;
}

/** `afterStored`: runs work when all entries given to the recorder before are stored. */
export class StoredPatchNotes implements PatchNotes {
  readonly #writer: () => KeyWriter;
  readonly #afterStored: (work: () => void) => void;
  /** The number of the last patch of each collection. */
  readonly #last = new Map<string, number>();
  #count = 0;

  constructor(writer: () => KeyWriter, afterStored: (work: () => void) => void) {
    this.#writer = writer;
    this.#afterStored = afterStored;
  }

  /** A note that an earlier run left. */
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

  get open(): readonly string[] {
    return [...this.#last.keys()];
  }

  settled(collection: string): void {
    const number = this.#last.get(collection);
    if (number !== undefined) this.#end(collection, number);
  }

  /** A patch that was begun meanwhile keeps the note. */
  #end(collection: string, number: number): void {
    this.#afterStored(() => {
      if (this.#last.get(collection) !== number) return;
      this.#last.delete(collection);
      this.#writer().put(patchType, collection, null);
    });
  }
}
