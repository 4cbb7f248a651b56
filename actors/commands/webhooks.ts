/**
 * Commands on webhooks and on their deliveries. The rules are in `actors/delivery/`. The commands store the changes and notify the
 * couriers.
 */
import { changeOf, listensTo, privateOf } from '../delivery/webhook-config.ts';
import { webhookRequestOf } from '../delivery/webhook-request.ts';
import { KeyedMutex } from '../waiting.ts';
import {
  type DeliveryInFull,
  type DeliveryRecord,
  damageText,
  deliveryStates,
  done,
  eventTypes,
  type InstanceId,
  refuse,
  repairs,
  type Result,
  type Webhook,
} from '../model.ts';
import { StorageFailure } from '../ports.ts';
import type { WithCells, WithPolicy, WithPorts } from './host.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { OutboxSearch } from '../supervisor/waking.ts';
import type { Chores } from '../supervisor/chores.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type {
  DeliveryDetails,
  DeliveryFilter,
  DeliveryPage,
  DeliveryView,
  ErrorHistory,
  QueueOfWebhook,
  ReplayFilter,
  SavedWebhooks,
  WebhookMethods,
  WebhookInput,
} from '../views.ts';
import { WebhookTests } from './webhook-tests.ts';

// Commands on webhooks. The rules are in `delivery/webhook-config.ts`.

type WebhookHost = WithPorts<'chance' | 'receiver' | 'settings' | 'signer' | 'time' | 'webhooks'> &
  WithPolicy<'webhooksPerInstance'> & {
    readonly chores: Pick<Chores, 'wakeRemover'>;
    readonly cluster: Pick<Cluster, 'refreshed'> | null;
    readonly dispatcher: Dispatcher;
    readonly registry: Registry;
  };

type WebhookCommands = Pick<WebhookMethods, 'webhooks' | 'saveWebhook' | 'globalWebhook' | 'saveGlobalWebhook'>;

/** The name of the setting with the id of the global webhook. */
const globalKey = 'webhook.global';
/** The epoch of global webhooks, which have no instance. */
const noEpoch = 0;

/** Creates the functions that store changes and notify the couriers. */
const writerOf = (host: WebhookHost) => {
  const { ports, dispatcher } = host;
  return {
    /** Returns the reason why the gateway must not post to the receiver, or null. */
    objectionTo: ({ url, action }: WebhookInput): string | null =>
      url === '' || action === 'delete' ? null : ports.receiver.objection(url),

    /** Stores the webhook and notifies its courier. Returns the id of the webhook if the caller must show its secret, and '' otherwise. */
    async save(webhook: Webhook, epoch: number, input: WebhookInput): Promise<Result<string>> {
      // The secret of a damaged webhook cannot be read, so the gateway does not know if its events were signed. The caller must say if they are signed from now
      // on.
      if (!repairs(webhook, input)) return refuse('invalid', damageText(webhook));
      const secrets = privateOf(webhook, input, ports.signer);
      if (!secrets.ok) return secrets;
      const { unreadable: _repaired, ...whole } = webhook;
      const next = { ...whole, ...secrets.value };
      await ports.webhooks.save(next, epoch);
      dispatcher.set(next);
      return done(input.secret === true ? next.id : '');
    },

    async remove(ids: readonly string[], instanceId: InstanceId | null, epoch: number): Promise<Result<string>> {
      for (const id of ids) {
        await ports.webhooks.remove({ id, instanceId }, epoch);
        dispatcher.remove(id);
      }
      host.chores.wakeRemover();
      return done('');
    },
  };
};

type Writer = ReturnType<typeof writerOf>;

/**
 * For each instance, the id of a new webhook that storage may or may not have, because the write failed without an answer. The next new webhook of the instance
 * gets the same id, so that it replaces that webhook. As a rule it is the client's retry, and two webhooks would deliver every event twice.
 */
export class NewIds {
  readonly #unanswered = new Map<InstanceId, string>();

  /** Creates a webhook under the id. Keeps the id for the next webhook if the write fails with a `StorageFailure`. */
  async use<T>(instance: InstanceId, id: string, create: () => Promise<Result<T>>): Promise<Result<T>> {
    try {
      const created = await create();
      if (created.ok) this.#unanswered.delete(instance);
      return created;
    } catch (error) {
      if (error instanceof StorageFailure) this.#unanswered.set(instance, id);
      throw error;
    }
  }

  /** Returns the id for a new webhook of the instance. An id that is in use meanwhile is not used again. */
  next(instance: InstanceId, { ports, dispatcher }: WithPorts<'chance'> & { readonly dispatcher: Dispatcher }): string {
    const id = this.#unanswered.get(instance);
    return id !== undefined && dispatcher.webhooks.get(id) === null ? id : ports.chance.hex(12);
  }
}

const changeOwn = async (
  host: WebhookHost,
  writer: Writer,
  newIds: NewIds,
  id: InstanceId,
  input: WebhookInput,
): Promise<Result<SavedWebhooks>> => {
  const { ports, dispatcher, registry } = host;
  const epoch = registry.record(id)?.epoch ?? 0;
  const objection = writer.objectionTo(input);
  if (objection !== null) return refuse('invalid', objection);
  const situation = { instanceId: id, current: dispatcher.webhooks.receivers(id), newId: newIds.next(id, host), now: ports.time.now() };
  const change = changeOf(situation, input);
  if (!change.ok) return change;
  const most = host.policy.webhooksPerInstance;
  const isNew = 'save' in change.value && change.value.save.id === situation.newId;
  if (isNew && situation.current.length >= most) return refuse('invalid', `Maximum number of webhooks per instance reached (${most})`);
  const store = (): Promise<Result<string>> =>
    'save' in change.value ? writer.save(change.value.save, epoch, input) : writer.remove(change.value.remove, id, epoch);
  const revealed = await (isNew ? newIds.use(id, situation.newId, store) : store());
  return revealed.ok ? done({ webhooks: dispatcher.webhooks.receivers(id), revealed: revealed.value }) : revealed;
};

/** Returns the id of the global webhook. Nodes agree on the id before one of them creates it, so concurrent requests create one webhook. */
const globalId = async ({ ports, dispatcher, cluster }: WebhookHost): Promise<string> => {
  await cluster?.refreshed();
  const wished = dispatcher.webhooks.receivers(null)[0]?.id ?? ports.chance.hex(12);
  return (await ports.settings.swap(globalKey, null, wished)) ? wished : ((await ports.settings.get(globalKey)) ?? wished);
};

const changeGlobal = async (host: WebhookHost, writer: Writer, given: WebhookInput): Promise<Result<SavedWebhooks>> => {
  const { ports, dispatcher } = host;
  const input: WebhookInput = { ...given, action: '', id: '', enabled: given.enabled ?? true };
  const objection = writer.objectionTo(input);
  if (objection !== null) return refuse('invalid', objection);
  const newId = await globalId(host);
  const receivers = dispatcher.webhooks.receivers(null);
  const current = receivers.filter(({ id }) => id === newId);
  const change = changeOf({ instanceId: null, current, newId, now: ports.time.now() }, input);
  if (!change.ok) return change;
  if (!('save' in change.value)) return refuse('invalid', 'the global webhook is switched off with enabled: false');
  const revealed = await writer.save(change.value.save, noEpoch, input);
  // Earlier versions could create several global webhooks on several nodes.
  const others = receivers.filter(({ id }) => id !== newId).map(({ id }) => id);
  if (revealed.ok && others.length > 0) await writer.remove(others, null, noEpoch);
  return revealed.ok ? done({ webhooks: dispatcher.webhooks.receivers(null), revealed: revealed.value }) : revealed;
};

export function webhookCommands(host: WebhookHost): WebhookCommands {
  const { dispatcher } = host;
  const writer = writerOf(host);
  const newIds = new NewIds();
  /** The mutex allows one change at a time for each owner, because two concurrent simple-mode requests must not create two webhooks. */
  const mutex = new KeyedMutex();

  return {
    webhooks: (id) => dispatcher.webhooks.receivers(id),
    saveWebhook: (id, input) => mutex.run(id, () => changeOwn(host, writer, newIds, id, input)),
    globalWebhook: () => dispatcher.webhooks.receivers(null)[0] ?? null,
    saveGlobalWebhook: (input) => mutex.run('', () => changeGlobal(host, writer, input)),
  };
}

// Queries of failed deliveries, and subscriptions to events.

interface EventHost extends WithCells {
  readonly cluster: Pick<Cluster, 'others' | 'streams'> | null;
  readonly dispatcher: Dispatcher;
  /** The start of the history of errors. In Unix milliseconds. */
  readonly since: number;
}

type EventCommands = Pick<WebhookMethods, 'webhookErrors' | 'globalWebhookErrors' | 'subscribe' | 'past'>;

export function eventCommands({ cells, cluster, dispatcher, since }: EventHost): EventCommands {
  const history = (errors: ErrorHistory['errors']): ErrorHistory => ({ since, errors });
  return {
    webhookErrors: async (id) => history(cells.get(id)?.history.errors ?? []),
    globalWebhookErrors: async () => (await cluster?.others.globalErrors()) ?? history(dispatcher.globalHistory.errors),
    past: async (id) => (await cluster?.streams?.past(id)) ?? null,
    subscribe(id, onEvent, onEnd, onGap) {
      const streams = cluster?.streams;
      if (streams) return streams.subscribe(id, onEvent, onEnd, onGap);
      const cell = cells.get(id);
      if (cell) return cell.feed.subscribe(onEvent, onEnd);
      onEnd();
      return () => undefined;
    },
  };
}

// Commands on deliveries: list deliveries with their reasons, replay deliveries, test a receiver.

type DeliveryHost = WithPorts<'chance' | 'chatwoot' | 'deliveries' | 'envelope' | 'receiver' | 'signer' | 'time'> & {
  readonly cluster: Pick<Cluster, 'others'> | null;
  readonly dispatcher: Dispatcher;
  readonly registry: Registry;
  readonly outboxSearch: Pick<OutboxSearch, 'wake'>;
};

type DeliveryCommands = Pick<WebhookMethods, 'deliveries' | 'delivery' | 'replay' | 'testWebhook'>;

/** The states that can be replayed. A delivery that waits in its lane is sent without a replay. */
const replayable = deliveryStates.filter((state) => state !== 'waiting');

/** The mask of a secret value. */
const masked = '***';

const isOver = ({ state }: DeliveryRecord): boolean => state === 'dead' || state === 'delivered';

/** Returns all webhooks of the owner, or only the webhook with the requested id. */
const chosen = ({ dispatcher }: DeliveryHost, owner: InstanceId | null, id: string | undefined): Result<readonly Webhook[]> => {
  const own = dispatcher.webhooks.own(owner);
  const found = id === undefined ? own : own.filter((webhook) => webhook.id === id);
  if (found.length > 0 || (id === undefined && owner !== null)) return done(found);
  return refuse('notFound', owner === null ? 'Global webhook not found' : 'Webhook not found');
};

const viewOf = ({ dispatcher }: DeliveryHost, record: DeliveryRecord): DeliveryView => {
  if (isOver(record)) return { ...record, nextAttempt: 0, reason: record.error };
  const webhook = dispatcher.webhooks.get(record.webhookId);
  if (!webhook?.enabled) return { ...record, nextAttempt: 0, reason: 'the webhook is not enabled' };
  if (webhook.unreadable !== undefined) return { ...record, nextAttempt: 0, reason: damageText(webhook) };
  const paused = dispatcher.pausedUntil(record.webhookId);
  // Quick retries are counted in memory only.
  const last = dispatcher.health(record.webhookId)?.lastAttempt(record.eventId);
  const tried = last !== undefined && last.attempts > record.attempts ? { ...record, ...last } : record;
  const reason = [tried.error, paused > 0 ? 'waits until the receiver answers again' : ''].filter(Boolean).join('; ');
  return { ...tried, nextAttempt: Math.max(record.notBefore, paused), reason };
};

/** Returns for each webhook how many events all nodes dropped, by type. */
const droppedOf = async ({ cluster, dispatcher }: DeliveryHost, ids: readonly string[]): Promise<readonly QueueOfWebhook['dropped'][]> =>
  (await cluster?.others.dropped(ids)) ?? ids.map((id) => dispatcher.sweeper.dropped(id));

/** The webhooks that a client chose. `owner`: their instance; null for global webhooks. */
interface Chosen {
  readonly owner: InstanceId | null;
  readonly webhooks: readonly Webhook[];
}

async function look(host: DeliveryHost, { owner, webhooks }: Chosen, filter: DeliveryFilter): Promise<DeliveryPage> {
  const { webhook: _webhook, state = null, ...rest } = filter;
  const { deliveries } = host.ports;
  const ids = webhooks.map(({ id }) => id);
  const [page, tallies, dropped] = await Promise.all([
    deliveries.list({ webhooks: ids, owner, state, ...rest }),
    deliveries.tally(ids, owner),
    droppedOf(host, ids),
  ]);
  const queues = ids.map((webhookId, at) => {
    const { waiting = 0, parked = 0, bytes = 0 } = tallies.find((tally) => tally.webhookId === webhookId) ?? {};
    return { webhookId, waiting, parked, bytes, dropped: dropped[at] ?? {} };
  });
  return { deliveries: page.deliveries.map((record) => viewOf(host, record)), more: page.more, queues };
}

/** Returns the request of a delivery for display. The token, the secret and the values of the webhook's own headers are masked. */
function requestOf({ ports, dispatcher }: DeliveryHost, webhook: Webhook, { instanceId, body, ...event }: DeliveryInFull, at: number) {
  if (webhook.chatwoot) return { url: webhook.url, headers: {}, payload: parsed(body) };
  const sender = { ...dispatcher.sender(instanceId), token: masked };
  const own = Object.keys(webhook.headers).map((name) => [name, masked]);
  const { url, body: payload, headers } = webhookRequestOf(webhook, sender, { ...event, body }, at, ports);
  const signature = webhook.secret === '' ? {} : { 'webhook-signature': masked };
  return {
    url,
    headers: { 'content-type': 'application/json', ...headers, ...Object.fromEntries(own), ...signature },
    payload: parsed(payload),
  };
}

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    // A body that is not JSON is shown as an empty object. The courier sets such an event aside.
    return {};
  }
};

async function lookAt(host: DeliveryHost, { owner, webhooks }: Chosen, eventId: string): Promise<Result<DeliveryDetails>> {
  const { deliveries, time } = host.ports;
  const found = await deliveries.find(
    webhooks.map(({ id }) => id),
    eventId,
    owner,
  );
  const webhook = webhooks.find(({ id }) => id === found?.webhookId);
  if (found === null || webhook === undefined) return refuse('notFound', 'Delivery not found');
  const view = viewOf(host, found);
  const at = view.tries?.at(-1)?.at ?? (view.endedAt || time.now());
  return done({ ...view, ...requestOf(host, webhook, found, at) });
}

/** Makes the couriers read the outbox of the webhook again, on the nodes that own the instances. */
async function nudge({ cluster, registry }: DeliveryHost, webhookId: string, ids: readonly InstanceId[]): Promise<void> {
  if (cluster) return cluster.others.nudge(webhookId, ids);
  for (const id of ids) registry.cell(id)?.nudge(webhookId);
}

async function replay(host: DeliveryHost, webhooks: readonly Webhook[], filter: ReplayFilter): Promise<number> {
  const { ids = null, types = eventTypes, states = replayable, from = 0, to = Number.MAX_SAFE_INTEGER, limit } = filter;
  let count = 0;
  for (const { id, instanceId: owner, events } of webhooks) {
    if (count >= limit) break;
    // Events that the webhook no longer subscribes to would be dropped on delivery.
    const wanted = types.filter((type) => listensTo(events, type));
    const query = { owner, webhook: id, events: ids, types: wanted, states, from, to, limit: limit - count };
    const back = await host.ports.deliveries.replay(query).catch((error: unknown) => {
      // The database may have moved rows to the outbox although the call failed.
      host.outboxSearch.wake(id);
      throw error;
    });
    for (const one of back) count += one.count;
    await nudge(
      host,
      id,
      back.map(({ instanceId }) => instanceId),
    );
  }
  return count;
}

export const deliveryCommands = (host: DeliveryHost): DeliveryCommands => {
  const tests = new WebhookTests(host);
  return {
    async deliveries(owner, filter) {
      const webhooks = chosen(host, owner, filter.webhook);
      return webhooks.ok ? done(await look(host, { owner, webhooks: webhooks.value }, filter)) : webhooks;
    },
    async delivery(owner, { id, webhook }) {
      const webhooks = chosen(host, owner, webhook);
      return webhooks.ok ? lookAt(host, { owner, webhooks: webhooks.value }, id) : webhooks;
    },
    async replay(owner, filter) {
      const webhooks = chosen(host, owner, filter.webhook);
      return webhooks.ok ? done(await replay(host, webhooks.value, filter)) : webhooks;
    },
    async testWebhook(owner, { webhook: id, type = 'test' }) {
      const webhooks = chosen(host, owner, id);
      if (!webhooks.ok) return webhooks;
      const webhook = webhooks.value.find(({ managed }) => managed) ?? webhooks.value[0];
      if (!webhook) return refuse('notFound', 'Webhook not found');
      if (webhook.unreadable !== undefined) return refuse('conflict', damageText(webhook));
      return tests.run(webhook, type);
    },
  };
};
