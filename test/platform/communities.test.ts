/** Tests which groups belong to which community. The gateway learns it from whole groups and from changes, and updates the chats of the groups. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, Group, GroupEvent } from '#actors/model.ts';
import { Communities } from '#src/platform/events/communities.ts';

const nobody = { id: '', pn: '', lid: '' };
const group = (id: string, facts: Partial<Group> = {}): Group => ({ id, owner: nobody, createdAt: null, members: [], ...facts });
const whole = (id: string, facts: Partial<Group> = {}): Entry => ({ kind: 'group', group: group(id, facts) });
const news = (groupId: string, change: GroupEvent): Entry => ({
  kind: 'news',
  lane: groupId,
  news: { type: 'groups', group: { groupId, by: nobody, at: 1, change } },
});

/** Returns the reported community of each subgroup; null for none. */
const told = (entries: readonly Entry[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    entries.flatMap((entry) => (entry.kind === 'chat' ? [[entry.chat.chatId, entry.chat.extra?.['parent_community']]] : [])),
  );

const setup = () => {
  const names = new Map([['town@g.us', 'Town']]);
  const communities = new Communities({ memberships: [], pictures: [] }, (id) => names.get(id) ?? '');
  return { names, communities };
};

const town = { id: 'town@g.us', name: 'Town', image: '', preview: '', defaultGroup: '' };

test('communities: a whole group names its community, and a known one is not reported again', () => {
  const { communities } = setup();
  const entry = whole('one@g.us', { parent: 'town@g.us' });
  assert.deepEqual(told(communities.apply([entry])), { 'one@g.us': town });
  assert.deepEqual(communities.apply([entry]), []);
  assert.deepEqual(communities.of('one@g.us'), town);
  assert.equal(communities.of('other@g.us'), null);
});

test('communities: the announcement group is reported to its siblings', () => {
  const { communities } = setup();
  communities.apply([whole('one@g.us', { parent: 'town@g.us' })]);
  const defaultGroup = 'news@g.us';
  const learned = communities.apply([whole(defaultGroup, { parent: 'town@g.us', isDefaultSubgroup: true })]);
  assert.deepEqual(told(learned), { 'one@g.us': { ...town, defaultGroup }, [defaultGroup]: { ...town, defaultGroup } });
});

test('communities: a notice of links keeps the announcement group, and its siblings hear of its removal', () => {
  const defaultGroup = 'news@g.us';
  const sub = { type: 'sub_group', reason: '', groups: [{ id: defaultGroup, subject: 'News' }] };
  const removals = [news('town@g.us', { kind: 'unlinked', ...sub }), { kind: 'groupGone', groupId: defaultGroup }] satisfies Entry[];
  for (const removal of removals) {
    const { communities } = setup();
    const facts = { parent: 'town@g.us' };
    communities.apply([whole('one@g.us', facts), whole(defaultGroup, { ...facts, isDefaultSubgroup: true })]);
    assert.deepEqual(communities.apply([news('town@g.us', { kind: 'linked', ...sub })]), []);
    assert.deepEqual(communities.of('one@g.us'), { ...town, defaultGroup });
    assert.deepEqual(told(communities.apply([removal])), { [defaultGroup]: null, 'one@g.us': town });
  }
});

test('communities: links and unlinks are accepted from both sides', () => {
  const { communities } = setup();
  const parent = { type: 'parent_group', reason: '', groups: [{ id: 'town@g.us', subject: 'Town' }] };
  const sub = { type: 'sub_group', reason: '', groups: [{ id: 'two@g.us', subject: 'Two' }] };
  assert.deepEqual(told(communities.apply([news('one@g.us', { kind: 'linked', ...parent })])), { 'one@g.us': town });
  assert.deepEqual(told(communities.apply([news('town@g.us', { kind: 'linked', ...sub })])), { 'two@g.us': town });
  assert.deepEqual(told(communities.apply([news('one@g.us', { kind: 'unlinked', ...parent })])), { 'one@g.us': null });
  assert.deepEqual(told(communities.apply([news('town@g.us', { kind: 'unlinked', ...sub })])), { 'two@g.us': null });
});

test('communities: a new name and new pictures are reported to every group', () => {
  const { names, communities } = setup();
  communities.apply([whole('one@g.us', { parent: 'town@g.us' })]);
  names.set('town@g.us', 'City');
  const renamed = news('town@g.us', { kind: 'settings', settings: { subject: { text: 'City', by: nobody, at: 1 } } });
  assert.deepEqual(told(communities.apply([renamed])), { 'one@g.us': { ...town, name: 'City' } });
  const city = { ...town, name: 'City', preview: 'https://p' };
  assert.deepEqual(told(communities.pictured('town@g.us', 'preview', 'https://p')), { 'one@g.us': city });
  assert.deepEqual(communities.pictured('town@g.us', 'preview', 'https://p'), []);
  assert.deepEqual(communities.pictured('one@g.us', 'preview', 'https://p'), []);
});

test('communities: a deleted community loses its groups, and a deleted group leaves its community', () => {
  const { communities } = setup();
  communities.apply([whole('one@g.us', { parent: 'town@g.us' }), whole('two@g.us', { parent: 'town@g.us' })]);
  assert.deepEqual(told(communities.apply([{ kind: 'groupGone', groupId: 'two@g.us' }])), { 'two@g.us': null });
  assert.deepEqual(told(communities.apply([news('town@g.us', { kind: 'deleted', reason: '' })])), { 'one@g.us': null });
});
