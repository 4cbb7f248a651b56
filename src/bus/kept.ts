/**
 * Recent messages of the bus, kept by NATS: a JetStream stream stores what is published to its subjects. The stream is in the server's memory, because it
 * serves for minutes, and PostgreSQL has what must stay. Without JetStream nothing is kept, and everything else works.
 */
import { jetstream, JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Log } from '#actors/ports.ts';

export interface KeepOptions {
  /** `*` stands for one part. */
  readonly subjects: string;
  /** Milliseconds. */
  readonly ms: number;
  /** Most bytes of all messages together. */
  readonly bytes: number;
  /** Messages of one subject. */
  readonly each: number;
  readonly replicas: number;
}

/** A message as it was published. */
export type Received = Pick<Awaited<ReturnType<JetStreamManager['direct']['getMessage']>> & object, 'data' | 'header'>;

const requestMs = 3_000;
/** Pause between two tries on a server without JetStream, or with an error of the stream. */
const againMs = 5_000;
/** A reader that went away leaves its consumer behind for so long. */
const inactiveMs = 5_000;
/** Code of the server for a stream of this name with another configuration. */
const otherConfiguration = 10_058;
const nanos = 1_000_000;

/** Names of streams have no dots. */
const nameOf = (subjects: string): string => subjects.replace(/\.?\*/g, '').replace(/[^\w-]/g, (sign) => `_${sign.charCodeAt(0)}_`);

const configOf = (name: string, { subjects, ms, bytes, each, replicas }: KeepOptions) => ({
  name,
  subjects: [subjects],
  storage: 'memory' as const,
  retention: 'limits' as const,
  discard: 'old' as const,
  num_replicas: replicas,
  max_age: ms * nanos,
  // Deduplication is not used here. The window must not exceed the age.
  duplicate_window: Math.min(ms, 1_000) * nanos,
  max_bytes: bytes,
  max_msgs_per_subject: each,
  allow_direct: true,
});

export class Kept {
  readonly #options: KeepOptions;
  readonly #name: string;
  readonly #log: Log;
  #manager: JetStreamManager | null = null;
  #connection: NatsConnection | null = null;
  /** Number of the connection. Work of an earlier connection ends. */
  #round = 0;

  constructor(options: KeepOptions, log: Log) {
    this.#options = options;
    this.#name = nameOf(options.subjects);
    this.#log = log;
  }

  get ready(): boolean {
    return this.#manager !== null;
  }

  /** Called after each connect, because a restarted server has lost the stream. Never rejects. */
  async begin(connection: NatsConnection): Promise<void> {
    const round = (this.#round += 1);
    let isFirst = true;
    while (round === this.#round) {
      try {
        const manager = await this.#make(connection);
        if (round !== this.#round) return;
        this.#connection = connection;
        this.#manager = manager;
        this.#log.info({}, 'bus.keeps');
        return;
      } catch (error) {
        if (round !== this.#round) return;
        const effect = 'a stream of events is resumed by the node that had it alone';
        if (isFirst) this.#log.warn({ error, effect }, 'bus.keepsNothing');
        isFirst = false;
        await new Promise<void>((resolve) => void setTimeout(resolve, againMs).unref());
      }
    }
  }

  lose(): void {
    this.#round += 1;
    this.#manager = null;
  }

  /** Null if there is no such message, or if it cannot be read. Never rejects. */
  async last(subject: string): Promise<Received | null> {
    try {
      return (await this.#manager?.direct.getMessage(this.#name, { last_by_subj: subject })) ?? null;
    } catch (error) {
      // The level is debug, because this code runs for each instance that is taken.
      this.#log.debug({ error }, 'bus.notRead');
      return null;
    }
  }

  /** Oldest first; null when they cannot be read. Never rejects. */
  async all(subject: string): Promise<readonly Received[] | null> {
    const [manager, connection] = [this.#manager, this.#connection];
    if (manager === null || connection === null) return null;
    try {
      return await this.#read(manager, connection, subject);
    } catch (error) {
      this.#log.warn({ error }, 'bus.notRead');
      return null;
    }
  }

  async #make(connection: NatsConnection): Promise<JetStreamManager> {
    const manager = await jetstreamManager(connection, { timeout: requestMs });
    const config = configOf(this.#name, this.#options);
    try {
      await manager.streams.add(config);
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== otherConfiguration) throw error;
      await manager.streams.update(this.#name, config);
    }
    return manager;
  }

  async #read(manager: JetStreamManager, connection: NatsConnection, subject: string): Promise<readonly Received[]> {
    const { name, num_pending: count } = await manager.consumers.add(this.#name, {
      filter_subject: subject,
      ack_policy: 'none',
      deliver_policy: 'all',
      mem_storage: true,
      inactive_threshold: inactiveMs * nanos,
    });
    if (count === 0) {
      void manager.consumers.delete(this.#name, name).catch(() => undefined);
      return [];
    }
    const consumer = await jetstream(connection, { timeout: requestMs }).consumers.get(this.#name, name);
    const found: Received[] = [];
    for await (const { data, headers } of await consumer.fetch({ max_messages: count, expires: requestMs })) {
      // The client library reads the next message into the same memory.
      found.push({ data: data.slice(), header: headers! });
      if (found.length === count) break;
    }
    void manager.consumers.delete(this.#name, name).catch(() => undefined);
    return found;
  }
}
