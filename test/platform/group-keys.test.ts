/** Tests sender keys of groups. A former member gets no later key, and no key of a group stays after the account left. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addTransactionCapability } from '@whiskeysockets/baileys';
import type { Entry, Group, GroupChange, Person } from '#actors/model.ts';
import { createBaileysLogger } from '#src/platform/app-state/baileys-logger.ts';
import { GroupKeys, type GroupKeysParts } from '#src/platform/keys/group-keys.ts';
import { createFakeVault } from '#test/fakes/vault.ts';
import { until } from '#test/support/until.ts';
import { startGateway } from './parties.ts';
import { plainDirectory } from './plain-directory.ts';
import { type Bench, connected, type Instance, quietLog, startBench } from './setup.ts';
import { arrivedAt, sendText } from './texts.ts';

const own = '5511900000981';
const admin = '5511900000982';
const friend = '5511900000983';
const leaver = '5511900000984';
let bench: Bench;
let instance: Instance;

before(async () => {
  bench = await startBench();
  instance = await connected(bench, own);
  // Retry receipts are lost, so a message is read at once or never.
  await bench.running.sandbox.fault({ kind: 'retryLost', number: own, times: 1_000 });
});
after(() => bench.stop());

const makeGroup = (subject: string, ...participants: readonly string[]): Promise<{ readonly jid: string }> =>
  bench.running.sandbox.createGroup({ subject, creator: admin, participants: [own, ...participants], addressing: 'lid' });
const stored = (type: string, group: string): readonly string[] =>
  [...instance.vault.stored.keys.keys()].filter((key) => key.startsWith(`${type} ${group}`));

/** Returns the number of the own sender key of a group. Each message names the key that decrypts it. */
const ownKeyId = async (group: string): Promise<unknown> => {
  const isOwn = (text: string): boolean => text.includes('"private"') && !text.includes('"private":""');
  for (const key of stored('sender-key', `${group}::`)) {
    const { value } = JSON.parse(instance.vault.stored.keys.get(key) ?? '') as { value: { data: string } };
    const states = Buffer.from(value.data, 'base64').toString();
    if (isOwn(states)) return (JSON.parse(states) as { senderKeyId: number }[]).at(-1)?.senderKeyId;
  }
  return undefined;
};
const keyOf = (group: string) => until(() => ownKeyId(group), 'the own key is stored');

const readBy = async (phones: readonly string[], group: string, text: string): Promise<void> => {
  const id = await sendText(instance, group, text);
  for (const phone of phones) assert.equal((await arrivedAt(bench.running.sandbox, phone, id)).text, text);
};

test('group keys: after a member left, the next message has a new key, which all others get', async () => {
  const { sandbox } = bench.running;
  const { jid } = await makeGroup('Leaving', friend, leaver);
  await readBy([admin, friend, leaver], jid, 'to everybody');
  const first = await keyOf(jid);
  await readBy([admin, friend, leaver], jid, 'with the same key');
  assert.equal(await ownKeyId(jid), first);
  const { length } = instance.vault.queries;
  await readBy([admin, friend, leaver], jid, 'without a look at the storage');
  assert.equal(instance.vault.queries.length, length);
  await until(() => stored('sender-key-memory', jid).length > 0, 'members count as having the key');
  await sandbox.updateGroup(jid, leaver, { action: 'remove', participants: [leaver] });
  await until(() => stored('sender-key-memory', jid).length === 0, 'nobody counts as having the key');
  await readBy([admin, friend], jid, 'to those who stayed');
  assert.notEqual(await keyOf(jid), first);
  await readBy([admin, friend], jid, 'once more');
});

test('group keys: messages on their way while a member leaves are read by all remaining members', async () => {
  const { sandbox } = bench.running;
  const { jid } = await makeGroup('Busy', friend, leaver);
  await readBy([admin, friend], jid, 'first');
  const first = await keyOf(jid);
  const { undecryptable } = sandbox.stats().messages;
  const texts = Array.from({ length: 40 }, (_, n) => `text ${n}`);
  const sends = texts.map(async (text, n) => {
    if (n === 20) await sandbox.updateGroup(jid, leaver, { action: 'remove', participants: [leaver] });
    await readBy([admin, friend], jid, text);
  });
  await Promise.all(sends);
  await until(() => instance.entries.all.some((entry) => entry.kind === 'news' && entry.lane === jid), 'the change is told');
  await readBy([admin, friend], jid, 'last');
  assert.notEqual(await keyOf(jid), first);
  assert.equal(sandbox.stats().messages.undecryptable, undecryptable);
});

test('group keys: no key of a group is left after the account was removed, and a new one is made when it returns', async () => {
  const { sandbox } = bench.running;
  const { jid } = await makeGroup('Removed', friend);
  const other = await makeGroup('Stays', friend);
  await readBy([admin, friend], jid, 'hello');
  await readBy([admin, friend], other.jid, 'hello');
  const arrives = async (text: string): Promise<void> => {
    const { id } = await sandbox.send(friend, jid, { kind: 'text', text });
    await instance.message(({ messageId }) => messageId === id, text);
  };
  await arrives('from a member');
  await until(() => stored('sender-key', `${jid}::`).length === 2, 'the own key and that of the member are stored');
  // A message that was delivered before the removal is read with the keys that are deleted.
  const { id } = await sandbox.send(friend, jid, { kind: 'text', text: 'the last one' });
  await sandbox.updateGroup(jid, admin, { action: 'remove', participants: [own] });
  await instance.message(({ messageId }) => messageId === id, 'the last one');
  await until(() => stored('sender-key', jid).length === 0 && stored('sender-key-memory', jid).length === 0, 'all keys go');
  assert.notEqual(stored('sender-key', `${other.jid}::`).length, 0);
  await sandbox.updateGroup(jid, admin, { action: 'add', participants: [own] });
  await instance.entries.wait(
    (entry) => entry.kind === 'chat' && entry.chat.chatId === jid && entry.chat.groupMember === true,
    'it is back',
  );
  await arrives('to the member who came back');
  await readBy([admin, friend], jid, 'from the member who came back');
  assert.deepEqual(instance.surprises, []);
});

const person = (n: number): Person => ({ id: `${n}@lid`, pn: `55${n}@s.whatsapp.net`, lid: `${n}@lid` });
const groupOf = (id: string, ...numbers: readonly number[]): Group => ({
  id,
  owner: person(1),
  createdAt: null,
  addressing: 'lid',
  subject: { text: 'G', by: person(1), at: 1 },
  members: numbers.map((n) => ({ ...person(n), isAdmin: false, isSuperAdmin: false })),
});
const whole = (group: Group): Entry => ({ kind: 'group', group });

const leaving = (groupId: string, n: number): GroupChange => ({
  groupId,
  by: person(1),
  at: 1,
  change: { kind: 'members', action: 'leave', people: [person(n)] },
});

/** Creates the keys of a session on a vault in memory, whose account is `plainDirectory.me`. */
const makeKeys = async () => {
  const vault = createFakeVault();
  const { auth, repository } = await startGateway(vault);
  const creds = { ...auth.state.creds, me: { id: '551:3@s.whatsapp.net', lid: '1:3@lid', name: 'Me' } };
  const logger = createBaileysLogger(quietLog, 'r0');
  const keys = addTransactionCapability(auth.state.keys, logger, { maxCommitRetries: 1, delayBetweenTriesMs: 1 });
  const members = new Set<string>();
  const groupKeys = new GroupKeys({
    sock: () => ({ authState: { creds, keys }, signalRepository: repository }) as unknown as ReturnType<GroupKeysParts['sock']>,
    auth,
    directory: () => plainDirectory,
    isMember: (id) => members.has(id),
    stumbled: (_where, error) => assert.fail(error as Error),
  });
  const names = (): readonly string[] => [...vault.stored.keys.keys()].filter((key) => key.startsWith('sender-key')).toSorted();
  const settled = () => groupKeys.settled().then(() => auth.durable());
  return { vault, auth, keys, members, groupKeys, names, settled };
};

test('group keys: members who left while the account was away are found in a whole group, and no others', async () => {
  const { auth, keys, groupKeys, names, settled } = await makeKeys();
  const map = { '1@lid': true, '1:4@lid': true, '552@s.whatsapp.net': true, '3:7@lid': true };
  const own = {
    '1203@g.us::1_1::3': Buffer.from('own'),
    '1203@g.us::551::3': Buffer.from('own'),
    '1203@g.us::3_1::7': Buffer.from('a member'),
  };
  await keys.set({ 'sender-key': own, 'sender-key-memory': { '1203@g.us': map, '1204@g.us': { ...map } } });
  groupKeys.apply('1203@g.us', whole(groupOf('1203@g.us', 2, 3, 4)));
  groupKeys.apply('1205@g.us', whole(groupOf('1205@g.us', 2)));
  await settled();
  assert.equal(names().length, 5, 'all devices belong to members');
  groupKeys.apply('1203@g.us', whole(groupOf('1203@g.us', 2)));
  await settled();
  assert.deepEqual(names(), ['sender-key 1203@g.us::3_1::7', 'sender-key-memory 1204@g.us']);
  assert.equal(auth.peek('sender-key-memory', '1203@g.us'), null);
});

test('group keys: a list of all groups deletes the keys of groups that were left earlier, and not of those that it lacks first', async () => {
  const { keys, members, groupKeys, names, settled } = await makeKeys();
  const ids = ['1@g.us', '2@g.us', '3@g.us', '4@g.us'];
  const many = Array.from({ length: 1_200 }, (_, n) => [`4@g.us::${n}_1::0`, Buffer.from('key')] as const);
  const one = ids.map((id) => [`${id}::7_1::0`, Buffer.from('key')] as const);
  const status = ['status@broadcast::1_1::3', Buffer.from('own')] as const;
  const memory = Object.fromEntries([...ids, 'status@broadcast'].map((id) => [id, { '7@lid': true }]));
  await keys.set({ 'sender-key': Object.fromEntries([...many, ...one, status]), 'sender-key-memory': memory });
  await settled();
  // The account joins the third group during the search for keys.
  members.add('3@g.us');
  groupKeys.listed(new Set(['1@g.us']), new Set(['1@g.us', '2@g.us']));
  await settled();
  const left = ['1@g.us', '2@g.us', '3@g.us'];
  const expected = [...left.map((id) => `sender-key ${id}::7_1::0`), 'sender-key status@broadcast::1_1::3'];
  assert.deepEqual(names(), [...expected, ...[...left, 'status@broadcast'].map((id) => `sender-key-memory ${id}`)]);
});

test('group keys: a change waits for a message under encryption, and entries within a send do not join it', async () => {
  const { keys, groupKeys, names, settled } = await makeKeys();
  await keys.set({ 'sender-key-memory': { '1@g.us': { '2@lid': true } } });
  const written = Promise.withResolvers<void>();
  const sending = keys.transaction(async () => {
    groupKeys.apply('1@g.us', { kind: 'news', lane: '1@g.us', news: { type: 'groups', group: leaving('1@g.us', 2) } });
    await written.promise;
    await keys.set({ 'sender-key-memory': { '1@g.us': { '2@lid': true, '3@lid': true } } });
  }, '551:3@s.whatsapp.net');
  written.resolve();
  await sending;
  await settled();
  assert.deepEqual(names(), []);
});

test('group keys: many notices of new phones share one check of all groups', async () => {
  const { vault, auth, keys, groupKeys } = await makeKeys();
  const people = Array.from({ length: 50 }, (_, n) => n + 10);
  const map = Object.fromEntries(people.map((n) => [`${n}:1@lid`, true]));
  await keys.set({ 'sender-key-memory': { '1@g.us': map, '2@g.us': { '9@lid': true } } });
  await auth.durable();
  let looks = 0;
  const read = vault.allKeys;
  vault.allKeys = (...input) => {
    looks += 1;
    return read(...input);
  };
  const renewed: number[] = [];
  await Promise.all(people.slice(1).map((n) => groupKeys.renewDevices([String(n), `55${n}`], async () => void renewed.push(n))));
  await auth.durable();
  assert.equal(renewed.length, 49);
  assert.ok(looks <= 2, `${looks} looks`);
  assert.equal(vault.stored.keys.get('sender-key-memory 1@g.us'), '{"10:1@lid":true}');
  assert.equal(vault.stored.keys.get('sender-key-memory 2@g.us'), '{"9@lid":true}');
});
