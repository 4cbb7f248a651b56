/**
 * Recent messages of the bus. A JetStream stream of NATS stores the messages that are published to its subjects. The stream is in the memory of the NATS
 * server, because its messages are needed only for minutes. Without JetStream no message is kept, and the bus still works.
 */
import { jetstream, JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Log } from '#actors/ports.ts';

export interface KeepOptions {
  /** The pattern of the kept subjects. `*` stands for one token. */
  readonly subjects: string;
  /** The time for which a message is kept. In milliseconds. */
  readonly ms: number;
  /** The limit for all messages together, in bytes. */
  readonly bytes: number;
  /** The largest number of messages for one subject. */
  readonly each: number;
  readonly replicas: number;
}

/** A message as it was published. */
export type Received = Pick<Awaited<ReturnType<JetStreamManager['direct']['getMessage']>> & object, 'data' | 'header'>;

const requestMs = 3_000;
/** The pause between two attempts to create the stream, on a server without JetStream or after an error. In milliseconds. */
const againMs = 5_000;
/** The time after which the NATS server deletes the consumer of a reader that disconnected. In milliseconds. */
const inactiveMs = 5_000;
/** The error code of the NATS server if a stream of this name exists with another configuration. */
const otherConfiguration = 10_058;
const nanos = 1_000_000;

/** Derives the name of the stream from its subjects. A stream name must not contain dots. */
const nameOf = (subjects: string): string => subjects.replace(/\.?\*/g, '').replace(/[^\w-]/g, (sign) => `_${sign.charCodeAt(0)}_`);

const configOf = (name: string, { subjects, ms, bytes, each, replicas }: KeepOptions) => ({
  name,
  subjects: [subjects],
  storage: 'memory' as const,
  retention: 'limits' as const,
  discard: 'old' as const,
  num_replicas: replicas,
  max_age: ms * nanos,
  // Deduplication is not used. The NATS server still refuses a deduplication window that is longer than `max_age`.
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
  /** The number of the current connection. Work of an earlier connection stops when the number changes. */
  #round = 0;

  constructor(options: KeepOptions, log: Log) {
    this.#options = options;
    this.#name = nameOf(options.subjects);
    this.#log = log;
  }

  get ready(): boolean {
    return this.#manager !== null;
  }

  /**
   * Creates the stream. Retries until the connection is lost. Call this method after each connect, because a restarted NATS server has no stream. Never
   * rejects.
   */
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
        const effect = 'an event stream can be resumed only at the node that served it';
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

  /** Reads the last message of a subject. Returns null if there is none, or if it cannot be read. Never rejects. */
  async last(subject: string): Promise<Received | null> {
    try {
      return (await this.#manager?.direct.getMessage(this.#name, { last_by_subj: subject })) ?? null;
    } catch (error) {
      // The level is debug, because this code runs for each instance that the node takes over.
      this.#log.debug({ error }, 'bus.notRead');
      return null;
    }
  }

  /** Reads all kept messages of a subject, the oldest first. Returns null if they cannot be read. Never rejects. */
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
      // The data is copied, because the client library reuses its memory for the next message.
      found.push({ data: data.slice(), header: headers! });
      if (found.length === count) break;
    }
    void manager.consumers.delete(this.#name, name).catch(() => undefined);
    return found;
  }
}
