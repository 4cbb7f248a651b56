/** The recorder of an instance, the detection of opt-outs, and the reports of events that cannot be rendered. */
import type { CourierHost } from '../delivery/courier-host.ts';
import { Recorder, type RecorderInput, refusalNameOf } from '../delivery/recorder.ts';
import type { Entry, GatewayEvent, InstanceId, InstanceRecord, Message, Status, Webhook } from '../model.ts';
import { asksToStop, type CampaignPolicy } from '../policy/campaign-policy.ts';
import type { Policy } from '../policy/policy.ts';
import { type Ports, StorageBroken, type UnrenderedEvent } from '../ports.ts';
import type { Vitals } from './vitals.ts';

// Makes the recorder of an instance on the journal of its storage.

interface RecordingInput extends Pick<RecorderInput, 'workers' | 'committed'> {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly record: () => InstanceRecord;
  /** Returns the ids of the webhooks that get the event. */
  readonly targets: (event: GatewayEvent) => readonly string[];
}

export const recorderOf = ({ ports, policy, record, targets, workers, committed }: RecordingInput): Recorder =>
  new Recorder({
    instance: record().id,
    time: ports.time,
    log: ports.log,
    meter: ports.meter,
    workers,
    limits: policy.recorder,
    commit: (entries, again) => ports.journal.commit(record(), entries, targets, again),
    committed,
    async keep(entry, error) {
      const { id: instanceId, epoch } = record();
      if (await ports.refused.keep({ instanceId, epoch }, entry, refusalNameOf(error))) return;
      throw new StorageBroken('no more refused entries can be kept for a session: try them again, or discard them (GET /admin/refused)');
    },
  });

/** The names under which announced changes of the connection are logged. */
export const changeNames: Readonly<Record<Status, string>> = {
  connecting: 'session.pairing',
  connected: 'session.connected',
  disconnected: 'session.disconnected',
  hibernated: 'session.hibernated',
};

// Detects opt-outs: contacts who send a stop word of the settings as a whole message.

const isContact = ({ chatId, fromMe, isGroup }: Message): boolean => !fromMe && !isGroup && /@(s\.whatsapp\.net|lid)$/.test(chatId);

/** Inserts an opt-out after each message that opts out, so that both entries are stored together. */
export const withOptOuts = (policy: CampaignPolicy, entries: readonly Entry[]): readonly Entry[] => {
  const leaves = (entry: Entry): boolean => entry.kind === 'message' && isContact(entry.message) && asksToStop(policy, entry.message.text);
  if (!entries.some(leaves)) return entries;
  return entries.flatMap((entry) => {
    if (entry.kind !== 'message' || !leaves(entry)) return [entry];
    const { chatId, timestamp } = entry.message;
    return [entry, { kind: 'optOut', chatId, at: timestamp }];
  });
};

// Reports events that cannot be rendered. The owner of a webhook finds these events in the error history.

interface Surroundings {
  readonly ports: Pick<Ports, 'log'>;
  readonly couriers: CourierHost;
  readonly webhooks: () => readonly Webhook[];
}

export function setAside(
  { id, type, messageType, webhooks: wanted, error }: UnrenderedEvent,
  instance: InstanceId,
  { ports, couriers, webhooks }: Surroundings,
  vitals: Vitals,
): void {
  ports.log.error({ instance, event: type, error }, 'event.setAside');
  vitals.setAside();
  const text = `the event could not be rendered: ${error instanceof Error ? error.message : String(error)}`;
  const failure = { event: type, messageType, statusCode: null, attempts: 0, error: text, payload: {} };
  for (const webhook of webhooks()) if (wanted.includes(webhook.id)) couriers.failed(instance, webhook, id, failure);
}
