/** The events of one commit, and their bodies for webhooks. An event that has no JSON costs only itself: it is set aside. */
import type { Delivery, GatewayEvent } from '#actors/model.ts';
import type { UnrenderedEvent } from '#actors/ports.ts';
import type { Outcome } from './outcome.ts';

export interface RenderInput {
  readonly instanceId: string;
  readonly at: number;
  eventId(): string;
  /** Webhooks that want an event. */
  targets(event: GatewayEvent): readonly string[];
}

export interface Rendered {
  readonly events: readonly GatewayEvent[];
  readonly waiting: readonly Omit<Delivery, 'seq'>[];
  readonly unrendered: readonly UnrenderedEvent[];
}

const waitingOf = (event: GatewayEvent, webhooks: readonly string[]): readonly Omit<Delivery, 'seq'>[] => {
  if (webhooks.length === 0) return [];
  const { id: eventId, instanceId, type, messageType, lane, at } = event;
  const body = JSON.stringify(event.payload);
  return webhooks.map((webhookId) => ({ webhookId, instanceId, eventId, type, messageType, lane, body, attempts: 0, at, notBefore: 0 }));
};

export const render = (outcome: Pick<Outcome, 'events' | 'unrendered'>, { instanceId, at, eventId, targets }: RenderInput): Rendered => {
  const events: GatewayEvent[] = [];
  const waiting: Omit<Delivery, 'seq'>[] = [];
  const unrendered = outcome.unrendered.map(({ type, error }): UnrenderedEvent => {
    const event = { id: eventId(), instanceId, type, messageType: '', lane: '', message: null, at, payload: {} };
    return { id: event.id, type, messageType: '', webhooks: targets(event), error };
  });
  for (const draft of outcome.events) {
    const event: GatewayEvent = { ...draft, id: eventId(), instanceId, at };
    const webhooks = targets(event);
    try {
      waiting.push(...waitingOf(event, webhooks));
      events.push(event);
    } catch (error) {
      unrendered.push({ id: event.id, type: event.type, messageType: event.messageType, webhooks, error });
    }
  }
  return { events, waiting, unrendered };
};
