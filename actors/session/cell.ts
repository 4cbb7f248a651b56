/** One instance with its record, actor, recorder, feed and queue. The supervisor makes cells, and the commands use them. */
import type { CourierHost, CourierView } from '../delivery/courier-host.ts';
import { Feed } from '../delivery/feed.ts';
import { wants } from '../delivery/webhook-config.ts';
import { History } from '../delivery/finished-deliveries.ts';
import { MediaHoldback } from '../delivery/media-holdback.ts';
import type { Recorder } from '../delivery/recorder.ts';
import type { InstanceView, Origin, VitalsView } from '../views.ts';
import { KeyedMutex, within } from '../waiting.ts';
import type { GatewayEvent, InstanceRecord, Message, ProxySettings, Status, Webhook } from '../model.ts';
import type { Verdict } from '../policy/close-cause.ts';
import type { Gate } from '../policy/gate.ts';
import { usualStopGrace, type Policy } from '../policy/policy.ts';
import type { Committed, KeptFile, LinkHost, OpenOptions, PlatformLink, Ports } from '../ports.ts';
import { supervisedWorkers, type SupervisedWorkers } from '../policy/supervised-workers.ts';
import { Activity, Vitals } from './vitals.ts';
import { changeNames, recorderOf, setAside, withOptOuts } from './recording.ts';
import { HistoryRequests } from './history-requests.ts';
import { proxyingOf, type Proxying } from './proxying.ts';
import type { Host } from './host.ts';
import type { InstanceEvent } from './instance.ts';
import { Pictures, type PicturesInput } from './pictures.ts';
import { askForPicture, Presence, Recipients, writeTyping } from './requests.ts';
import { RecordKeeper } from './record-keeper.ts';
import { SendQueue } from './queue.ts';
import { queueHostOf } from './queue-host.ts';
import { RootActor } from './root-actor.ts';
import { beginningMs, beginningOf, viewOf, type LifecycleSnapshot } from './status.ts';
import { Steps } from './steps.ts';
import { Typing } from './typing.ts';

interface CellInput {
  readonly record: InstanceRecord;
  /** The start of this process. A hibernation before the cell was made counts from this time. In Unix milliseconds. */
  readonly since: number;
  readonly ports: Ports;
  readonly policy: Policy;
  readonly gate: Gate;
  readonly couriers: CourierHost;
  /** Returns the current webhooks of this instance, and the global webhook. */
  readonly webhooks: () => readonly Webhook[];
  /** Returns the reason why no queued message may be sent now, or ''. */
  readonly held: () => string;
  /** Starts the download of the file of an arrived message. Returns null if there is no file, or the settings exclude it. Never rejects. */
  readonly arriving: (message: Message) => Promise<KeptFile | null> | null;
  /** Reports a file whose download ended after the event of its message was sent. */
  readonly downloaded: (message: Message, file: KeptFile) => void;
  /** Returns another managed proxy of the same region, or ''. */
  readonly anotherProxy: (settings: ProxySettings) => string;
  /** Returns true if this process owns the instance now. */
  readonly mayAct: () => boolean;
  /** Returns true if this session may connect without exceeding the cap. */
  readonly hasRoom: () => boolean;
  /** Implements `LinkHost.beginAnew`. */
  readonly beginAnew: (cell: Cell, ...change: Parameters<LinkHost['beginAnew']>) => Promise<void>;
  /** Called with each committed event. Never throws. */
  readonly published: (event: GatewayEvent) => void;
  /** Called each time the session becomes live. */
  readonly live: (cell: Cell) => void;
  /** Called at each close. `wasLive` is true if a live session was lost. */
  readonly closed: (cell: Cell, verdict: Verdict, wasLive: boolean) => void;
  /** Called after each step of the charts. */
  readonly moved: (cell: Cell) => void;
}

/** The shortest time between two updates of the stored time of the last activity. In milliseconds. */
const activityGrain = 60_000;

export class Cell {
  readonly keeper: RecordKeeper;
  readonly recorder: Recorder;
  /** Holds messages between the platform and the recorder until their files are downloaded. */
  readonly #holdback: MediaHoldback;
  readonly feed: Feed;
  readonly history = new History();
  /** Serializes sends per chat, so that messages leave in the order of the calls. */
  readonly chatMutex = new KeyedMutex();
  readonly link: PlatformLink;
  readonly queue: SendQueue;
  readonly recipients: Recipients;
  readonly pictures: Pictures;
  readonly typing: Typing;
  readonly histories = new HistoryRequests();
  readonly proxying: Proxying;
  readonly vitals: Vitals;
  /** The last steps of the charts. */
  readonly steps: Steps;
  /** Supervises and restarts the background workers of this instance. */
  readonly workers: SupervisedWorkers;
  readonly activity: Activity;
  readonly presence = new Presence(this);
  /** True if a connect request of the current pairing allows that another account is paired. */
  allowsAccountChange = false;
  readonly #input: CellInput;
  readonly root: RootActor;
  /** The time until which calls wait for a session that wakes up or is restored. In milliseconds of the monotonic clock. */
  #wakingUntil: number;

  constructor(input: CellInput) {
    const { record, ports, policy } = input;
    this.#input = input;
    this.activity = new Activity(ports.time, record.lastActiveAt);
    this.#wakingUntil = beginningOf(record) === 'online' ? ports.time.monotonic() + beginningMs : 0;
    this.steps = new Steps(() => ports.time.now());
    this.vitals = new Vitals(() => ports.time.now(), input.since);
    this.workers = supervisedWorkers(ports, policy, { instance: record.id });
    this.keeper = new RecordKeeper({ record, instances: ports.instances, time: ports.time, log: ports.log, workers: this.workers });
    this.feed = new Feed((error) => ports.log.error({ instance: record.id, error }, 'listener.failed'));
    this.recorder = recorderOf({
      ports,
      policy,
      record: () => this.record,
      targets: (event) => this.#targets(event),
      workers: this.workers,
      committed: (committed, again) => this.#committed(committed, again),
    });
    const claim = () => ({ instanceId: record.id, epoch: record.epoch });
    this.recipients = new Recipients({ claim, time: ports.time, policy: policy.lookups, store: ports.recipients });
    this.pictures = this.#createPictures(claim);
    this.#holdback = new MediaHoldback({
      record: (entries) => this.recorder.record(entries),
      recorded: () => this.recorder.recorded(),
      fetch: (message) => input.arriving(message),
      late: (message, file) => input.downloaded(message, file),
      time: ports.time,
      wait: policy.autoDownload.wait,
    });
    this.queue = new SendQueue(queueHostOf(ports, policy.queue, input.held, this));
    this.typing = new Typing({ time: ports.time, atOnce: policy.typingAtOnce, write: writeTyping(this) });
    this.proxying = proxyingOf(input, () => this.record, this.keeper);
    this.link = ports.platform.link(this.#linkHost(record));
    this.root = new RootActor({
      id: record.id,
      time: ports.time,
      restartAfter: policy.crash.window,
      input: { host: this.#host(), couriers: input.couriers, workers: this.workers, begin: () => beginningOf(this.record) },
      crashed: async (error) => {
        ports.log.error({ instance: record.id, error }, 'instance.rootCrashed');
        await this.#closeLink();
        input.gate.release(record.id);
      },
      restarted: () => this.#nudgeAll(),
    });
  }

  get numbers(): VitalsView {
    const seen = this.link.lastFrameAt();
    return {
      ...this.vitals.view,
      workerCrashes: this.workers.crashes,
      lastFrameAgeMs: this.view.connected && seen > 0 ? this.#input.ports.time.now() - seen : null,
      unrecorded: this.recorder.waiting,
      queued: this.queue.pending,
    };
  }

  /** True if an operation is under way or a message is queued. The session must not hibernate then. */
  get busy(): boolean {
    return this.root.busy || this.queue.pending > 0 || this.queue.processing;
  }

  /** True while the session is connecting, and calls wait until it is live. */
  get waking(): boolean {
    return this.view.status === 'connecting' && this.#input.ports.time.monotonic() < this.#wakingUntil;
  }

  /** Connects the session. Calls wait for a session that wakes from hibernation. */
  connect(options: OpenOptions, by: Origin = 'api'): void {
    const { ports, policy } = this.#input;
    if (this.view.status === 'hibernated' && !this.closing) {
      this.#wakingUntil = ports.time.monotonic() + policy.wakeTimeout;
      this.vitals.woken();
    }
    this.send({ type: 'instance.connect', options, by });
  }

  /** Records activity, which postpones hibernation. The stored time is updated at most once per `activityGrain`. */
  touch(): void {
    if (this.activity.note() - this.record.lastActiveAt >= activityGrain) this.keeper.note({ lastActiveAt: this.activity.at });
  }

  get record(): InstanceRecord {
    return this.keeper.record;
  }

  /** The status in `view`, without the cost of a whole view. */
  get status(): Status {
    return this.root.status;
  }

  get view(): InstanceView {
    return viewOf(this.record, this.root.snapshot, this.root.lifecycle, this.presence.current);
  }

  /** The snapshot of the lifecycle (see `RootActor`). */
  get lifecycle(): LifecycleSnapshot | null {
    return this.root.lifecycle;
  }

  /** True while a close is under way (see `RootActor`). */
  get closing(): boolean {
    return this.root.closing;
  }

  /** True if storage refused to remove credentials. The removal is retried. */
  get undiscarded(): boolean {
    return this.lifecycle?.hasTag('undiscarded') ?? false;
  }

  /** True if the instance crashed too often. The instance stays stopped until its cool-down is over, or until a client connects or disconnects it. */
  get failed(): boolean {
    return this.root.snapshot.value === 'failed';
  }

  send(event: InstanceEvent): void {
    this.root.send(event);
  }

  /** The number of operations under way. */
  get operations(): number {
    return this.root.operations;
  }

  /**
   * The state of the root machine, and the time of the last counted crash of its chart in Unix milliseconds. The time is 0 if no crash is counted. After a
   * cool-down, the time is the end of the cool-down.
   */
  get supervision(): { readonly state: string; readonly crashedAt: number } {
    const { value, context } = this.root.snapshot;
    return { state: value, crashedAt: context.crashes.at(-1) ?? 0 };
  }

  /** Returns the view of a courier (see `RootActor`). */
  courier(webhookId: string): CourierView | 'down' | null {
    return this.root.courier(webhookId);
  }

  /** Runs a task on the live session (see `RootActor`). */
  request<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> | null {
    return this.root.request(task);
  }

  /** Waits for a condition (see `RootActor`). */
  waitFor(test: (cell: Cell) => boolean, ms: number): Promise<boolean> {
    return this.root.waitFor(() => test(this), ms);
  }

  /** Returns the deadline of an operation that begins now. In Unix milliseconds. */
  deadline(): number {
    return this.#input.ports.time.now() + this.#input.policy.operationTimeout;
  }

  /** Makes the courier of the webhook read the outbox. */
  nudge(webhookId: string): void {
    this.send({ type: 'delivery.added', webhookId, rows: [] });
  }

  /** Resolves when all recorded data is stored, or after a grace period if storage does not answer. */
  async stored(): Promise<void> {
    const { ports, policy } = this.#input;
    const all = Promise.all([this.recorder.drained(), this.keeper.flush()]);
    await within(ports.time, policy.stopGrace ?? usualStopGrace, all);
  }

  /**
   * Closes the session and stores the recorded data. The link is closed even if the actor is broken. Couriers run until `end`. With `hurry`, the couriers stop
   * at once, because another node may soon post for the instance.
   */
  async close(hurry = false): Promise<void> {
    if (hurry) this.root.cutDeliveries();
    const { ports, policy } = this.#input;
    const grace = policy.stopGrace ?? usualStopGrace;
    this.send({ type: 'instance.stop', by: 'stop' });
    this.#holdback.release();
    await this.#closeLink();
    // A chart that was logging out still has to delete its credentials and announce the logout.
    const ended = this.waitFor(({ closing }) => !closing, grace).then(() => this.stored());
    await within(ports.time, grace, ended);
  }

  /** Stops all parts of the cell. */
  end(): void {
    const { recorder, keeper, workers, queue, typing, pictures, histories } = this;
    for (const part of [recorder, keeper, workers, queue, typing, pictures, histories, this.root]) part.stop();
    this.#input.gate.release(this.record.id);
    this.feed.end();
  }

  #targets(event: GatewayEvent): readonly string[] {
    return this.#input
      .webhooks()
      .filter((webhook) => wants(webhook, event))
      .map((webhook) => webhook.id);
  }

  #committed({ events, deliveries, unrendered = [] }: Committed, again: boolean): void {
    const { meter } = this.#input.ports;
    for (const event of events) {
      meter.event(event.type, event.type === 'messages' ? event.message?.fromMe : undefined);
      this.feed.publish(event);
      this.#input.published(event);
    }
    for (const event of unrendered) setAside(event, this.record.id, this.#input, this.vitals);
    const rows = Map.groupBy(deliveries, ({ webhookId }) => webhookId);
    for (const [webhookId, list] of rows) this.send({ type: 'delivery.added', webhookId, rows: list });
    if (again) this.#nudgeAll();
  }

  #nudgeAll(): void {
    for (const webhook of this.#input.webhooks()) if (webhook.enabled) this.nudge(webhook.id);
  }

  #createPictures(claim: PicturesInput['claim']): Pictures {
    const { ports, policy } = this.#input;
    const ask = askForPicture(this);
    return new Pictures({ claim, ports, policy: policy.pictures, workers: this.workers, ask, record: (all) => this.recorder.record(all) });
  }

  #linkHost({ id, epoch }: InstanceRecord): LinkHost {
    return {
      id,
      epoch,
      record: (entries) => {
        if (entries.some((entry) => entry.kind === 'message')) this.touch();
        this.pictures.note(entries);
        this.#holdback.record(withOptOuts(this.#input.policy.campaigns, entries));
        this.histories.note(entries);
      },
      recorded: () => this.#holdback.recorded(),
      route: () => this.proxying.route(),
      accountOf: (owner) => {
        const { owner: before, accountLeaves } = this.record;
        if (!accountLeaves && (before === '' || before === owner)) return 'same';
        return accountLeaves || this.allowsAccountChange ? 'change' : 'refused';
      },
      beginAnew: (...change) => this.#input.beginAnew(this, ...change),
      mayAct: () => this.#input.mayAct(),
      pictureChanged: (id) => this.pictures.changed(id),
      forged: (what) => this.#input.ports.meter.forged(what),
      surprise: (error) => this.send({ type: 'link.surprised', error }),
    };
  }

  async #closeLink(): Promise<void> {
    try {
      await this.link.close();
    } catch (error) {
      this.#input.ports.log.error({ instance: this.record.id, error }, 'link.notClosed');
    }
  }

  #host(): Host {
    const { ports, policy, gate, live, closed, moved, hasRoom } = this.#input;
    return {
      id: this.record.id,
      link: this.link,
      gate,
      media: ports.media,
      policy,
      log: ports.log,
      account: () => `…${this.record.owner.slice(-4)}`,
      paired: () => this.record.jid !== '',
      hasRoom,
      now: () => ports.time.now(),
      monotonic: () => ports.time.monotonic(),
      random: () => ports.chance.random(),
      note: (patch) => this.keeper.note(patch),
      announce: (change) => {
        ports.log.info({ instance: this.record.id, reason: change.reason }, changeNames[change.status]);
        this.recorder.record([{ kind: 'news', lane: '', news: { type: 'connection', name: this.record.name, connection: change } }]);
      },
      record: (entries) => this.recorder.record(entries),
      moved: (move) => {
        if (this.steps.add(move)) moved(this);
      },
      live: () => {
        void this.presence.renew();
        this.activity.note();
        const lostFor = this.vitals.live();
        if (lostFor !== null) ports.meter.reconnected(lostFor);
        this.proxying.live();
        this.pictures.wake();
        this.#wakingUntil = 0;
        live(this);
      },
      report: (activity) => {
        if (activity.kind === 'closed') {
          this.typing.stop();
          ports.meter.closed(activity.verdict.cause);
          this.proxying.closed(activity.verdict);
          return closed(this, activity.verdict, this.vitals.closed(activity.verdict, activity.retryInMs));
        }
        if (activity.kind === 'attempt') ports.meter.attempted();
        if (activity.kind === 'crash') ports.meter.crashed('session');
        const counts = { attempt: 'attempt', crash: 'crashed', asleep: 'asleep', awake: 'awake' } as const;
        this.vitals[counts[activity.kind]]();
      },
    };
  }
}
