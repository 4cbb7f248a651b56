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
}

type Reply =
  | { readonly kind: 'done'; readonly value: unknown }
  /** The node gave the instance away just now; or it runs another version, which does not know the command. Nothing was begun. */
  | { readonly kind: 'moved' | 'otherVersion' }
  | { readonly kind: 'storage' | 'epoch' | 'surprise'; readonly message: string };

export type RemoteAnswer =
  | { readonly kind: 'answered'; readonly value: unknown }
  /** Nobody got the command; `away`: because the bus is. `otherVersion`: the owner runs a version that does not know it. */
  | { readonly kind: 'nobody' | 'away' | 'otherVersion' }
  /** The owner may have got it. */
  | { readonly kind: 'late' };

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
  const { method, args, version = 1 } = readable<Command>(body) ?? {};
  return typeof method === 'string' && Array.isArray(args) && typeof version === 'number' ? { method, args, version } : null;
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

  /** Its answer is waited for so many milliseconds. Rejects with what the owner's command rejected with. */
  async call(id: InstanceId, method: string, args: readonly unknown[], ms: number): Promise<RemoteAnswer> {
    const { bus, prefix } = this.#input;
    const command: Command = { method, args, version: versionFor(method, args) };
    const answer = await bus.request(`${prefix}.instance.${id}`, encode(command), ms);
    return answer.kind === 'answered' ? answerIn(readable<Reply>(answer.body) as Reply | null) : { kind: answer.kind };
  }

  /** Asks the owner to send the events of the instance; null when none answers at once. Never rejects. */
  async stream(id: InstanceId): Promise<unknown> {
    const answer = await this.call(id, streamMethod, [], nodeMs).catch(() => null);
    return answer?.kind === 'answered' ? answer.value : null;
  }

  /** Null when that node does not answer, or could not. Never rejects. */
  async ask(node: string, question: NodeQuestion): Promise<unknown> {
    const { bus, prefix } = this.#input;
    const answer = await bus.request(`${prefix}.node.${node}`, encode(question), nodeMs);
    return answer.kind === 'answered' ? (readable<{ readonly answer: unknown }>(answer.body)?.answer ?? null) : null;
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
    const { perform, knows, log } = this.#input;
    const command = commandIn(body);
    if (command === null || command.version > wireVersion || !knows(command.method)) {
      log.warn({ instance: id, method: command?.method ?? '', needs: command?.version ?? 0, has: wireVersion }, 'node.otherVersion');
      return { kind: 'otherVersion' };
    }
    try {
      const done = await perform(id, command.method, command.args);
      return done === null ? { kind: 'moved' } : { kind: 'done', value: done.value };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof StorageFailure) return { kind: 'storage', message };
      if (error instanceof EpochLost) return { kind: 'epoch', message };
      log.error({ instance: id, error }, 'node.commandFailed');
      return { kind: 'surprise', message };
    }
  }
}
