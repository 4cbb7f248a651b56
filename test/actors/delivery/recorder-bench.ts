/** A recorder on a storage that fails as the test requires. */
import { Recorder } from '#actors/delivery/recorder.ts';
import type { Entry } from '#actors/model.ts';
import { EpochLost, StorageBroken, StorageSlow, StorageUnavailable, type Committed } from '#actors/ports.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { testPolicy, World } from '#test/fakes/world.ts';

export const entry = (n: number, type: 'messages' | 'presence' = 'messages'): Entry => ({ kind: 'event', type, lane: '', payload: { n } });
const numberOf = (one: Entry): number => {
  if (one.kind === 'event') return Number(one.payload['n']);
  if (one.kind === 'history') return one.number;
  return one.kind === 'status' ? one.at : -1;
};

export class Bench {
  readonly world = new World();
  readonly workers = supervisedWorkers(this.world.ports, testPolicy, { instance: 'r1' });
  readonly groups: number[][] = [];
  readonly told: boolean[] = [];
  away = false;
  bad: number | null = null;
  /** The largest number of entries that one commit stores before the time-out. */
  mostInTime = Infinity;
  /** An entry whose commit never ends in time. */
  endless: number | null = null;
  hold: Promise<void> | null = null;
  fenced = false;
  /** True if the database replies with an error of its own. */
  broken = false;
  readonly kept: (readonly [number, string])[] = [];
  /** True if there is no more room for refused entries. */
  full = false;
  /** True if a refused entry cannot be kept. */
  unkeepable = false;
  readonly unstored = { lost: 0, refused: 0 };
  /** True if listeners throw. */
  deaf = false;
  readonly recorder = new Recorder({
    instance: 'r1',
    time: this.world.time,
    log: this.world.log,
    meter: { unstored: (outcome, count) => (this.unstored[outcome] += count) },
    workers: this.workers,
    limits: { maxWait: 5, maxBatch: 4 },
    commit: (entries) => this.#commit(entries),
    keep: (one, error) => this.#keep(one, error),
    committed: (_committed, again) => {
      if (this.deaf) throw new Error('no');
      this.told.push(again);
    },
  });

  async #keep(one: Entry, error: Error): Promise<void> {
    if (this.full) throw new StorageBroken('no more');
    if (this.unkeepable) throw new Error('no form');
    this.kept.push([numberOf(one), error.message]);
  }

  async #commit(entries: readonly Entry[]): Promise<Committed> {
    await this.hold;
    if (this.away) throw new StorageUnavailable('away');
    if (this.broken) throw new StorageBroken('relation "chat" does not exist (42P01)');
    if (this.fenced) throw new EpochLost('epoch 1');
    if (entries.length > this.mostInTime) throw new StorageSlow('57014');
    const numbers = entries.map(numberOf);
    if (this.endless !== null && numbers.includes(this.endless)) throw new StorageSlow('57014');
    if (this.bad !== null && numbers.includes(this.bad)) throw new Error('value out of range');
    this.groups.push(numbers);
    return { events: [], deliveries: [] };
  }
}
