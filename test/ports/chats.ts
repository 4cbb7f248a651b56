/** Tests the contract of every store of chats without filters: pages by the last message, one chat by a name, counts. Filters need PostgreSQL. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { PersonPair } from '#actors/model.ts';
import { type Bench, benchOf, chat, type Open } from './entries.ts';

const entries = [
  chat({ chatId: '1@s.whatsapp.net', unreadCount: 3, archived: true, lastMessageTimestamp: 300 }),
  chat({ chatId: '2@s.whatsapp.net', pinned: true, blocked: true, lastMessageTimestamp: 100 }),
  chat({ chatId: '3@g.us', unreadCount: 12, groupAdmin: true, groupMember: true, groupAnnounce: true, lastMessageTimestamp: 200 }),
  chat({ chatId: '4@lid', groupAdmin: true, lastMessageTimestamp: 100 }),
];

const pages: readonly (readonly [limit: number, offset: number, found: string])[] = [
  [10, 0, '1342/4'],
  [2, 0, '13/4'],
  [2, 2, '42/4'],
  [4, 0, '1342/4'],
  [2, 9, '/4'],
];

const declareRemovals = (opened: () => Bench): void => {
  test('one that is marked as unread counts one message, unless it counts some; one that was removed is made anew', async () => {
    const unread = async (): Promise<unknown> => (await opened().chat('7@g.us'))?.unreadCount;
    const mark = { kind: 'chatUnread', chatId: '7@g.us' } as const;
    await opened().commit(chat({ chatId: '7@g.us', notes: 'old' }), mark);
    assert.equal(await unread(), 1);
    await opened().commit(chat({ chatId: '7@g.us', unreadCount: 4 }), mark);
    assert.equal(await unread(), 4);
    await opened().commit(chat({ chatId: '7@g.us', pinned: true }), { kind: 'chatRemoved', chatId: '7@g.us' });
    assert.equal(await opened().chat('7@g.us'), null);
    await opened().commit(
      chat({ chatId: '7@g.us' }),
      { kind: 'chatRemoved', chatId: '7@g.us' },
      chat({ chatId: '7@g.us', archived: true }),
    );
    const { notes, pinned, archived } = (await opened().chat('7@g.us')) ?? {};
    assert.deepEqual([notes, pinned, archived], ['', false, true]);
    await opened().commit({ kind: 'chatRemoved', chatId: '7@g.us' }, { kind: 'chatRemoved', chatId: '8@g.us' });
  });
};

const declareTimers = (opened: () => Bench): void => {
  test('those of two people whose messages disappear', async () => {
    const timers = () => opened().stores.chats.timers(opened().record.id);
    assert.deepEqual(await timers(), []);
    await opened().commit(
      chat({ chatId: '1@s.whatsapp.net', ephemeralExpiration: 60 }),
      chat({ chatId: '3@g.us', ephemeralExpiration: 60 }),
      chat({ chatId: '4@lid', ephemeralExpiration: 90 }),
    );
    assert.deepEqual(await timers(), [
      { chatId: '1@s.whatsapp.net', seconds: 60 },
      { chatId: '4@lid', seconds: 90 },
    ]);
    await opened().commit(chat({ chatId: '1@s.whatsapp.net', ephemeralExpiration: 0 }));
    assert.deepEqual(await timers(), [{ chatId: '4@lid', seconds: 90 }]);
  });
};

const declareTags = (opened: () => Bench): void => {
  test('a tag that is renamed has its new name in the chats that carry it, each with an event', async () => {
    const tagged = (tag: string, after = '', limit = 9) => opened().stores.chats.tagged(opened().record.id, tag, after, limit);
    const carrying = (chatId: string, tags: readonly string[]) => chat({ chatId, extra: { lead_tags: tags } });
    await opened().commit(carrying('1@s.whatsapp.net', ['vip', 'late']), carrying('3@g.us', ['VIP']), carrying('4@lid', ['gold', 'vip']));
    assert.deepEqual(await tagged('vip'), ['1@s.whatsapp.net', '4@lid']);
    assert.deepEqual([await tagged('vip', '1@s.whatsapp.net'), await tagged('vip', '', 1)], [['4@lid'], ['1@s.whatsapp.net']]);
    const renamed = (chatId: string) => ({ kind: 'retagged', chatId, from: 'vip', to: 'gold' }) as const;
    const { events } = await opened().commit(...['1@s.whatsapp.net', '3@g.us', '4@lid', '9@lid'].map(renamed));
    assert.deepEqual(
      events.map(({ type }) => type),
      ['chats', 'chats'],
    );
    assert.deepEqual(await tagged('vip'), []);
    assert.deepEqual((await opened().chat('1@s.whatsapp.net'))?.extra['lead_tags'], ['gold', 'late']);
    assert.deepEqual((await opened().chat('4@lid'))?.extra['lead_tags'], ['gold']);
  });
};

const declareBlocklists = (opened: () => Bench): void => {
  test('a whole list of blocked people also frees the chats of all others, by number and by LID', async () => {
    const [listed, freed, freedLid, named] = ['21@s.whatsapp.net', '22@s.whatsapp.net', '23@lid', '24@s.whatsapp.net'] as const;
    await opened().commit(
      chat({ chatId: listed }),
      chat({ chatId: freed, blocked: true }),
      chat({ chatId: freedLid, blocked: true }),
      chat({ chatId: named, chatLid: '240@lid', blocked: true }),
    );
    const others = [{ chatId: '2@s.whatsapp.net', chatLid: '20@lid' }];
    const told = async (...people: readonly PersonPair[]) => {
      const { events } = await opened().commit({ kind: 'blocklist', people: [...others, ...people] });
      return events
        .map(({ type, payload }) => [type, payload['chat']] as [string, Record<string, unknown>])
        .map(([type, shown]) => `${type} ${String(shown['wa_chatid'])} ${String(shown['wa_isBlocked'])}`)
        .toSorted();
    };
    // The platform lists this person by a LID whose number is not known, so that `freed` may be the same person.
    const unknown = { chatId: '240@lid', chatLid: '240@lid' };
    assert.deepEqual(await told(unknown, { chatId: listed, chatLid: '210@lid' }), [`chats ${listed} true`, `chats ${freedLid} false`]);
    assert.deepEqual(await told({ chatId: listed, chatLid: '210@lid' }), [`chats ${freed} false`, `chats ${named} false`]);
    assert.deepEqual(await told(), [`chats ${listed} false`]);
    assert.deepEqual(await told(), []);
    for (const chatId of [listed, freed, freedLid, named]) await opened().commit({ kind: 'chatRemoved', chatId });
  });
};

export const chatStoreSuite = (kind: string, open: Open): void => {
  describe(`chats, ${kind}`, () => {
    let opened: Bench;
    before(async () => {
      opened = await benchOf(open, 'rchats');
      const other = await benchOf(async () => opened.stores, 'rchats other');
      await opened.commit(...entries);
      await other.commit(...entries, chat({ chatId: '5@g.us' }));
    });

    for (const [limit, offset, expected] of pages)
      test(`a page of ${limit} behind ${offset} has ${expected}`, async () => {
        const { chats, total } = await opened.stores.chats.find(opened.record.id, { filters: [], any: false, sort: null, limit, offset });
        assert.equal(`${chats.map(({ chatId }) => chatId[0]).join('')}/${total}`, expected);
      });

    for (const declare of [declareRemovals, declareTimers, declareTags, declareBlocklists]) declare(() => opened);

    test('one by its name, or null', async () => {
      assert.equal((await opened.chat('3@g.us'))?.unreadCount, 12);
      assert.equal(await opened.chat('5@g.us'), null);
    });

    test('the people among them, those written with last first', async () => {
      await opened.commit(
        chat({ chatId: '1@s.whatsapp.net', contactName: 'One', pushName: 'one' }),
        chat({ chatId: '2@s.whatsapp.net', pushName: 'two', chatLid: '22@lid' }),
        chat({ chatId: '9@s.whatsapp.net', contactName: 'Nine', chatLid: '99@lid' }, { create: false }),
        chat({ chatId: '8@s.whatsapp.net', contactName: 'Eight' }, { create: false }),
      );
      assert.deepEqual(await opened.stores.chats.contacts(opened.record.id), [
        { chatId: '1@s.whatsapp.net', chatLid: '', known: 'named' },
        { chatId: '4@lid', chatLid: '', known: 'number' },
        { chatId: '2@s.whatsapp.net', chatLid: '22@lid', known: 'pushName' },
        { chatId: '8@s.whatsapp.net', chatLid: '', known: 'named' },
        { chatId: '9@s.whatsapp.net', chatLid: '99@lid', known: 'named' },
      ]);
    });

    test('counts over all of them, with every change', async () => {
      const kinds = async () => (await opened.stores.chats.stats(opened.record.id)).kinds;
      const marks = { archived: { total: 1, unread: 1 }, blocked: { total: 1, unread: 0 } };
      assert.deepEqual(await kinds(), {
        all: { total: 4, unread: 2 },
        open: { total: 2, unread: 1 },
        groups: { total: 1, unread: 1 },
        ...marks,
      });
      await opened.commit({ kind: 'chatRead', chatId: '3@g.us' }, chat({ chatId: '6@g.us' }));
      assert.deepEqual(await kinds(), {
        all: { total: 5, unread: 1 },
        open: { total: 3, unread: 0 },
        groups: { total: 2, unread: 0 },
        ...marks,
      });
    });
  });
};
