/**
 * Holds messages back for a bounded time until their files are downloaded. Later entries of the same chat wait behind these messages, except
 * own messages that are about to leave. Other chats are not delayed.
 *
 * A held entry counts as not recorded. After a kill the platform adapter delivers the entry again.
 */
import type { Entry, Message } from '../model.ts';
import type { KeptFile, Time } from '../ports.ts';

/** The largest number of held entries of one instance. Above the limit, media messages are recorded without their files, and a later event names the file. */
const mostHeld = 500;

export interface MediaHoldbackHost {
  record(entries: readonly Entry[]): void;
  /** Waits for the recorder, as `Recorder.recorded` does. */
  recorded(): Promise<boolean>;
  /**
   * Starts the download of the file of a message. Returns null if there is no file, or if the settings exclude the file. Resolves with null if the
   * download failed. Never rejects.
   */
  fetch(message: Message): Promise<KeptFile | null> | null;
  /** Reports a file that came too late for the event of its message. */
  late(message: Message, file: KeptFile): void;
  readonly time: Pick<Time, 'setTimeout' | 'clearTimeout'>;
  /** The longest time for which a message is held. In milliseconds. */
  readonly wait: number;
}

interface Held {
  entry: Entry;
  isReady: boolean;
  /** Resolves `hasPassed`. Called when the entry was passed to the recorder. */
  readonly passed: () => void;
  readonly hasPassed: Promise<void>;
}

/** Returns the chat in whose order the entry is recorded; null if the entry waits for no other entry. */
const chatOf = (entry: Entry): string | null => {
  switch (entry.kind) {
    // An own message is stored before its frame. Its later `Sent` status does not pass the holdback.
    case 'queued':
    case 'composed':
      return null;
    case 'message':
    case 'postEdited':
      return entry.message.chatId;
    case 'chat':
      return entry.chat.chatId;
    case 'news':
    case 'event':
      return entry.lane;
    default:
      return 'chatId' in entry ? entry.chatId : null;
  }
};

const held = (entry: Entry, isReady: boolean): Held => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { entry, isReady, passed: resolve, hasPassed: promise };
};

export class MediaHoldback {
  readonly #host: MediaHoldbackHost;
  /** Held entries by chat, in order. */
  readonly #chats = new Map<string, Held[]>();
  #count = 0;

  constructor(host: MediaHoldbackHost) {
    this.#host = host;
  }

  /** Records entries in their order, without waiting. Messages whose files are being fetched are held back. */
  record(entries: readonly Entry[]): void {
    if (this.#count === 0 && !entries.some(({ kind }) => kind === 'message')) return this.#host.record(entries);
    const passing = entries.filter((entry) => !this.#hold(entry));
    if (passing.length > 0) this.#host.record(passing);
  }

  /** Resolves when all entries of earlier `record` calls are recorded. Resolves with false if an entry was lost. */
  async recorded(): Promise<boolean> {
    await Promise.all([...this.#chats.values()].map((line) => line.at(-1)?.hasPassed));
    return this.#host.recorded();
  }

  /** Passes all held entries to the recorder, without waiting for their files. */
  release(): void {
    for (const [chat, line] of this.#chats) {
      for (const one of line) one.isReady = true;
      this.#pass(chat);
    }
  }

  #hold(entry: Entry): boolean {
    const chat = chatOf(entry);
    const line = chat === null ? undefined : this.#chats.get(chat);
    const file = entry.kind === 'message' ? this.#host.fetch(entry.message) : null;
    const mayWait = file !== null && this.#host.wait > 0 && this.#count < mostHeld;
    if (chat === null || (line === undefined && !mayWait)) {
      if (file !== null && entry.kind === 'message') this.#announceLater(entry.message, file);
      return false;
    }
    const one = held(entry, !mayWait);
    if (line) line.push(one);
    else this.#chats.set(chat, [one]);
    this.#count += 1;
    if (file !== null && entry.kind === 'message') {
      if (mayWait) this.#await(chat, one, entry, file);
      else this.#announceLater(entry.message, file);
    }
    return true;
  }

  #await(chat: string, one: Held, entry: Extract<Entry, { kind: 'message' }>, file: Promise<KeptFile | null>): void {
    const { time, wait, late } = this.#host;
    const ready = (): void => {
      time.clearTimeout(timer);
      one.isReady = true;
      this.#pass(chat);
    };
    const timer = time.setTimeout(ready, wait);
    void file.then((kept) => {
      // The message was already recorded without its file, at its time limit or by a release.
      if (one.isReady) return kept && late(entry.message, kept);
      if (kept) one.entry = { ...entry, message: { ...entry.message, fileUrl: kept.url } };
      return ready();
    });
  }

  #announceLater(message: Message, file: Promise<KeptFile | null>): void {
    void file.then((kept) => kept && this.#host.late(message, kept));
  }

  /** Passes the ready entries at the head of a chat to the recorder. */
  #pass(chat: string): void {
    const line = this.#chats.get(chat) ?? [];
    const first = line.findIndex(({ isReady }) => !isReady);
    const passing = line.splice(0, first < 0 ? line.length : first);
    if (line.length === 0) this.#chats.delete(chat);
    this.#count -= passing.length;
    if (passing.length > 0) this.#host.record(passing.map(({ entry }) => entry));
    for (const { passed } of passing) passed();
  }
}
