/** The campaigns of all instances. An instance has a runner while it has a campaign that waits or runs. */
import type { Campaign, InstanceId, TimeLock } from '../model.ts';
import { capRetryMs, type Policy } from '../policy/policy.ts';
import type { Ports } from '../ports.ts';
import { sendOfCampaign, type EndOf } from '../session/campaign-send.ts';
import { CampaignRunner, type CampaignHost, type DueRecipient } from '../session/campaign-runner.ts';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import { Pause, untilStored } from '../waiting.ts';
import type { Registry } from './registry.ts';
import type { Waking } from './waking.ts';

/** The largest number of campaigns that are read when all campaigns of an instance stop or pause. */
const mostListed = 10_000;

const isActive = (campaign: Campaign | null): campaign is Campaign => campaign?.status === 'waiting' || campaign?.status === 'sending';

/**
 * Returns the reason for a pause while the platform restricts the account from starting chats, or ''. Each message of a campaign to a stranger would be
 * refused, and more refusals lengthen the restriction.
 */
const lockText = (lock: TimeLock | null, now: number): string => {
  if (lock === null || !lock.active || (lock.until !== null && lock.until <= now)) return '';
  const end = lock.until === null ? '' : ` until ${new Date(lock.until).toISOString()}`;
  return `the platform lets the account start no chats${end}`;
};

interface CampaignsInput {
  readonly ports: Ports;
  readonly policy: Pick<Policy, 'campaigns'>;
  readonly registry: Pick<Registry, 'cell' | 'cells' | 'record' | 'status'>;
  readonly waking: Pick<Waking, 'awake' | 'keepAwake'>;
  readonly workers: SupervisedWorkers;
  /** Returns false during a stop. */
  readonly open: () => boolean;
  /** Returns the reason why no campaign may send now, or '' if there is none. */
  readonly held: () => string;
  /** Runs work that must end before the instance moves to another node. */
  readonly during: <T>(id: InstanceId, work: () => Promise<T>) => Promise<T>;
}

export class Campaigns {
  readonly #input: CampaignsInput;
  readonly #runners = new Map<InstanceId, CampaignRunner>();
  /** Instances whose runner has ended. The next runner has no pause to wait for. */
  readonly #rested = new Set<InstanceId>();
  readonly #pause: Pause;

  constructor(input: CampaignsInput) {
    this.#input = input;
    this.#pause = new Pause(input.ports.time);
  }

  /** Resumes the campaigns of an earlier run. */
  async restore(): Promise<void> {
    for (const id of await untilStored(this.#pause, () => this.#input.ports.campaigns.working())) this.look(id);
  }

  /** Starts or resumes the runner of the instance after a campaign was created or resumed. */
  look(id: InstanceId): void {
    if (!this.#input.open() || this.#input.registry.record(id) === undefined) return;
    let runner = this.#runners.get(id);
    if (runner === undefined) {
      runner = new CampaignRunner(this.#hostOf(id), this.#rested.delete(id));
      this.#runners.set(id, runner);
    }
    runner.resume();
  }

  /** Resumes the runner of the instance, because the session is live or a campaign stopped. */
  resume(id: InstanceId): void {
    this.#runners.get(id)?.resume();
  }

  /** Returns the time of the next message of a campaign; null if no message waits, or if a message may be sent now. In Unix milliseconds. */
  nextAt(id: InstanceId): number | null {
    return this.#runners.get(id)?.nextAt ?? null;
  }

  /** Returns the time of the next message (`nextAt`, see `CampaignRunner.atWork`); null if no campaign of the instance is active. */
  atWork(id: InstanceId): { readonly nextAt: number | null } | null {
    return this.#runners.get(id)?.atWork ?? null;
  }

  /** Stops the runner of an instance that is gone or moves to another node. A send under way continues to its end. */
  forget(id: InstanceId): void {
    this.#runners.get(id)?.stop();
    this.#runners.delete(id);
    this.#rested.delete(id);
  }

  /**
   * Marks a campaign as `deleting` if storage has it. Used if the creation of a campaign without an idempotency key failed without an answer of storage. The
   * client's retry creates the campaign again, and without this mark it would run twice. Retries while storage is unavailable. Rejects with `EpochLost` if the
   * instance moved to another node.
   */
  async discard(id: InstanceId, campaign: string): Promise<void> {
    const { registry, ports } = this.#input;
    await untilStored(this.#pause, () => {
      const claim = { instanceId: id, epoch: registry.record(id)?.epoch ?? 0 };
      return ports.campaigns.change(claim, campaign, ['waiting', 'sending', 'paused', 'done'], 'deleting', ports.time.now());
    });
    this.resume(id);
  }

  /** Pauses every campaign of the instance, including campaigns that are scheduled for later. */
  async pauseAll(id: InstanceId, reason: string): Promise<void> {
    for (const campaign of await this.#input.ports.campaigns.list(id, false, mostListed))
      if (isActive(campaign)) await this.#mark(id, campaign.id, 'paused', reason);
  }

  /** Stops all runners. The runners send no further message. */
  stop(): void {
    this.#pause.end();
    for (const runner of this.#runners.values()) runner.stop();
  }

  #hostOf(id: InstanceId): CampaignHost {
    const { ports, policy, registry, waking, workers, during, held } = this.#input;
    const { campaigns, time, chance } = ports;
    const give = (campaign: Campaign, due: DueRecipient, state: EndOf, error: string): Promise<void> =>
      this.#give(id, campaign, due, state, error);
    return {
      time,
      policy: policy.campaigns,
      random: () => chance.random(),
      settle: () => campaigns.settle({ instanceId: id, epoch: registry.record(id)?.epoch ?? 0 }, time.now()),
      next: (now, resting) => campaigns.next(id, now, resting),
      nthSent: (since, n) => campaigns.nthSent(id, since, n),
      live: () => registry.status(id) === 'connected',
      loggedOut: () => registry.record(id)?.jid === '',
      held,
      locked: () => lockText(registry.cell(id)?.link.timeLock() ?? null, time.now()),
      wake: () => this.#wake(id),
      async send(campaign, due) {
        const cell = registry.cell(id);
        // A campaign message counts as traffic, so that the session does not hibernate between two messages.
        if (cell) waking.keepAwake(cell);
        const settle = (state: EndOf, error: string): Promise<void> => give(campaign, due, state, error);
        const taken = await during(id, async () =>
          cell?.request((signal) => sendOfCampaign({ ports, campaign, due, settle }, cell, signal)),
        );
        return taken ?? 'later';
      },
      give,
      mark: (campaign, status) => this.#mark(id, campaign.id, status, ''),
      rest: (reason) => this.#rest(id, reason),
      stopAll: (reason) => this.#stopAll(id, reason),
      supervise: (input) => workers.supervise({ ...input, fields: { instance: id } }),
      dismiss: (worker) => workers.dismiss(worker),
      ended: () => {
        this.forget(id);
        this.#rested.add(id);
      },
    };
  }

  /** Retries until the outcome is stored, because the next send depends on the stored outcome. */
  async #give(id: InstanceId, { id: campaignId }: Campaign, { position }: DueRecipient, state: EndOf, error: string): Promise<void> {
    const entry = { kind: 'recipient', campaignId, position, state, error, at: this.#input.ports.time.now() } as const;
    await untilStored(this.#pause, async () => this.#input.registry.cell(id)?.recorder.append(entry));
    // A recipient that waits again gets the message later, so this outcome is not counted.
    if (state !== 'waiting') this.#input.ports.meter.campaigned(state);
  }

  /**
   * Stores the status of a campaign and reports the change. All entries that were recorded before are stored first, so that the event has the stored
   * counts. A `to` of null keeps the status.
   */
  async #mark(id: InstanceId, campaignId: string, to: 'sending' | 'done' | 'paused' | null, reason: string): Promise<void> {
    const { ports, registry } = this.#input;
    const cell = registry.cell(id);
    await cell?.recorder.recorded();
    const campaign = await ports.campaigns.get(id, campaignId);
    if (!cell || !isActive(campaign)) return;
    const status = to ?? campaign.status;
    // The time of the next send depends on the last change of status. A new reason alone does not move that time.
    const at = to === null ? campaign.updated : ports.time.now();
    await cell.recorder.append({ kind: 'campaign', campaign, status, reason, at });
    ports.log.info({ instance: id, campaign: campaignId, status, ...(reason === '' ? {} : { reason }) }, 'campaign.changed');
  }

  async #due(id: InstanceId): Promise<readonly Campaign[]> {
    const { campaigns, time } = this.#input.ports;
    return (await campaigns.list(id, false, mostListed)).filter((one) => isActive(one) && one.scheduledFor <= time.now());
  }

  async #stopAll(id: InstanceId, reason: string): Promise<void> {
    for (const campaign of await this.#due(id)) await this.#mark(id, campaign.id, 'paused', reason);
  }

  async #rest(id: InstanceId, reason: string): Promise<void> {
    for (const campaign of await this.#due(id)) if (campaign.reason !== reason) await this.#mark(id, campaign.id, null, reason);
  }

  /**
   * Wakes a hibernated session and returns the milliseconds until the next attempt. Returns null for any other status, for example if the session
   * must be paired.
   */
  #wake(id: InstanceId): number | null {
    const { registry, waking } = this.#input;
    if (registry.status(id) !== 'hibernated') return null;
    // A failed wake is ignored, because the next attempt follows after the pause.
    waking.awake(id).catch(() => undefined);
    return capRetryMs;
  }
}
