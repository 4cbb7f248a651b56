/**
 * Looks up the pictures of people and groups. Look-ups run in the background at a limited pace, when a person writes or calls. The results are cached,
 * including hidden and absent pictures. Messages do not wait for a picture. If the picture of a sender is not cached, the event has no picture.
 */
import {
  done,
  refuse,
  notConnected,
  type Claim,
  type Entry,
  type Group,
  type LookedPicture,
  type Message,
  type Picture,
  type PictureKind,
  type Result,
} from '../model.ts';
import { type Bucket, fullBucket, takeToken } from '../policy/pacing.ts';
import type { PicturePolicy } from '../policy/policy.ts';
import { StorageFailure, type Outcome, type PictureStore, type Time } from '../ports.ts';
import type { SupervisedWorker, SupervisedWorkers } from '../policy/supervised-workers.ts';

export interface PicturesInput {
  readonly claim: () => Claim;
  readonly ports: { readonly time: Time; readonly pictures: PictureStore };
  readonly policy: PicturePolicy;
  readonly workers: SupervisedWorkers;
  /** Asks the platform. Resolves with null while the session is not live. */
  ask(id: string, kind: PictureKind): Promise<Outcome<Picture> | null>;
  record(entries: readonly Entry[]): void;
}

interface Remembered {
  /** The picture, or null if the platform refused or did not answer. */
  readonly picture: Picture | null;
  /** The time of the look-up. In Unix milliseconds. */
  readonly at: number;
  readonly until: number;
}

/** A look-up that waits. */
interface Wish {
  /** True if the platform reported a change, so the stored picture is stale. */
  readonly changed: boolean;
  /** True if the picture is looked up even if storage has none. A changed picture that nobody looked up before is not needed. */
  readonly isWanted: boolean;
  /** True if storage was read and has no recent answer, so the platform is asked. */
  isNew: boolean;
}

/** The largest number of ids in one query. */
const idsPerQuery = 100;
/** The time before a picture is requested again after the platform refused or did not answer. In milliseconds. */
const silenceMs = 3_600_000;
/** The pause of all look-ups after the platform refused a look-up with 429. In milliseconds. */
const penaltyMs = 600_000;
/** The least time between two requests for the same picture, even with `force`. In milliseconds. */
const leastMs = 20_000;

/** The pause before the next attempt if the session was not live. A live session ends the pause. In seconds. */
const notLivePause = 30;
/** The pause before the next attempt after storage did not answer. In seconds. */
const storagePause = 30;

const keyOf = (id: string, kind: PictureKind): string => `${kind} ${id}`;

/** Returns true for people and groups. Status posts and channels have no pictures. */
const shownIn = (id: string): boolean => /@(s\.whatsapp\.net|lid|g\.us)$/.test(id);

/** Returns the whole group in an entry, or null. */
const groupIn = (entry: Entry): Group | null => {
  if (entry.kind === 'group') return entry.group;
  const change = entry.kind === 'news' && entry.news.type === 'groups' ? entry.news.group.change : null;
  return change?.kind === 'entered' ? change.group : null;
};

export class Pictures {
  readonly #input: PicturesInput & { readonly time: Time; readonly store: PictureStore };
  readonly #worker: SupervisedWorker;
  readonly #remembered = new Map<string, Remembered>();
  readonly #waiting = new Map<string, Wish>();
  /** Look-ups under way, by key. Concurrent callers share the answer. */
  readonly #underWay = new Map<string, Promise<Result<Picture>>>();
  #bucket: Bucket;
  /** The end of the penalty. In Unix milliseconds. */
  #blockedUntil = 0;
  #timer: unknown = null;
  #stopped = false;

  constructor(input: PicturesInput) {
    const { time, pictures: store } = input.ports;
    this.#input = { ...input, time, store };
    this.#bucket = fullBucket(input.policy.pace, time.now());
    this.#worker = input.workers.supervise({ name: 'pictures', run: () => this.#work() });
  }

  /**
   * Queues look-ups for the chats and senders of messages and calls. A group message gets the cached picture of its sender. The method changes the
   * message object itself, because later steps find an entry by its identity.
   */
  note(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.kind === 'news' && entry.news.type === 'call') this.#enqueueIfUnknown(entry.news.call.chatId);
      // A community has no messages, but the chats of its groups show its picture.
      const group = groupIn(entry);
      if (group?.isCommunity) this.#enqueueIfUnknown(group.id);
      if (entry.kind === 'message' && !entry.message.fromMe) this.#noteMessage(entry.message);
    }
  }

  /** Handles a report that a picture was changed or removed. */
  changed(id: string): void {
    const isWanted = this.#waiting.get(id)?.isWanted ?? this.#underWay.has(keyOf(id, 'preview'));
    for (const kind of ['preview', 'image'] as const) {
      this.#remembered.delete(keyOf(id, kind));
      // A look-up under way may answer with the former picture. The callers of this look-up get that answer, and the answer is not cached.
      this.#underWay.delete(keyOf(id, kind));
    }
    this.#enqueue(id, { changed: true, isWanted, isNew: false });
  }

  /** Resumes waiting look-ups, because the session is live. */
  wake(): void {
    if (this.#waiting.size > 0) this.#pause(0);
  }

  stop(): void {
    this.#stopped = true;
    this.#input.time.clearTimeout(this.#timer);
  }

  /**
   * Returns the cached picture, or the answer of the platform. `force` asks the platform, unless it was asked within `leastMs`. Refuses with
   * `limited` at the pace limit, with `notSent` without a live session, else with the refusal of the platform.
   */
  async look(id: string, kind: PictureKind, force: boolean): Promise<Result<Picture>> {
    const { store, time, claim } = this.#input;
    const known = this.#known(id, kind) ?? null;
    const isYoung = known !== null && time.now() - known.at < leastMs;
    if (known?.picture && (!force || isYoung)) return done(known.picture);
    if (!force) {
      const found = await store.find(claim().instanceId, [id]);
      if (this.#waiting.get(id)?.changed !== true) this.#read(found);
      const stored = this.#known(id, kind)?.picture;
      if (stored) return done(stored);
    }
    const answer = await this.#ask(id, kind);
    // If the pace does not allow a look-up, an older answer is better than none.
    return !answer.ok && answer.refusal.reason === 'limited' && known?.picture ? done(known.picture) : answer;
  }

  #noteMessage(message: Message & { senderImage?: string }): void {
    this.#enqueueIfUnknown(message.chatId);
    if (!message.isGroup) return;
    const sender = message.senderPn || message.sender;
    this.#enqueueIfUnknown(sender);
    const url = this.#known(sender, 'preview')?.picture?.url ?? '';
    if (url !== '') message.senderImage = url;
  }

  #known(id: string, kind: PictureKind): Remembered | undefined {
    const known = this.#remembered.get(keyOf(id, kind));
    return known && this.#input.time.now() < known.until ? known : undefined;
  }

  #enqueueIfUnknown(id: string): void {
    if (this.#waiting.has(id) || !shownIn(id) || this.#known(id, 'preview')) return;
    this.#enqueue(id, { changed: false, isWanted: true, isNew: false });
  }

  #enqueue(id: string, wish: Wish): void {
    if (this.#stopped || (this.#waiting.size >= this.#input.policy.waiting && !this.#waiting.has(id))) return;
    this.#waiting.set(id, wish);
    if (this.#timer === null) this.#worker.wake();
  }

  async #work(): Promise<void> {
    try {
      await this.#lookUpWaiting();
    } catch (error) {
      if (!(error instanceof StorageFailure)) throw error;
      this.#pause(storagePause);
    }
  }

  async #lookUpWaiting(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#stopped) {
      await this.#readWaiting();
      const id = this.#waiting.keys().find((one) => this.#waiting.get(one)?.isNew);
      if (id === undefined) continue;
      const wish = this.#waiting.get(id);
      const answer = await this.#ask(id, 'preview');
      if (answer.ok || !['limited', 'notSent'].includes(answer.refusal.reason)) this.#end(id, wish);
      else return this.#pause(answer.refusal.reason === 'limited' ? (answer.refusal.retryAfter ?? 60) : notLivePause);
    }
  }

  /** Ends a look-up, unless the picture was changed meanwhile. */
  #end(id: string, wish: Wish | undefined): void {
    if (this.#waiting.get(id) === wish) this.#waiting.delete(id);
  }

  /** Reads stored pictures for the waiting look-ups in one query. Look-ups without a stored picture wait for the platform. */
  async #readWaiting(): Promise<void> {
    const { store, claim } = this.#input;
    const unread = [...this.#waiting].filter(([, { isNew }]) => !isNew).slice(0, idsPerQuery);
    if (unread.length === 0) return;
    const stored = await store.find(
      claim().instanceId,
      unread.map(([id]) => id),
    );
    const kinds = Map.groupBy(stored, ({ id }) => id);
    this.#read(stored.filter(({ id }) => this.#waiting.get(id)?.changed !== true));
    for (const [id, wish] of unread) {
      if (wish.changed) await this.#refresh(id, wish, kinds.get(id) ?? []);
      else if (this.#known(id, 'preview')) this.#end(id, wish);
      else wish.isNew = true;
    }
  }

  /** Handles a changed picture that was looked up before. The worker requests the preview. The full picture is dropped until a client asks for it. */
  async #refresh(id: string, wish: Wish, stored: readonly LookedPicture[]): Promise<void> {
    const { store, claim } = this.#input;
    if (stored.length === 0 && !wish.isWanted) return this.#end(id, wish);
    for (const { kind } of stored) {
      if (kind === 'preview') continue;
      await store.save(claim(), { id, kind, state: 'absent', url: '', at: 0 });
      this.#input.record([{ kind: 'chat', chat: { chatId: id, image: '' }, create: false }]);
    }
    if (this.#waiting.get(id) === wish) this.#waiting.set(id, { changed: false, isWanted: true, isNew: true });
  }

  #pause(seconds: number): void {
    const { time } = this.#input;
    if (this.#stopped) return;
    time.clearTimeout(this.#timer);
    this.#timer = time.setTimeout(() => {
      this.#timer = null;
      this.#worker.wake();
    }, seconds * 1000);
  }

  #read(stored: readonly LookedPicture[]): void {
    for (const { id, kind, state, url, at } of stored) this.#remember(id, kind, { state, url }, at, at + this.#input.policy.age);
  }

  #remember(id: string, kind: PictureKind, picture: Picture | null, at: number, until: number): void {
    const key = keyOf(id, kind);
    this.#remembered.delete(key);
    this.#remembered.set(key, { picture, at, until });
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > this.#input.policy.remembered && oldest !== undefined) this.#remembered.delete(oldest);
  }

  #ask(id: string, kind: PictureKind): Promise<Result<Picture>> {
    const key = keyOf(id, kind);
    const shared = this.#underWay.get(key);
    if (shared) return shared;
    const isCurrent = (): boolean => this.#underWay.get(key) === answer;
    const answer = this.#question(id, kind, isCurrent).finally(() => isCurrent() && this.#underWay.delete(key));
    this.#underWay.set(key, answer);
    return answer;
  }

  /** Asks the platform for a picture, within the pace. `isCurrent` returns false if the picture was changed during the look-up. */
  async #question(id: string, kind: PictureKind, isCurrent: () => boolean): Promise<Result<Picture>> {
    const { policy, time, store, claim, ask, record } = this.#input;
    const now = time.now();
    const { bucket, wait } = takeToken(this.#bucket, policy.pace, now);
    const pause = Math.max(wait, this.#blockedUntil - now);
    if (pause > 0) return refuse('limited', 'too many pictures were looked up: try again later', { retryAfter: Math.ceil(pause / 1000) });
    this.#bucket = bucket;
    const outcome = await ask(id, kind);
    if (outcome === null) return notConnected;
    if (!outcome.ok) return this.#refused(id, kind, outcome);
    const { state, url } = outcome.value;
    if (!isCurrent()) return done({ state, url });
    this.#remember(id, kind, { state, url }, now, now + policy.age);
    await store.save(claim(), { id, kind, state, url, at: now });
    record([{ kind: 'chat', chat: { chatId: id, [kind === 'image' ? 'image' : 'imagePreview']: url }, create: false }]);
    return done({ state, url });
  }

  #refused(id: string, kind: PictureKind, outcome: Extract<Outcome<Picture>, { ok: false }>): Result<Picture> {
    const now = this.#input.time.now();
    const { reason, code } = outcome.refusal;
    if (reason === 'refused' && code === 429) {
      this.#blockedUntil = now + penaltyMs;
      return refuse('limited', 'the platform looks up no more pictures now', { code, retryAfter: penaltyMs / 1000 });
    }
    if (reason !== 'notSent') this.#remember(id, kind, null, now, now + silenceMs);
    return outcome;
  }
}
