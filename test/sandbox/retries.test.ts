/** Tests retries. A simulated contact that cannot decrypt a message requests it again, and the client sends it again. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { proto } from '@whiskeysockets/baileys';
import { connect, createAuth, eventually, opened, openSandbox, pair, type Auth, type Client, type TestSandbox } from './client.ts';

const me = '5511999990061';
const friend = '5511988880061';
const friendJid = `${friend}@s.whatsapp.net`;

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;
const written = new Map<string, proto.IMessage>();

const getMessage = async ({ id }: { id?: string | null | undefined }): Promise<proto.IMessage | undefined> => written.get(id ?? '');

/** Returns the same credentials with earlier keys. Messages that are encrypted with them use keys a second time. */
function rewind(auth: Auth, values: Map<string, unknown>): Auth {
  const older = createAuth();
  Object.assign(older.creds, auth.creds);
  for (const [key, value] of values) older.values.set(key, value);
  return older;
}

async function say(to: string, text: string): Promise<string> {
  const sent = await client.sock.sendMessage(to, { text });
  assert.ok(sent?.key.id && sent.message);
  written.set(sent.key.id, proto.Message.decode(proto.Message.encode(sent.message).finish()));
  return sent.key.id;
}

const textOf = (id: string): string | undefined =>
  sandbox.sandbox.received(friend).find((one) => one.id === id && one.error === undefined)?.text;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  client = await pair(sandbox, { number: me }, { getMessage });
});
after(() => cleanUp());

test('a ratchet that was used twice: the contact asks for the message again and reads it', async () => {
  const first = await say(friendJid, 'first');
  await eventually(() => textOf(first) === 'first', 'the first text');
  const { id } = await sandbox.sandbox.send(friend, me, { kind: 'text', text: 'answer' });
  await client.wait('messages.upsert', ({ messages }) => messages.some(({ key }) => key.id === id) || undefined);
  const before = structuredClone([...client.auth.values].filter(([key]) => key.startsWith('session ')));
  const second = await say(friendJid, 'second');
  await eventually(() => textOf(second) === 'second', 'the second text');
  for (const [key, value] of before) client.auth.values.set(key, value);
  const third = await say(friendJid, 'third');
  await eventually(() => textOf(third) === 'third', 'the third text');
  assert.ok(sandbox.sandbox.stats().messages.undecryptable >= 1);
});

test('a group key that was used twice: the member asks again, and gets a new key', async () => {
  const group = await client.sock.groupCreate('Retry', [friendJid]);
  const first = await say(group.id, 'first');
  await eventually(() => textOf(first) === 'first', 'the first text');
  const before = structuredClone(new Map(client.auth.values));
  const second = await say(group.id, 'second');
  await eventually(() => textOf(second) === 'second', 'the second text');
  const older = rewind(client.auth, before);
  await client.end();
  client = connect(sandbox, older, { getMessage });
  await opened(client);
  const third = await say(group.id, 'third');
  await eventually(() => textOf(third) === 'third', 'the third text');
});

test('a client without the group key of a contact: it requests the message again and reads it', async () => {
  const group = await sandbox.sandbox.createGroup({ subject: 'Theirs', creator: friend, participants: [me] });
  const heard = async (text: string): Promise<void> => {
    const { id } = await sandbox.sandbox.send(friend, group.jid, { kind: 'text', text });
    const message = await client.wait('messages.upsert', ({ messages }) =>
      messages.find((one) => one.key.id === id && one.message?.conversation),
    );
    assert.equal(message.message?.conversation, text);
  };
  await heard('first');
  for (const key of client.auth.values.keys()) if (key.startsWith(`sender-key ${group.jid}`)) client.auth.values.delete(key);
  await heard('second');
  await heard('third');
  assert.deepEqual(sandbox.sandbox.stats().unknown, {});
});
