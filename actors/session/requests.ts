/**
 * Performs one operation on a live session within a deadline, and finds the chat that a caller means. An unknown number is looked up before
 * the first message.
 */
import type { Recorder } from '../delivery/recorder.ts';
import {
  type Chat,
  type Claim,
  done,
  type InstanceRecord,
  notConnected,
  type Picture,
  type PictureKind,
  refuse,
  type Result,
} from '../model.ts';
import type { AnswerOf, InputOf, OperationName, Outcome, TypingState } from '../operations.ts';
import { type Bucket, fullBucket, takeToken } from '../policy/pacing.ts';
import type { LookupPolicy } from '../policy/policy.ts';
import type { ChatStore, LookedUp, Outcome as PlatformOutcome, PlatformLink, RecipientStore, Time } from '../ports.ts';

// Finds the id under which the platform knows a number. An unknown number is looked up before the first message. A number may be written in
// two forms, and many numbers have no account.
//
// A number is known if it exchanged messages with the account, or was looked up recently. A number without an account stays known for a
// shorter time. Look-ups are paced, because the platform restricts accounts that look up many numbers.

interface RecipientsInput {
  readonly claim: () => Claim;
  readonly time: Time;
  readonly policy: LookupPolicy;
  readonly store: RecipientStore;
}

/** A chat as returned by `PlatformLink.chatOf`. */
export interface Addressed {
  readonly chatId: string;
  /** Ids under which the platform may know the number, first the id of the chat. Empty if the chat is never looked up. */
  readonly forms: readonly string[];
}

/** Asks the platform in one request. The answer has one item per number. An item is null if the platform gave no answer for this number. */
type LookUp = (numbers: readonly (readonly string[])[]) => Promise<PlatformOutcome<readonly (LookedUp | null)[]>>;

interface Found extends Omit<LookedUp, 'businessName'> {
  /** Null if the business name was never requested. */
  readonly businessName: string | null;
}

/** The known facts of a number; null if the platform gave no answer for this number. */
export type Known = Found | null;

interface Remembered extends Found {
  /** The end of caching, in Unix milliseconds. Infinity if messages were exchanged. */
  readonly until: number;
}

/** The largest number of phone numbers in memory, for each session. */
const mostKnown = 500;
/** The pause of all look-ups after the platform refused a look-up with 429. In milliseconds. */
const penaltyMs = 60_000;

const absent = (chatId: string) => refuse('notFound', `the number ${chatId} is not on WhatsApp`);
const tooMany = (wait: number) =>
  refuse('limited', 'too many new numbers were looked up: try again later', { retryAfter: Math.max(1, Math.ceil(wait / 1000)) });

type Answers = Promise<Result<ReadonlyMap<string, Known>>>;

export class Recipients {
  readonly #input: RecipientsInput;
  readonly #known = new Map<string, Remembered>();
  /** Look-ups under way, by chat. Requests for the same number share one look-up. */
  readonly #underWay = new Map<string, Answers>();
  #bucket: Bucket;
  /** The end of the penalty. In Unix milliseconds. */
  #blockedUntil = 0;

  constructor(input: RecipientsInput) {
    this.#input = input;
    this.#bucket = fullBucket(input.policy.pace, input.time.now());
  }

  /**
   * Returns the chat id to which a message is sent. Refuses with `notFound` for a number without an account, with `limited` after too many look-ups, and with
   * `notSent` if the platform did not answer.
   */
  async resolve(chat: Addressed, lookUp: LookUp): Promise<Result<string>> {
    const { chatId, forms } = chat;
    if (forms.length === 0) return done(chatId);
    const known = this.remembered(chatId);
    if (known !== null) return done(known);
    const found = await this.check([chat], lookUp);
    if (!found.ok) return found;
    // If the platform gave no answer for the number, the message is sent to the number as written.
    const id = found.value.get(chatId)?.chatId ?? chatId;
    return id === '' ? absent(chatId) : done(id);
  }

  /**
   * Returns the facts of all these numbers by chat id. Unknown numbers are looked up together. If one look-up fails, the whole call is refused. `limited`: the
   * pace does not allow all look-ups now. `invalid`: the pace never allows so many. `notSent`: the platform did not answer.
   */
  async check(chats: readonly Addressed[], lookUp: LookUp): Answers {
    const found = new Map<string, Known>();
    const open: Addressed[] = [];
    const shared = new Set<Answers>();
    for (const chat of chats) {
      const known = this.#remembered(chat.chatId);
      const underWay = this.#underWay.get(chat.chatId);
      if (known) found.set(chat.chatId, known);
      else if (underWay) shared.add(underWay);
      else open.push(chat);
    }
    if (open.length > 0) shared.add(this.#share(open, lookUp));
    for (const answers of await Promise.all(shared)) {
      if (!answers.ok) return answers;
      for (const [chatId, known] of answers.value) found.set(chatId, known);
    }
    return done(found);
  }

  /** Returns the verified business name of a number, or '' for none. Returns null if the name is unknown and cannot be requested now. */
  async businessName(chat: Addressed, lookUp: LookUp): Promise<string | null> {
    const found = await this.check([chat], lookUp);
    const known = found.ok ? (found.value.get(chat.chatId) ?? null) : null;
    if (known === null || known.businessName !== null) return known?.businessName ?? null;
    // The number is known from messages, but its business name was never requested.
    const asked = await this.#ask([chat], lookUp);
    const [answer = null] = asked.ok ? asked.value : [];
    if (answer === null || answer.chatId === '') return null;
    const { store, claim, time } = this.#input;
    await store.save(claim(), formsOf(chat, answer), time.now());
    return this.#keep(chat.chatId, answer, null).businessName;
  }

  /**
   * Returns the chat id to which a message is sent, from memory or storage, without a look-up. Returns null for an unknown number, or for a number without an
   * account.
   */
  async known(chat: Addressed): Promise<string | null> {
    const { chatId, forms } = chat;
    if (forms.length === 0) return null;
    const found = this.#remembered(chatId) ?? (await this.#stored([chat])).get(chatId);
    return found?.chatId || null;
  }

  /** Returns the cached chat id to which a message is sent, or null. */
  remembered(chatId: string): string | null {
    return this.#remembered(chatId)?.chatId ?? null;
  }

  #remembered(chatId: string): Remembered | null {
    const known = this.#known.get(chatId);
    return known && this.#input.time.now() < known.until ? known : null;
  }

  #share(chats: readonly Addressed[], lookUp: LookUp): Answers {
    const answers = this.#find(chats, lookUp).finally(() => {
      for (const { chatId } of chats) this.#underWay.delete(chatId);
    });
    for (const { chatId } of chats) this.#underWay.set(chatId, answers);
    return answers;
  }

  /** Returns the stored facts of numbers by chat id. */
  async #stored(chats: readonly Addressed[]): Promise<Map<string, Known>> {
    const { policy, store, time, claim } = this.#input;
    const now = time.now();
    const limits = { knownSince: now - policy.knownFor, absentSince: now - policy.absentFor };
    const forms = chats.map((chat) => chat.forms);
    const found = new Map<string, Known>();
    const stored = await store.find(claim().instanceId, forms, limits);
    for (const [at, row] of stored.entries()) if (row) found.set(chats[at]!.chatId, this.#keep(chats[at]!.chatId, row, row.at));
    return found;
  }

  async #find(chats: readonly Addressed[], lookUp: LookUp): Answers {
    const { store, time, claim } = this.#input;
    const now = time.now();
    const found = await this.#stored(chats);
    const strangers = chats.filter(({ chatId }) => !found.has(chatId));
    if (strangers.length === 0) return done(found);
    const asked = await this.#ask(strangers, lookUp);
    if (!asked.ok) return asked;
    const rows = strangers.flatMap((chat, at) => formsOf(chat, asked.value[at] ?? null));
    if (rows.length > 0) await store.save(claim(), rows, now);
    for (const [at, { chatId }] of strangers.entries()) {
      const answer = asked.value[at] ?? null;
      found.set(chatId, answer && this.#keep(chatId, answer, now));
    }
    return done(found);
  }

  /**
   * Looks up numbers on the platform. Refuses if the pace does not allow the look-up, or after a 429. After any other refusal of the platform the list is
   * empty, which means that no number got an answer.
   */
  async #ask(chats: readonly Addressed[], lookUp: LookUp): Promise<Result<readonly (LookedUp | null)[]>> {
    const { policy, time } = this.#input;
    const now = time.now();
    const { burst } = policy.pace;
    if (chats.length > burst) return refuse('invalid', `at most ${burst} numbers that are not known can be looked up at once`);
    if (now < this.#blockedUntil) return tooMany(this.#blockedUntil - now);
    const { bucket, wait } = takeToken(this.#bucket, policy.pace, now, chats.length);
    this.#bucket = bucket;
    if (wait > 0) return tooMany(wait);
    const outcome = await lookUp(chats.map(({ forms }) => forms));
    if (outcome.ok) return outcome;
    const { reason, code } = outcome.refusal;
    if (reason === 'unknown') return refuse('notSent', 'the platform did not say in time whether the number exists: nothing was sent');
    if (reason !== 'refused') return outcome;
    if (code !== 429) return done([]);
    this.#blockedUntil = now + penaltyMs;
    return refuse('limited', 'the platform looks up no more numbers now', { code, retryAfter: penaltyMs / 1000 });
  }

  /**
   * Keeps an answer in memory. `at`: the time of the look-up in Unix milliseconds; null if messages were exchanged. A number without an account is not kept in
   * memory, because the number may get an account and write at any time.
   */
  #keep(asked: string, { chatId, businessName }: Found, at: number | null): Found {
    const found = { chatId, businessName };
    if (chatId === '') return found;
    this.#known.delete(asked);
    this.#known.set(asked, { ...found, until: at === null ? Infinity : at + this.#input.policy.knownFor });
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostKnown && oldest !== undefined) this.#known.delete(oldest);
    return found;
  }
}

/** Returns the rows of an answer, for every form of the number and for the id of its account. */
const formsOf = ({ forms }: Addressed, found: Known): readonly (Found & { readonly form: string })[] => {
  if (found === null) return [];
  return [...new Set(found.chatId === '' ? forms : [...forms, found.chatId])].map((form) => ({ form, ...found }));
};

// Interfaces of parts of a cell. Each function takes the smallest part that it needs.

/** An instance with its recorder. */
export interface Recorded {
  readonly record: InstanceRecord;
  readonly recorder: Recorder;
}

/** A session on which operations are performed. */
export interface Operable extends Recorded {
  readonly link: PlatformLink;
  /** Returns the deadline of an operation that begins now. In Unix milliseconds. */
  deadline(): number;
  /** Runs a task on the live session. Returns null without one. */
  request<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> | null;
}

/** A session that finds the recipients of messages. */
export interface Addressable extends Operable {
  readonly recipients: Recipients;
}

// Performs one operation on a live session within a deadline, and records its results.

/**
 * Performs one operation inside a task of `Operable.request`, with the `signal` of that task. The entries of the handler are recorded before the promise
 * resolves.
 */
export async function performIn<N extends OperationName>(
  cell: Operable,
  signal: AbortSignal,
  name: N,
  input: InputOf<N>,
): Promise<Outcome<AnswerOf<N>>> {
  if (signal.aborted) return notConnected;
  const outcome = await cell.link.perform({ name, input }, { signal, deadline: cell.deadline() });
  if (outcome.ok && outcome.entries) await Promise.all(outcome.entries.map((entry) => cell.recorder.tell(entry)));
  return outcome;
}

/**
 * Returns the function that shows typing. With a `signal` the function works within a running request, and otherwise starts a request of its own. Writes
 * nothing without a live session.
 */
export const writeTyping =
  (cell: Operable) =>
  async (chatId: string, state: TypingState, signal?: AbortSignal): Promise<Result<null>> => {
    const write = (during: AbortSignal): Promise<Result<null>> => performIn(cell, during, 'chat.typing', { chatId, state });
    if (signal) return write(signal);
    return (await cell.request(write)?.catch(() => null)) ?? notConnected;
  };

/** Asks for a picture in a separate request. Resolves with null without a live session. */
export const askForPicture =
  (cell: Operable) =>
  async (id: string, kind: PictureKind): Promise<Outcome<Picture> | null> => {
    // A chart that is handling an event would take the request only later, and `request` would return null.
    await Promise.resolve();
    return cell.request((signal) => performIn(cell, signal, 'picture.look', { id, kind }));
  };

type PresenceChoice = InputOf<'account.presence'>['presence'];

/** The presence that the client chose for the account. The platform begins each connection as unavailable, so the choice is sent again after each login. */
export class Presence {
  readonly #cell: Operable;
  /** The choice is valid for one pairing, which `jid` identifies. */
  #chosen: { readonly presence: PresenceChoice; readonly jid: string } = { presence: 'unavailable', jid: '' };

  constructor(cell: Operable) {
    this.#cell = cell;
  }

  get current(): PresenceChoice {
    return this.#chosen.jid === this.#cell.record.jid ? this.#chosen.presence : 'unavailable';
  }

  choose(presence: PresenceChoice): void {
    this.#chosen = { presence, jid: this.#cell.record.jid };
  }

  /** Sends the choice on a new connection. Never rejects. If the connection ends meanwhile, the choice is sent on the next connection. */
  async renew(): Promise<void> {
    // A chart that is handling an event would take the request only later, and `request` would return null here.
    await Promise.resolve();
    const presence = this.current;
    if (presence === 'unavailable') return;
    await this.#cell.request((signal) => performIn(this.#cell, signal, 'account.presence', { presence }))?.catch(() => null);
  }
}

// Finds the recipient of a message in any spelling. An unknown number is looked up on the platform.

export interface Recipient {
  /** The id under which the chat is stored. */
  readonly chatId: string;
  /** The number or chat id that the composer receives. This is the caller's spelling, unless a look-up found another id. */
  readonly number: string;
}

/** Returns the recipient. Needs a live session. Refuses as `PlatformLink.chatOf` and `Recipients.resolve` do. */
export async function recipientOf(cell: Addressable, signal: AbortSignal, number: string): Promise<Result<Recipient>> {
  const chat = cell.link.chatOf(number);
  if (!chat.ok) return chat;
  const { chatId, certain } = chat.value;
  if (!certain) {
    const resolved = await performIn(cell, signal, 'chat.resolve', { number });
    return resolved.ok ? done({ chatId: resolved.value, number }) : resolved;
  }
  const found = await cell.recipients.resolve(chat.value, (numbers) => performIn(cell, signal, 'chat.lookUp', { numbers }));
  if (!found.ok) return found;
  return done({ chatId: found.value, number: found.value === chatId ? number : found.value });
}

/** Finds a stored chat by any of its names, because a number may be written in two forms. */
export async function storedChat({ record, link }: Operable, chats: ChatStore, number: string): Promise<Chat | null> {
  const named = link.chatOf(number);
  for (const name of new Set([number, ...(named.ok ? [named.value.chatId, ...named.value.forms] : [])])) {
    const chat = await chats.get(record.id, name);
    if (chat) return chat;
  }
  return null;
}
