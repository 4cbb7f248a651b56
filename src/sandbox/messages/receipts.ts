/** Receipts: records confirmations by person and message, and notifies the author's devices. */
import { isGroupOrStatus, jidOf, pnJid, statusJid, type Addressing } from '../address.ts';
import { readerReceipt } from '../status-posts.ts';
import { SandboxError, type Digits } from '../interface.ts';
import type { Groups } from '../groups.ts';
import type { Connections } from '../connections.ts';
import { node, unixSeconds } from '../nodes.ts';
import type { People, Person } from '../people.ts';
import type { Confirmed, MessageStore, Stored } from '../store/messages.ts';

export type ReceiptKind = 'delivered' | 'read' | 'played';

const order: readonly Confirmed[] = ['none', 'delivered', 'read', 'played'];
/** Largest number of remembered receipts. If several devices of one person send the same receipt, it is forwarded once. */
const maxRemembered = 20_000;

/** The chat of a confirmed message, as the stanza names it. */
interface ReceiptPlace {
  readonly addressing: Addressing;
  /** The jid of the group or of the status chat; absent in a private chat. */
  readonly group?: string | undefined;
}

export class Receipts {
  readonly #people: People;
  readonly #connections: Connections;
  readonly #groups: Groups;
  readonly #messages: MessageStore;
  readonly #given = new Set<string>();

  constructor(people: People, connections: Connections, groups: Groups, messages: MessageStore) {
    this.#people = people;
    this.#connections = connections;
    this.#groups = groups;
    this.#messages = messages;
  }

  /** Sends the receipt of `by` for the author's message `id` to all devices of the author, once. */
  give(by: Person, author: Person, id: string, kind: ReceiptKind, { addressing, group }: ReceiptPlace): void {
    const once = receiptName(by, author, id, kind);
    if (this.#given.has(once)) return;
    this.#given.add(once);
    if (this.#given.size > maxRemembered) this.#given.delete(this.#given.values().next().value ?? '');
    const jid = jidOf(by, addressing);
    const attrs = {
      from: group ?? jid,
      participant: group === undefined ? undefined : jid,
      id,
      type: kind === 'delivered' ? undefined : kind,
      t: unixSeconds(Date.now()),
    };
    const stanza = group === statusJid ? readerReceipt(jidOf(by, 'lid'), id, kind, Date.now()) : node('receipt', attrs);
    for (const device of this.#people.devices(author.number)) this.#connections.deliver(device, stanza);
    this.#people.emit({ type: 'receipt', to: author.number, id, kind, by: by.number });
  }

  /** Confirms received messages, on behalf of the owner of a phone. */
  confirm(person: Person, input: { readonly type: ReceiptKind; readonly ids?: readonly string[]; readonly chat?: string }): void {
    const chosen = input.ids ? input.ids.map((id) => this.#received(person, id)) : this.#unconfirmed(person, input.chat, input.type);
    for (const one of chosen) this.confirmOne(person, one, input.type);
  }

  /** Notes the confirmation of a message, and sends its receipt. With `again`, a receipt that was sent before is sent again. */
  confirmOne(person: Person, message: Stored, kind: ReceiptKind, again = false): void {
    if (order.indexOf(kind) > order.indexOf(message.confirmed)) this.#messages.confirm(message, kind);
    const group = isGroupOrStatus(message.chat) ? message.chat : undefined;
    const addressing = this.#groups.find(message.chat)?.addressing ?? message.extra.addressing;
    const author = this.#people.ensure(message.author);
    if (again) this.#given.delete(receiptName(person, author, message.id, kind));
    this.give(person, author, message.id, kind, { addressing, group });
  }

  #received(person: Person, id: string): Stored {
    const found = this.#messages.find(person.number, id);
    if (!found?.view) throw new SandboxError(404, `${person.number} received no message ${id.slice(0, 80)}`);
    return found;
  }

  #unconfirmed(person: Person, chat: string | undefined, kind: ReceiptKind): Stored[] {
    if (chat === undefined) throw new SandboxError(400, 'say which messages: `ids` or `chat`');
    return this.#messages
      .inChat(person.number, toChat(chat))
      .filter((one) => one.content !== undefined && order.indexOf(one.confirmed) < order.indexOf(kind));
  }
}

const receiptName = (by: Person, author: Person, id: string, kind: ReceiptKind): string => `${by.number} ${author.number} ${id} ${kind}`;

/** Turns a number into the jid of the person's chat. */
const toChat = (chat: string | Digits): string => (chat.includes('@') ? chat : pnJid(chat));
