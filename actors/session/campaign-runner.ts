/**
 * Paces the campaigns of one instance: one message after the other, with a pause between, when its time has come and the session is live. It rests while
 * there is nothing to send.
 *
 * Storage says whose turn it is, before each message: memory holds nobody who waits, and a campaign that was paused or deleted meanwhile has no turn.
 */
import type { Campaign } from '../model.ts';
import { between } from '../policy/back-off.ts';
import { dayMs, quietFor, type CampaignPolicy } from '../policy/campaign-policy.ts';
import { StorageFailure, type CampaignTurn, type Time } from '../ports.ts';
import type { SupervisedWorker, WorkerInput } from '../supervised-workers.ts';
import { Pause, storageRetryMs } from '../waiting.ts';

/** A recipient whose turn it is. */
export type Turn = NonNullable<CampaignTurn['recipient']>;

/**
 * `left`: a message left, or may have. `settled`: nothing left, and the recipient is settled. `refused`: the platform said no. `later`: the session went
 * away; the recipient waits. `waitMs`: nothing may be sent for so long. `stop`: no campaign of the account can go on, for this reason.
 */
export type TurnEnd = 'left' | 'settled' | 'refused' | 'later' | { readonly waitMs: number } | { readonly stop: string };

export interface CampaignHost {
  readonly time: Time;
  readonly policy: CampaignPolicy;
  random(): number;
  /** Settles what an earlier run left. */
  settle(): Promise<void>;
  next(now: number): Promise<CampaignTurn | null>;
  nthSent(since: number, n: number): Promise<number | null>;
  live(): boolean;
  /** The session needs a person: it is logged out. */
  loggedOut(): boolean;
  /** Why nothing is sent now; '' when nothing speaks against it. */
  held(): string;
  /** Wakes a sleeping session. Answers after how many milliseconds to look again; null: the session does not sleep. */
  wake(): number | null;
  send(campaign: Campaign, recipient: Turn): Promise<TurnEnd>;
  /** Stores what became of a recipient. */
  give(campaign: Campaign, recipient: Turn, state: 'waiting' | 'unknown', error: string): Promise<void>;
  /** Stores the status of a campaign, with its event. Rejects with `StorageFailure`. */
  mark(campaign: Campaign, status: 'sending' | 'done'): Promise<void>;
  /** Stores why every campaign whose time has come rests, with an event each; '': none does. */
  rest(reason: string): Promise<void>;
  /** Stops every campaign whose time has come: each would meet the same. */
  stopAll(reason: string): Promise<void>;
  supervise(input: WorkerInput): SupervisedWorker;
}

/** What a turn leads to: the next one at once (0), after a pause, (`look`) within a minute or (null) when somebody calls `resume`. */
type Next = number | 'look' | null;

/** Why campaigns rest, as clients read it. */
const restReasons = {
  loggedOut: 'the session is logged out: pair it again',
  away: 'the session is not connected',
  quiet: 'the quiet hours are not over',
  capped: (most: number) => `the daily cap of ${most} messages is reached`,
} as const;

/** `ms`: how long nothing may be sent. `reason`: why; '' for the pause between two messages. */
interface Rest {
  readonly ms: number;
  readonly reason: string;
}

/** Milliseconds between two looks whether the reason is gone for which nothing is sent. */
const heldLookMs = 5_000;

/** A campaign that waits looks again each minute. */
const longestPause = 60_000;

export class CampaignRunner {
  readonly #host: CampaignHost;
  readonly #pause: Pause;
  readonly #worker: SupervisedWorker;
  /** What an earlier run left is settled. */
  #settled = false;
  /** When the last message left, in Unix milliseconds (0: never), the pause after it, and where between its bounds that lies. */
  #last = { at: 0, pause: 0, share: 0 };
  /** Until when it waits, in Unix milliseconds. */
  #until = 0;
  /** Campaigns were active when storage was asked last. */
  #active = false;
  /** Refusals of the platform in a row. */
  #refusals = 0;
  /** Since when the session is not live, in Unix milliseconds; null while it is. */
  #awaySince: number | null = null;

  constructor(host: CampaignHost) {
    this.#host = host;
    this.#pause = new Pause(host.time);
    this.#worker = host.supervise({ name: 'campaigns', run: () => this.#work() });
  }

  /** There is something new: a campaign, or a live session. */
  resume(): void {
    this.#pause.cut();
    this.#worker.wake();
  }

  /** When the next message may go, in Unix milliseconds; null when nothing is waited for. */
  get nextAt(): number | null {
    return this.#until > this.#host.time.now() ? this.#until : null;
  }

  /** Null while no campaign is under way. */
  get atWork(): { readonly nextAt: number | null } | null {
    return this.#active ? { nextAt: this.nextAt } : null;
  }

  /** Nothing more is sent. */
  stop(): void {
    this.#pause.end();
    this.#worker.stop();
  }

  async #work(): Promise<void> {
    for (let next: Next = 0; next !== null && !this.#pause.ended;) {
      try {
        next = await this.#turn();
      } catch (error) {
        if (!(error instanceof StorageFailure)) throw error;
        next = storageRetryMs;
      }
      const wait = next === 'look' ? longestPause : (next ?? 0);
      this.#until = next === 'look' ? 0 : this.#host.time.now() + wait;
      // The clock may step meanwhile, and a timer takes no more than 24 days.
      if (wait > 0) await this.#pause.wait(Math.min(wait, longestPause));
    }
  }

  async #turn(): Promise<Next> {
    const { time, loggedOut, held } = this.#host;
    if (!this.#settled) await this.#host.settle();
    this.#settled = true;
    const turn = await this.#host.next(time.now());
    this.#active = turn !== null;
    if (turn === null) return null;
    const { campaign, recipient } = turn;
    const wait = campaign.scheduledFor - time.now();
    if (wait > 0) return wait;
    if (recipient === null) {
      await this.#host.mark(campaign, 'done');
      return 0;
    }
    if (loggedOut()) return this.#rested(campaign, restReasons.loggedOut, 'look');
    if (held() !== '') return this.#rested(campaign, held(), heldLookMs);
    const { ms, reason } = await this.#restOf(campaign);
    return ms > 0 ? this.#rested(campaign, reason, ms) : this.#sendLive(campaign, recipient);
  }

  /** Stores why the campaigns rest when that has changed. */
  async #rested(campaign: Campaign, reason: string, next: Next): Promise<Next> {
    if (campaign.reason !== reason) await this.#host.rest(reason);
    return next;
  }

  async #sendLive(campaign: Campaign, recipient: Turn): Promise<Next> {
    const { time, live, wake } = this.#host;
    if (live()) {
      this.#awaySince = null;
      if (campaign.reason !== '') await this.#host.rest('');
      return this.#send(campaign, recipient);
    }
    const next = wake() ?? 'look';
    this.#awaySince ??= time.now();
    // A short reconnect is no news.
    return time.now() - this.#awaySince < longestPause ? next : this.#rested(campaign, restReasons.away, next);
  }

  /** What holds the next message back: the quiet hours, the most of a day, and the pace. */
  async #restOf(campaign: Campaign): Promise<Rest> {
    const { time, policy } = this.#host;
    const now = time.now();
    // When an earlier run sent the last one is known by what it changed last.
    if (this.#last.at === 0 && campaign.startedAt > 0) this.#pace(campaign, campaign.updated);
    const { at, pause, share } = this.#last;
    // Between two campaigns the shorter pause counts: a slow one holds up no other, and may have ended or been stopped meanwhile.
    const most = Math.min(pause, between(campaign.delayMin, campaign.delayMax, share));
    // A clock that was put back does not make the pause longer.
    const paced = Math.min(most, at + most - now);
    const quiet = quietFor(policy, now);
    if (quiet > 0) return { ms: Math.max(quiet, paced), reason: restReasons.quiet };
    if (paced > 0 || policy.dailyCap === 0) return { ms: Math.max(0, paced), reason: '' };
    const capped = await this.#host.nthSent(now - dayMs, policy.dailyCap);
    return capped === null ? { ms: 0, reason: '' } : { ms: Math.max(1, capped + dayMs - now), reason: restReasons.capped(policy.dailyCap) };
  }

  async #send(campaign: Campaign, recipient: Turn): Promise<Next> {
    if (campaign.status === 'waiting') await this.#host.mark(campaign, 'sending');
    const end = await this.#attempt(campaign, recipient);
    if (typeof end === 'object' && 'waitMs' in end) return end.waitMs;
    if (typeof end === 'object') return this.#stopAll(end.stop);
    if (end === 'later') return this.#host.live() ? storageRetryMs : 0;
    if (end === 'settled') return 0;
    this.#pace(campaign, this.#host.time.now());
    this.#refusals = end === 'refused' ? this.#refusals + 1 : 0;
    if (this.#refusals < this.#host.policy.refusals) return 0;
    const times = this.#refusals;
    this.#refusals = 0;
    return this.#stopAll(`the platform refused ${times} messages in a row`);
  }

  /** A storage that fails does so before the frame is written: the recipient's turn comes again. After a surprise nobody knows. */
  async #attempt(campaign: Campaign, recipient: Turn): Promise<TurnEnd> {
    try {
      return await this.#host.send(campaign, recipient);
    } catch (error) {
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
