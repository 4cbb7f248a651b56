/** Reports events that cannot be rendered. The owner of a webhook finds these events in the error history. */
import type { CourierHost } from '../delivery/courier-host.ts';
import type { InstanceId, Webhook } from '../model.ts';
import type { Ports, UnrenderedEvent } from '../ports.ts';
import type { Vitals } from './vitals.ts';

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
