/** Every operation of the interface that is one request to the platform: the call, its answer, what the phones have afterwards, the event. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ReceivedMessage } from '#src/sandbox/face.ts';
import type { Account } from '#test/support/account.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

type Json = Readonly<Record<string, unknown>>;

/** Platform ids of messages that stand in the chat with the contact. */
interface Messages {
  /** Sent by the API. */
  readonly own: string;
  /** Written by the contact. */
  readonly theirs: string;
}

interface Row {
  readonly title: string;
  readonly call: `${'POST' | 'GET'} /${string}`;
  readonly body: (messages: Messages) => Json;
  readonly status?: number;
  /** Fields of the answer. */
  readonly answer: (messages: Messages) => Json;
  /** What the contact's phone decrypted; found by the answer's `messageid`, or as the newest. */
  readonly phone?: (received: ReceivedMessage, messages: Messages) => void;
  /** What comes by webhook: found by its type and these fields of its `message` or `event`. */
  readonly event?: (messages: Messages) => readonly [type: string, fields: Json];
}

interface Reaction {
  readonly reactionMessage: { readonly key: { readonly id: string } };
}

interface Protocol {
  readonly protocolMessage: { readonly key: { readonly id: string } };
}

let scene: Scene;
let account: Account;

before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  const webhook = { url: scene.receiver.url, enabled: true, events: ['messages', 'messages_update'] };
  assert.equal((await account.call('POST', '/webhook', webhook)).status, 200);
});
after(() => scene.close());

const rows: readonly Row[] = [
  {
    title: 'presence: available',
    call: 'POST /instance/presence',
    body: () => ({ presence: 'available' }),
    answer: () => ({ response: 'Presence updated successfully' }),
  },
  {
    title: 'a reaction',
    call: 'POST /message/react',
    body: ({ theirs }) => ({ id: theirs, text: '👍', number: contact }),
    answer: ({ theirs }) => ({ messageType: 'ReactionMessage', text: '👍', reaction: theirs, fromMe: true, status: 'Sent' }),
    phone: ({ kind, text, content }, { theirs }) =>
      assert.deepEqual([kind, text, (content as Reaction).reactionMessage.key.id], ['reactionMessage', '👍', theirs]),
    event: ({ theirs }) => ['messages', { messageType: 'ReactionMessage', reaction: theirs, text: '👍', wasSentByApi: true }],
  },
  {
    title: 'a message that is not known',
    call: 'POST /message/react',
    body: () => ({ id: 'NOTHING', text: '👍' }),
    status: 404,
    answer: () => ({ error: 'Message not found' }),
  },
  {
    title: 'an own message',
    call: 'POST /message/edit',
    body: ({ own }) => ({ id: `${account.number}:${own}`, text: 'mended' }),
    answer: ({ own }) => ({ text: 'mended', edited: own, fromMe: true, status: 'Sent' }),
    phone: ({ text, content }, { own }) => assert.deepEqual([text, (content as Protocol).protocolMessage.key.id], ['mended', own]),
    event: ({ own }) => ['messages', { edited: own, text: 'mended' }],
  },
  {
    title: "somebody else's message",
    call: 'POST /message/edit',
    body: ({ theirs }) => ({ id: theirs, text: 'mended' }),
    status: 400,
    answer: () => ({ error: 'only own messages can be edited' }),
  },
  {
    title: 'an own message',
    call: 'POST /message/delete',
    body: ({ own }) => ({ id: own }),
    answer: ({ own }) => ({ id: own }),
    phone: ({ kind, content }, { own }) => assert.deepEqual([kind, (content as Protocol).protocolMessage.key.id], ['protocolMessage', own]),
    event: ({ own }) => ['messages_update', { MessageIDs: [own], Type: 'deleted' }],
  },
  {
    title: "somebody else's message in a direct chat",
    call: 'POST /message/delete',
    body: ({ theirs }) => ({ id: theirs }),
    status: 400,
    answer: () => ({ error: 'only own messages can be deleted for everybody' }),
  },
];

const picked = (whole: Json | undefined, wanted: Json): Json =>
  Object.fromEntries(Object.keys(wanted).map((name) => [name, whole?.[name]]));

const stand = async (): Promise<Messages> => {
  const sent = await account.send(contact, 'mine');
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  const theirs = await scene.write(account, 'theirs');
  await scene.stored(account, [theirs]);
  return { own: String(sent.body['messageid']), theirs };
};

for (const { title, call, body, status = 200, answer, phone, event } of rows) {
  test(`operation ${call}: ${title}`, async () => {
    const messages = await stand();
    const [method = '', path = ''] = call.split(' ');
    const answered = await account.call(method, path, body(messages));
    assert.equal(answered.status, status, JSON.stringify(answered.body));
    assert.deepEqual(picked(answered.body, answer(messages)), answer(messages));
    if (phone) {
      const received = await until(() => {
        const all = scene.platform.sandbox.received(contact);
        return all.find(({ id }) => id === answered.body['messageid']) ?? (answered.body['messageid'] === undefined && all.at(-1));
      }, 'the arrival at the contact');
      phone(received, messages);
    }
    if (!event) return;
    const [type, fields] = event(messages);
    await until(
      () =>
        scene.receiver.posted.some(({ body: posted }) => {
          const told = (posted['message'] ?? posted['event']) as Json | undefined;
          return posted['EventType'] === type && JSON.stringify(picked(told, fields)) === JSON.stringify(fields);
        }),
      `the event ${type} ${JSON.stringify(fields)}`,
    );
  });
}

test('operations: no receipt of a reaction or an edit is lost, however soon it comes', async () => {
  const { own, theirs } = await stand();
  const sent: string[] = [];
  for (let n = 0; n < 15; n += 1) {
    const edited = await account.call('POST', '/message/edit', { id: own, text: `edit ${n}` });
    const reacted = await account.call('POST', '/message/react', { id: theirs, text: n % 2 === 0 ? '👍' : '' });
    sent.push(String(edited.body['messageid']), String(reacted.body['messageid']));
  }
  const statusOf = async (id: string): Promise<unknown> => {
    const { body } = await account.call('POST', '/message/find', { id });
    return (body['messages'] as readonly Json[])[0]?.['status'];
  };
  for (const id of sent) await until(async () => (await statusOf(id)) === 'Delivered', `the receipt of ${id}`);
});

test('operations: the platform was asked nothing that it does not know', () =>
  assert.deepEqual(scene.platform.sandbox.stats().unknown, {}));
