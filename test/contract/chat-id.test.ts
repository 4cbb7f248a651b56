/** Tests ids of chats as clients write them: all forms that the API returns, and those that people type. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatIdsOf, fastChatId, isWholeChatId } from '#src/contract/views.ts';

const person = '5511999999999@s.whatsapp.net';
const group = '120363041234567890@g.us';

const forms: readonly (readonly [given: string, id: string])[] = [
  ['5511999999999', person],
  [' +55 (11) 99999-9999 ', person],
  ['5511999999999@c.us', person],
  ['5511999999999@hosted', person],
  ['5511999999999@s.whatsapp.net', person],
  ['5511999999999:57@s.whatsapp.net', person],
  ['5511999999999_1:2@s.whatsapp.net', person],
  ['5511988887777:5511999999999@s.whatsapp.net', person],
  ['5511988887777:5511999999999:57@s.whatsapp.net', person],
  [group, group],
  ['551199999999-1400000000@g.us', '551199999999-1400000000@g.us'],
  ['1000000001@lid', '1000000001@lid'],
  ['1000000001:12@lid', '1000000001@lid'],
  ['1000000001:12@hosted.lid', '1000000001@lid'],
  ['120363000000000001@newsletter', '120363000000000001@newsletter'],
  ['status@broadcast', 'status@broadcast'],
];
for (const [given, id] of forms) test(`chatIdsOf: ${given} names ${id}`, () => assert.equal(chatIdsOf(given)[0], id));

const brazilians: readonly (readonly [given: string, ids: readonly string[]])[] = [
  ['5511999999999', [person, '551199999999@s.whatsapp.net']],
  ['+55 11 9999-9999', ['551199999999@s.whatsapp.net', person]],
  ['551199999999:3@c.us', ['551199999999@s.whatsapp.net', person]],
  ['4915112345678', ['4915112345678@s.whatsapp.net']],
  ['551132345678', ['551132345678@s.whatsapp.net']],
  ['551199999999@lid', ['551199999999@lid']],
];
for (const [given, ids] of brazilians)
  test(`chatIdsOf: ${given} names ${ids.length === 1 ? 'one chat' : 'both forms of a Brazilian number'}`, () =>
    assert.deepEqual(chatIdsOf(given), ids));

const quick: readonly (readonly [given: string, id: string])[] = [
  ['5511988887777:5511999999999', person],
  ['5511988887777:551199999999', person],
  [fastChatId('5511988887777', group), group],
  [fastChatId('5511988887777', '1000000001@lid'), '1000000001@lid'],
  [fastChatId('5511988887777', '551199999999-1400000000@g.us'), '551199999999-1400000000@g.us'],
  ['120363041234567890', group],
  ['120363000000000001', '120363000000000001@newsletter'],
];
for (const [given, id] of quick) test(`chatIdsOf: ${given} may name ${id}`, () => assert.ok(chatIdsOf(given).includes(id)));

test('fastChatId: it is the number after the owner, for people, groups and bare ids', () => {
  const ids = [person, group, '5511999999999'].map((id) => fastChatId('55', id));
  assert.deepEqual(ids, ['55:5511999999999', '55:120363041234567890', '55:5511999999999']);
});

const wholes: readonly (readonly [text: string, is: boolean])[] = [
  [person, true],
  ['5511999999999:57@s.whatsapp.net', true],
  ['5511988887777:5511999999999', true],
  ['1000000001@lid', true],
  ['5511', false],
  ['@g.us', false],
  ['99@', false],
  ['5511988887777:', false],
];
for (const [text, is] of wholes)
  test(`isWholeChatId: ${text} ${is ? 'names a chat' : 'is a part to look for'}`, () => assert.equal(isWholeChatId(text), is));

test('chatIdsOf: a text without an id stays unchanged, and long texts are parsed in linear time', () => {
  assert.deepEqual(chatIdsOf('nobody'), ['nobody']);
  const long = `${'1-'.repeat(50_000)}x`;
  const before = process.cpuUsage().user;
  assert.deepEqual(chatIdsOf(long), [long]);
  assert.deepEqual(chatIdsOf(`${'a_1:2'.repeat(20_000)}@`), [`${'a_1:2'.repeat(20_000)}@`]);
  assert.ok(process.cpuUsage().user - before < 500_000);
});
