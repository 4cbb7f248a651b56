/** Tests the contract of every store of contacts: the address book in pages, contacts outside it, one contact by its ids, and changes by entries. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Entry } from '#actors/model.ts';
import { type Bench, benchOf, chat, kindsOf, type Open, past } from './entries.ts';

const named = (chatId: string, names: { readonly contactName?: string; readonly pushName?: string; readonly chatLid?: string }): Entry =>
  chat({ chatId, ...names }, { create: false, tell: 'contacts' });

const pages: readonly (readonly [scope: 'address_book' | 'outside_address_book' | 'all', limit: number, offset: number, found: string])[] =
  [
    ['address_book', 10, 0, '3 1/2/2'],
    ['address_book', 1, 1, '1/2/2'],
    ['outside_address_book', 10, 0, '2 4/2/2'],
    ['all', 10, 0, '1 2 3 4/4/2'],
    ['all', 2, 3, '4/4/2'],
    ['all', 2, 9, '/4/2'],
  ];

const declareNewChats = (opened: () => Bench): void => {
  test('a chat that is made has the names of its person', async () => {
    await opened().commit(
      named('11@s.whatsapp.net', { contactName: 'Eli', pushName: 'eli', chatLid: '111@lid' }),
      named('12@s.whatsapp.net', { pushName: 'twelve' }),
    );
    await opened().commit(
      chat({ chatId: '11@s.whatsapp.net' }),
      chat({ chatId: '12@s.whatsapp.net' }),
      chat({ chatId: '13@s.whatsapp.net' }),
    );
    const names = async (id: string): Promise<unknown> => {
      const made = await opened().chat(`${id}@s.whatsapp.net`);
      return [made?.contactName, made?.pushName, made?.chatLid];
    };
    assert.deepEqual(
      [await names('11'), await names('12'), await names('13')],
      [
        ['Eli', 'eli', '111@lid'],
        ['', 'twelve', ''],
        ['', '', ''],
      ],
    );
    assert.equal((await opened().chat('11@s.whatsapp.net'))?.name, 'Eli');
  });
};

export const contactStoreSuite = (kind: string, open: Open): void => {
  describe(`contacts, ${kind}`, () => {
    let opened: Bench;
    const found = async (scope: 'address_book' | 'outside_address_book' | 'all', limit = 10, offset = 0): Promise<string> => {
      const { contacts, total, saved } = await opened.stores.contacts.list(opened.record.id, { scope, limit, offset });
      return `${contacts.map(({ contactId }) => contactId[0]).join(' ')}/${total}/${saved}`;
    };
    before(async () => {
      opened = await benchOf(open, 'rcontacts');
      const other = await benchOf(async () => opened.stores, 'rother');
      await other.commit(named('9@s.whatsapp.net', { contactName: 'Other' }));
      await opened.commit(
        named('1@s.whatsapp.net', { contactName: 'Zoe' }),
        named('2@s.whatsapp.net', { pushName: 'two' }),
        past({ of: 'chats', items: [{ chatId: '3@s.whatsapp.net', contactName: 'Ana' }] }),
        named('4@lid', { pushName: 'four' }),
        // Groups, and people without a name, are no contacts.
        chat({ chatId: '5@g.us', contactName: 'Room' }),
        chat({ chatId: '6@s.whatsapp.net', contactName: '' }),
        chat({ chatId: '7@s.whatsapp.net', pinned: true }),
      );
    });

    for (const [scope, limit, offset, expected] of pages)
      test(`${limit} of ${scope} behind ${offset}: ${expected}`, async () => assert.equal(await found(scope, limit, offset), expected));

    test('one in the address book by its ids, the first that is there', async () => {
      const { contacts } = opened.stores;
      const one = await contacts.saved(opened.record.id, ['8@s.whatsapp.net', '1@s.whatsapp.net', '3@s.whatsapp.net']);
      assert.deepEqual(one, { contactId: '1@s.whatsapp.net', lid: '', name: 'Zoe', pushName: '' });
      assert.equal(await contacts.saved(opened.record.id, ['2@s.whatsapp.net', '9@s.whatsapp.net']), null);
    });

    test('a name that comes, changes and goes is an event without a chat too; the same name again is none', async () => {
      const events = async (contactName: string) => kindsOf(await opened.commit(named('8@s.whatsapp.net', { contactName })));
      assert.deepEqual(
        [await events('Eva'), await events('Eva'), await events('Eve'), await events(''), await events('')],
        [['contacts'], [], ['contacts'], ['contacts'], []],
      );
      assert.equal(await opened.chat('8@s.whatsapp.net'), null);
    });

    test('somebody who was known by a LID is kept under the number from then on', async () => {
      await opened.commit(named('4@s.whatsapp.net', { chatLid: '4@lid', contactName: 'Four' }));
      const { contacts } = await opened.stores.contacts.list(opened.record.id, { scope: 'all', limit: 10, offset: 0 });
      assert.deepEqual(
        contacts.filter(({ contactId }) => contactId.startsWith('4@')),
        [{ contactId: '4@s.whatsapp.net', lid: '4@lid', name: 'Four', pushName: 'four' }],
      );
    });
    declareNewChats(() => opened);
  });
};
