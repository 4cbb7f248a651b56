/** Tests messages of agents with several files, which become several messages on the phone. Each is tried once, and agents see a failed one. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import type { Account } from '#test/support/account.ts';
import { ChatwootStandIn } from '#test/support/chatwoot/stand-in.ts';
import { type Attached, isRefused, type Message } from '#test/support/chatwoot/world.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let desk: ChatwootStandIn;
let account: Account;
let nobodyAt = '';
/** The path of the webhook of the inbox. */
let pathname = '';
before(async () => {
  [scene, desk] = [await Scene.open(), await ChatwootStandIn.open()];
  const closed = await ChatwootStandIn.open();
  nobodyAt = `${closed.url}/x.png`;
  await closed.close();
  account = await scene.paired();
  await desk.connect(account);
  ({ pathname } = new URL(desk.hookUrl));
});
after(async () => {
  await scene?.close();
  await desk?.close();
});

const bytes = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#246' } })
  .png()
  .toBuffer();
const file = (name: string, more: Partial<Attached> = {}): Attached => ({
  id: desk.world.nextId(),
  name,
  mimetype: 'application/pdf',
  bytes,
  ...more,
});
const empty = { bytes: Buffer.alloc(0) };

/** Begins a conversation of an agent with a person who never wrote, and returns its id. */
const talkWith = (number: string): number => {
  const person = desk.world.addContact({ name: `Person ${number}`, phone_number: `+${number}` });
  assert.ok(!isRefused(person));
  const talk = desk.world.addConversation(person.id, `source-${person.id}`);
  assert.ok(!isRefused(talk));
  return talk.id;
};
const received = (number: string) => scene.platform.sandbox.received(number);
/** Returns the arrived messages: the names of files, and the texts of other messages. */
const got = (number: string): readonly string[] =>
  received(number).map(({ content, text }) => /"fileName":"([^"]+)"/.exec(JSON.stringify(content))?.[1] ?? text);
const shows = (message: Message, status: Message['status']) =>
  until(
    () => message.status === status,
    () => `${message.content} is ${status}; it is ${message.status} ${message.error}`,
  );
/** Reads all arrived messages on the phone, and waits until Chatwoot shows them as read. */
const readAll = async (number: string, conversation: number): Promise<void> => {
  const last = desk.write(conversation, `the last one of ${number}`);
  await shows(last, 'delivered');
  await scene.platform.sandbox.receipt(number, { type: 'read', ids: received(number).map(({ id }) => id) });
  await shows(last, 'read');
};

const refusals: readonly (readonly [title: string, files: () => readonly Attached[], arrive: readonly string[], error: RegExp])[] = [
  [
    'a file in the middle that no server delivers',
    () => [file('a1.pdf'), file('a2.pdf', { url: nobodyAt }), file('a3.pdf')],
    ['a1.pdf', 'a3.pdf'],
    /^file 2 of 3: the file could not be fetched[^;]*$/,
  ],
  [
    'the first file and the last one',
    () => [file('b1.pdf', empty), file('b2.pdf'), file('b3.pdf'), file('b4.pdf', { url: nobodyAt })],
    ['b2.pdf', 'b3.pdf'],
    /^file 1 of 4: [^;]*empty[^;]*; file 4 of 4: the file could not be fetched[^;]*$/,
  ],
  [
    'sound after its text',
    () => [file('c1.ogg', { ...empty, mimetype: 'audio/ogg' }), file('c2.pdf')],
    ['sound after its text', 'c2.pdf'],
    /^file 1 of 2: [^;]*empty[^;]*$/,
  ],
  ['all files with the same reason', () => [file('d1.pdf', empty), file('d2.pdf', empty)], [], /^(?!file \d of)[^;]*empty[^;]*$/],
];
for (const [at, [title, files, arrive, error]] of refusals.entries())
  test(`attachments: the other files leave in order, and the message stays failed even when they are read (refused: ${title})`, async () => {
    const number = `551198888010${at}`;
    const conversation = talkWith(number);
    const content = title.startsWith('sound') ? title : '';
    const written = desk.write(conversation, content, { files: files() });
    await shows(written, 'failed');
    await readAll(number, conversation);
    assert.deepEqual(got(number), [...arrive, `the last one of ${number}`]);
    assert.equal(written.status, 'failed');
    assert.match(written.error, error);
  });

test('attachments: after a kill between the files no file is sent or tried twice, and the message is shown as failed', async () => {
  const number = '5511988880110';
  const conversation = talkWith(number);
  desk.holds = (name) => name === 'k3.pdf';
  const written = desk.write(conversation, '', {
    files: [file('k1.pdf'), file('k2.pdf', empty), file('k3.pdf'), file('k4.pdf', { url: nobodyAt }), file('k5.pdf')],
  });
  await until(() => desk.fetched.includes('k3.pdf'), 'the third file is asked for');
  await until(() => got(number).includes('k1.pdf'), 'the first file arrives');
  desk.holds = null;
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  desk.hookUrl = scene.gateway.address + pathname;
  await shows(written, 'failed');
  await readAll(number, conversation);
  assert.deepEqual(got(number), ['k1.pdf', 'k3.pdf', 'k5.pdf', `the last one of ${number}`]);
  assert.equal(desk.fetched.filter((name) => name === 'k2.pdf').length, 1, 'what was refused is not tried again');
  assert.equal(written.status, 'failed');
  assert.match(written.error, /^file 2 of 5: [^;]*empty[^;]*; file 4 of 5: the file could not be fetched[^;]*$/);
});

test('attachments: a failure whose acknowledgement is lost is reported to Chatwoot again, and no file is sent again', async () => {
  const number = '5511988880111';
  const conversation = talkWith(number);
  let lost = 0;
  desk.loses = (request) => request.startsWith('PATCH') && (lost += 1) <= 3;
  const written = desk.write(conversation, '', { files: [file('l1.pdf', empty), file('l2.pdf')] });
  await shows(written, 'failed');
  await readAll(number, conversation);
  desk.loses = null;
  assert.ok(lost > 3);
  assert.deepEqual(got(number), ['l2.pdf', `the last one of ${number}`]);
  assert.deepEqual(written.status, 'failed');
  assert.match(written.error, /^file 1 of 2: /);
});

test('attachments: a file that the platform refuses after the send makes the message failed, even when others are read', async () => {
  const number = '5511988880112';
  const conversation = talkWith(number);
  await scene.platform.sandbox.fault({ kind: 'ackError', number: account.number, code: 463 });
  const written = desk.write(conversation, '', { files: [file('m1.pdf'), file('m2.pdf')] });
  await shows(written, 'failed');
  await readAll(number, conversation);
  assert.deepEqual(got(number), ['m2.pdf', `the last one of ${number}`]);
  assert.equal(written.status, 'failed');
});
