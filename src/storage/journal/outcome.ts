/** The input of the ledger, and the outcome that the journal writes. */
import type { Chat, Contact, Definition, EventType, Group, PersonPair, Receipt, UsedSendKey } from '#actors/model.ts';
import type { CampaignOutcome } from './campaigns.ts';
import type { ChatOutcome } from './chat-ledger.ts';
import type { StoredMessage } from './columns.ts';
import type { ContactOutcome } from './contacts.ts';
import type { DefinitionOutcome } from './definitions.ts';
import type { EventDraft } from './event-drafts.ts';
import type { GroupOutcome } from './groups.ts';
import type { Erasure } from './message-ledger.ts';

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
  /** `raw` is not known of these. */
  readonly revisedMessages: readonly StoredMessage[];
  readonly chats: readonly ChatOutcome[];
  /** Chats whose stored messages are now read by the account. */
  readonly readChats: readonly string[];
  /** Chats whose stored rows go, before anything else is written. */
  readonly removedChats: readonly string[];
  /** Chats whose stored messages go, before anything else is written. */
  readonly erasures: readonly Erasure[];
  /** People whose stored messages move from the LID to the number, before all other writes. */
  readonly merged: readonly PersonPair[];
  readonly sendKeys: readonly UsedSendKey[];
  readonly receipts: readonly Receipt[];
  readonly events: readonly EventDraft[];
  /** Events that could not be made. */
  readonly unrendered: readonly { readonly type: EventType; readonly error: unknown }[];
}
