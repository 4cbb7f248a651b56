/** Commands on instances of other nodes, and theirs on ours. The bus itself finds the owner: only an owner subscribes to the subject of an instance. */
import type { InstanceId } from '../model.ts';
import { EpochLost, StorageFailure, StorageUnavailable, type Bus, type Log, type TakeCause } from '../ports.ts';
import { decode, encode } from './wire.ts';
import { versionFor, wireVersion } from './wire-version.ts';

export interface RemoteInput {
  readonly bus: Bus;
  /** First part of all subjects: clusters that share a bus have one each. */
  readonly prefix: string;
  readonly log: Log;
  /** Whether this version of the program has the method. */
  knows(method: string): boolean;
  /** Runs a command that came over the bus; null when this node does not own the instance (any more), and nothing was begun. */
  perform(id: InstanceId, method: string, args: readonly unknown[]): Promise<{ readonly value: unknown } | null>;
  /** The last epoch under which this node had the instance; null when it never had. `isGood`: it may act for the instance at this moment. */
  epochOf(id: InstanceId): { readonly epoch: number | null; readonly isGood: boolean };
  /** Names this life of the process, as no other one is named. */
  readonly origin: string;
  /** Answers what another node asks this one itself. */
  answer(question: NodeQuestion): Promise<unknown>;
}

export type NodeQuestion =
  /** To take an instance that nobody owns; whether it owns it now. `settled`: answered when its session is connected, or after some seconds. */
  | { readonly ask: 'take'; readonly id: InstanceId; readonly cause?: TakeCause; readonly settled?: true }
  /** To keep a place for a session that is about to be given to it; whether it does. */
  | { readonly ask: 'place'; readonly id: InstanceId }
  /** Views of the instances that it owns. */
  | { readonly ask: 'views' }
  /** Rows of the inspector of what it owns, after this id. */
  | { readonly ask: 'rows'; readonly after: InstanceId | '' }
  /** Failed deliveries of the global webhook. */
  | { readonly ask: 'globalErrors' }
  /** Events of these webhooks that the node dropped, by type. */
  | { readonly ask: 'dropped'; readonly webhooks: readonly string[] }
  /** To read again what waits for the webhook; which of these instances it owns. */
  | { readonly ask: 'nudge'; readonly webhookId: string; readonly ids: readonly InstanceId[] }
  /** To give its sessions away. */
  | { readonly ask: 'drain' };

/** Asks the owner to send the events of the instance. */
export const streamMethod = '$stream';

interface Command {
  readonly method: string;
  readonly args: readonly unknown[];
  /** The wire version that it takes to understand it. */
  readonly version: number;
  /** The same for all copies of one request. Nodes of the last release send none. */
  readonly key?: string;
}

/**
 * The node does not own the instance any more, and began nothing. `epoch`: the last one under which it had the instance. `alone`: it had the instance
 * when the command arrived, so that no later owner can have got the command. Nodes of the last release say neither.
 */
export interface Moved {
  readonly kind: 'moved';
  readonly epoch?: number | null;
  readonly alone?: boolean;
}

type Reply =
  | { readonly kind: 'done'; readonly value: unknown }
  | Moved
  /** `otherVersion`: the node does not know the command, and began nothing. `repeated`: a copy of a command that the node has answered. */
  | { readonly kind: 'otherVersion' | 'repeated' }
  | { readonly kind: 'storage' | 'epoch' | 'surprise'; readonly message: string };

export type RemoteAnswer =
  | { readonly kind: 'answered'; readonly value: unknown }
  /** Nobody got the command; `away`: because the bus is. `otherVersion`: the owner runs a version that does not know it. */
  | { readonly kind: 'nobody' | 'away' | 'otherVersion' }
  /** The owner may have got it. */
  | { readonly kind: 'late' };

/** Commands that are remembered, so that a copy of one is not executed again. */
const mostRemembered = 4_096;
/** A node answers at once, or is not well. */
const nodeMs = 3_000;

/** Null when this version cannot read it. */
const readable = <T>(body: Uint8Array): Partial<T> | null => {
  try {
    const value = decode(body);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
};

const commandIn = (body: Uint8Array): Command | null => {
  const { method, args, version = 1, key = '' } = readable<Command>(body) ?? {};
  if (typeof method !== 'string' || !Array.isArray(args) || typeof version !== 'number' || typeof key !== 'string') return null;
  return { method, args, version, key };
};

/** A reply that cannot be read says nothing of what was done. */
const answerIn = (reply: Reply | null): RemoteAnswer => {
  switch (reply?.kind) {
    case 'done':
      return { kind: 'answered', value: reply.value };
    case 'moved':
      return { kind: 'nobody' };
    case 'otherVersion':
      return { kind: 'otherVersion' };
    case 'storage':
      throw new StorageUnavailable(reply.message);
    case 'epoch':
      throw new EpochLost(reply.message);
    case 'surprise':
      throw new Error(`on another node: ${reply.message}`);
    default:
      return { kind: 'late' };
  }
};

export class Remote {
  readonly #input: RemoteInput;
  readonly #served = new Map<InstanceId, () => void>();
  /** By their keys; null when the command has been answered. The oldest ones are forgotten. */
  readonly #commands = new Map<string, Promise<Reply> | null>();
  #asked = 0;
  #nodeEnd: () => void = () => undefined;

  constructor(input: RemoteInput) {
    this.#input = input;
  }

  /** Commands for the instance come here from now on, or do not any more. */
  serve(id: InstanceId, here: boolean): void {
    this.#served.get(id)?.();
    this.#served.delete(id);
    if (!here) return;
    const { bus, prefix } = this.#input;
    this.#served.set(
      id,
      bus.subscribe(`${prefix}.instance.${id}`, (body) => this.#answer(id, body)),
    );
  }

  serves(id: InstanceId): boolean {
    return this.#served.has(id);
  }

  serveNode(name: string): void {
    const { bus, prefix, answer, log } = this.#input;
    this.#nodeEnd = bus.subscribe(`${prefix}.node.${name}`, async (body) => {
      try {
        return encode({ answer: await answer(decode(body) as NodeQuestion) });
      } catch (error) {
        log.warn({ error }, 'node.notAnswered');
        return encode({ answer: null });
      }
    });
  }

  /**
   * Waits so many milliseconds for the answer. `mayRepeat`: false when a later owner may have got the command too, whose answer is then waited for; it
   * must not reject. Rejects with what the owner's command rejected with.
   */
  async call(
    id: InstanceId,
    method: string,
    args: readonly unknown[],
    ms: number,
    mayRepeat: (moved: Moved) => Promise<boolean> = async () => true,
  ): Promise<RemoteAnswer> {
    const { bus, prefix, origin } = this.#input;
    this.#asked += 1;
    const command: Command = { method, args, version: versionFor(method, args), key: `${origin} ${this.#asked}` };
    const answer = await bus.request(`${prefix}.instance.${id}`, encode(command), ms, async (body) => {
      const reply = readable<Reply>(body) as Reply | null;
      return reply?.kind !== 'moved' || mayRepeat(reply);
    });
    return answer.kind === 'answered' ? answerIn(readable<Reply>(answer.body) as Reply | null) : { kind: answer.kind };
  }

  /** Asks the owner to send the events of the instance; null when none answers at once. Never rejects. */
  stream(id: InstanceId): Promise<unknown> {
    return this.fetch(id, streamMethod, []);
  }

  /** Asks the owner of the instance for something that it has at hand; null when none answers at once. Never rejects. */
  async fetch(id: InstanceId, method: string, args: readonly unknown[]): Promise<unknown> {
    const answer = await this.call(id, method, args, nodeMs).catch(() => null);
    return answer?.kind === 'answered' ? answer.value : null;
  }

  /** Null when that node does not answer, or could not. Never rejects. */
  async ask(node: string, question: NodeQuestion): Promise<unknown> {
    const { bus, prefix } = this.#input;
    const answer = await bus.request(`${prefix}.node.${node}`, encode(question), nodeMs);
    return answer.kind === 'answered' ? (readable<{ readonly answer: unknown }>(answer.body)?.answer ?? null) : null;
  }

  /**
   * Returns true if that node keeps a place for the session. Silence is a no, because the node may be dead. A node of a version without such places
   * answers null, which is a yes: its announced room decides. `away`: what counts while the bus is away. Never rejects.
   */
  async offer(node: string, id: InstanceId, away: boolean): Promise<boolean> {
    const { bus, prefix } = this.#input;
    const question: NodeQuestion = { ask: 'place', id };
    const answer = await bus.request(`${prefix}.node.${node}`, encode(question), nodeMs);
    if (answer.kind !== 'answered') return answer.kind === 'away' && away;
    const reply = readable<{ readonly answer: unknown }>(answer.body);
    return reply !== null && reply.answer !== false;
  }

  stop(): void {
    this.#nodeEnd();
    for (const id of this.#served.keys()) this.serve(id, false);
  }

  async #answer(id: InstanceId, body: Uint8Array): Promise<Uint8Array> {
    return encode(await this.#replyTo(id, body));
  }

  /** Never rejects. */
  async #replyTo(id: InstanceId, body: Uint8Array): Promise<Reply> {
    const { knows, log } = this.#input;
    const command = commandIn(body);
    if (command === null || command.version > wireVersion || !knows(command.method)) {
      log.warn({ instance: id, method: command?.method ?? '', needs: command?.version ?? 0, has: wireVersion }, 'node.otherVersion');
      return { kind: 'otherVersion' };
    }
    const { key = '' } = command;
    const known = this.#commands.get(key);
    if (known !== undefined) return known ?? { kind: 'repeated' };
    const reply = this.#run(id, command);
    if (key !== '') {
      this.#remember(key, reply);
      void reply.then(() => this.#commands.has(key) && this.#commands.set(key, null));
    }
    return reply;
  }

  #remember(key: string, reply: Promise<Reply>): void {
    const [oldest] = this.#commands.keys();
    if (this.#commands.size >= mostRemembered && oldest !== undefined) this.#commands.delete(oldest);
    this.#commands.set(key, reply);
  }

  /** Never rejects. */
  async #run(id: InstanceId, { method, args }: Command): Promise<Reply> {
    const { perform, epochOf, log } = this.#input;
    const { epoch, isGood } = epochOf(id);
    try {
      const done = await perform(id, method, args);
      return done === null ? { kind: 'moved', epoch, alone: isGood } : { kind: 'done', value: done.value };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof StorageFailure) return { kind: 'storage', message };
      if (error instanceof EpochLost) return { kind: 'epoch', message };
      log.error({ instance: id, error }, 'node.commandFailed');
      return { kind: 'surprise', message };
    }
  }
}
