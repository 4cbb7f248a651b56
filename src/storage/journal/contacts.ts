/** The rules of the address book: what entries about chats say of the people behind them. */
import type { ChatPatch, Contact, Entry, PersonPair } from '#actors/model.ts';
import { keyText } from '../postgres/parameters.ts';
import { makeRowSet } from './columns.ts';

export interface ContactOutcome {
  readonly contacts: readonly Contact[];
  /** Ids of contacts that are kept under their number now. */
  readonly goneContacts: readonly string[];
}

const isPersonId = (id: string): boolean => id.endsWith('@s.whatsapp.net') || id.endsWith('@lid');

const names = ({ chatId, contactName, pushName }: ChatPatch): boolean =>
  isPersonId(chatId) && (contactName !== undefined || Boolean(pushName));

const patchesOf = (entry: Entry): readonly ChatPatch[] => {
  if (entry.kind === 'chat') return [entry.chat];
  return entry.kind === 'history' && entry.past.of === 'chats' ? entry.past.items : [];
};

/** Ids of the contacts that an entry is about. */
export const contactsIn = (entry: Entry): readonly string[] =>
  (entry.kind === 'samePerson' ? entry.people : patchesOf(entry).filter(names))
    .flatMap(({ chatId, chatLid = '' }) => [chatId, chatLid])
    .filter((id) => id !== '')
    .map(keyText);

export class ContactLedger {
  readonly #kept = new Map<string, Contact>();
  readonly #changed = new Map<string, Contact>();
  readonly #gone = new Set<string>();

  constructor(known: readonly Contact[]) {
    for (const contact of known) this.#kept.set(contact.contactId, contact);
  }

  /** Returns the known names of the person of a new chat. */
  namesOf(chatId: string): ChatPatch | null {
    const { name = '', pushName = '', lid = '' } = this.#kept.get(keyText(chatId)) ?? {};
    if (name === '' && pushName === '') return null;
    return { chatId, contactName: name, pushName, ...(lid === '' ? {} : { chatLid: lid }) };
  }

  /** Takes a patch. Returns true if the name in the address book changed. */
  apply(patch: ChatPatch): boolean {
    if (!names(patch)) return false;
    const contactId = keyText(patch.chatId);
    const lid = keyText(patch.chatLid ?? '');
    const twin = lid !== '' && lid !== contactId ? this.#kept.get(lid) : undefined;
    const before = this.#kept.get(contactId) ?? { contactId, lid: '', name: '', pushName: '' };
    const after: Contact = {
      contactId,
      lid: lid === contactId ? before.lid : lid || before.lid,
      name: patch.contactName === undefined ? before.name : keyText(patch.contactName),
      pushName: patch.pushName || before.pushName || (twin?.pushName ?? ''),
    };
    if (twin) this.#drop(twin.contactId);
    const isSame = before.lid === after.lid && before.name === after.name && before.pushName === after.pushName;
    const isNobody = after.name === '' && after.pushName === '' && !this.#kept.has(contactId);
    if (isSame || isNobody) return false;
    this.#kept.set(contactId, after);
    this.#changed.set(contactId, after);
    this.#gone.delete(contactId);
    return before.name !== after.name;
  }

  /** Merges the contact under the LID of a person into the contact under the number. */
  merge({ chatId, chatLid }: PersonPair): void {
    const twin = this.#kept.get(chatLid);
    if (twin === undefined) return;
    const kept = this.#kept.get(chatId);
    const name = kept?.name || twin.name;
    const contact: Contact = { contactId: chatId, lid: chatLid, name, pushName: kept?.pushName || twin.pushName };
    this.#drop(twin.contactId);
    this.#kept.set(chatId, contact);
    this.#changed.set(chatId, contact);
    this.#gone.delete(chatId);
  }

  outcome(): ContactOutcome {
    return { contacts: [...this.#changed.values()], goneContacts: [...this.#gone] };
  }

  #drop(contactId: string): void {
    this.#kept.delete(contactId);
    this.#changed.delete(contactId);
    this.#gone.add(contactId);
  }
}

// The columns of contacts, and the part of a commit that writes them.

/** Select list whose rows are `Contact`. */
export const contactFields = 'contact_id as "contactId", lid, name, push_name as "pushName"';

/** Contacts without a rule for those that are stored. */
export const newContactRows = (first: number) => {
  const rows = makeRowSet({ contactId: 'text', lid: 'text', name: 'text', pushName: 'text' }, first);
  return { ...rows, sql: `insert into contact (instance_id, ${rows.columns}) select $1, ${rows.values} from ${rows.from}` };
};

export const contactRows = (first: number) => {
  const rows = newContactRows(first);
  const sql = `${rows.sql}
    on conflict (instance_id, contact_id) do update set lid = excluded.lid, name = excluded.name, push_name = excluded.push_name`;
  return { ...rows, sql };
};

export const goneContactRows = (first: number) => {
  const rows = makeRowSet({ contactId: 'text' }, first);
  const sql = `delete from contact using ${rows.from}
    where instance_id = $1 and contact.contact_id = any(${rows.array('contactId')}) and contact.contact_id = fresh.contact_id`;
  return { ...rows, sql };
};
