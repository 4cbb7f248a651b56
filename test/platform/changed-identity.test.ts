/** A contact whose phone has other keys than before is told, its old sessions go, and both sides go on writing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

const own = '5511900000961';
const friend = '5511900000962';
let bench: Bench;
let instance: Instance;

before(async () => {
  bench = await startBench();
  instance = await connected(bench, own);
  await bench.running.sandbox.putPerson({ number: friend, name: 'Friend' });
});
after(() => bench.stop());

const arrives = async (text: string): Promise<void> => {
  const { id } = await bench.running.sandbox.send(friend, own, { kind: 'text', text });
  await instance.message(({ messageId }) => messageId === id, text);
};
const leaves = async (text: string): Promise<void> => {
  const control = { signal: new AbortController().signal, deadline: Date.now() + 30_000 };
  const send = { number: friend, replyTo: '', mentions: [], forward: false, content: { kind: 'text' as const, text, preview: null } };
  const composed = await instance.link.perform({ name: 'message.compose', input: { send, draft: null } }, control);
  assert.ok(composed.ok);
  assert.equal((await instance.link.perform({ name: 'message.transmit', input: { message: composed.value } }, control)).ok, true);
  await until(() => bench.running.sandbox.received(friend).some((one) => one.text === text), text);
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

test('identity: notices about devices of others and about the own account are told nobody', async () => {
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
