/** Finds the troubles of this node: sessions that need a person, failing receivers, and a full disk. */
import type { InstanceId, InstanceRecord, Trouble } from '../model.ts';
import type { Disk, Time } from '../ports.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { LightRow } from './rows.ts';

export interface TroublesInput {
  readonly registry: Pick<Registry, 'ids' | 'record'>;
  readonly dispatcher: Pick<Dispatcher, 'broken' | 'health'>;
  readonly disk: Disk;
  readonly time: Time;
  /** The name of this node; '' without a cluster. */
  readonly node: string;
  row(id: InstanceId): LightRow | null;
  /** Returns true if this node counts the instance, so that each instance is reported by one node. */
  counts(record: InstanceRecord): boolean;
}

/** The number of instances per turn of the event loop. They take less than 2 ms. */
const perTurn = 500;
/** The largest number of troubles in one report. */
const most = 500;

const passkey = 'the phone waits for a passkey: continue the linking on the page of the session';

/** Returns the trouble of a session; null if there is none. A failing receiver of the session is a separate trouble. */
const sessionTrouble = ({ id, name, number, state, since, reason, cause, needsPerson }: LightRow): Trouble | null => {
  const waitsForPasskey = state.startsWith('connecting.passkey');
  if (!waitsForPasskey && (!needsPerson || cause === 'receiverFailed')) return null;
  return { kind: 'session', key: id, name: [name, number].join(' ').trim(), reason: waitsForPasskey ? passkey : reason, since };
};

export class Troubles {
  readonly #input: TroublesInput;
  /** The times at which open circuits were first seen, by webhook. */
  readonly #openSince = new Map<string, number>();

  constructor(input: TroublesInput) {
    this.#input = input;
  }

  async find(): Promise<readonly Trouble[]> {
    return [...this.#disk(), ...this.#receivers(), ...(await this.#sessions())].slice(0, most);
  }

  #disk(): readonly Trouble[] {
    const { disk, node, time } = this.#input;
    return disk.warning === '' ? [] : [{ kind: 'disk', key: node, name: node, reason: disk.warning, since: time.now() }];
  }

  #receivers(): readonly Trouble[] {
    const { dispatcher, time } = this.#input;
    const { broken } = dispatcher;
    const open = new Set(broken.map(({ id }) => id));
    for (const id of this.#openSince.keys()) if (!open.has(id)) this.#openSince.delete(id);
    return broken.map(({ id, url }) => {
      const since = this.#openSince.get(id) ?? time.now();
      this.#openSince.set(id, since);
      // The rest of the address may contain secrets.
      const name = URL.parse(url)?.host ?? '';
      return { kind: 'receiver', key: id, name, reason: dispatcher.health(id)?.report.lastError?.error ?? '', since };
    });
  }

  async #sessions(): Promise<readonly Trouble[]> {
    const { registry, row, counts, time } = this.#input;
    const found: Trouble[] = [];
    for (const [index, id] of [...registry.ids].entries()) {
      if (index % perTurn === perTurn - 1) await time.turn();
      const record = registry.record(id);
      const light = record !== undefined && counts(record) ? row(id) : null;
      const trouble = light === null ? null : sessionTrouble(light);
      if (trouble !== null) found.push(trouble);
    }
    return found;
  }
}
