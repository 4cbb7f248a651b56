/**
 * Paces the campaigns of one instance. The runner sends one message after another, with a pause between them, when a campaign is due and the session
 * is live. The runner is idle while there is nothing to send.
 *
 * Storage decides the next recipient before each message. Memory holds no waiting recipient, so a campaign that was paused or deleted meanwhile
 * sends nothing.
 */
import type { Campaign } from '../model.ts';
import { between } from '../policy/pacing.ts';
import { dayMs, quietFor, type CampaignPolicy } from '../policy/campaign-policy.ts';
import { FileUnreadable, StorageFailure, type DueMessage, type Time } from '../ports.ts';
import type { SupervisedWorker, WorkerInput } from '../policy/supervised-workers.ts';
import { Pause, storageRetryMs } from '../waiting.ts';
import { givenUp, Patience } from './obstacles.ts';
import type { Sending } from './queue.ts';

/** A recipient whose message is due. */
export type DueRecipient = NonNullable<DueMessage['recipient']>;

/**
 * The outcome of a send. `left`: a frame left the process, or may have left. `settled`: no frame left, and the outcome of the recipient is stored. `refused`:
 * the platform refused the message. `fileless`: a file of the message could not be taken, and the outcome of the recipient is stored. `later`: the message
 * cannot be sent now, for example because the connection ended, and the recipient waits. `waitMs` and `obstacle`: see `Sending`. `stop`: the reason why no
 * campaign of the account can continue.
 */
export type SendEnd = 'left' | 'settled' | 'refused' | 'fileless' | Exclude<Sending, 'done'> | { readonly stop: string };

export interface CampaignHost {
  readonly time: Time;
  readonly policy: CampaignPolicy;
  random(): number;
  /** Settles the recipients that an earlier run left unfinished. */
  settle(): Promise<void>;
  /** Returns the next message of all campaigns except `resting`; null if there is none. */
  next(now: number, resting: readonly string[]): Promise<DueMessage | null>;
  nthSent(since: number, n: number): Promise<number | null>;
  live(): boolean;
  /** Returns true if the session is logged out, so a person must pair it. */
  loggedOut(): boolean;
  /** Returns the reason why nothing may be sent now, or '' if there is none. */
  held(): string;
  /** Returns the reason why the platform lets the account start no chats now, or ''. */
  locked(): string;
  /** Wakes a hibernated session. Returns the milliseconds until the next check, or null if the session is not hibernated. */
  wake(): number | null;
  send(campaign: Campaign, recipient: DueRecipient): Promise<SendEnd>;
  /** Stores the outcome of a recipient. */
  give(campaign: Campaign, recipient: DueRecipient, state: 'waiting' | 'unknown' | 'failed', error: string): Promise<void>;
  /** Stores the status of a campaign and its event. Rejects with `StorageFailure`. */
  mark(campaign: Campaign, status: 'sending' | 'done'): Promise<void>;
  /** Stores the reason why the due campaigns wait, or '' if they do not wait. Sends one event for each campaign whose reason changed. */
  rest(reason: string): Promise<void>;
  /** Stops every due campaign, because each would fail for the same reason. */
  stopAll(reason: string): Promise<void>;
  supervise(input: WorkerInput): SupervisedWorker;
  dismiss(worker: SupervisedWorker): void;
  /** Reports that no campaign is active, and that the pause after the last message is over. The runner can be stopped and forgotten. */
  ended(): void;
}

/** The time of the next check: after this many milliseconds, within a minute (`look`), or after a call of `resume` (null). */
type Next = number | 'look' | null;

/** Reasons of a pause in the words that clients read. */
const restReasons = {
  loggedOut: 'the session is logged out: pair it again',
  away: 'the session is not connected',
  quiet: 'the quiet hours are not over',
  capped: (most: number) => `the daily cap of ${most} messages is reached`,
} as const;

/** A time without sending in milliseconds (`ms`) and its reason. The reason is '' for the pause between two messages. */
interface Rest {
  readonly ms: number;
  readonly reason: string;
}

/** The pause between two checks of `held` or `locked`, while one of them forbids every send. In milliseconds. */
const heldLookMs = 5_000;

/** The longest wait of a campaign before its next check. In milliseconds. */
const longestPause = 60_000;

/**
 * The number of consecutive messages whose files could not be taken. From this number on, the campaign rests after each such message, because the server of the
 * files may be unavailable.
 */
const filelessLimit = 5;

/** A message without its files that took this long makes its campaign rest at once, because no other campaign of the instance could send. In milliseconds. */
const slowFilesMs = 5_000;

/** The factor from the time of such a message to the rest after it, so that slow files cost other campaigns at most a tenth of their time. */
const slowFilesRest = 10;

export class CampaignRunner {
  readonly #host: CampaignHost;
  readonly #pause: Pause;
  readonly #worker: SupervisedWorker;
  /** True if the recipients of an earlier run are settled. */
  #settled = false;
  /**
   * The last message: its time by the monotonic clock (null if there was none), and the pause after it in milliseconds. `share`: the random position of the
   * pause between its bounds, from 0 to 1.
   */
  #last: { readonly at: number | null; readonly pause: number; readonly share: number } = { at: null, pause: 0, share: 0 };
  /** The end of the current wait, by the monotonic clock. */
  #waitEndsAt = -Infinity;
  /** True if campaigns were active at the last query of storage. */
  #active = false;
  /** True if `resume` was called since the last query began. There may be a campaign that the query did not find. */
  #isResumed = false;
  /** True if the pause after the last message of an earlier runner is over, so that the first message does not wait. */
  readonly #isRested: boolean;
  readonly #patience: Patience;
  /** The number of consecutive refusals of the platform. */
  #refusals = 0;
  /** The number of consecutive messages of each campaign whose files could not be taken. */
  readonly #fileless = new Map<string, number>();
  /** The time until which a campaign rests because its files cannot be taken, by the monotonic clock. Other campaigns go on. */
  readonly #rests = new Map<string, number>();
  /** The time since which the session is not live, by the monotonic clock; null while it is live. */
  #awaySince: number | null = null;

  /** `isRested`: true if an earlier runner of the instance ended in this process, after the pause of its last message. */
  constructor(host: CampaignHost, isRested = false) {
    this.#host = host;
    this.#isRested = isRested;
    this.#pause = new Pause(host.time);
    this.#patience = new Patience(host.time);
    this.#worker = host.supervise({ name: 'campaigns', run: () => this.#work() });
  }

  /** Makes the runner check for the next message at once, because there is a new campaign or a live session. */
  resume(): void {
    this.#isResumed = true;
    this.#rests.clear();
    this.#pause.cut();
    this.#worker.wake();
  }

  /** The time of the next message, or null if there is no wait. In Unix milliseconds. */
  get nextAt(): number | null {
    const { time } = this.#host;
    const left = this.#waitEndsAt - time.monotonic();
    return left > 0 ? Math.ceil(time.now() + left) : null;
  }

  /** Null while no campaign is active. `nextAt`: the time of the next message in Unix milliseconds, or null if there is no wait. */
  get atWork(): { readonly nextAt: number | null } | null {
    return this.#active ? { nextAt: this.nextAt } : null;
  }

  /** Stops the runner. The runner sends no further message. */
  stop(): void {
    this.#pause.end();
    this.#host.dismiss(this.#worker);
  }

  async #work(): Promise<void> {
    for (let next: Next = 0; next !== null && !this.#pause.ended;) {
      try {
        next = await this.#sendNext();
      } catch (error) {
        if (!(error instanceof StorageFailure)) throw error;
        next = storageRetryMs;
      }
      const wait = next === 'look' ? longestPause : (next ?? 0);
      this.#waitEndsAt = next === 'look' || !this.#active ? -Infinity : this.#host.time.monotonic() + wait;
      // The wall clock may step during a long wait, so the runner checks once a minute.
      if (wait > 0) await this.#pause.wait(Math.min(wait, longestPause));
      else if (next === null && !this.#pause.ended) this.#host.ended();
    }
  }

  async #sendNext(): Promise<Next> {
    const { time, loggedOut, held } = this.#host;
    if (!this.#settled) await this.#host.settle();
    this.#settled = true;
    this.#isResumed = false;
    const resting = this.#resting();
    const due = await this.#host.next(time.now(), resting);
    this.#active = due !== null || resting.length > 0;
    if (due === null) return this.#restsLeft() ?? this.#rest();
    const { campaign, recipient } = due;
    // A campaign that has begun does not wait again if the wall clock is put back.
    const wait = campaign.startedAt > 0 ? 0 : campaign.scheduledFor - time.now();
    if (wait > 0) return Math.min(wait, this.#restsLeft() ?? wait);
    if (recipient === null) {
      this.#fileless.delete(campaign.id);
      await this.#host.mark(campaign, 'done');
      return 0;
    }
    if (loggedOut()) return this.#rested(campaign, restReasons.loggedOut, 'look');
    if (held() !== '') return this.#rested(campaign, held(), heldLookMs);
    const lock = this.#host.locked();
    if (lock !== '') return this.#rested(campaign, lock, heldLookMs);
    const { ms, reason } = await this.#restOf(campaign);
    return ms > 0 ? this.#rested(campaign, reason, ms) : this.#sendLive(campaign, recipient);
  }

  /** Returns the ids of the campaigns that rest, and forgets the rests that are over. */
  #resting(): readonly string[] {
    const now = this.#host.time.monotonic();
    for (const [id, end] of this.#rests) if (end <= now) this.#rests.delete(id);
    return [...this.#rests.keys()];
  }

  /** Returns the milliseconds until the first rest of a campaign ends, or null if no campaign rests. */
  #restsLeft(): number | null {
    return this.#rests.size === 0 ? null : Math.max(0, Math.min(...this.#rests.values()) - this.#host.time.monotonic());
  }

  /**
   * Returns the milliseconds until the end of the pause after the last message. The pause applies to the next campaign as well. Returns null if the pause is
   * over and `resume` was not called meanwhile.
   */
  #rest(): Next {
    const { at, pause } = this.#last;
    const left = at === null ? 0 : at + pause - this.#host.time.monotonic();
    return left > 0 || this.#isResumed ? Math.max(0, left) : null;
  }

  /** Stores the reason of a pause if the reason has changed. */
  async #rested(campaign: Campaign, reason: string, next: Next): Promise<Next> {
    if (campaign.reason !== reason) await this.#host.rest(reason);
    return next;
  }

  async #sendLive(campaign: Campaign, recipient: DueRecipient): Promise<Next> {
    const { time, live, wake } = this.#host;
    if (live()) {
      this.#awaySince = null;
      if (campaign.reason !== '') await this.#host.rest('');
      return this.#send(campaign, recipient);
    }
    this.#patience.reset();
    const next = wake() ?? 'look';
    this.#awaySince ??= time.monotonic();
    // A short reconnect is not reported.
    return time.monotonic() - this.#awaySince < longestPause ? next : this.#rested(campaign, restReasons.away, next);
  }

  /** Returns the pause before the next message, with its reason. The pause follows from the quiet hours, the daily cap and the pace. */
  async #restOf(campaign: Campaign): Promise<Rest> {
    const { time, policy } = this.#host;
    const now = time.now();
    // After a restart of the runner, the time of the last message is unknown. The runner uses the time of the campaign's last change instead.
    if (this.#last.at === null && !this.#isRested && campaign.startedAt > 0)
      this.#pace(campaign, time.monotonic() - Math.max(0, now - campaign.updated));
    const { at, pause, share } = this.#last;
    // Between messages of two campaigns the shorter of the two pauses applies, so that a slow campaign does not delay the next campaign.
    const most = Math.min(pause, between(campaign.delayMin, campaign.delayMax, share));
    const paced = at === null ? 0 : at + most - time.monotonic();
    const quiet = quietFor(policy, now);
    if (quiet > 0) return { ms: Math.max(quiet, paced), reason: restReasons.quiet };
    if (paced > 0 || policy.dailyCap === 0) return { ms: Math.max(0, paced), reason: '' };
    const capped = await this.#host.nthSent(now - dayMs, policy.dailyCap);
    return capped === null ? { ms: 0, reason: '' } : { ms: Math.max(1, capped + dayMs - now), reason: restReasons.capped(policy.dailyCap) };
  }

  async #send(campaign: Campaign, recipient: DueRecipient): Promise<Next> {
    if (campaign.status === 'waiting') await this.#host.mark(campaign, 'sending');
    const begun = this.#host.time.monotonic();
    const end = await this.#attempt(campaign, recipient);
    if (typeof end === 'object' && 'waitMs' in end) {
      if (end.obstacle === undefined || !this.#patience.isOver(end.obstacle)) return end.waitMs;
      await this.#host.give(campaign, recipient, 'failed', givenUp[end.obstacle.why]);
      return 0;
    }
    this.#patience.reset();
    if (typeof end === 'object') return this.#stopAll(end.stop);
    if (end === 'later') return this.#host.live() ? storageRetryMs : 0;
    if (end === 'settled') return 0;
    if (end === 'fileless') return this.#countFileless(campaign, this.#host.time.monotonic() - begun);
    this.#fileless.delete(campaign.id);
    this.#pace(campaign, this.#host.time.monotonic());
    this.#refusals = end === 'refused' ? this.#refusals + 1 : 0;
    if (this.#refusals < this.#host.policy.refusals) return 0;
    const times = this.#refusals;
    this.#refusals = 0;
    return this.#stopAll(`the platform refused ${times} messages in a row`);
  }

  /**
   * Counts a message without its files. The campaign rests from the limit on, or after a slow attempt while another campaign waits. `took`: the time of the
   * attempt, in milliseconds.
   */
  async #countFileless({ id }: Campaign, took: number): Promise<Next> {
    const times = (this.#fileless.get(id) ?? 0) + 1;
    this.#fileless.set(id, times);
    const delaysOthers = took >= slowFilesMs && (await this.#host.next(this.#host.time.now(), [...this.#resting(), id])) !== null;
    const rest = Math.max(times >= filelessLimit ? longestPause : 0, delaysOthers ? took * slowFilesRest : 0);
    if (rest > 0) this.#rests.set(id, this.#host.time.monotonic() + rest);
    return 0;
  }

  /**
   * Sends one message. After a storage failure the message is sent again, because no frame was written. A file that cannot be read makes the message fail.
   * After any other error the outcome is unknown.
   */
  async #attempt(campaign: Campaign, recipient: DueRecipient): Promise<SendEnd> {
    try {
      return await this.#host.send(campaign, recipient);
    } catch (error) {
      if (error instanceof FileUnreadable) {
        await this.#host.give(campaign, recipient, 'failed', givenUp.unreadable);
        return 'fileless';
      }
      const [state, why] =
        error instanceof StorageFailure ? (['waiting', ''] as const) : (['unknown', 'an unexpected error of the gateway'] as const);
      await this.#host.give(campaign, recipient, state, why);
      throw error;
    }
  }

  async #stopAll(reason: string): Promise<Next> {
    await this.#host.stopAll(reason);
    return 0;
  }

  #pace({ delayMin, delayMax }: Campaign, at: number): void {
    const share = this.#host.random();
    this.#last = { at, share, pause: between(delayMin, delayMax, share) };
  }
}
