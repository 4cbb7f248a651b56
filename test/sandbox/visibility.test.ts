/** Tests messages that phones do not show: the platform accepts them although their stanza lacks an element that the content needs. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type BinaryNode, getBinaryNodeChild, proto } from '@whiskeysockets/baileys';
import { sealEdit } from '#src/sandbox/messages/polls-and-events.ts';
import { type Client, eventually, openSandbox, pair, type TestSandbox } from './client.ts';

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;
const own = '5511900000951';
const friend = '5511900000952';

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  client = await pair(sandbox, { number: own });
});
after(() => cleanUp());

interface Row {
  readonly title: string;
  readonly content: proto.IMessage;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly meta?: Readonly<Record<string, string>>;
  readonly hidden: RegExp | null;
}

const poll: proto.IMessage = {
  pollCreationMessageV3: { name: 'When?', options: [{ optionName: 'now' }, { optionName: 'later' }], selectableOptionsCount: 1 },
  messageContextInfo: { messageSecret: randomBytes(32) },
};

const event: proto.IMessage = {
  eventMessage: { name: 'Launch', startTime: 1_900_000_000 },
  messageContextInfo: { messageSecret: randomBytes(32) },
};

const change: proto.IMessage = {
  secretEncryptedMessage: {
    targetMessageKey: { remoteJid: `${friend}@s.whatsapp.net`, fromMe: true, id: 'NOTHING' },
    secretEncType: 1,
    encPayload: randomBytes(40),
    encIv: randomBytes(12),
  },
};
const asEdit = { attributes: { type: 'event', edit: '1' }, meta: { event_type: 'edit' } };

const rows: readonly Row[] = [
  { title: 'a poll', content: poll, meta: { polltype: 'creation' }, hidden: null },
  { title: 'a poll without its note', content: poll, hidden: /polltype/ },
  { title: 'an event', content: event, meta: { event_type: 'creation' }, hidden: null },
  { title: 'an event without its note', content: event, hidden: /event_type/ },
  { title: 'a change of an unknown event', content: change, ...asEdit, hidden: /cannot be opened/ },
  { title: 'a change of an event that says nothing of it', content: change, hidden: /changed event/ },
  { title: 'a text', content: { conversation: 'hello' }, hidden: null },
];

for (const { title, content, attributes = {}, meta, hidden } of rows) {
  test(`visibility: ${title} is ${hidden === null ? 'shown' : 'not shown'}`, async () => {
    const additionalNodes = meta === undefined ? [] : [{ tag: 'meta', attrs: { ...meta } }];
    const id = await client.sock.relayMessage(`${friend}@s.whatsapp.net`, content, {
      messageId: `3EB0${randomBytes(9).toString('hex').toUpperCase()}`,
      additionalAttributes: { ...attributes },
      additionalNodes,
    });
    await client.wait('messages.update', (all) => all.some(({ key }) => key.id === id));
    const received = sandbox.sandbox.received(friend).find((one) => one.id === id);
    assert.ok(received && received.error === undefined, 'the phone decrypted it');
    if (hidden === null) assert.equal(received.hidden, undefined);
    else assert.match(received.hidden ?? '', hidden);
  });
}

const send = async (content: proto.IMessage, additionalAttributes: Record<string, string> = {}) => {
  const id = await client.sock.relayMessage(`${friend}@s.whatsapp.net`, content, {
    messageId: `3EB0${randomBytes(9).toString('hex').toUpperCase()}`,
    additionalAttributes,
  });
  return eventually(() => sandbox.sandbox.received(friend).find((one) => one.id === id), 'the message on the phone');
};

test('visibility: an encrypted change of a text is shown, with the mark of an edit', async () => {
  const secret = randomBytes(32);
  const { id: messageId } = await send({ conversation: 'first', messageContextInfo: { messageSecret: secret } });
  const jid = `${own}@s.whatsapp.net`;
  const key = { remoteJid: `${friend}@s.whatsapp.net`, fromMe: true, id: messageId };
  const protocolMessage = { key, type: proto.Message.ProtocolMessage.Type.MESSAGE_EDIT, editedMessage: { conversation: 'second' } };
  const sealed = sealEdit({ protocolMessage }, { messageId, secret, author: jid, editor: jid }, randomBytes(12));
  const content = { secretEncryptedMessage: { targetMessageKey: key, ...sealed } };
  const marked = await send(content, { edit: '1' });
  assert.deepEqual([marked.kind, marked.hidden, marked.text], ['secretEncryptedMessage', undefined, 'second']);
  assert.match((await send(content)).hidden ?? '', /edit="1"/);
});

test('visibility: an encrypted change of a text by a phone has the stanza of a text', async () => {
  const got: BinaryNode[] = [];
  client.sock.ws.on('CB:message', (node: BinaryNode) => void got.push(node));
  const { id } = await sandbox.sandbox.send(friend, own, { kind: 'text', text: 'first' });
  const edit = await sandbox.sandbox.send(friend, own, { kind: 'edit', messageId: id, text: 'second', secret: true });
  const stanza = await eventually(() => got.find(({ attrs }) => attrs['id'] === edit.id), 'the edit');
  assert.deepEqual([stanza.attrs['type'], stanza.attrs['edit']], ['text', '1']);
  assert.equal(getBinaryNodeChild(stanza, 'enc')?.attrs['decrypt-fail'], undefined);
});
