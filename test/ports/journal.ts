/** Tests every journal: entries of all kinds become messages, chats, events and deliveries, once, in order, all or nothing. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Entry } from '#actors/model.ts';
import { EpochLost } from '#actors/ports.ts';
import { owner } from '#test/contract/samples.ts';
import {
  arrived,
  type Bench,
  benchOf,
  type Case,
  chat,
  chatId,
  deletion,
  fresh,
  kindsOf,
  now,
  type Open,
  past,
  queued,
  sent,
  status,
} from './entries.ts';
import { posts } from './journal-posts.ts';
import { erasures } from './journal-erasures.ts';
import { merges } from './journal-merges.ts';
import { revisions } from './journal-revisions.ts';
import { statuses } from './journal-statuses.ts';

const call = (step: string, at: number): Entry => ({
  kind: 'news',
  lane: chatId,
  news: {
    type: 'call',
    call: { id: 'CALL', chatId, isGroup: false, caller: { id: chatId, pn: chatId, lid: '' }, status: step, isVideo: false, at },
  },
});

/** Entries, their events on a known chat and on an unknown one, and the fields of the chat afterwards. */
const changes: readonly (readonly [title: string, entries: readonly Entry[], told: readonly string[], fields: object])[] = [
  ['a patch without a chat', [chat({ chatId: 'c1@g.us', name: 'Team' }, { create: false, tell: 'chats' })], [], {}],
  [
    'a patch that makes its chat',
    [chat({ chatId: 'c2@g.us', name: 'Team' }, { tell: 'chats' })],
    ['chats'],
    { name: 'Team', isGroup: true },
  ],
  [
    'a patch that says nothing new',
    [chat({ chatId: 'c3@g.us', archived: true }), chat({ chatId: 'c3@g.us', archived: true }, { tell: 'chats' })],
    [],
    { archived: true },
  ],
  [
    'a patch of some fields leaves the others',
    [chat({ chatId: 'c4@g.us', name: 'Team', pinned: true, muteEndTime: 5 }), chat({ chatId: 'c4@g.us', pinned: false })],
    [],
    { name: 'Team', pinned: false, muteEndTime: 5 },
  ],
  [
    'fields of a lead are merged one by one, and null takes one away',
    [
      chat({ chatId: 'c5@g.us', extra: { lead_name: 'Ana', lead_tags: ['hot'] } }),
      chat({ chatId: 'c5@g.us', extra: { lead_status: 'won', lead_tags: null } }, { tell: 'chats' }),
    ],
    ['chats'],
    { extra: { lead_name: 'Ana', lead_status: 'won' } },
  ],
  [
    'a name in the address book, of a chat and of nobody',
    [
      chat({ chatId: 'c6@lid', pushName: 'ana' }),
      chat({ chatId: 'c6@lid', contactName: 'Ana Lima' }, { create: false, tell: 'contacts' }),
      chat({ chatId: 'stranger@lid', contactName: 'Eva' }, { create: false, tell: 'contacts' }),
    ],
    ['contacts', 'contacts'],
    { name: 'Ana Lima', pushName: 'ana' },
  ],
  [
    'labels that are put on and taken off',
    [
      chat({ chatId: 'c7@g.us' }),
      { kind: 'chatLabel', chatId: 'c7@g.us', labelId: '9', labeled: true },
      { kind: 'chatLabel', chatId: 'c7@g.us', labelId: '4', labeled: true },
      { kind: 'chatLabel', chatId: 'c7@g.us', labelId: '9', labeled: false },
    ],
    ['chat_labels', 'chat_labels', 'chat_labels'],
    { labels: [`${owner}:4`] },
  ],
  [
    'chats of the past',
    [past({ of: 'chats', items: [{ chatId: 'c8@g.us', name: 'Old', unreadCount: 4 }] })],
    ['history'],
    { name: 'Old', unreadCount: 4 },
  ],
  [
    'labels of the past',
    [past({ of: 'chat_labels', items: [{ chatId: 'c9@g.us', labelId: '7', labeled: true }] })],
    ['history'],
    { labels: [`${owner}:7`] },
  ],
];

const messages: readonly Case[] = [
  [
    'a message is stored with its chat, its event and a delivery',
    async (bench) => {
      const { stores, record, webhookId } = bench;
      const message = fresh({ raw: Uint8Array.of(1, 2, 3), content: { URL: 'u', deep: [1, { a: null }] }, sendPayload: 'text' });
      const committed = await bench.commit(arrived(message, { name: 'Ana', labels: ['7', 'a"b,c'] }));
      const stored = await bench.message(message.messageId);
      assert.deepEqual({ ...stored, raw: [...(stored?.raw ?? [])] }, { ...message, raw: [1, 2, 3] });
      const kept = await bench.chat(chatId);
      assert.match(kept?.id ?? '', /^r[0-9a-f]{14}$/);
      assert.deepEqual([kept?.name, kept?.labels, kept?.unreadCount, kept?.lastMessageText], ['Ana', ['7', 'a"b,c'], 1, message.text]);
      const [event] = committed.events;
      assert.deepEqual(
        [event?.type, event?.messageType, event?.lane, event?.message, event?.at, event?.instanceId],
        [
          'messages',
          message.messageType,
          chatId,
          {
            fromMe: false,
            isGroup: message.isGroup,
            wasSentByApi: message.wasSentByApi,
            messageId: message.messageId,
            trackSource: message.trackSource,
            keyword: message.text,
          },
          now,
          record.id,
        ],
      );
      assert.deepEqual(Object.keys(event?.payload ?? {}), ['chatSource', 'chat', 'message']);
      const { rows } = await stores.outbox.due(webhookId, record.id, now, { rows: 10, bytes: 100_000 });
      assert.deepEqual(rows, committed.deliveries);
      assert.deepEqual(JSON.parse(committed.deliveries[0]?.body ?? ''), JSON.parse(JSON.stringify(event?.payload)));
    },
  ],

  [
    'a message whose short id another one has is stored under an id of its own',
    async (bench) => {
      const first = fresh();
      await bench.commit(arrived(first));
      // The check runs once with the cache of the last write, and once without.
      for (const look of [() => undefined, () => bench.stores.journal.forget(bench.record.id)]) {
        look();
        const second = fresh({ id: first.id });
        const { renamed } = await bench.commit(arrived(second));
        const stored = await bench.message(second.messageId);
        assert.match(stored?.id ?? '', /^r[0-9a-f]{7}$/);
        assert.notEqual(stored?.id, first.id);
        assert.deepEqual(renamed, [{ messageId: second.messageId, chatId, id: stored?.id }]);
      }
      assert.equal((await bench.message(first.messageId))?.id, first.id);
      assert.equal((await bench.stores.messages.byId(bench.record.id, first.id))?.messageId, first.messageId);
    },
  ],

  [
    'two messages of one commit with the same short id are stored under two',
    async (bench) => {
      const own = sent();
      const twins = [
        queued(own),
        arrived(fresh({ id: own.id })),
        past({ of: 'messages', items: [{ message: fresh({ id: own.id }), chat: { chatId } }] }),
      ];
      const { renamed = [] } = await bench.commit(...twins);
      assert.equal(renamed.length, 2);
      assert.equal(new Set([own.id, ...renamed.map(({ id }) => id)]).size, 3);
      for (const { messageId, id } of renamed) assert.equal((await bench.message(messageId))?.id, id);
      assert.equal((await bench.message(own.messageId))?.id, own.id);
    },
  ],

  [
    'the same entries again make no event and change nothing',
    async (bench) => {
      const [own, inbound] = [sent(), fresh()];
      const entries = [
        queued(own),
        arrived(inbound),
        status([own.messageId], 'Sent'),
        status([own.messageId], 'Read'),
        deletion(inbound.messageId),
      ];
      assert.deepEqual(kindsOf(await bench.commit(...entries)), [
        'messages',
        'messages',
        'messages_update Read',
        'messages_update Deleted',
      ]);
      const kept = await bench.chat(chatId);
      assert.deepEqual(await bench.commit(...entries), { events: [], deliveries: [] });
      assert.deepEqual(await bench.chat(chatId), kept);
    },
  ],

  [
    'two commits at once of one message make one event',
    async (bench) => {
      const entry = arrived(fresh());
      const both = await Promise.all([bench.commit(entry), bench.commit(entry)]);
      assert.deepEqual(
        both.map(({ events }) => events.length),
        [1, 0],
      );
    },
  ],

  [
    'a channel has events of its own',
    async (bench) => {
      const post = fresh({ chatId: '120363000000000001@newsletter' });
      assert.deepEqual(kindsOf(await bench.commit(arrived(post))), ['newsletter_messages']);
    },
  ],

  [
    'the past is stored without messages events, and told once, with what is new in it',
    async (bench) => {
      const [known, message] = [fresh(), fresh({ text: 'from the past' })];
      await bench.commit(arrived(known));
      const entry = past({ of: 'messages', items: [known, message].map((item) => ({ message: item, chat: { chatId } })) });
      const [event, ...more] = (await bench.commit(entry)).events;
      assert.equal(more.length, 0);
      const { messages: items, ...batch } = event?.payload ?? {};
      assert.deepEqual([event?.type, event?.message, batch], ['history', null, { event: 'messages', batchNumber: 2, batchTotal: 3 }]);
      assert.deepEqual(
        (items as { messageid: string }[]).map(({ messageid }) => messageid),
        [message.messageId],
      );
      assert.equal((await bench.message(message.messageId))?.text, 'from the past');
      assert.deepEqual((await bench.commit(entry)).events, []);
    },
  ],

  [
    'a call is an event for each step, and one message that keeps how it ended',
    async (bench) => {
      const told = [...(await bench.commit(call('offer', 1_000))).events, ...(await bench.commit(call('reject', 2_000))).events];
      assert.deepEqual(
        told.map(({ type, payload }) => [type, (payload['call'] as { status: string }).status]),
        [
          ['call', 'offer'],
          ['call', 'reject'],
        ],
      );
      const stored = await bench.message('CALL');
      assert.deepEqual([stored?.messageType, stored?.timestamp, stored?.peer?.chatId], ['call', 1_000, chatId]);
      assert.equal((stored?.content as { status: string } | undefined)?.status, 'reject');
    },
  ],
];

const commits: readonly Case[] = [
  [
    'the last message of a chat only moves forward in time',
    async (bench) => {
      const id = '551100000003@s.whatsapp.net';
      const older = arrived(fresh({ chatId: id, text: 'old', timestamp: 1_000 }), { name: 'Eva' });
      await bench.commit(arrived(fresh({ chatId: id, text: 'new', timestamp: 2_000 })), older);
      const kept = await bench.chat(id);
      assert.deepEqual([kept?.lastMessageText, kept?.lastMessageTimestamp, kept?.name, kept?.unreadCount], ['new', 2_000, 'Eva', 2]);
    },
  ],

  [
    'an event that is only passed on keeps its keys and its lane',
    async (bench) => {
      const payload = { event: { State: 'composing' } };
      const { events, deliveries } = await bench.commit({ kind: 'event', type: 'presence', lane: chatId, payload });
      assert.deepEqual([events[0]?.type, events[0]?.payload, events[0]?.message, deliveries.length], ['presence', payload, null, 1]);
    },
  ],

  [
    'deliveries go to the webhooks that want the event, in order, removed ones left out',
    async (bench) => {
      const { stores, record, webhookId } = bench;
      const { deliveries } = await stores.journal.commit(record, [arrived(fresh()), arrived(fresh())], () => [webhookId, 'gone']);
      assert.deepEqual(
        deliveries.map((delivery) => delivery.webhookId),
        [webhookId, webhookId],
      );
      const seqs = deliveries.map(({ seq }) => seq);
      assert.ok(seqs[0]! < seqs[1]!);
    },
  ],

  [
    'entries of an instance that is gone are let go; those of a former owner are refused',
    async (bench) => {
      const { stores, record } = bench;
      const message = fresh();
      const gone = await stores.journal.commit({ id: 'rgone', owner, epoch: 1 }, [arrived(message)], () => []);
      assert.deepEqual(gone, { events: [], deliveries: [] });
      await assert.rejects(
        stores.journal.commit({ ...record, epoch: 7 }, [arrived(message)], () => []),
        EpochLost,
      );
      assert.equal(await bench.message(message.messageId), null);
    },
  ],

  [
    'a commit that fails leaves nothing behind',
    async (bench) => {
      const message = fresh();
      const targets = () => {
        throw new Error('no targets');
      };
      const { stores, record } = bench;
      await assert.rejects(stores.journal.commit(record, [arrived(message)], targets), /no targets/);
      assert.equal(await bench.message(message.messageId), null);
      assert.equal((await bench.commit(arrived(message))).events.length, 1);
    },
  ],
];

/** Returns the chat of an entry. */
const namedBy = (entry: Entry | undefined): string => {
  if (entry?.kind === 'chat') return entry.chat.chatId;
  return entry?.kind === 'history' ? (entry.past.items[0] as { chatId: string }).chatId : '';
};

export const journalSuite = (kind: string, open: Open): void => {
  describe(`journal, ${kind}`, () => {
    let bench: Bench;
    before(async () => {
      bench = await benchOf(open, 'rjournal');
    });

    for (const [title, run] of [...messages, ...statuses, ...revisions, ...erasures, ...merges, ...posts, ...commits])
      test(title, () => run(bench));

    for (const [title, entries, told, fields] of changes)
      test(`chats: ${title}`, async () => {
        assert.deepEqual(kindsOf(await bench.commit(...entries)), told);
        const kept = await bench.chat(namedBy(entries[0]));
        assert.equal(kept !== null, Object.keys(fields).length > 0);
        assert.deepEqual(Object.fromEntries(Object.keys(fields).map((field) => [field, kept?.[field as keyof typeof kept]])), fields);
      });
  });
};
