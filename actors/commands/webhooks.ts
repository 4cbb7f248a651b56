/** Commands on webhooks. The rules are in `events/webhook-config.ts`. The commands store the changes and notify the couriers. */
import type { ErrorHistory, Gateway, SavedWebhooks, WebhookInput } from '../views.ts';
import { changeOf } from '../delivery/webhook-config.ts';
import { privateOf } from '../delivery/webhook-secrets.ts';
import { createKeyedMutex } from '../keyed-mutex.ts';
import { done, refuse, unreadableWebhook, type InstanceId, type Result, type Webhook } from '../model.ts';
import type { Supervisor } from '../supervisor.ts';

type WebhookCommands = Pick<
  Gateway,
  'webhooks' | 'saveWebhook' | 'webhookErrors' | 'globalWebhook' | 'saveGlobalWebhook' | 'globalWebhookErrors' | 'subscribe' | 'past'
>;

/** The setting that holds the id of the global webhook. */
const globalKey = 'webhook.global';
/** The epoch of global webhooks, which have no instance. */
const noEpoch = 0;

/** Creates the functions that store changes and notify the couriers. */
const writerOf = (supervisor: Supervisor) => {
  const { ports, dispatcher } = supervisor;
  return {
    /** Returns the reason why the receiver may not be posted to, or null. */
    objectionTo: ({ url, action }: WebhookInput): string | null =>
      url === '' || action === 'delete' ? null : ports.receiver.objection(url),

    /** Returns the id of the webhook whose secret is to be shown; '' for none. */
    async save(webhook: Webhook, epoch: number, input: WebhookInput): Promise<Result<string>> {
      // The gateway cannot know whether events were signed, so the caller must say whether they are signed from now on.
      if (webhook.unreadable !== undefined && input.secret === undefined) return refuse('invalid', unreadableWebhook);
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
      supervisor.chores.wakeRemover();
      return done('');
    },
  };
};

type Writer = ReturnType<typeof writerOf>;

const changeOwn = async (supervisor: Supervisor, writer: Writer, id: InstanceId, input: WebhookInput): Promise<Result<SavedWebhooks>> => {
  const { ports, dispatcher, registry } = supervisor;
  const epoch = registry.record(id)?.epoch ?? 0;
  const objection = writer.objectionTo(input);
  if (objection !== null) return refuse('invalid', objection);
  const situation = { instanceId: id, current: dispatcher.webhooks.receivers(id), newId: ports.chance.hex(12), now: ports.time.now() };
  const change = changeOf(situation, input);
  if (!change.ok) return change;
  const most = supervisor.policy.webhooksPerInstance;
  const isNew = 'save' in change.value && change.value.save.id === situation.newId;
  if (isNew && situation.current.length >= most) return refuse('invalid', `Maximum number of webhooks per instance reached (${most})`);
  const revealed =
    'save' in change.value ? await writer.save(change.value.save, epoch, input) : await writer.remove(change.value.remove, id, epoch);
  return revealed.ok ? done({ webhooks: dispatcher.webhooks.receivers(id), revealed: revealed.value }) : revealed;
};

/** Returns the id of the global webhook. Nodes agree on the id before one of them creates it, so concurrent requests create one webhook. */
const globalId = async ({ ports, dispatcher, cluster }: Supervisor): Promise<string> => {
  await cluster?.refreshed();
  const wished = dispatcher.webhooks.receivers(null)[0]?.id ?? ports.chance.hex(12);
  return (await ports.settings.swap(globalKey, null, wished)) ? wished : ((await ports.settings.get(globalKey)) ?? wished);
};

const changeGlobal = async (supervisor: Supervisor, writer: Writer, given: WebhookInput): Promise<Result<SavedWebhooks>> => {
  const { ports, dispatcher } = supervisor;
  const input: WebhookInput = { ...given, action: '', id: '', enabled: given.enabled ?? true };
  const objection = writer.objectionTo(input);
  if (objection !== null) return refuse('invalid', objection);
  const newId = await globalId(supervisor);
  const receivers = dispatcher.webhooks.receivers(null);
  const current = receivers.filter(({ id }) => id === newId);
  const change = changeOf({ instanceId: null, current, newId, now: ports.time.now() }, input);
  if (!change.ok) return change;
  if (!('save' in change.value)) return refuse('invalid', 'the global webhook is switched off with enabled: false');
  const revealed = await writer.save(change.value.save, noEpoch, input);
  // Earlier versions could create several on several nodes.
  const others = receivers.filter(({ id }) => id !== newId).map(({ id }) => id);
  if (revealed.ok && others.length > 0) await writer.remove(others, null, noEpoch);
  return revealed.ok ? done({ webhooks: dispatcher.webhooks.receivers(null), revealed: revealed.value }) : revealed;
};

export function webhookCommands(supervisor: Supervisor): WebhookCommands {
  const { dispatcher } = supervisor;
  const writer = writerOf(supervisor);
  /** The mutex allows one change at a time for each owner, because two concurrent simple-mode requests must not create two webhooks. */
  const mutex = createKeyedMutex();
  const history = (errors: ErrorHistory['errors']): ErrorHistory => ({ since: supervisor.since, errors });

  return {
    webhooks: (id) => dispatcher.webhooks.receivers(id),
    saveWebhook: (id, input) => mutex.run(id, () => changeOwn(supervisor, writer, id, input)),
    webhookErrors: async (id) => history(supervisor.cell(id)?.history.errors ?? []),
    globalWebhook: () => dispatcher.webhooks.receivers(null)[0] ?? null,
    saveGlobalWebhook: (input) => mutex.run('', () => changeGlobal(supervisor, writer, input)),
    globalWebhookErrors: async () => (await supervisor.cluster?.others?.globalErrors()) ?? history(dispatcher.globalHistory.errors),
    past: async (id) => (await supervisor.cluster?.streams?.past(id)) ?? null,
    subscribe(id, onEvent, onEnd, onGap) {
      const streams = supervisor.cluster?.streams;
      if (streams) return streams.subscribe(id, onEvent, onEnd, onGap);
      const cell = supervisor.cell(id);
      if (cell) return cell.feed.subscribe(onEvent, onEnd);
      onEnd();
      return () => undefined;
    },
  };
}
