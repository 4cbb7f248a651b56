/** Questions about the address book: pages, counts, one contact by its ids. */
import type { Contact, ContactScope } from '#actors/model.ts';
import type { ContactStore } from '#actors/ports.ts';
import { contactFields } from '../journal/contact-rows.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { keyText } from '../postgres/texts.ts';

/** Condition and order, both by an index that begins with the instance. */
const scopes: Readonly<Record<ContactScope, readonly [where: string, order: string]>> = {
  address_book: [`name <> ''`, 'name, contact_id'],
  outside_address_book: [`name = ''`, 'contact_id'],
  all: ['true', 'contact_id'],
};

/** $1 instance, $2 limit, $3 offset. */
const pageOf = (scope: ContactScope): Statement => {
  const [where, order] = scopes[scope];
  return {
    name: `contact-page-${scope}`,
    text: `select ${contactFields} from contact where instance_id = $1 and ${where} order by ${order} limit $2 offset $3`,
  };
};

export const contactStatements = {
  address_book: pageOf('address_book'),
  outside_address_book: pageOf('outside_address_book'),
  all: pageOf('all'),
  counts: {
    name: 'contact-counts',
    text: `select count(*)::int as "all", count(*) filter (where name <> '')::int as address_book from contact where instance_id = $1`,
  },
  /** $2 ids. A number of a contact that is kept by number is never the LID of another. */
  saved: {
    name: 'contact-saved',
    text: `select ${contactFields} from contact where instance_id = $1 and contact_id = any($2::text[]) and name <> ''
      order by array_position($2::text[], contact_id) limit 1`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface Counts {
  readonly all: number;
  readonly address_book: number;
}

export const makeContactStore = (database: Database): ContactStore => ({
  async list(instance, { scope, limit, offset }) {
    const [contacts, [counts]] = await Promise.all([
      database.rows<Contact>(contactStatements[scope], [instance, limit, offset]),
      database.rows<Counts>(contactStatements.counts, [instance]),
    ]);
    const { all = 0, address_book: saved = 0 } = counts ?? {};
    const total = { all, address_book: saved, outside_address_book: all - saved }[scope];
    return { contacts, total, saved };
  },
  saved: async (instance, ids) => (await database.rows<Contact>(contactStatements.saved, [instance, ids.map(keyText)]))[0] ?? null,
});
