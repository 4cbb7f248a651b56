/** Remembers for whom the platform gave forged keys. The library only says that a message has no receiver. */
import { createLruMap } from '#src/base/lru-map.ts';
import { addressesOf, type Directory } from '../wire/directory.ts';
import { bare } from '../wire/jid.ts';

/** People that are remembered, up to twice as many. */
const most = 500;

export interface KeyJudge {
  /** The keys of one device of a contact were used, or were not signed by the contact. */
  judged(deviceJid: string, forged: boolean): void;
}

export class ForgedKeyNotes implements KeyJudge {
  readonly #people = createLruMap<true>(most);
  readonly #found: () => void;

  /** `found`: called for each device with forged keys. */
  constructor(found: () => void) {
    this.#found = found;
  }

  judged(deviceJid: string, forged: boolean): void {
    const person = bare(deviceJid);
    if (!forged) return void this.#people.delete(person);
    this.#people.set(person, true);
    this.#found();
  }

  /** True if the last keys of the person were forged, under whichever address. */
  has(directory: Directory, jid: string): boolean {
    const { pn, lid } = addressesOf(directory, jid);
    return [pn, lid].some((address) => this.#people.get(address) === true);
  }
}
