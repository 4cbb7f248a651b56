/** Commands on the server as a whole: owners of tokens, figures, nodes, the admin credential, and entries that the database refused. */
import { refusalNameOf } from '../delivery/recorder.ts';
import { Mutex } from '../waiting.ts';
import { done, type InstanceId, refuse, type Result, unknownInstance } from '../model.ts';
import { adminTokenSetting, EpochLost, type KnownNode, type Ports, StorageFailure } from '../ports.ts';
import type { WithPorts } from './host.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Restore } from '../supervisor/waking.ts';
import type { Figures, NodeView, Numbers, RefusedMethods, ServerMethods } from '../views.ts';
import { countsOf, troublesOf } from './numbers.ts';
import type { Register } from './register.ts';

// Commands on entries that the database refused: list them, retry one, discard one.

type RefusedHost = WithPorts<'log' | 'refused'> & { readonly registry: Registry };

const unknownEntry = refuse('notFound', 'there is no such entry');

async function retry({ ports, registry }: RefusedHost, id: InstanceId, entryId: string): Promise<Result<null>> {
  const cell = registry.cell(id);
  if (cell === null) return unknownInstance;
  const entry = await ports.refused.read(id, entryId);
  if (entry === null) return unknownEntry;
  const claim = { instanceId: id, epoch: cell.record.epoch };
  try {
    await cell.recorder.append(entry);
  } catch (error) {
    if (error instanceof StorageFailure || error instanceof EpochLost) throw error;
    const name = refusalNameOf(error);
    await ports.refused.tried(claim, entryId, name);
    return refuse('conflict', `the database refuses the entry again: ${name}`);
  }
  await ports.refused.remove(claim, entryId);
  ports.log.info({ instance: id, kind: entry.kind }, 'entry.stored');
  return done(null);
}

async function discard({ ports, registry }: RefusedHost, id: InstanceId, entryId: string): Promise<Result<null>> {
  const record = registry.record(id);
  if (record === undefined) return unknownInstance;
  if (!(await ports.refused.remove({ instanceId: id, epoch: record.epoch }, entryId))) return unknownEntry;
  ports.log.warn({ instance: id }, 'entry.discarded');
  return done(null);
}

export const refusedCommands = (host: RefusedHost): RefusedMethods => ({
  refusedEntries: (query) => host.ports.refused.list(query),
  retryRefused: (id, entry) => retry(host, id, entry),
  discardRefused: (id, entry) => discard(host, id, entry),
});

// Commands on the owners of tokens, and on the nodes of the cluster.

type ServerCommands = Pick<
  ServerMethods,
  'signIns' | 'authenticate' | 'lookUp' | 'exists' | 'nodes' | 'nodeName' | 'draining' | 'drainNode'
>;

interface ServerHost {
  readonly cluster: Pick<Cluster, 'overview' | 'lease' | 'figures' | 'draining' | 'drainNode'> | null;
  readonly register: Pick<Register, 'byToken' | 'lookUp' | 'exists'>;
}

const noNodes = refuse('notFound', 'this gateway is not a node of a cluster');

const nodeView = ({ load, leftMs, ended, bus, ...node }: KnownNode, lease: number): NodeView => ({
  ...node,
  ...(bus === null || ended ? {} : { bus }),
  state: ended ? 'gone' : node.draining ? 'draining' : 'live',
  owned: ended ? 0 : load,
  leaseMs: ended ? 0 : Math.max(0, leftMs),
  renewedMs: Math.max(0, lease - leftMs),
});

export const serverCommands = ({ cluster, register }: ServerHost, signIns: ServerCommands['signIns']): ServerCommands => ({
  authenticate: (token) => register.byToken(token),
  lookUp: (token) => register.lookUp(token),
  exists: (id) => register.exists(id),
  signIns,
  nodes: async () => ((await cluster?.overview.nodes()) ?? []).map((node) => nodeView(node, cluster?.lease ?? 0)),
  nodeName: cluster?.figures.name ?? null,
  draining: () => cluster?.draining ?? false,
  drainNode: async (name) => (await cluster?.drainNode(name)) ?? noNodes,
});

// Queries of the state and the figures of this server.

type StateHost = WithPorts<'platform'> & {
  figures(): Promise<Figures>;
  numbers(): Numbers;
  readonly progress: Restore['progress'];
  readonly registry: Registry;
  readonly warnings: readonly string[];
};

type StateCommands = Pick<ServerMethods, 'ready' | 'troubles' | 'warnings' | 'clientVersion' | 'numbers' | 'figures' | 'counts'>;

export const stateCommands = (host: StateHost): StateCommands => ({
  ready: () => host.progress,
  troubles: () => troublesOf(host.registry),
  warnings: () => host.warnings,
  clientVersion: () => host.ports.platform.clientVersion(),
  numbers: () => host.numbers(),
  figures: () => host.figures(),
  counts: () => countsOf(host.registry),
});

// The admin credential. Storage holds only the hash of the token. The value of ADMIN_TOKEN applies until a rotation, and again after ADMIN_TOKEN was changed.

interface Stored {
  readonly hash: string;
  /** The hash of ADMIN_TOKEN when this row was made; '' if it was not set. If ADMIN_TOKEN is set to another token now, that token applies again. */
  readonly replaces: string;
  readonly rotatedAt: number;
}

/** The length of a generated admin token, in characters. */
const tokenLength = 50;

interface Begun {
  readonly current: Stored;
  readonly made: string | null;
}

const isStored = (value: unknown): value is Stored => {
  if (typeof value !== 'object' || value === null) return false;
  const { hash, replaces, rotatedAt } = value as Partial<Record<keyof Stored, unknown>>;
  return typeof hash === 'string' && typeof replaces === 'string' && Number.isFinite(rotatedAt);
};

/** Throws a sentence for the operator if the row is damaged. The sentence never quotes the row, which contains a hash. */
const parse = (text: string | null): Stored | null => {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (isStored(value)) return value;
  } catch {
    // The error below names the row, which a parser error would not do.
  }
  throw new Error(`The row "${adminTokenSetting}" of the table "setting" is damaged: delete the row, and start with ADMIN_TOKEN set.`);
};

/** Loads the stored token, or stores one. If several nodes start at once, one of them stores its token, and the remaining nodes read that token. */
const begin = async (ports: Ports, configured: string | null): Promise<Begun> => {
  const { settings, digest, chance } = ports;
  const wanted = configured === null ? '' : digest(configured);
  for (;;) {
    const text = await settings.get(adminTokenSetting);
    const stored = parse(text);
    if (stored && (wanted === '' || stored.replaces === wanted)) return { current: stored, made: null };
    const made = configured === null ? chance.token(tokenLength) : null;
    const current = { hash: made === null ? wanted : digest(made), replaces: wanted, rotatedAt: 0 };
    if (await settings.swap(adminTokenSetting, text, JSON.stringify(current))) return { current, made };
  }
};

export class AdminToken {
  readonly #ports: Ports;
  readonly #cooldown: number;
  readonly #mutex = new Mutex();
  #current: Stored;
  /** The token that this start generated, to be printed once; else null. */
  readonly made: string | null;

  private constructor(ports: Ports, cooldown: number, { current, made }: Begun) {
    this.#ports = ports;
    this.#cooldown = cooldown;
    this.#current = current;
    this.made = made;
  }

  /** Loads the stored token, or stores one. `configured`: the value of ADMIN_TOKEN; null if it is not set. */
  static async load(ports: Ports, configured: string | null, cooldown: number): Promise<AdminToken> {
    return new AdminToken(ports, cooldown, await begin(ports, configured));
  }

  matches(token: string): boolean {
    return this.#ports.digest(token) === this.#current.hash;
  }

  rotate(): Promise<Result<string>> {
    return this.#mutex.run(() => this.#rotate());
  }

  /** A fingerprint that changes with the token. */
  get version(): string {
    return this.#current.hash;
  }

  /** Reloads the stored token. Returns true if it changed. */
  refresh(): Promise<boolean> {
    return this.#mutex.run(async () => {
      const { hash } = this.#current;
      await this.#reread();
      return this.#current.hash !== hash;
    });
  }

  async #rotate(): Promise<Result<string>> {
    const { chance, digest, settings, time } = this.#ports;
    if (this.#current.rotatedAt + this.#cooldown > time.now()) return this.#tooEarly();
    const token = chance.token(tokenLength);
    const next: Stored = { ...this.#current, hash: digest(token), rotatedAt: time.now() };
    if (await settings.swap(adminTokenSetting, JSON.stringify(this.#current), JSON.stringify(next))) {
      this.#current = next;
      return done(token);
    }
    // Another node rotated the token meanwhile, so the caller's token is void.
    await this.#reread();
    return this.#tooEarly();
  }

  #tooEarly(): Result<never> {
    const pause = { from: this.#current.rotatedAt, to: this.#current.rotatedAt + this.#cooldown };
    const retryAfter = Math.max(1, Math.ceil((pause.to - this.#ports.time.now()) / 1000));
    return refuse('limited', 'Admin token rotation cooldown active', { retryAfter, pause });
  }

  async #reread(): Promise<void> {
    this.#current = parse(await this.#ports.settings.get(adminTokenSetting)) ?? this.#current;
  }
}
