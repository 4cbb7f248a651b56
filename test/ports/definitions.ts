/** Tests the contract of every journal for labels, quick replies and tags, and of every store of them. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Definition, DefinitionKind, Entry, Label, LeadTag } from '#actors/model.ts';
import { owner } from '#test/contract/samples.ts';
import { type Bench, benchOf, chat, kindsOf, now, type Open, past } from './entries.ts';

const label = (id: string, change: Partial<Label> = {}): Label => ({ id, name: `label ${id}`, color: 3, deleted: false, ...change });
const told = (given: Label): Entry => ({ kind: 'news', lane: 'labels', news: { type: 'labels', label: given } });
const put = (chatId: string, labelId: string, labeled = true): Entry => ({ kind: 'chatLabel', chatId, labelId, labeled });
const tag = (id: string, change: Partial<LeadTag> = {}): Definition => ({
  of: 'leadTag',
  value: { id, name: `tag ${id}`, kanban: false, kanbanOrder: 0, ...change },
});
const times = { created: now, updated: now };

/** Steps in order: the committed entries, the events, and the names of the labels that are then stored. */
const steps: readonly (readonly [title: string, entries: readonly Entry[], events: readonly string[], labels: readonly string[]])[] = [
  ['a label that is made', [told(label('7'))], ['labels'], ['label 7']],
  ['the same again', [told(label('7'))], [], ['label 7']],
  ['a new name', [told(label('7', { name: 'VIP' }))], ['labels'], ['VIP']],
  ['labels of the past', [past({ of: 'labels', items: [label('8'), label('7', { name: 'VIP' })] })], ['history'], ['VIP', 'label 8']],
  [
    'a deletion that says nothing else, and a tag of the same id',
    [told(label('7', { name: '', color: 0, deleted: true })), { kind: 'definition', definition: tag('7') }],
    ['labels'],
    ['VIP deleted', 'label 8'],
  ],
  ['a deletion again', [told(label('7', { name: '', deleted: true }))], [], ['VIP deleted', 'label 8']],
  ['a label that comes back', [told(label('7', { name: 'back' }))], ['labels'], ['back', 'label 8']],
];

export const definitionSuite = (kind: string, open: Open): void => {
  describe(`definitions, ${kind}`, () => {
    let opened: Bench;
    before(async () => {
      opened = await benchOf(open, 'rdefinitions');
    });
    const all = (of: DefinitionKind) => opened.stores.definitions.all(opened.record.id, of);

    for (const [title, entries, events, labels] of steps)
      test(title, async () => {
        assert.deepEqual(kindsOf(await opened.commit(...entries)), events);
        const stored = await opened.stores.definitions.all(opened.record.id, 'label');
        assert.deepEqual(
          stored.map(({ name, deleted }) => (deleted ? `${name} deleted` : name)),
          labels,
        );
      });

    test('a label that is deleted leaves all chats, also those that the commit is about; other labels stay', async () => {
      const ids = ['1@s.whatsapp.net', '2@s.whatsapp.net'];
      const [one = '', two = ''] = ids;
      await opened.commit(...ids.map((chatId) => chat({ chatId })), put(one, '7'), put(one, '8'), put(two, '7'));
      const committed = await opened.commit(put(two, '8'), told(label('7', { deleted: true })));
      assert.deepEqual(kindsOf(committed), ['chat_labels', 'labels']);
      for (const chatId of ids) assert.deepEqual((await opened.chat(chatId))?.labels, [`${owner}:8`], chatId);
      const { labels } = await opened.stores.chats.stats(opened.record.id);
      assert.deepEqual([...labels], [[`${owner}:8`, { total: 2, unread: 0 }]]);
    });

    test('what is defined is replaced, and goes', async () => {
      await opened.commit({ kind: 'definition', definition: tag('a') }, { kind: 'definition', definition: tag('b') });
      await opened.commit({ kind: 'definition', definition: tag('a', { name: 'new' }) }, { kind: 'definitionGone', definition: tag('7') });
      assert.deepEqual(await all('leadTag'), [
        { ...tag('a', { name: 'new' }).value, ...times },
        { ...tag('b').value, ...times },
      ]);
      assert.equal((await all('label')).length, 2, 'the label of the same id stays');
    });

    test('an instance has its own', async () => {
      const other = await benchOf(async () => opened.stores, 'rdefinitions other');
      await other.commit({ kind: 'definition', definition: tag('a', { name: 'other' }) });
      assert.equal((await all('leadTag'))[0]?.created, now);
      assert.equal((await opened.stores.definitions.all(opened.record.id, 'leadTag'))[0]?.name, 'new');
    });
  });
};
