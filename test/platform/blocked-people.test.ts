/** Tests when a connection reports the list of blocked people: at its login, and after each part of the history. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { BlockedPeople } from '#src/platform/link/self.ts';
import type { BaileysEvent } from '#src/platform/events/library-values.ts';

const history = { name: 'messaging-history.set', data: { chats: [], contacts: [], messages: [] } } as unknown as BaileysEvent;
const changed = (type: 'add' | 'remove', jid: string): BaileysEvent => ({ name: 'blocklist.update', data: { blocklist: [jid], type } });

const stage = () => {
  const [ws, reported] = [new EventEmitter(), [] as string[]];
  const people = new BlockedPeople({ ws } as never, ({ name, data }) => {
    if (name === 'blocklist.set') reported.push(data.blocklist.join(' '));
  });
  const answers = (...jids: readonly string[]): void => {
    const content = [{ tag: 'list', attrs: {}, content: jids.map((jid) => ({ tag: 'item', attrs: { jid } })) }];
    ws.emit('CB:iq,,list', { tag: 'iq', attrs: {}, content });
  };
  return { people, answers, taken: () => reported.splice(0) };
};

test('blocked people: the list of the login is reported, even if it is empty', () => {
  for (const jids of [[], ['1@lid'], ['1@lid', '2@lid']]) {
    const { answers, taken } = stage();
    answers(...jids);
    assert.deepEqual(taken(), [jids.join(' ')]);
  }
});

test('blocked people: the list is reported again after each part of the history, with its changes', () => {
  const { people, answers, taken } = stage();
  answers('1@lid', '2@lid');
  taken();
  people.observe(changed('add', '3@lid'));
  people.observe(changed('remove', '1@lid'));
  people.observe(history);
  assert.deepEqual(taken(), ['2@lid 3@lid']);
  people.observe(changed('remove', '2@lid'));
  people.observe(changed('remove', '3@lid'));
  people.observe(history);
  assert.deepEqual(taken(), [], 'an empty list marks no chat');
});

test('blocked people: nothing is reported before the list of the login is known', () => {
  const { people, answers, taken } = stage();
  people.observe(changed('add', '1@lid'));
  people.observe(history);
  assert.deepEqual(taken(), []);
  answers('1@lid');
  assert.deepEqual(taken(), ['1@lid']);
});

test('blocked people: an answer to a change that lacks the list frees nobody', () => {
  const { answers, taken } = stage();
  answers('1@lid');
  taken();
  answers();
  assert.deepEqual(taken(), []);
});
