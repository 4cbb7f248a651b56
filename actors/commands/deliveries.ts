/** Commands on deliveries: list deliveries with their reasons, replay deliveries, test a receiver. */
import { webhookRequestOf } from '../delivery/webhook-request.ts';
import { listensTo } from '../delivery/filter.ts';
import type { DeliveryFilter, DeliveryPage, DeliveryView, Gateway, QueueOfWebhook, ReplayFilter, WebhookTest } from '../views.ts';
import {
  deliveryStates,
  done,
  eventTypes,
  refuse,
  unreadableWebhook,
  type ChatwootPlace,
  type DeliveryRecord,
  type InstanceId,
  type Result,
  type Webhook,
} from '../model.ts';
import type { Supervisor } from '../supervisor.ts';

type DeliveryCommands = Pick<Gateway, 'deliveries' | 'replay' | 'testWebhook'>;

/** The states that can be replayed. A delivery that waits in its lane is sent without a replay. */
const replayable = deliveryStates.filter((state) => state !== 'waiting');

const isOver = ({ state }: DeliveryRecord): boolean => state === 'dead' || state === 'delivered';

/** Returns the webhooks of the owner, or the requested one. */
const chosen = ({ dispatcher }: Supervisor, owner: InstanceId | null, id: string | undefined): Result<readonly Webhook[]> => {
  const own = dispatcher.webhooks.own(owner);
  const found = id === undefined ? own : own.filter((webhook) => webhook.id === id);
  if (found.length > 0 || (id === undefined && owner !== null)) return done(found);
  return refuse('notFound', owner === null ? 'Global webhook not found' : 'Webhook not found');
};

const viewOf = ({ dispatcher }: Supervisor, record: DeliveryRecord): DeliveryView => {
  if (isOver(record)) return { ...record, nextAttempt: 0, reason: record.error };
  const webhook = dispatcher.webhooks.get(record.webhookId);
  if (!webhook?.enabled) return { ...record, nextAttempt: 0, reason: 'the webhook is not enabled' };
  if (webhook.unreadable !== undefined) return { ...record, nextAttempt: 0, reason: unreadableWebhook };
  const paused = dispatcher.pausedUntil(record.webhookId);
  // Quick retries are counted in memory only.
  const last = dispatcher.health(record.webhookId)?.lastAttempt(record.eventId);
  const tried = last !== undefined && last.attempts > record.attempts ? { ...record, ...last } : record;
  const reason = [tried.error, paused > 0 ? 'waits until the receiver answers again' : ''].filter(Boolean).join('; ');
  return { ...tried, nextAttempt: Math.max(record.notBefore, paused), reason };
};

/** Returns the dropped events of each webhook, counted over all nodes. */
const droppedOf = async ({ cluster, dispatcher }: Supervisor, ids: readonly string[]): Promise<readonly QueueOfWebhook['dropped'][]> =>
  (await cluster?.others?.dropped(ids)) ?? ids.map((id) => dispatcher.sweeper.dropped(id));

async function look(supervisor: Supervisor, webhooks: readonly Webhook[], filter: DeliveryFilter): Promise<DeliveryPage> {
  const { state = null, limit, offset } = filter;
  const { deliveries } = supervisor.ports;
  const ids = webhooks.map(({ id }) => id);
  const [page, tallies, dropped] = await Promise.all([
    deliveries.list({ webhooks: ids, state, limit, offset }),
    deliveries.tally(ids),
    droppedOf(supervisor, ids),
  ]);
  const queues = ids.map((webhookId, at) => {
    const { waiting = 0, parked = 0, bytes = 0 } = tallies.find((tally) => tally.webhookId === webhookId) ?? {};
    return { webhookId, waiting, parked, bytes, dropped: dropped[at] ?? {} };
  });
  return { deliveries: page.deliveries.map((record) => viewOf(supervisor, record)), more: page.more, queues };
}

/** Tells the couriers to read the outbox of the webhook again, on the nodes that own the instances. */
async function nudge({ cluster, registry }: Supervisor, webhookId: string, ids: readonly InstanceId[]): Promise<void> {
  if (cluster?.others) return cluster.others.nudge(webhookId, ids);
  for (const id of ids) registry.cell(id)?.nudge(webhookId);
}

async function replay(supervisor: Supervisor, webhooks: readonly Webhook[], filter: ReplayFilter): Promise<number> {
  const { ids = null, types = eventTypes, states = replayable, from = 0, to = Number.MAX_SAFE_INTEGER, limit } = filter;
  let count = 0;
  for (const { id, events } of webhooks) {
    if (count >= limit) break;
    // Events that the webhook no longer subscribes to would be dropped on delivery.
    const wanted = types.filter((type) => listensTo(events, type));
    const query = { webhook: id, events: ids, types: wanted, states, from, to, limit: limit - count };
    const back = await supervisor.ports.deliveries.replay(query);
    for (const one of back) count += one.count;
    await nudge(
      supervisor,
      id,
      back.map(({ instanceId }) => instanceId),
    );
  }
  return count;
}

async function tryOut({ ports, dispatcher }: Supervisor, webhook: Webhook, type: string): Promise<WebhookTest> {
  const { receiver, chance, time } = ports;
  const started = time.now();
  const content = { eventId: `test_${chance.hex(12)}`, type, messageType: '', body: JSON.stringify({ test: true }) };
  const { url, body, headers } = webhookRequestOf(webhook, dispatcher.sender(webhook.instanceId), content, started, ports);
  const outcome = await receiver.post(url, body, headers);
  return { id: content.eventId, url, outcome, ms: time.now() - started };
}

/** Tests a connector. A connector posts no events, so the test checks the inbox that every delivery needs. */
async function tryChatwoot({ ports }: Supervisor, place: ChatwootPlace): Promise<WebhookTest> {
  const { chatwoot, chance, time } = ports;
  const started = time.now();
  const found = await chatwoot.check(place);
  const outcome = found.ok ? ({ ok: true, status: 200 } as const) : found;
  return { id: `test_${chance.hex(12)}`, url: place.url, outcome, ms: time.now() - started };
}

export const deliveryCommands = (supervisor: Supervisor): DeliveryCommands => ({
  async deliveries(owner, filter) {
    const webhooks = chosen(supervisor, owner, filter.webhook);
    return webhooks.ok ? done(await look(supervisor, webhooks.value, filter)) : webhooks;
  },
  async replay(owner, filter) {
    const webhooks = chosen(supervisor, owner, filter.webhook);
    return webhooks.ok ? done(await replay(supervisor, webhooks.value, filter)) : webhooks;
  },
  async testWebhook(owner, { webhook: id, type = 'test' }) {
    const webhooks = chosen(supervisor, owner, id);
    if (!webhooks.ok) return webhooks;
    const webhook = webhooks.value.find(({ managed }) => managed) ?? webhooks.value[0];
    if (!webhook) return refuse('notFound', 'Webhook not found');
    if (webhook.unreadable !== undefined) return refuse('conflict', unreadableWebhook);
    const { url, chatwoot } = webhook;
    return done(chatwoot ? await tryChatwoot(supervisor, { ...chatwoot, url }) : await tryOut(supervisor, webhook, type));
  },
});
