/** Files of messages: their downloads, each once for all concurrent callers, and the upkeep of the file store. */
import { done, type InstanceId, type Message, refuse, type Result, unknownInstance } from '../model.ts';
import type { AutoDownload } from '../policy/policy.ts';
import { PeriodicWorker, type SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { FileKey, FileStore, KeptFile, Log, MediaFacts, Ports, TakenFile, Time } from '../ports.ts';
import type { Download, DownloadWish } from '../views.ts';
import { type Pause, within } from '../waiting.ts';

// Files of messages. A kept file is returned at once. A missing file is fetched once for all concurrent callers.
//
// A fetch belongs to the gateway, and not to its first caller. A client that disconnects does not cancel the fetch for other callers.

/** The file of a message, or of the message that it quotes. */
export interface Wanted {
  readonly message: Message;
  readonly quoted: boolean;
  readonly facts: MediaFacts;
}

interface DownloadsHost {
  readonly ports: Pick<Ports, 'downloadsWaiting' | 'files' | 'messages' | 'mediaFacts' | 'sounds' | 'time'>;
  /** Fetches the file from the platform. */
  fetch(id: InstanceId, wanted: Wanted): Promise<Result<TakenFile>>;
  /** Records that a file of a message is kept. Resolves when the fact is recorded, or when storage is unavailable. */
  tell(id: InstanceId, message: Message, file: KeptFile): Promise<void>;
  /** Returns the API key of the transcription service, or '' if the instance has none. */
  apiKey(id: InstanceId): string;
}

const unknownType = 'application/octet-stream';
const mp3 = 'audio/mpeg';
const sounds: ReadonlySet<string> = new Set(['audio', 'ptt']);
const spoken: ReadonlySet<string> = new Set([...sounds, 'video', 'gif']);

/** Media kinds of messages that have another name in the settings. */
const families: Readonly<Record<string, string>> = { gif: 'video', ptt: 'audio' };
const familyOf = (kind: string): string => families[kind] ?? kind;

/** Returns true if the text is valid in a `Content-Type` header. */
const isMimetype = (text: string): boolean => /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w.-]+=(?:[\w!#$&^.+-]+|"[^"\\]*"))*$/.test(text);

const goneText = 'the file was removed meanwhile';

/** The longest wait of a client for a file while files of the instance wait for a download slot. Many clients give up after 30 s. In milliseconds. */
const slotWaitMs = 25_000;
const tooManyDownloads = refuse('unavailable', 'too many files are being downloaded: ask for this one again later', {
  retryAfter: 30,
});

interface Fetched {
  readonly file: KeptFile;
  readonly cached: boolean;
}

export class Downloads {
  readonly #host: DownloadsHost;
  readonly #underWay = new Map<string, Promise<Result<KeptFile>>>();

  constructor(host: DownloadsHost) {
    this.#host = host;
  }

  /**
   * Returns the file of a message. `isPatient`: false for a client. A client gets the refusal `unavailable` after `slotWaitMs` if files of the instance still
   * wait for a download slot.
   */
  async download(id: InstanceId, wish: DownloadWish, isPatient: boolean): Promise<Result<Download>> {
    const wanted = await this.#wanted(id, wish);
    if (!wanted.ok) return wanted;
    const fetching = this.fetched(id, wanted.value);
    if (!isPatient && (await this.#isLate(id, fetching))) return tooManyDownloads;
    const fetched = await fetching;
    if (!fetched.ok) return fetched;
    const { facts } = wanted.value;
    const { file, cached } = fetched.value;
    const shown = sounds.has(facts.kind) && wish.mp3 !== 'no' ? await this.#asMp3(id, file, wish.mp3 === 'must') : done(file);
    if (!shown.ok) return shown;
    const key = wish.transcribe && spoken.has(facts.kind) ? wish.apiKey || this.#host.apiKey(id) : '';
    if (key === '') return done({ file: shown.value, cached });
    const words = await this.#transcribed(shown.value, key);
    return words.ok ? done({ file: shown.value, cached, transcription: words.value }) : words;
  }

  /** Keeps the file of a message that just arrived, if the settings want its kind and size. Returns null otherwise. The promise never rejects. */
  arriving(id: InstanceId, message: Message, { kinds, most }: Pick<AutoDownload, 'kinds' | 'most'>): Promise<KeptFile | null> | null {
    if (kinds.length === 0 || message.fromMe || message.type !== 'media') return null;
    const facts = this.#host.ports.mediaFacts(message, false);
    if (facts === null || !kinds.includes(familyOf(facts.kind)) || facts.size > most) return null;
    return this.#keep(id, { message, quoted: false, facts }).then(
      (fetched) => (fetched.ok ? fetched.value.file : null),
      () => null,
    );
  }

  /** Returns the file in its original format, and records its URL in the message. */
  async fetched(id: InstanceId, wanted: Wanted): Promise<Result<Fetched>> {
    const fetched = await this.#keep(id, wanted);
    const { message, quoted } = wanted;
    if (fetched.ok && !quoted && message.fileUrl !== fetched.value.file.url) await this.#host.tell(id, message, fetched.value.file);
    return fetched;
  }

  /**
   * Waits for a fetch for at most `slotWaitMs`. Returns true if the fetch has not ended by then, and files of the instance wait for a download slot. The fetch
   * continues in both cases.
   */
  async #isLate(id: InstanceId, fetching: Promise<unknown>): Promise<boolean> {
    const { time, downloadsWaiting } = this.#host.ports;
    return (await within(time, slotWaitMs, fetching)) === 'late' && downloadsWaiting(id) > 0;
  }

  /** Returns a kept file without use of the session. Fetches any other file from the platform. */
  async #keep(id: InstanceId, wanted: Wanted): Promise<Result<Fetched>> {
    const { files } = this.#host.ports;
    const { message, quoted, facts } = wanted;
    const key: FileKey = facts.hash === '' ? { messageId: message.messageId } : { hash: facts.hash };
    const known = facts.hash === '' && quoted ? null : await files.find(id, key);
    const file = known
      ? done(known)
      : await this.#once(`${id} ${message.chatId} ${message.messageId} ${quoted}`, () => this.#fetch(id, wanted));
    if (!file.ok) return file;
    return done({ file: file.value, cached: known !== null });
  }

  async #wanted(id: InstanceId, { messageId, quoted }: DownloadWish): Promise<Result<Wanted>> {
    const { messages, mediaFacts } = this.#host.ports;
    const message = await messages.byId(id, messageId);
    if (message === null) return refuse('notFound', 'Message not found');
    if (quoted && message.quoted === '') return refuse('invalid', 'the message quotes no other message');
    // The quotation has the file as well, but the quoted message has more facts. The phone can upload a file again only for the quoted message.
    const origin = quoted ? await messages.byId(id, message.quoted) : null;
    const stored = origin?.chatId === message.chatId ? origin : null;
    const source = stored === null ? { message, quoted } : { message: stored, quoted: false };
    const facts = mediaFacts(source.message, source.quoted);
    return facts === null ? refuse('invalid', 'Unsupported media type or no media found in message') : done({ ...source, facts });
  }

  async #fetch(id: InstanceId, wanted: Wanted): Promise<Result<KeptFile>> {
    const taken = await this.#host.fetch(id, wanted);
    if (!taken.ok) return taken;
    const { message, quoted, facts } = wanted;
    const mimetype = taken.value.mimetype === unknownType && isMimetype(facts.mimetype) ? { mimetype: facts.mimetype } : {};
    const about = { filename: facts.filename, ...mimetype, ...(quoted ? {} : { messageId: message.messageId }) };
    return this.#kept(await this.#host.ports.files.keep(id, taken.value, about));
  }

  /** Returns the file as MP3. Returns the file unchanged if this machine cannot convert it, unless the client insists on MP3. */
  async #asMp3(id: InstanceId, file: KeptFile, must: boolean): Promise<Result<KeptFile>> {
    if (file.mimetype === mp3) return done(file);
    const made = await this.#host.ports.files.find(id, { madeOf: file.hash, mimetype: mp3 });
    if (made) return done(made);
    const converted = await this.#once(`${id} ${mp3} ${file.hash}`, () => this.#convert(id, file));
    return !converted.ok && converted.refusal.reason === 'notConvertible' && !must ? done(file) : converted;
  }

  async #convert(id: InstanceId, file: KeptFile): Promise<Result<KeptFile>> {
    const taken = await this.#withCopy(file, (path) => this.#host.ports.sounds.toMp3(id, path));
    if (!taken.ok) return taken;
    return this.#kept(await this.#host.ports.files.keep(id, taken.value, { madeOf: file.hash }));
  }

  #transcribed(file: KeptFile, key: string): Promise<Result<string>> {
    const { name, mimetype } = file;
    return this.#withCopy(file, (path) => this.#host.ports.sounds.transcribe({ path, name, mimetype }, key));
  }

  async #withCopy<T>(file: KeptFile, work: (path: string) => Promise<Result<T>>): Promise<Result<T>> {
    const copy = await this.#host.ports.files.localCopy(file);
    if (copy === null) return refuse('notFound', goneText);
    try {
      return await work(copy.path);
    } finally {
      await copy.release();
    }
  }

  #kept(file: KeptFile | null): Result<KeptFile> {
    return file === null ? unknownInstance : done(file);
  }

  /** Shares the outcome with calls that come while the work is under way. */
  #once(key: string, work: () => Promise<Result<KeptFile>>): Promise<Result<KeptFile>> {
    const known = this.#underWay.get(key);
    if (known) return known;
    const begun = work().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, begun);
    return begun;
  }
}

// Keeps the file store in order. The keeper audits every part of the store after a start and then daily, and bounds the sum of bytes.

/**
 * The pause between two checks of the total size (`everyMs`), and between two batches (`restMs`). Other work uses the disk and the database meanwhile. In
 * milliseconds.
 */
const everyMs = 60_000;
const restMs = 20;
/** The number of size checks per full audit, which makes one audit a day. */
const looksPerAudit = 1_440;
/** The number of files per batch. Files may be large. */
const pieceFiles = 20;

interface FileKeeperInput {
  readonly files: FileStore;
  /** The limit of the bytes in this store; 0 means no limit. */
  readonly most: number;
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** Returns false if all nodes share this store and another node cleans it. */
  onDuty?(): boolean;
}

export class FileKeeper {
  readonly #input: FileKeeperInput;
  readonly #worker: PeriodicWorker;
  #looks = 0;
  /** The index of the part that the audit checks next. */
  #part = 0;

  constructor(input: FileKeeperInput) {
    this.#input = input;
    const { time, log, workers, onDuty = () => true } = input;
    const run = (pause: Pause): Promise<void> => this.#run(pause);
    this.#worker = new PeriodicWorker({ time, log, workers, name: 'fileKeeper', everyMs, unanswered: 'files.notKept', onDuty, run });
  }

  start(): void {
    this.#worker.wake();
    this.#worker.start();
  }

  stop(): void {
    this.#worker.stop();
  }

  async #run(pause: Pause): Promise<void> {
    if (this.#looks % looksPerAudit === 0) this.#part = 0;
    this.#looks += 1;
    await this.#audit(pause);
    await this.#bound(pause);
  }

  async #audit(pause: Pause): Promise<void> {
    const { files, log } = this.#input;
    const sum = { blobs: 0, rows: 0 };
    for (; this.#part < files.parts && !pause.ended; this.#part += 1) {
      const found = await files.audit(this.#part);
      sum.blobs += found.blobs;
      sum.rows += found.rows;
      await pause.wait(restMs);
    }
    if (sum.blobs + sum.rows > 0) log.info(sum, 'files.orphansRemoved');
  }

  async #bound(pause: Pause): Promise<void> {
    const { files, most, time, log } = this.#input;
    if (most === 0) return;
    let removed = 0;
    while ((files.bytes ?? 0) > most && !pause.ended) {
      const piece = await files.removeUnusedHere(time.now(), pieceFiles);
      if (piece === 0) break;
      removed += piece;
      await pause.wait(restMs);
    }
    if (removed > 0) log.info({ removed, bytes: files.bytes }, 'files.bounded');
  }
}
