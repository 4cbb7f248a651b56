/** The input of the ledger, the outcome that the journal writes, and the bodies of its events for webhooks. */
import type {
  Chat,
  Contact,
  Definition,
  Delivery,
  EventType,
  GatewayEvent,
  Group,
  PersonPair,
  Receipt,
  UsedSendKey,
} from '#actors/model.ts';
import type { UnrenderedEvent } from '#actors/ports.ts';
import type { CampaignOutcome } from './campaigns.ts';
import type { ChatOutcome } from './chat-ledger.ts';
import type { StoredMessage } from './columns.ts';
import type { ContactOutcome, GroupOutcome } from './people.ts';
import type { DefinitionOutcome } from './definitions.ts';
import type { EventDraft } from './event-drafts.ts';
import type { Erasure } from './message-ledger.ts';

// The input of the ledger, and the outcome that the journal writes.

export interface Known {
  readonly messages: readonly StoredMessage[];
  readonly chats: readonly Chat[];
  readonly groups?: readonly Group[];
  readonly contacts?: readonly Contact[];
  readonly definitions?: readonly Definition[];
}

export interface Outcome extends GroupOutcome, ContactOutcome, DefinitionOutcome, CampaignOutcome {
  readonly freshMessages: readonly StoredMessage[];
  readonly changedMessages: readonly StoredMessage[];
  readonly composedMessages: readonly StoredMessage[];
  /** Messages with changed visible fields. Their `raw` is not loaded. */
  readonly revisedMessages: readonly StoredMessage[];
  readonly chats: readonly ChatOutcome[];
  /** Chats whose stored messages become read. */
  readonly readChats: readonly string[];
  /** Chats whose stored rows are deleted before all other writes. */
  readonly removedChats: readonly string[];
  /** Stored messages that are deleted before all other writes. */
  readonly erasures: readonly Erasure[];
  /** People whose stored messages move from the LID to the number, before all other writes. */
  readonly merged: readonly PersonPair[];
  readonly sendKeys: readonly UsedSendKey[];
  readonly receipts: readonly Receipt[];
  readonly events: readonly EventDraft[];
  /** Events of an earlier commit whose answer was lost. Their deliveries are stored already. Absent if there are none. */
  readonly repeats?: readonly EventDraft[];
  /** Events that could not be built. */
  readonly unrendered: readonly { readonly type: EventType; readonly error: unknown }[];
}

// The events of one commit, and their bodies for webhooks. An event that cannot be written as JSON does not affect the other events.

interface RenderInput {
  readonly instanceId: string;
  readonly at: number;
  eventId(): string;
  /** Returns the ids of the webhooks that subscribe to an event. */
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
  const facts = { instanceId, eventId, type, messageType, lane, body, size: Buffer.byteLength(body), attempts: 0, at, notBefore: 0 };
  return webhooks.map((webhookId) => ({ webhookId, ...facts }));
};

export const render = (
  outcome: Pick<Outcome, 'events' | 'repeats' | 'unrendered'>,
  { instanceId, at, eventId, targets }: RenderInput,
): Rendered => {
  const events: GatewayEvent[] = [];
  const waiting: Omit<Delivery, 'seq'>[] = [];
  const unrendered = outcome.unrendered.map(({ type, error }): UnrenderedEvent => {
    const event = { id: eventId(), instanceId, type, messageType: '', lane: '', message: null, at, payload: {} };
    return { id: event.id, type, messageType: '', webhooks: targets(event), error };
  });
  for (const draft of outcome.repeats ?? []) events.push({ ...draft, id: eventId(), instanceId, at });
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
