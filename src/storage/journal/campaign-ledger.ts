/** The rules of campaigns: what happens to a message says what became of its recipient, and how far the messages of a campaign got. */
import type { CampaignChange, Entry, Message, MessageStatus, RecipientChange } from '#actors/model.ts';
import { rank } from './message-ledger.ts';
import { keyText } from '../postgres/texts.ts';

export interface CampaignOutcome {
  /** One for each recipient. */
  readonly recipients: readonly RecipientChange[];
  /** One for each campaign. */
  readonly campaigns: readonly CampaignChange[];
  /** Chats that get no campaigns from now on. */
  readonly optOuts: readonly { readonly chatId: string; readonly at: number }[];
}

type Of<K extends Entry['kind']> = Extract<Entry, { kind: K }>;

const confirmations = { delivered: 'Delivered', read: 'Read', played: 'Played' } as const;

export class CampaignLedger {
  /** The last state of each recipient, by campaign and position. */
  readonly #recipients = new Map<string, RecipientChange>();
  readonly #campaigns = new Map<string, CampaignChange>();
  readonly #optOuts = new Map<string, number>();

  /** A message was accepted: its frame leaves from now on. */
  queued({ sendFolderId: campaignId = '', sendPosition: position = 0, messageId, timestamp }: Message): void {
    if (campaignId !== '') this.#put({ campaignId, position, state: 'sending', error: '', messageId, at: timestamp });
  }

  /** A message got further. A receipt also tells of one that left without an answer. */
  progressed(message: Pick<Message, 'sendFolderId' | 'sendPosition' | 'status'>, to: MessageStatus, at: number): void {
    const { sendFolderId: campaignId = '', sendPosition: position = 0, status: from } = message;
    if (campaignId === '') return;
    if (rank(from) < rank('Sent') && rank(to) >= rank('Sent') && to !== 'Deleted')
      this.#put({ campaignId, position, state: 'sent', error: '', messageId: '', at });
    const reached = (status: MessageStatus): number => (rank(from) < rank(status) && rank(to) >= rank(status) ? 1 : 0);
    if (to === 'Deleted' || !Object.values(confirmations).some((status) => reached(status) > 0)) return;
    const known = this.#campaign(campaignId, at);
    this.#campaigns.set(campaignId, {
      ...known,
      delivered: known.delivered + reached(confirmations.delivered),
      read: known.read + reached(confirmations.read),
      played: known.played + reached(confirmations.played),
    });
  }

  recipient({ campaignId, position, state, error, at }: Of<'recipient'>): void {
    this.#put({ campaignId, position, state, error, messageId: '', at });
  }

  changed({ campaign: { id }, status, reason, at }: Of<'campaign'>): void {
    this.#campaigns.set(id, { ...this.#campaign(id, at), status, reason });
  }

  optOut({ chatId: given, at }: Of<'optOut'>): void {
    const chatId = keyText(given);
    this.#optOuts.set(chatId, this.#optOuts.get(chatId) ?? at);
  }

  outcome(): CampaignOutcome {
    return {
      recipients: [...this.#recipients.values()],
      campaigns: [...this.#campaigns.values()],
      optOuts: [...this.#optOuts].map(([chatId, at]) => ({ chatId, at })),
    };
  }

  #put(change: RecipientChange): void {
    const key = `${change.campaignId} ${change.position}`;
    const messageId = change.messageId || (this.#recipients.get(key)?.messageId ?? '');
    this.#recipients.set(key, { ...change, messageId });
  }

  #campaign(campaignId: string, at: number): CampaignChange {
    return this.#campaigns.get(campaignId) ?? { campaignId, status: '', reason: '', delivered: 0, read: 0, played: 0, at };
  }
}
