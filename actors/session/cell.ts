/** One instance put together: its record, its actor, its recorder, its feed, its queue. Made by the supervisor, used by the commands. */
import type { CourierHost, CourierView } from '../events/courier-host.ts';
import { Feed } from '../events/feed.ts';
import { wants } from '../events/filter.ts';
import { History } from '../events/history.ts';
import { MediaGate } from '../events/media-gate.ts';
import type { Recorder } from '../events/recorder.ts';
import type { InstanceView, Origin, VitalsView } from '../face.ts';
import { createKeyedMutex } from '../keyed-mutex.ts';
import type { GatewayEvent, InstanceRecord, Message, ProxySettings, Status, Webhook } from '../model.ts';
import type { Verdict } from '../policy/close-cause.ts';
import type { Gate } from '../policy/gate.ts';
import { usualStopGrace, type Policy } from '../policy/policy.ts';
import type { Committed, Identity, KeptFile, LinkHost, OpenOptions, PlatformLink, Ports } from '../ports.ts';
import { supervisedWorkers, type SupervisedWorkers } from '../supervised-workers.ts';
import { within } from '../waiting.ts';
import { changeNames } from './connection-changes.ts';
import { HistoryRequests } from './history-requests.ts';
import { proxyingOf, type Proxying } from './proxying.ts';
import type { Host } from './host.ts';
import type { InstanceEvent } from './instance.ts';
import { withOptOuts } from './opt-outs.ts';
import { Pictures, type PicturesInput } from './pictures.ts';
import { Recipients } from './recipients.ts';
import { RecordKeeper } from './record-keeper.ts';
import { recorderOf } from './recording.ts';
import { setAside } from './set-aside.ts';
import { SendQueue, type QueueHost } from './queue.ts';
import { RootActor } from './root-actor.ts';
import { beginningMs, beginningOf, viewOf, type LifecycleSnapshot } from './status.ts';
import { Steps } from './steps.ts';
import { Typing, type TypingInput } from './typing.ts';
import { Vitals } from './vitals.ts';

export interface CellInput {
  readonly record: InstanceRecord;
  /** Since when the instance is registered here without a cell. */
  readonly since: number;
  readonly ports: Ports;
  readonly policy: Policy;
  readonly gate: Gate;
  readonly couriers: CourierHost;
  /** Webhooks of this instance and the global one, as configured now. */
  readonly webhooks: () => readonly Webhook[];
  /** How the queue of this cell sends; needs the cell itself. */
  readonly queueHost: (cell: Cell) => QueueHost;
  /** How this cell shows typing; needs the cell itself. */
  readonly writeTyping: (cell: Cell) => TypingInput['write'];
  /** How this cell asks for pictures; needs the cell itself. */
  readonly askForPicture: (cell: Cell) => PicturesInput['ask'];
  /** Begins to download the file of a message that arrived; null when it has none that is wanted. Never rejects. */
  readonly arriving: (message: Message) => Promise<KeptFile | null> | null;
  /** A file came after the event of its message. */
  readonly downloaded: (message: Message, file: KeptFile) => void;
  /** Another managed proxy of the same region; '' when there is none. */
  readonly anotherProxy: (settings: ProxySettings) => string;
  /** Whether this process owns the instance, at this moment. */
  readonly mayAct: () => boolean;
  /** Whether this session may connect without passing the cap. */
  readonly hasRoom: () => boolean;
  /** See `LinkHost`. */
  readonly beginAnew: (cell: Cell, identity: Identity) => Promise<void>;
  /** Called with each committed event. Never throws. */
  readonly published: (event: GatewayEvent) => void;
  /** Called each time the session became live. */
  readonly live: (cell: Cell) => void;
  /** Called at each close; `wasLive`: a live session was lost. */
  readonly closed: (cell: Cell, verdict: Verdict, wasLive: boolean) => void;
  /** Called after each step through the charts. */
  readonly moved: (cell: Cell) => void;
}

/** The stored time of the last activity is this much behind at most. */
const activityGrain = 60_000;

export class Cell {
  readonly keeper: RecordKeeper;
  readonly recorder: Recorder;
  /** Between the platform and the recorder. */
  readonly #gate: MediaGate;
  readonly feed: Feed;
  readonly history = new History();
  /** Messages to one chat leave in the order of the calls. */
  readonly chatTurns = createKeyedMutex();
  readonly link: PlatformLink;
  readonly queue: SendQueue;
  readonly recipients: Recipients;
  readonly pictures: Pictures;
  readonly typing: Typing;
  readonly histories = new HistoryRequests();
  readonly proxying: Proxying;
  readonly vitals: Vitals;
  /** The last steps through the charts. */
  readonly steps: Steps;
  /** Restarts the background workers of this instance. */
  readonly workers: SupervisedWorkers;
  /** Last traffic: a message either way, or a call that needed the platform. */
  activeAt: number;
  presence: 'available' | 'unavailable' = 'unavailable';
  /** The connect that began the pairing allows another account than before. */
  allowsAccountChange = false;
  readonly #input: CellInput;
  readonly root: RootActor;
  /** Until when calls wait for a session that is woken, or that begins after a restart or on another node. */
  #wakingUntil: number;

  constructor(input: CellInput) {
    const { record, ports, policy } = input;
    this.#input = input;
    this.activeAt = record.lastActiveAt;
    this.#wakingUntil = beginningOf(record) === 'online' ? ports.time.now() + beginningMs : 0;
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
    this.pictures = this.#makePictures(claim);
    this.#gate = new MediaGate({
      record: (entries) => this.recorder.record(entries),
      recorded: () => this.recorder.recorded(),
      fetch: (message) => input.arriving(message),
      late: (message, file) => input.downloaded(message, file),
      time: ports.time,
      wait: policy.autoDownload.wait,
    });
    this.queue = new SendQueue(input.queueHost(this));
    this.typing = new Typing({ time: ports.time, atOnce: policy.typingAtOnce, write: input.writeTyping(this) });
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

  /** Something is being sent, or waits for it: no time to sleep. */
  get busy(): boolean {
    return this.root.busy || this.queue.pending > 0 || this.queue.processing;
  }

  /** On its way to a live session, for which calls wait. */
  get waking(): boolean {
    return this.view.status === 'connecting' && this.#input.ports.time.now() < this.#wakingUntil;
  }

  /** Connects; from hibernation that is a wake, for which calls wait. */
  connect(options: OpenOptions, by: Origin = 'api'): void {
    const { ports, policy } = this.#input;
    if (this.view.status === 'hibernated' && !this.closing) {
      this.#wakingUntil = ports.time.now() + policy.wakeTimeout;
      this.vitals.woken();
    }
    this.send({ type: 'instance.connect', options, by });
  }

  /** There was traffic: hibernation is put off. */
  touch(): void {
    this.activeAt = this.#input.ports.time.now();
    if (this.activeAt - this.record.lastActiveAt >= activityGrain) this.keeper.note({ lastActiveAt: this.activeAt });
  }

  get record(): InstanceRecord {
    return this.keeper.record;
  }

  /** The status of `view`, without making a view. */
  get status(): Status {
    return this.root.status;
  }

  get view(): InstanceView {
    return viewOf(this.record, this.root.snapshot, this.root.lifecycle, this.presence);
  }

  /** See `RootActor`. */
  get lifecycle(): LifecycleSnapshot | null {
    return this.root.lifecycle;
  }

  /** See `RootActor`. */
  get closing(): boolean {
    return this.root.closing;
  }

  /** Credentials that have to go are still there, because storage refused; this is tried again. */
  get undiscarded(): boolean {
    return this.lifecycle?.hasTag('undiscarded') ?? false;
  }

  /** Crashed too often: it rests for some time, or until somebody connects it. */
  get failed(): boolean {
    return this.root.snapshot.value === 'failed';
  }

  send(event: InstanceEvent): void {
    this.root.send(event);
  }

  /** Operations under way. */
  get operations(): number {
    return this.root.operations;
  }

  /** The state of the root machine, and when its chart was last crashed, 0 for never. */
  get supervision(): { readonly state: string; readonly crashedAt: number } {
    const { value, context } = this.root.snapshot;
    return { state: value, crashedAt: context.crashes.at(-1) ?? 0 };
  }

  /** See `RootActor`. */
  courier(webhookId: string): CourierView | 'down' | null {
    return this.root.courier(webhookId);
  }

  /** See `RootActor`. */
  request<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> | null {
    return this.root.request(task);
  }

  /** See `RootActor`. */
  waitFor(test: (cell: Cell) => boolean, ms: number): Promise<boolean> {
    return this.root.waitFor(() => test(this), ms);
  }

  /** When an operation that begins now has to be answered, in Unix milliseconds. */
  deadline(): number {
    return this.#input.ports.time.now() + this.#input.policy.operationTimeout;
  }

  /** Asks the couriers of the instance to look into the outbox. */
  nudge(webhookId: string): void {
    this.send({ type: 'delivery.added', webhookId, rows: [] });
  }

  /** Resolves when what was said is stored; when storage does not answer, after a while. */
  async stored(): Promise<void> {
    const { ports, policy } = this.#input;
    const all = Promise.all([this.recorder.drained(), this.keeper.flush()]);
    await within(ports.time, policy.stopGrace ?? usualStopGrace, all);
  }

  /**
   * Closes the session, stores what was said. The link is closed even when the actor is not well. The couriers live on until `end`; in a hurry, when
   * another node may post for the instance soon, they are cut.
   */
  async close(hurry = false): Promise<void> {
    if (hurry) this.root.cutDeliveries();
    const { ports, policy } = this.#input;
    const grace = policy.stopGrace ?? usualStopGrace;
    this.send({ type: 'instance.stop', by: 'stop' });
    this.#gate.release();
    await this.#closeLink();
    // A chart that was logging out still has credentials to delete, and that to tell.
    const ended = this.waitFor(({ closing }) => !closing, grace).then(() => this.stored());
    await within(ports.time, grace, ended);
  }

  /** Nothing of this cell is left running. */
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
      meter.event(event.type);
      this.feed.publish(event);
      this.#input.published(event);
    }
    for (const event of unrendered) setAside(event, this.record.id, this.#input, this.vitals);
    const rows = Map.groupBy(deliveries, ({ webhookId }) => webhookId);
    for (const [webhookId, list] of rows) this.send({ type: 'delivery.added', webhookId, rows: list });
    if (again) for (const webhook of this.#input.webhooks()) if (webhook.enabled) this.nudge(webhook.id);
  }

  #makePictures(claim: PicturesInput['claim']): Pictures {
    const { ports, policy, askForPicture } = this.#input;
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
        this.#gate.record(withOptOuts(this.#input.policy.campaigns, entries));
        this.histories.note(entries);
      },
      recorded: () => this.#gate.recorded(),
      route: () => this.proxying.route(),
      accountOf: (owner) => {
        const { owner: before, accountLeaves } = this.record;
        if (!accountLeaves && (before === '' || before === owner)) return 'same';
        return accountLeaves || this.allowsAccountChange ? 'change' : 'refused';
      },
      beginAnew: (identity) => this.#input.beginAnew(this, identity),
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
        this.presence = 'unavailable';
        this.activeAt = ports.time.now();
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
