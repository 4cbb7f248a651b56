/** A session in a simulated cluster. It opens under a lease, executes commands, receives events, and takes time to close. */
import { done, refuse, type GatewayEvent, type InstanceRecord, type Result } from '#actors/model.ts';
import { EpochLost } from '#actors/ports.ts';
import { sampleEvent } from '#test/fakes/gateway.ts';
import type { SessionHost } from './simulated-world.ts';

const closeMs = 200;
/** The pause before a login, a commit or a command is retried, in milliseconds. */
const againMs = 500;

export class SimulatedSession {
  status: 'connecting' | 'connected' | 'disconnected' = 'connecting';
  readonly record: InstanceRecord;
  readonly closing = false;
  readonly busy = false;
  readonly failed = false;
  readonly recorder = { waiting: 0, recorded: async (): Promise<void> => undefined };
  readonly keeper = { waiting: 0 };
  readonly queue = { restore: (): void => undefined };
  readonly #node: SessionHost;
  readonly #abort = new AbortController();
  /** The chain of commits, which run one after the other. */
  #commits: Promise<void> = Promise.resolve();
  #isEnded = false;

  constructor(node: SessionHost, record: InstanceRecord) {
    this.#node = node;
    this.record = record;
    void this.#open();
  }

  get view() {
    return { record: this.record, status: this.status };
  }

  courier(): null {
    return null;
  }

  nudge(): void {}

  end(): void {
    this.#isEnded = true;
  }

  stored(): Promise<void> {
    return this.#commits;
  }

  async close(hurry: boolean): Promise<void> {
    this.#abort.abort(new Error('closed'));
    this.#node.gate.release(this.record.id);
    if (!hurry) this.#node.world.given(this.record.id, this.#node);
    await this.#node.pause(closeMs);
    this.status = 'disconnected';
    this.#node.world.logout(this.record.id, this.#node);
    if (!hurry) await this.#commits;
  }

  /** Receives an event of the platform. The event is committed, and then announced. */
  receive(id: string): Promise<boolean> {
    if (this.status === 'disconnected') return Promise.resolve(false);
    const committed = this.#commits.then(() => this.#commit(id));
    this.#commits = committed.then(() => undefined);
    return committed;
  }

  /** Executes one command. Its frame leaves at once, and its answer follows after some time. */
  async work(command: string, ms: number): Promise<Result<string>> {
    const { world, process } = this.#node;
    for (let waited = 0; waited < 3_000 && this.status === 'connecting' && !this.#abort.signal.aborted; waited += againMs)
      await this.#node.pause(againMs);
    if (this.status !== 'connected' || this.#abort.signal.aborted || !this.#node.ownership.mayAct(this.record.id))
      return refuse('notSent', 'the session is not connected');
    world.executed(command, this.#node.name);
    if (ms > 0) await this.#node.pause(ms);
    if (!process.runs) return refuse('unknown', 'gone');
    return (await this.receive(command)) ? done(command) : refuse('unknown', 'it was not stored');
  }

  async #open(): Promise<void> {
    const { gate, ownership, world } = this.#node;
    const { id } = this.record;
    while (!this.#abort.signal.aborted) {
      try {
        await gate.admit(id, this.#abort.signal);
      } catch {
        return;
      }
      gate.release(id);
      if (this.#abort.signal.aborted) return;
      // No frame leaves without a valid lease, not even a login.
      if (ownership.mayAct(id)) {
        gate.passed(id);
        this.status = 'connected';
        return world.login(id, this.#node);
      }
      await this.#node.pause(againMs);
    }
  }

  async #commit(id: string): Promise<boolean> {
    const { world, name, connection, cluster } = this.#node;
    while (!this.#isEnded) {
      try {
        await world.database.execute(connection, () => world.database.commit(this.record.id, this.record.epoch, { id, node: name }));
        const event: GatewayEvent = { ...sampleEvent, id, instanceId: this.record.id };
        world.noted(id, this.#node);
        cluster.streams?.reader.note(event, this.record.epoch);
        return true;
      } catch (error) {
        if (error instanceof EpochLost) return false;
        await this.#node.pause(againMs);
      }
    }
    return false;
  }
}
