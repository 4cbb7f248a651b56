/** Tests a contact whose phone has new identity keys. The change is reported, the old sessions are deleted, and both sides continue. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';
import { arrivedAt, sendText } from './texts.ts';

const own = '5511900000961';
const friend = '5511900000962';
const member = '5511900000963';
let bench: Bench;
let instance: Instance;

before(async () => {
  bench = await startBench();
  instance = await connected(bench, own);
  await bench.running.sandbox.putPerson({ number: friend, name: 'Friend' });
});
after(() => bench.stop());

const arrives = async (text: string, from = friend): Promise<void> => {
  const { id } = await bench.running.sandbox.send(from, own, { kind: 'text', text });
  await instance.message(({ messageId }) => messageId === id, text);
};
const leaves = async (text: string): Promise<void> => {
  const id = await sendText(instance, friend, text);
  assert.equal((await arrivedAt(bench.running.sandbox, friend, id)).text, text);
};
/** Returns the stored keys of the devices of a person, by type and id. */
const keysOf = (number: string): ReadonlyMap<string, string> => {
  const lid = bench.running.sandbox.people().find((one) => one.number === number)?.lid ?? '';
  const types = ['session', 'identity-key'];
  const names = [`${lid}_1.`, `${number}.`];
  const isTheirs = (key: string): boolean => types.some((type) => names.some((name) => key.startsWith(`${type} ${name}`)));
  return new Map([...instance.vault.stored.keys].filter(([key]) => isTheirs(key)));
};
const changes = () =>
  instance.entries.all.flatMap((entry) => (entry.kind === 'chat' && entry.chat.extra?.['identityChangedAt'] ? [entry] : []));

test('identity: a contact that set its phone up anew is told, and both go on writing', async () => {
  await arrives('from the first phone');
  await leaves('to the first phone');
  assert.deepEqual(changes(), []);
  const before = Date.now();
  await bench.running.sandbox.putPerson({ number: friend, reinstalled: true });
  await until(() => changes().length > 0, 'the change is told');
  const [entry] = changes();
  assert.deepEqual([entry?.chat.chatId, entry?.create, entry?.tell], [`${friend}@s.whatsapp.net`, false, 'chats']);
  assert.ok(Number(entry?.chat.extra?.['identityChangedAt']) >= before - 2_000);
  await leaves('to the new phone');
  await arrives('from the new phone');
  assert.equal(changes().length, 1);
});

test('identity: notices about other devices of a contact and about the own account are not reported', async () => {
  const { length } = changes();
  const notice = (from: string, id: string) =>
    bench.running.sandbox.inject(own, {
      tag: 'notification',
      attrs: { from, type: 'encrypt', id, t: '1' },
      content: [{ tag: 'identity', attrs: {}, content: [] }],
    });
  await notice(`${friend}:7@s.whatsapp.net`, 'I1');
  await notice(`${own}@s.whatsapp.net`, 'I2');
  await arrives('behind the notices');
  assert.equal(changes().length, length);
});

test('identity: a member with a new phone reads the next message of a group, although its retry request was lost', async () => {
  const { sandbox } = bench.running;
  await arrives('from the old phone', member);
  const group = await sandbox.createGroup({ subject: 'New phone', creator: own, participants: [friend, member], addressing: 'lid' });
  const first = await sendText(instance, group.jid, 'to all phones');
  for (const phone of [friend, member]) assert.equal((await arrivedAt(sandbox, phone, first)).text, 'to all phones');
  const before = keysOf(member);
  assert.deepEqual([...before.keys()].map((key) => key.split(' ')[0]).toSorted(), ['identity-key', 'session']);
  await sandbox.fault({ kind: 'retryLost', number: own, times: 5 });
  const told = changes().length;
  await sandbox.putPerson({ number: member, reinstalled: true });
  await until(() => changes().length > told, 'the change is told');
  const second = await sendText(instance, group.jid, 'to the new phone');
  for (const phone of [friend, member]) assert.equal((await arrivedAt(sandbox, phone, second)).text, 'to the new phone');
  await sandbox.fault({ kind: 'retryLost', number: own, times: 0 });
  for (const [key, text] of keysOf(member)) assert.notEqual(text, before.get(key), `${key} is of the old phone`);
});

const knownBy: readonly (readonly [title: string, number: string, meet: (number: string) => Promise<unknown>])[] = [
  ['what it wrote', '5511900000964', (number) => arrives('my first word', number)],
  ['what was written to it', '5511900000965', (number) => sendText(instance, number, 'hello')],
];

for (const [title, number, meet] of knownBy) {
  test(`identity: a phone that was known by ${title}, whose notice was lost, is told with its first message`, async () => {
    const { sandbox } = bench.running;
    await sandbox.putPerson({ number, name: 'Quiet' });
    await meet(number);
    const group = await sandbox.createGroup({ subject: 'Quiet', creator: own, participants: [number, friend], addressing: 'lid' });
    assert.equal((await arrivedAt(sandbox, number, await sendText(instance, group.jid, 'before'))).text, 'before');
    const told = changes().length;
    await sandbox.fault({ kind: 'identityUntold', number });
    await sandbox.putPerson({ number, reinstalled: true });
    await sandbox.fault({ kind: 'retryLost', number: own, times: 5 });
    assert.equal(changes().length, told);
    await arrives('from other keys', number);
    await until(() => changes().length > told, 'the change is told');
    assert.equal(changes().at(-1)?.chat.chatId, `${number}@s.whatsapp.net`);
    assert.equal((await arrivedAt(sandbox, number, await sendText(instance, group.jid, 'to the group'))).text, 'to the group');
    assert.equal((await arrivedAt(sandbox, number, await sendText(instance, number, 'to the phone'))).text, 'to the phone');
    await sandbox.fault({ kind: 'retryLost', number: own, times: 0 });
    await arrives('once more', number);
    assert.equal(changes().length, told + 1, 'the change is told once');
  });
}

test('identity: an unlinked device no longer counts as having the key of a group', async () => {
  const { sandbox } = bench.running;
  const number = '5511900000966';
  await connected(bench, number);
  const group = await sandbox.createGroup({ subject: 'Unlinked', creator: own, participants: [number], addressing: 'lid' });
  await arrivedAt(sandbox, number, await sendText(instance, group.jid, 'to both devices'));
  const lid = sandbox.people().find((one) => one.number === number)?.lid ?? '';
  const holders = async (): Promise<readonly string[]> => {
    const text = await until(() => instance.vault.stored.keys.get(`sender-key-memory ${group.jid}`), 'the map is stored');
    return Object.keys(JSON.parse(text) as object).filter((jid) => jid.startsWith(lid));
  };
  await until(async () => (await holders()).includes(`${lid}:1@lid`), 'the device has the key');
  await sandbox.logout(number);
  await until(async () => !(await holders()).includes(`${lid}:1@lid`), 'the device is forgotten');
  assert.deepEqual(await holders(), [`${lid}@lid`]);
});

test('identity: a notice that arrives with the first message of the new phone is reported once, and keeps the new session', async () => {
  const { sandbox } = bench.running;
  const numbers = Array.from({ length: 5 }, (_, n) => `551190000097${n}`);
  for (const number of numbers) {
    await sandbox.putPerson({ number, name: 'Away' });
    await arrives('my first word', number);
    await arrivedAt(sandbox, number, await sendText(instance, number, 'hello'));
  }
  const told = changes().length;
  await instance.link.close();
  for (const number of numbers) await sandbox.putPerson({ number, reinstalled: true });
  const written = numbers.map((number) => sandbox.send(number, own, { kind: 'text', text: 'from the new phone' }));
  const texts = await Promise.all(written);
  const { retryReceipts } = sandbox.stats().messages;
  instance.open();
  for (const { id } of texts) await instance.message(({ messageId }) => messageId === id, 'the first message of the new phone');
  for (const number of numbers) await arrives('the second one', number);
  for (const number of numbers) assert.equal((await arrivedAt(sandbox, number, await sendText(instance, number, 'answer'))).text, 'answer');
  for (const number of numbers) await arrives('the third one', number);
  assert.equal(sandbox.stats().messages.retryReceipts, retryReceipts);
  assert.equal(changes().length, told + numbers.length);
});
