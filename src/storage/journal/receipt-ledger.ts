/** The rules of receipts: of own messages in groups, what each member confirmed first. */
import { type Entry, type Message, type Receipt, receiptStates } from '#actors/model.ts';

type StatusEntry = Extract<Entry, { kind: 'status' }>;

const timeOf = { Delivered: 'deliveredAt', Read: 'readAt', Played: 'playedAt' } as const;

/** The receipts of one commit. */
export class ReceiptLedger {
  readonly #receipts = new Map<string, Receipt>();

  note({ messageId, isGroup, fromMe }: Message, entry: StatusEntry): void {
    const state = receiptStates.find((one) => one === entry.status);
    const member = entry.senderLid || entry.senderPn || entry.sender;
    if (state === undefined || !isGroup || !fromMe || entry.fromMe || member === '') return;
    const key = `${messageId} ${member}`;
    const nothing = { messageId, member, memberPn: entry.senderPn, deliveredAt: 0, readAt: 0, playedAt: 0 };
    const known = this.#receipts.get(key) ?? nothing;
    const time = timeOf[state];
    if (known[time] === 0) this.#receipts.set(key, { ...known, [time]: Math.max(1, entry.at) });
  }

  outcome(): readonly Receipt[] {
    return [...this.#receipts.values()];
  }
}
