/**
 * Under which id the platform knows a number. A stranger's is looked up before the first message: the same number may be written in two forms,
 * and many numbers have no account.
 *
 * A number that has answered, or got a message, is known. So is what was looked up lately, and a number without an account for a shorter time. Lookups
 * are paced: the platform restricts accounts that look up many numbers.
 */
import { done, refuse, type Claim, type Result } from '../model.ts';
import { fullBucket, takeToken, type Bucket } from '../policy/token-bucket.ts';
import type { LookupPolicy } from '../policy/policy.ts';
import type { Outcome, RecipientStore, Time } from '../ports.ts';

export interface RecipientsInput {
  readonly claim: () => Claim;
  readonly time: Time;
  readonly policy: LookupPolicy;
  readonly store: RecipientStore;
}

/** A chat as `PlatformLink.chatOf` names it. */
export interface Addressed {
  readonly chatId: string;
  /** Ids under which the platform may know the number, that of the chat first; empty for what is never looked up. */
  readonly forms: readonly string[];
}

/** Asks the platform: the id of the account, null when there is none. */
export type LookUp = (forms: readonly string[]) => Promise<Outcome<string | null>>;

interface Known {
  readonly chatId: string;
  /** Unix milliseconds; Infinity for those with whom messages were exchanged. */
  readonly until: number;
}

/** Numbers held in memory, for each session. */
const kept = 500;
/** Milliseconds without lookups after the platform refused one for their number. */
const penaltyMs = 60_000;

const absent = (chatId: string) => refuse('notFound', `the number ${chatId} is not on WhatsApp`);
const tooMany = (wait: number) =>
  refuse('limited', 'too many new numbers were looked up: try again later', { retryAfter: Math.max(1, Math.ceil(wait / 1000)) });

export class Recipients {
  readonly #input: RecipientsInput;
  readonly #known = new Map<string, Known>();
  /** Lookups under way: requests for the same number share one. */
  readonly #underWay = new Map<string, Promise<Result<string>>>();
  #bucket: Bucket;
  /** Unix milliseconds. */
  #blockedUntil = 0;

  constructor(input: RecipientsInput) {
    this.#input = input;
    this.#bucket = fullBucket(input.policy.pace, input.time.now());
  }

  /**
   * The id to write to. Refused: `notFound` for a number without an account, `limited` when too many were looked up, `notSent` when the platform
   * did not answer.
   */
  resolve({ chatId, forms }: Addressed, lookUp: LookUp): Promise<Result<string>> {
    if (forms.length === 0) return Promise.resolve(done(chatId));
    const known = this.remembered(chatId);
    if (known !== null) return Promise.resolve(done(known));
    const shared = this.#underWay.get(chatId);
    if (shared) return shared;
    const answer = this.#find(chatId, forms, lookUp).finally(() => this.#underWay.delete(chatId));
    this.#underWay.set(chatId, answer);
    return answer;
  }

  /** The id to write to, from memory; null when the memory has none. */
  remembered(chatId: string): string | null {
    const known = this.#known.get(chatId);
    return known && this.#input.time.now() < known.until ? known.chatId : null;
  }

  async #find(chatId: string, forms: readonly string[], lookUp: LookUp): Promise<Result<string>> {
    const { policy, store, time, claim } = this.#input;
    const now = time.now();
    const stored = await store.find(claim().instanceId, forms, { knownSince: now - policy.knownFor, absentSince: now - policy.absentFor });
    if (stored) return this.#found(chatId, stored.chatId, stored.at);
    const answer = await this.#ask(forms, lookUp);
    if (!answer.ok) return answer;
    const found = answer.value;
    // The platform would not say: the message goes to the number as it is written.
    if (found === undefined) return done(chatId);
    const asked = new Set(found === '' ? forms : [...forms, found]);
    await store.save(
      claim(),
      [...asked].map((form) => ({ form, chatId: found })),
      now,
    );
    return this.#found(chatId, found, now);
  }

  /** '' when there is no account; undefined when the platform refused to say. */
  async #ask(forms: readonly string[], lookUp: LookUp): Promise<Result<string | undefined>> {
    const { policy, time } = this.#input;
    const now = time.now();
    if (now < this.#blockedUntil) return tooMany(this.#blockedUntil - now);
    const { bucket, wait } = takeToken(this.#bucket, policy.pace, now);
    this.#bucket = bucket;
    if (wait > 0) return tooMany(wait);
    const outcome = await lookUp(forms);
    if (outcome.ok) return done(outcome.value ?? '');
    const { reason, code } = outcome.refusal;
    if (reason === 'unknown') return refuse('notSent', 'the platform did not say in time whether the number exists: nothing was sent');
    if (reason !== 'refused') return outcome;
    if (code !== 429) return done(undefined);
    this.#blockedUntil = now + penaltyMs;
    return refuse('limited', 'the platform looks up no more numbers now', { code, retryAfter: penaltyMs / 1000 });
  }

  /** `at`: of the lookup. A number without an account is not held in memory: its owner may write at any moment. */
  #found(asked: string, chatId: string, at: number | null): Result<string> {
    if (chatId === '') return absent(asked);
    this.#known.delete(asked);
    this.#known.set(asked, { chatId, until: at === null ? Infinity : at + this.#input.policy.knownFor });
    const [oldest] = this.#known.keys();
    if (this.#known.size > kept && oldest !== undefined) this.#known.delete(oldest);
    return done(chatId);
  }
}
