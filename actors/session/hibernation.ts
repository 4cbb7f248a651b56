/** Hibernates idle sessions. Wakes hibernated sessions by schedule for a short time, so that they receive waiting messages. */
import type { InstanceId } from '../model.ts';
import { PeriodicWorker, type SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { Policy } from '../policy/policy.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from './cell.ts';

/** The source of hibernated instances. */
export interface Sleepers {
  readonly cells: ReadonlyMap<InstanceId, Cell>;
  /** Returns hibernated instances without a cell that were last active at this time or before. */
  resting(before: number): readonly InstanceId[];
  /**
   * Creates the cell of a hibernated instance. Returns null while this process takes over the instance. After the takeover the instance is woken, if its last
   * activity was still at `before` or earlier.
   */
  cell(id: InstanceId, before: number): Cell | null;
}

interface HibernationInput {
  readonly ports: Ports;
  readonly policy: Policy['hibernation'];
  /** Returns the number of further sessions that may connect now. */
  readonly room: () => number;
}

/** The reason why a session that is due to wake stays asleep. */
export const noRoom = 'the session is due to wake, and waits until fewer instances than MAX_CONNECTED_INSTANCES are connected';

/** The longest pause between two sweeps over the instances. In milliseconds. */
const longestSweep = 60_000;
/** The largest number of sessions that one sweep wakes. Thousands of sessions may be due at once, and each costs 0.2 ms of work. */
const wakesPerSweep = 100;
/** The shortest pause between two log lines about sessions that find no room. In milliseconds. */
const tellEvery = 3_600_000;

export class Hibernation {
  readonly #input: HibernationInput;
  /** Sessions that are awake only for waiting messages. The set is weak, so that removed cells are freed. */
  readonly #draining = new WeakSet<Cell>();

  /** Sessions that were due at the last sweep, and found no room. */
  #roomless: ReadonlySet<InstanceId> = new Set();
  /** The time of the last log line about them, by the monotonic clock. */
  #toldAt = -Infinity;

  constructor(input: HibernationInput) {
    this.#input = input;
  }

  /** Returns true if the hibernated session is due to wake, and the cap of connected sessions leaves no room. */
  waitsForRoom(id: InstanceId): boolean {
    return this.#roomless.has(id);
  }

  /**
   * Keeps a session awake for a caller, if the session was woken only for waiting messages. The wanted state becomes `online`, so that the session is also
   * connected after a restart.
   */
  keepAwake(cell: Cell): void {
    const { status } = cell.view;
    if (this.#draining.delete(cell) && (status === 'connected' || status === 'connecting')) cell.keeper.note({ wanted: 'online' });
  }

  /** Hibernates the sessions that are idle, and wakes those that are due. */
  sweep(sleepers: Sleepers): void {
    const { ports, policy } = this.#input;
    const { after, wakeEvery, drain } = policy;
    const now = ports.time.now();
    const due: Cell[] = [];
    for (const cell of sleepers.cells.values()) {
      const { status } = cell;
      const idle = cell.activity.idleMs;
      const isDue = now - cell.record.lastActiveAt >= wakeEvery || cell.queue.pending > 0;
      if (status === 'hibernated' && isDue && !cell.closing) due.push(cell);
      // A person connects a disconnected session, or it reconnects after a suspension. The session is then no longer awake only for waiting messages.
      if (status === 'disconnected') this.#draining.delete(cell);
      if (status !== 'connected' || cell.busy) continue;
      if ((this.#draining.has(cell) && idle >= drain) || (after > 0 && idle >= after)) this.#sleep(cell);
    }
    const room = Math.max(0, this.#input.room());
    const slots = Math.min(wakesPerSweep, room);
    const before = now - wakeEvery;
    const isShort = room < wakesPerSweep;
    const resting = isShort || slots > due.length ? sleepers.resting(before) : [];
    const more = Math.max(0, slots - due.length);
    for (const cell of due.slice(0, slots)) this.#wakeNow(cell);
    for (const id of resting.slice(0, more)) {
      const cell = sleepers.cell(id, before);
      if (cell) this.#wakeNow(cell);
    }
    this.#noteRoomless(isShort ? [...due.slice(slots).map(({ record }) => record.id), ...resting.slice(more)] : []);
  }

  /**
   * Wakes a hibernated session for messages in its queue or on the platform. The session hibernates again afterwards. Does nothing at the cap of connected
   * sessions.
   */
  wake(cell: Cell): void {
    if (this.#input.room() > 0) this.#wakeNow(cell);
  }

  #noteRoomless(ids: readonly InstanceId[]): void {
    const { time, log } = this.#input.ports;
    this.#roomless = new Set(ids);
    if (ids.length === 0 || time.monotonic() - this.#toldAt < tellEvery) return;
    this.#toldAt = time.monotonic();
    log.warn({ waiting: ids.length, reason: noRoom }, 'sessions.notWoken');
  }

  #wakeNow(cell: Cell): void {
    this.#draining.add(cell);
    cell.connect({}, 'schedule');
  }

  #sleep(cell: Cell): void {
    this.#draining.delete(cell);
    cell.keeper.note({ wanted: 'asleep' });
    cell.send({ type: 'instance.hibernate', by: 'schedule' });
  }
}

interface HibernationSweepsInput {
  readonly hibernation: Hibernation;
  readonly sleepers: Sleepers;
  readonly ports: Ports;
  readonly policy: Policy['hibernation'];
  readonly workers: SupervisedWorkers;
}

/** Makes the worker that sweeps over the instances periodically. */
export const hibernationSweeps = ({ hibernation, sleepers, ports, policy, workers }: HibernationSweepsInput): PeriodicWorker => {
  const { after, wakeEvery } = policy;
  return new PeriodicWorker({
    ...ports,
    workers,
    name: 'hibernation',
    everyMs: Math.min(longestSweep, Math.max(50, Math.min(after === 0 ? longestSweep : after, wakeEvery) / 4)),
    unanswered: 'hibernation.unanswered',
    run: async () => hibernation.sweep(sleepers),
  });
};
