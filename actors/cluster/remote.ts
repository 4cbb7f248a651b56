/**
 * Sends commands on instances to their owners, and runs commands of other nodes. The bus finds the owner, because only the owner subscribes to the
 * subject of an instance.
 */
import type { InstanceId } from '../model.ts';
import { EpochLost, FilesUnavailable, StorageFailure, StorageUnavailable, type Bus, type Log, type TakeCause } from '../ports.ts';
import type { Ownership } from './ownership.ts';
import { decode, encode, versionFor, wireVersion } from './wire.ts';

interface RemoteInput {
  readonly bus: Bus;
  /** First part of all subjects. Each cluster on a shared bus has its own prefix. */
  readonly prefix: string;
  readonly log: Log;
  readonly ownership: Ownership;
  /** Unique name of this run of the process. */
  readonly origin: string;
}

/** Runs a command of another node on an instance that this node owns. */
export type CommandHandler = (id: InstanceId, args: readonly unknown[]) => Promise<unknown>;

export type NodeQuestion =
  /**
   * Asks the node to take an unowned instance. The answer is true if the node owns the instance afterwards. With `settled`, the answer is sent when the session
   * is connected, or after some seconds.
   */
  | { readonly ask: 'take'; readonly id: InstanceId; readonly cause?: TakeCause; readonly settled?: true }
  /** Asks the node to reserve a slot for a session that is about to move to it. The answer is true on success. */
  | { readonly ask: 'place'; readonly id: InstanceId }
  /** Asks for the views of the instances that the node owns. */
  | { readonly ask: 'views' }
  /** Asks for rows of the inspector for the instances that the node owns, after this id. */
  | { readonly ask: 'rows'; readonly after: InstanceId | '' }
  /** Asks for the failed deliveries of the global webhook. */
  | { readonly ask: 'globalErrors' }
  /** Asks how many events of these webhooks the node dropped, by type. */
  | { readonly ask: 'dropped'; readonly webhooks: readonly string[] }
  /** Asks the node to read the outbox of the webhook again. The answer lists the instances that the node owns. */
  | { readonly ask: 'nudge'; readonly webhookId: string; readonly ids: readonly InstanceId[] }
  /** Asks the node to move its sessions to other nodes. */
  | { readonly ask: 'drain' };

/** The name of the method that asks the owner to send the events of the instance. */
export const streamMethod = '$stream';

interface Command {
  readonly method: string;
  readonly args: readonly unknown[];
  /** Lowest wire version that understands the command. */
  readonly version: number;
  /** The idempotency key of the command, by which the owner recognises copies of the message. Nodes of the previous release send none. */
  readonly key?: string;
}

/**
 * The reply of a node that does not own the instance any more, and began nothing. `epoch` is the last epoch under which the node owned the instance. `alone` is
 * true if the node was the owner when the command arrived. No later owner can then have received the command. Nodes of the previous release send neither field.
 */
export interface Moved {
  readonly kind: 'moved';
  readonly epoch?: number | null;
  readonly alone?: boolean;
}

type Reply =
  | { readonly kind: 'done'; readonly value: unknown }
  | Moved
  /** `otherVersion`: the node does not know the command, and began nothing. `repeated`: the message is a copy of a command that the node has answered. */
  | { readonly kind: 'otherVersion' | 'repeated' }
  /** `isOfFiles`: true if the store of files failed, and not the database. Nodes of the previous release do not send `isOfFiles`. */
  | { readonly kind: 'storage'; readonly message: string; readonly isOfFiles?: boolean }
  | { readonly kind: 'epoch' | 'surprise'; readonly message: string };

export type RemoteAnswer =
  | { readonly kind: 'answered'; readonly value: unknown }
  /** `nobody`: no node received the command. `away`: the bus is unavailable. `otherVersion`: the version of the owner does not know the command. */
  | { readonly kind: 'nobody' | 'away' | 'otherVersion' }
  /** The owner may have received the command. */
  | { readonly kind: 'late' };

/** The largest number of commands that are remembered to dedupe copies. */
const mostRemembered = 4_096;
/** Time-out of questions to a node, which a healthy node answers at once. In milliseconds. */
const nodeMs = 3_000;

/** Returns null if this version cannot read the message. */
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

/** Translates a reply. After an unreadable reply, the outcome of the command is unknown. */
const answerIn = (reply: Reply | null): RemoteAnswer => {
  switch (reply?.kind) {
    case 'done':
      return { kind: 'answered', value: reply.value };
    case 'moved':
      return { kind: 'nobody' };
    case 'otherVersion':
      return { kind: 'otherVersion' };
    case 'storage':
      throw reply.isOfFiles === true ? new FilesUnavailable(reply.message) : new StorageUnavailable(reply.message);
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
  readonly #handlers = new Map<string, CommandHandler>();
  readonly #served = new Map<InstanceId, () => void>();
  /** Replies by the key of their command; null if the command has been answered. Oldest first, and the oldest are dropped. */
  readonly #commands = new Map<string, Promise<Reply> | null>();
  /** Functions that end the subscriptions to questions. */
  readonly #asking: (() => void)[] = [];
  #asked = 0;

  constructor(input: RemoteInput) {
    this.#input = input;
  }

  /** Adds a command that other nodes may send. Commands that were not added are answered with `otherVersion`. */
  handle(method: string, handler: CommandHandler): void {
    this.#handlers.set(method, handler);
  }

  /** Starts or stops to take commands for the instance from the bus. */
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

  /** Starts to take questions to the node of this name from the bus. */
  serveNode(name: string, answer: (question: NodeQuestion) => Promise<unknown>): void {
    const { bus, prefix, log } = this.#input;
    const end = bus.subscribe(`${prefix}.node.${name}`, async (body) => {
      try {
        return encode({ answer: await answer(decode(body) as NodeQuestion) });
      } catch (error) {
        log.warn({ error }, 'node.notAnswered');
        return encode({ answer: null });
      }
    });
    this.#asking.push(end);
  }

  /**
   * Sends a command to the owner and waits `ms` milliseconds for the answer. `mayRepeat` returns false if a later owner may also have received the
   * command. The call then waits for the answer of that owner. `mayRepeat` must not reject. Rejects with the error of the command.
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

  /**
   * Asks the owner to send the events of the instance. `missed` contains the id of an event that readers missed, or is empty. Resolves with null if no owner
   * answers soon. Never rejects.
   */
  stream(id: InstanceId, missed: readonly unknown[]): Promise<unknown> {
    return this.fetch(id, streamMethod, missed);
  }

  /** Asks the owner of the instance for data in memory. Resolves with null if no owner answers soon. Never rejects. */
  async fetch(id: InstanceId, method: string, args: readonly unknown[]): Promise<unknown> {
    const answer = await this.call(id, method, args, nodeMs).catch(() => null);
    return answer?.kind === 'answered' ? answer.value : null;
  }

  /** Asks a node. Resolves with null if the node does not or cannot answer. Never rejects. */
  async ask(node: string, question: NodeQuestion): Promise<unknown> {
    const { bus, prefix } = this.#input;
    const answer = await bus.request(`${prefix}.node.${node}`, encode(question), nodeMs);
    return answer.kind === 'answered' ? (readable<{ readonly answer: unknown }>(answer.body)?.answer ?? null) : null;
  }

  /**
   * Returns true if the node reserves a slot for the session. No answer means false, because the node may be dead. A node of a version without
   * reservations answers null, which means true. The announced room of the node then decides. `away` is the result while the bus is unavailable.
   * Never rejects.
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
    for (const end of this.#asking) end();
    for (const id of this.#served.keys()) this.serve(id, false);
  }

  async #answer(id: InstanceId, body: Uint8Array): Promise<Uint8Array> {
    return encode(await this.#replyTo(id, body));
  }

  /** Returns the reply to a command. Never rejects. */
  async #replyTo(id: InstanceId, body: Uint8Array): Promise<Reply> {
    const { log } = this.#input;
    const command = commandIn(body);
    const handler = command === null ? undefined : this.#handlers.get(command.method);
    if (command === null || command.version > wireVersion || handler === undefined) {
      log.warn({ instance: id, method: command?.method ?? '', needs: command?.version ?? 0, has: wireVersion }, 'node.otherVersion');
      return { kind: 'otherVersion' };
    }
    const { key = '' } = command;
    const known = this.#commands.get(key);
    if (known !== undefined) return known ?? { kind: 'repeated' };
    const reply = this.#run(id, () => handler(id, command.args));
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

  /** Runs a command. Never rejects. */
  async #run(id: InstanceId, here: () => Promise<unknown>): Promise<Reply> {
    const { ownership, log } = this.#input;
    const [epoch, alone] = [ownership.lastEpochOf(id), ownership.mayAct(id)];
    try {
      const done = await ownership.run({ id, here });
      return done === null ? { kind: 'moved', epoch, alone } : { kind: 'done', value: done.value };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof StorageFailure) return { kind: 'storage', message, isOfFiles: error instanceof FilesUnavailable };
      if (error instanceof EpochLost) return { kind: 'epoch', message };
      log.error({ instance: id, error }, 'node.commandFailed');
      return { kind: 'surprise', message };
    }
  }
}
