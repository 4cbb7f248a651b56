/** The connections of linked devices, and the delivery of stanzas to them. A stanza is stored, then sent, and deleted when the device confirms it. */
import { deviceKey } from './address.ts';
import type { Faults } from './faults.ts';
import { node, platformJid, type BinaryNode } from './nodes.ts';
import type { Device } from './people.ts';
import type { Counters } from './stats.ts';
import type { Database } from './store/database.ts';
import type { KeyStore } from './store/keys.ts';
import type { QueueStore } from './store/queue.ts';
import { decodeNode, encodeNode } from './wire/transport.ts';
import { replaced, type Connection } from './wire/connection.ts';

/**
 * Returns the key by which a receipt or ack finds the stored stanza that it confirms. For a message, the key contains only the id. For other stanzas, it
 * contains all attributes that an ack repeats.
 */
export function confirmationKey(tag: string, attrs: Readonly<Record<string, string | undefined>>, peer: string | undefined): string {
  if (tag === 'message') return `message ${attrs['id']}`;
  return `${tag} ${attrs['id']} ${peer ?? ''} ${attrs['participant'] ?? ''} ${attrs['type'] ?? ''}`;
}

const isRetry = ({ tag, attrs }: BinaryNode): boolean => tag === 'receipt' && attrs['type'] === 'retry';

export class Connections {
  readonly #live = new Map<string, Connection>();
  /**
   * The confirmation keys of messages that were written to a socket since the start and are not confirmed yet, by the key of the device. A repeated message is
   * therefore counted once.
   */
  readonly #written = new Map<string, Set<string>>();
  readonly #db: Database;
  readonly #queue: QueueStore;
  readonly #keys: KeyStore;
  readonly #faults: Faults;
  readonly #counters: Counters;

  constructor(db: Database, queue: QueueStore, keys: KeyStore, faults: Faults, counters: Counters) {
    this.#db = db;
    this.#queue = queue;
    this.#keys = keys;
    this.#faults = faults;
    this.#counters = counters;
  }

  /**
   * Registers the connection of a login. An older connection of the device is closed with the reason "replaced". Returns true if there was an older
   * connection.
   */
  attach(connection: Connection, device: Device): boolean {
    const key = deviceKey(device.number, device.device);
    const older = this.#live.get(key);
    connection.deviceKey = key;
    this.#live.set(key, connection);
    older?.finish(replaced());
    return older !== undefined;
  }

  detach(connection: Connection): void {
    if (connection.deviceKey !== undefined && this.#live.get(connection.deviceKey) === connection) this.#live.delete(connection.deviceKey);
  }

  of(device: Device): Connection | undefined {
    return this.#live.get(deviceKey(device.number, device.device));
  }

  all(): Connection[] {
    return [...this.#live.values()];
  }

  state(key: string): { connected: boolean; queued: number; address?: string } {
    const connection = this.#live.get(key);
    const where = connection ? { address: connection.address } : {};
    return { connected: connection !== undefined, queued: this.#queue.count(key), ...where };
  }

  /** Stores the stanza until the device confirms it, and sends it after the commit if the device is online. */
  deliver(device: Device, stanza: BinaryNode): void {
    if (isRetry(stanza) && this.#faults.take('retryLost', device.number) !== undefined) return;
    const key = deviceKey(device.number, device.device);
    const encoded = encodeNode(stanza);
    if (!this.#queue.add(key, confirmationKey(stanza.tag, stanza.attrs, stanza.attrs['from']), encoded)) return;
    this.#db.afterCommit(() => {
      const connection = this.#live.get(key);
      if (!connection?.active) return;
      const twice = stanza.tag === 'message' && this.#faults.take('duplicate', device.number) !== undefined;
      const write = (): void => {
        this.#write(connection, key, stanza, encoded);
        if (twice) connection.sendEncoded(encoded);
      };
      if (connection.held) connection.held.push(write);
      else write();
    });
  }

  /** Sends a stanza that is not stored, such as presence. Does nothing if the device is offline. */
  sendIfOnline(device: Device, stanza: BinaryNode): void {
    const connection = this.of(device);
    if (connection?.active) connection.send(stanza);
  }

  /** Sends all stored stanzas of the device. Afterwards new stanzas are sent at once. */
  activate(connection: Connection): void {
    const key = connection.deviceKey;
    if (key === undefined || connection.active) return;
    let count = 0;
    let seq = 0;
    for (let page = this.#queue.after(key, seq); page.length > 0; page = this.#queue.after(key, seq)) {
      for (const { seq: at, node: encoded } of page) {
        const stanza = decodeNode(encoded);
        stanza.attrs['offline'] = '1';
        this.#write(connection, key, stanza, encodeNode(stanza));
        seq = at;
        count += 1;
      }
    }
    connection.active = true;
    connection.send(node('ib', { from: platformJid }, [node('offline', { count: String(count) })]));
  }

  /**
   * Deletes a stanza that the device confirmed. `key`: the key of the device. `name`: the confirmation key of the stanza. Returns false if no such stanza is
   * stored.
   */
  settle(key: string, name: string): boolean {
    if (this.#queue.drop(key, name) === 0) return false;
    const written = this.#written.get(key);
    if (name.startsWith('message ') && written?.delete(name)) this.#counters.messages.acknowledged += 1;
    return true;
  }

  /** Deletes the stored stanzas and pre-keys of a device that was unlinked. */
  forget(device: Device): void {
    const key = deviceKey(device.number, device.device);
    this.#queue.clear(key);
    this.#written.delete(key);
    this.#keys.dropPreKeys(key);
  }

  #write(connection: Connection, key: string, stanza: BinaryNode, encoded: Uint8Array): void {
    if (stanza.tag === 'message') {
      const name = confirmationKey('message', stanza.attrs, undefined);
      const written = this.#written.get(key) ?? new Set();
      if (!written.has(name)) this.#counters.messages.toClients += 1;
      this.#written.set(key, written.add(name));
    }
    connection.sendEncoded(encoded);
  }
}
