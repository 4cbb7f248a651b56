/** A lifecycle chart on a fake link and simulated time, without the rest of an instance. */
import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import { createActor, type ActorRefFrom, type InspectionEvent } from 'xstate';
import type { Entry, InstancePatch } from '#actors/model.ts';
import { createGate, type Gate } from '#actors/policy/gate.ts';
import type { Policy } from '#actors/policy/policy.ts';
import type { Close, OpenOptions, PasskeyAssertion, PasskeyOptions } from '#actors/ports.ts';
import type { ConnectionChange } from '#actors/model.ts';
import type { Host } from '#actors/session/host.ts';
import type { LifecycleCommand, LifecycleInput } from '#actors/session/chart-setup.ts';
import { lifecycle } from '#actors/session/lifecycle.ts';
import { FakePlatform, type FakeLink } from '#test/fakes/platform.ts';
import { FakeChance, FakeLog, FakeTime, settle } from '#test/fakes/time.ts';
import { testPolicy } from '#test/fakes/world.ts';

export const passkeyOptions: PasskeyOptions = { challenge: 'AAAA', rpId: 'whatsapp.com', allowCredentials: [] };
export const passkeyAssertion: PasskeyAssertion = {
  id: 'k',
  rawId: 'k',
  type: 'public-key',
  response: { clientDataJSON: 'e30', authenticatorData: '', signature: '', userHandle: null },
};

export class Chart {
  readonly time = new FakeTime();
  readonly log = new FakeLog();
  readonly platform = new FakePlatform(this.time);
  readonly link: FakeLink;
  readonly notes: InstancePatch[] = [];
  readonly news: ConnectionChange[] = [];
  readonly recorded: Entry[] = [];
  readonly policy: Policy;
  readonly gate: Gate;
  readonly actor: ActorRefFrom<typeof lifecycle>;
  lives = 0;
  /** True if the cap of connected sessions has room. */
  room = true;

  constructor(
    begin: LifecycleInput['begin'] = 'offline',
    change: Partial<Policy> = {},
    seed = 1,
    inspect?: (event: InspectionEvent) => void,
  ) {
    this.policy = { ...testPolicy, ...change };
    this.gate = createGate(this.policy.handshakes, this.time);
    const id = 'r1';
    this.platform.credentials = () => begin !== 'offline'; // Only a paired session is restored.
    this.link = this.platform.link({
      id,
      epoch: 1,
      record: () => undefined,
      recorded: async () => true,
      route: () => ({ via: 'direct' }),
      accountOf: () => 'same',
      beginAnew: async () => undefined,
      mayAct: () => true,
      pictureChanged: () => undefined,
      forged: () => undefined,
      surprise: () => undefined,
    });
    const chance = new FakeChance(seed);
    const host: Host = {
      id,
      link: this.link,
      gate: this.gate,
      media: { qrPng: async (text) => `png:${text}` },
      policy: this.policy,
      log: this.log,
      account: () => '…0001',
      paired: () => (this.noted.jid !== undefined ? this.noted.jid !== '' : begin !== 'offline'),
      hasRoom: () => this.room,
      now: () => this.time.now(),
      monotonic: () => this.time.monotonic(),
      random: () => chance.random(),
      note: (patch) => void this.notes.push(patch),
      announce: (news) => void this.news.push(news),
      record: (entries) => void this.recorded.push(...entries),
      live: () => void (this.lives += 1),
      report: () => undefined,
      moved: () => undefined,
    };
    this.actor = createActor(lifecycle, { input: { host, begin }, clock: this.time, ...(inspect ? { inspect } : {}) });
    this.actor.start();
  }

  /** Returns the path of the state, such as `connecting.pairing`. */
  get state(): string {
    const { value } = this.actor.getSnapshot();
    return typeof value === 'string' ? value : Object.entries(value).flat().join('.');
  }

  get context() {
    return this.actor.getSnapshot().context;
  }

  get children(): readonly string[] {
    return Object.keys(this.actor.getSnapshot().children);
  }

  /** Returns all changes of the record so far, merged. Later changes win. */
  get noted(): InstancePatch {
    return Object.assign({}, ...this.notes) as InstancePatch;
  }

  async do(type: Exclude<LifecycleCommand['type'], 'instance.connect' | 'instance.request' | 'passkey.assert'>): Promise<void> {
    this.actor.send(type === 'instance.rest' ? { type, reason: 'exported' } : { type });
    await settle();
  }

  async connect(options: OpenOptions = {}): Promise<void> {
    this.actor.send({ type: 'instance.connect', options });
    await settle();
  }

  async assertPasskey(assertion: PasskeyAssertion): Promise<void> {
    this.actor.send({ type: 'passkey.assert', assertion });
    await settle();
  }

  async request(n: number, run: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    this.actor.send({ type: 'instance.request', n, run });
    await settle();
  }

  async login(): Promise<void> {
    this.link.login();
    await settle();
  }

  async end(code: number | null, data?: Close['data']): Promise<void> {
    this.link.end(code, data);
    await settle();
  }
}

/** Returns a chart whose session is live. */
export async function liveChart(change: Partial<Policy> = {}, seed = 1, inspect?: (event: InspectionEvent) => void): Promise<Chart> {
  const chart = new Chart('online', change, seed, inspect);
  await settle();
  await chart.login();
  return chart;
}

/** Returns a function that registers charts. When a test of the file ends, its charts are checked for misuse of their link. */
export const keepSound = (): ((chart: Chart) => Chart) => {
  const charts: Chart[] = [];
  afterEach(() => {
    for (const chart of charts.splice(0)) assert.deepEqual(chart.platform.violations, []);
  });
  return (chart) => {
    charts.push(chart);
    return chart;
  };
};
