/** After how many seconds the messages of each chat of two people disappear: read once when a connection begins, and followed from then on. Groups have theirs in the cache of groups. */
import type { ChatPatch, Entry } from '#actors/model.ts';
import type { ChatTimer } from '#actors/ports.ts';
import { chatOf, type Directory } from '../wire/directory.ts';

const patchesIn = (entry: Entry): readonly ChatPatch[] => {
  if (entry.kind === 'chat' || entry.kind === 'message') return [entry.chat];
  if (entry.kind !== 'history') return [];
  const { past } = entry;
  if (past.of === 'messages') return past.items.map(({ chat }) => chat);
  return past.of === 'chats' ? past.items : [];
};

export class ChatTimers {
  readonly #directory: Directory;
  /** Chats without a timer are not in it. */
  readonly #seconds: Map<string, number>;

  constructor(stored: readonly ChatTimer[], directory: Directory) {
    this.#directory = directory;
    this.#seconds = new Map(stored.map(({ chatId, seconds }) => [chatId, seconds]));
  }

  /** Called with everything that was given to the recorder. */
  apply(entries: readonly Entry[]): void {
    for (const entry of entries)
      for (const { chatId, ephemeralExpiration: seconds, isGroup } of patchesIn(entry)) {
        if (seconds === undefined || isGroup === true) continue;
        if (seconds > 0) this.#seconds.set(chatId, seconds);
        else for (const id of this.#names(chatId)) this.#seconds.delete(id);
      }
  }

  /** 0 for never. The chat may have got its timer under the other address of the person. */
  of(jid: string): number {
    for (const id of this.#names(jid)) {
      const seconds = this.#seconds.get(id);
      if (seconds !== undefined) return seconds;
    }
    return 0;
  }

  #names(jid: string): readonly string[] {
    if (this.#seconds.size === 0) return [];
    const { id, pn, lid } = chatOf(this.#directory, jid);
    return [id, pn, lid];
  }
}
