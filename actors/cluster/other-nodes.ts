/** What a node asks the other nodes themselves, and how each answers. What nobody answers in time is left out. */
import { newestErrors } from '../events/history.ts';
import { sumOfDropped, type Dropped } from '../events/sweeper.ts';
import type { ErrorHistory, InstanceView } from '../face.ts';
import type { DeliveryError, InstanceId } from '../model.ts';
import type { LiveNode, TakeCause } from '../ports.ts';
import type { NodeQuestion } from './remote.ts';

export interface OtherNodesInput {
  /** Name of this node. */
  readonly me: string;
  /** Live nodes, as of the last look. */
  nodes(): readonly LiveNode[];
  /** Null when that node does not answer. Never rejects. */
  ask(node: string, question: NodeQuestion): Promise<unknown>;
  /** Whether this node owns the instance now. */
  owns(id: InstanceId): boolean;
  owned(): Iterable<InstanceId>;
  view(id: InstanceId): InstanceView | null;
  /** Rows of the inspector, after this id. */
  rows(after: InstanceId | ''): unknown;
  /** Failed deliveries of the global webhook by this node. */
  globalErrors(): ErrorHistory;
  /** Events of the webhook that this node dropped. Only the node on duty drops events, and the duty moves. */
  dropped(webhookId: string): Dropped;
  /** Reads again what waits for the webhook. */
  nudge(id: InstanceId, webhookId: string): void;
  /** Whether this node owns it now. */
  take(id: InstanceId, cause?: TakeCause): Promise<boolean>;
  /** Whether this node keeps a place for it. */
  keepPlace(id: InstanceId): boolean;
  /** Resolves when the session of the instance is connected, or after some seconds. */
  settled(id: InstanceId): Promise<void>;
  /** Gives its sessions away. */
  drain(): Promise<void>;
}

/** A node of another version may answer otherwise. */
const areViews = (answer: unknown): boolean =>
  Array.isArray(answer) && answer.every((view: { readonly record?: unknown } | null) => typeof view?.record === 'object');
const isHistory = (answer: unknown): boolean => {
  const { since, errors } = (answer ?? {}) as Partial<ErrorHistory>;
  return typeof since === 'number' && Array.isArray(errors);
};

const areDropped = (answer: unknown): boolean =>
  Array.isArray(answer) &&
  answer.every((one: unknown) => typeof one === 'object' && one !== null && Object.values(one).every((count) => typeof count === 'number'));

type Answers = { readonly [A in NodeQuestion['ask']]: (question: Extract<NodeQuestion, { readonly ask: A }>) => unknown };

export class OtherNodes {
  readonly #input: OtherNodesInput;
  readonly #answers: Answers;

  constructor(input: OtherNodesInput) {
    this.#input = input;
    this.#answers = {
      take: (question) => this.#taken(question),
      place: ({ id }) => input.keepPlace(id),
      views: () => [...input.owned()].map((id) => input.view(id)).filter((view) => view !== null),
      rows: ({ after }) => input.rows(after),
      globalErrors: () => input.globalErrors(),
      dropped: ({ webhooks }) => webhooks.map((id) => input.dropped(id)),
      nudge: ({ webhookId, ids }) => this.#nudged(webhookId, ids),
      drain: async () => {
        await input.drain();
        return true;
      },
    };
  }

  /** Of another node, which may be of a later version: null to what this one does not know. */
  async answer(question: NodeQuestion): Promise<unknown> {
    if (!Object.hasOwn(this.#answers, question.ask)) return null;
    return (this.#answers[question.ask] as (asked: NodeQuestion) => unknown)(question);
  }

  /** Views of what other nodes own. */
  async views(): Promise<readonly InstanceView[]> {
    return (await this.#askAll<readonly InstanceView[]>({ ask: 'views' }, areViews)).flat();
  }

  /** Of all nodes; complete since the start of the latest of them. */
  async globalErrors(): Promise<ErrorHistory> {
    const all = [this.#input.globalErrors(), ...(await this.#askAll<ErrorHistory>({ ask: 'globalErrors' }, isHistory))];
    const errors: readonly DeliveryError[] = all.flatMap((one) => one.errors);
    return { since: Math.max(...all.map(({ since }) => since)), errors: newestErrors(errors) };
  }

  /** Returns the events of each webhook that all live nodes dropped since their starts, by type. */
  async dropped(webhooks: readonly string[]): Promise<readonly Dropped[]> {
    if (webhooks.length === 0) return [];
    const own = webhooks.map((id) => this.#input.dropped(id));
    const all = [own, ...(await this.#askAll<readonly Dropped[]>({ ask: 'dropped', webhooks }, areDropped))];
    return webhooks.map((_, at) => sumOfDropped(all.map((one) => one[at] ?? {})));
  }

  /** What waits for the webhook is read again by the owners of the instances; those that nobody owns are taken for it. Never rejects. */
  async nudge(webhookId: string, ids: readonly InstanceId[]): Promise<void> {
    const owned = new Set([...this.#nudged(webhookId, ids), ...(await this.#nudgeOthers(webhookId, ids))]);
    // A session that begins reads what waits by itself.
    for (const id of ids) if (!owned.has(id)) await this.#input.take(id).catch(() => false);
  }

  async #taken({ id, cause, settled }: Extract<NodeQuestion, { readonly ask: 'take' }>): Promise<boolean> {
    const taken = await this.#input.take(id, cause);
    if (taken && settled === true) await this.#input.settled(id);
    return taken;
  }

  async #nudgeOthers(webhookId: string, ids: readonly InstanceId[]): Promise<readonly InstanceId[]> {
    const elsewhere = ids.filter((id) => !this.#input.owns(id));
    if (elsewhere.length === 0) return [];
    return (await this.#askAll<readonly InstanceId[]>({ ask: 'nudge', webhookId, ids: elsewhere }, Array.isArray)).flat();
  }

  /** Answers which of them this node owns. */
  #nudged(webhookId: string, ids: readonly InstanceId[]): readonly InstanceId[] {
    const own = ids.filter((id) => this.#input.owns(id));
    for (const id of own) this.#input.nudge(id, webhookId);
    return own;
  }

  /** `T`: what that question is answered with; what does not look like it is left out. */
  async #askAll<T>(question: NodeQuestion, fits: (answer: unknown) => boolean): Promise<readonly T[]> {
    const { me, nodes, ask } = this.#input;
    const others = nodes().filter(({ name }) => name !== me);
    const answers = await Promise.all(others.map(({ name }) => ask(name, question)));
    return answers.flatMap((answer) => (fits(answer) ? [answer as T] : []));
  }
}
