/** Tests labels and quick replies in both directions: changes over the API reach the phone, and changes on the phone reach the gateway. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Setting, SettingsView } from '#src/sandbox/interface.ts';
import { Account } from '#test/support/account.ts';
import { type Json, same } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const friend = `${contact}@s.whatsapp.net`;

let scene: Scene;
/** An account with a business. `person` is an account without one. */
let shop: Account;
let person: Account;

const settings = (): SettingsView => scene.platform.sandbox.settings(shop.number);
const onPhone = (setting: Setting): Promise<void> => scene.platform.sandbox.change(shop.number, setting);
const told = (type: string, fields: object): Promise<unknown> =>
  until(
    () =>
      scene.receiver.posted.some(
        ({ body }) => body['EventType'] === type && same((body['event'] ?? body['chat']) as Json | undefined, fields),
      ),
    () => `the event ${type} ${JSON.stringify(fields)}`,
  );

before(async () => {
  scene = await Scene.open();
  shop = await scene.create();
  await scene.platform.sandbox.putPerson({ number: shop.number, business: true });
  await shop.pair(scene.platform);
  person = await scene.paired();
  const webhook = { url: scene.receiver.url, enabled: true, events: ['labels', 'chat_labels', 'messages'] };
  assert.equal((await shop.call('POST', '/webhook', webhook)).status, 200);
  await scene.stored(shop, [await scene.write(shop, 'hello')]);
});
after(() => scene.close());

const wa = (id: string): string => `${shop.number}:${id}`;
const labelsOnPhone = (): string => JSON.stringify(settings().labels.map(({ id, name, color }) => [id, name, color]));
const chatOnPhone = (): string =>
  settings()
    .chats.find(({ chat }) => chat === contact)
    ?.labels?.toSorted()
    .join() ?? '';

interface Row {
  readonly title: string;
  readonly call: `${'POST' | 'GET'} /${string}`;
  readonly body: () => Json;
  readonly status?: number;
  readonly answer: () => Json;
  /** The expected state on the phone after the request. */
  readonly phone?: readonly [shown: () => string, expected: string];
  readonly event?: () => readonly [type: string, fields: Json];
}

const edited = (name: string, color: number, deleted: boolean): Json => ({ name, color, deleted });

/** The rows run in this order, and each relies on the rows before it. */
const rows: readonly Row[] = [
  {
    title: 'creates a label',
    call: 'POST /label/edit',
    body: () => ({ labelid: 'new', name: ' VIP ', color: 4 }),
    answer: () => ({ response: 'Label created', labelid: '1' }),
    phone: [labelsOnPhone, '[["1","VIP",4]]'],
    event: () => ['labels', { LabelID: '1', Action: edited('VIP', 4, false) }],
  },
  {
    title: 'renames a label and keeps its colour',
    call: 'POST /label/edit',
    body: () => ({ labelid: 1, name: 'Gold' }),
    answer: () => ({ response: 'Label edited', labelid: '1' }),
    phone: [labelsOnPhone, '[["1","Gold",4]]'],
    event: () => ['labels', { LabelID: '1', Action: edited('Gold', 4, false) }],
  },
  {
    title: 'changes the colour of a label by its full id',
    call: 'POST /label/edit',
    body: () => ({ labelid: wa('1'), color: '19' }),
    answer: () => ({ response: 'Label edited' }),
    phone: [labelsOnPhone, '[["1","Gold",19]]'],
    event: () => ['labels', { LabelID: '1', Action: edited('Gold', 19, false) }],
  },
  {
    title: 'creates a label with an id that the client chose',
    call: 'POST /label/edit',
    body: () => ({ labelid: '25', name: 'Late' }),
    answer: () => ({ response: 'Label created', labelid: '25' }),
    phone: [labelsOnPhone, '[["1","Gold",19],["25","Late",0]]'],
  },
  {
    title: 'sets two labels of a chat at once',
    call: 'POST /chat/labels',
    body: () => ({ number: contact, labelids: ['1', wa('25'), '1'] }),
    answer: () => ({ response: 'Labels updated', editions: ['label 1 added', 'label 25 added'] }),
    phone: [chatOnPhone, '1,25'],
    event: () => ['chat_labels', { wa_chatid: friend, wa_label: [wa('1'), wa('25')] }],
  },
  {
    title: 'accepts a label that the chat already has',
    call: 'POST /chat/labels',
    body: () => ({ number: friend, add_labelid: '25' }),
    answer: () => ({ editions: [] }),
    phone: [chatOnPhone, '1,25'],
  },
  {
    title: 'removes a label from a chat',
    call: 'POST /chat/labels',
    body: () => ({ number: friend, remove_labelid: 25 }),
    answer: () => ({ editions: ['label 25 removed'] }),
    phone: [chatOnPhone, '1'],
    event: () => ['chat_labels', { wa_chatid: friend, wa_label: [wa('1')] }],
  },
  {
    title: 'replaces a label of a chat with another one',
    call: 'POST /chat/labels',
    body: () => ({ number: friend, labelids: ['25'] }),
    answer: () => ({ editions: ['label 25 added', 'label 1 removed'] }),
    phone: [chatOnPhone, '25'],
  },
  {
    title: 'refuses a label that does not exist',
    call: 'POST /chat/labels',
    body: () => ({ number: friend, add_labelid: '99' }),
    status: 400,
    answer: () => ({ error: 'there is no label 99' }),
    phone: [chatOnPhone, '25'],
  },
  {
    title: 'refuses an unknown chat',
    call: 'POST /chat/labels',
    body: () => ({ number: '5511000000000', add_labelid: '1' }),
    status: 404,
    answer: () => ({ error: 'Chat not found' }),
  },
  {
    title: 'refuses a request in two forms at once',
    call: 'POST /chat/labels',
    body: () => ({ number: friend, add_labelid: '1', remove_labelid: '25' }),
    status: 400,
    answer: () => ({ error: 'one of labelids, add_labelid and remove_labelid is required, and no other' }),
  },
  {
    title: 'deletes a label and removes it from chats',
    call: 'POST /label/edit',
    body: () => ({ labelid: '25', delete: true }),
    answer: () => ({ response: 'Label edited' }),
    phone: [labelsOnPhone, '[["1","Gold",19]]'],
    event: () => ['labels', { LabelID: '25', Action: edited('Late', 0, true) }],
  },
  {
    title: 'refuses a label that was deleted',
    call: 'POST /label/edit',
    body: () => ({ labelid: '25', delete: true }),
    status: 404,
    answer: () => ({ error: 'Label not found' }),
  },
  {
    title: 'refuses a new label without a name',
    call: 'POST /label/edit',
    body: () => ({ labelid: '' }),
    status: 400,
    answer: () => ({ error: 'name is required' }),
  },
  {
    title: 'refuses a colour that does not exist',
    call: 'POST /label/edit',
    body: () => ({ labelid: '1', color: 20 }),
    status: 400,
    answer: () => ({ error: 'color must be at most 19' }),
  },
];

for (const { title, call, body, status = 200, answer, phone, event } of rows) {
  test(`operation ${call}: ${title}`, async () => {
    const [method = '', path = ''] = call.split(' ');
    const answered = await shop.call(method, path, body());
    assert.equal(answered.status, status, JSON.stringify(answered.body));
    for (const [name, value] of Object.entries(answer())) assert.deepEqual(answered.body[name], value);
    if (phone) assert.equal(phone[0](), phone[1]);
    if (event) await told(...event());
  });
}

const listed = async (): Promise<readonly Json[]> => (await shop.call('GET', '/labels')).body as unknown as readonly Json[];
const chatLabels = async (): Promise<unknown> => {
  const { body } = await shop.call('POST', '/chat/find', { wa_chatid: friend });
  return (body['chats'] as readonly Json[])[0]?.['wa_label'];
};

test('labels: deleted labels are not listed, and are removed from chats', async () => {
  const [label, ...others] = await listed();
  assert.deepEqual(
    [label?.['id'], label?.['labelid'], label?.['name'], label?.['color'], label?.['colorHex'], others.length],
    [wa('1'), '1', 'Gold', 19, '#9568cf', 0],
  );
  assert.deepEqual(await chatLabels(), []);
});

test('labels: changes on the phone are stored and reported as events', async () => {
  await onPhone({ kind: 'label', labelId: '7', name: 'From the phone', color: 2 });
  await told('labels', { LabelID: '7', Action: edited('From the phone', 2, false) });
  await onPhone({ kind: 'chatLabel', labelId: '7', chat: contact, on: true });
  await told('chat_labels', { wa_chatid: friend, wa_label: [wa('7')] });
  assert.deepEqual(
    (await listed()).map(({ name }) => name),
    ['Gold', 'From the phone'],
  );
  const { body } = await shop.call('GET', '/chat/totalcount');
  assert.deepEqual(body['label_counts'], [{ label: wa('7'), labelid: '7', total: 1, unread: 1 }]);
  await onPhone({ kind: 'label', labelId: '7', name: 'From the phone', color: 2, deleted: true });
  await told('labels', { LabelID: '7', Action: edited('From the phone', 2, true) });
  assert.deepEqual(await chatLabels(), []);
  assert.equal((await shop.call('POST', '/label/edit', { labelid: 'new', name: 'Next' })).body['labelid'], '26', 'no id is used again');
});

test('labels: a refresh reads the labels again, and reports the changes', async () => {
  for (const force of [true, false]) {
    const { status, body } = await shop.call('POST', '/labels/refresh', { force });
    assert.deepEqual([status, body['success'], body['force'], body['fullSync']], [202, true, force, force]);
    assert.match(String(body['status']), /^(started|in_progress)$/);
  }
  await until(async () => (await shop.call('POST', '/labels/refresh')).body['status'] === 'started', 'the end of the refresh');
  assert.deepEqual(
    (await listed()).map(({ name }) => name),
    ['Gold', 'Next'],
  );
});

const replies = async (): Promise<readonly Json[]> => (await shop.call('GET', '/quickreply/showall')).body as unknown as readonly Json[];
const repliesOnPhone = (): string => JSON.stringify(settings().quickReplies.map(({ shortcut, message }) => [shortcut, message]));
const editReply = async (edit: Json, status = 200): Promise<Json> => {
  const answered = await shop.call('POST', '/quickreply/edit', edit);
  assert.equal(answered.status, status, JSON.stringify(answered.body));
  return answered.body;
};

test('quick replies: texts of a business are stored on its phone, and files in the gateway', async () => {
  const made = await editReply({ shortCut: '/hello', type: 'text', text: 'Hello!' });
  const [reply] = made['quickReplies'] as readonly Json[];
  assert.deepEqual([made['message'], reply?.['onWhatsApp'], reply?.['shortCut']], ['Quick reply created', true, 'hello']);
  assert.equal(repliesOnPhone(), '[["hello","Hello!"]]');
  await editReply({ id: reply?.['id'], shortCut: 'hello', type: 'text', text: 'Hello there!' });
  assert.equal(repliesOnPhone(), '[["hello","Hello there!"]]');
  const file = { shortCut: 'offer', type: 'document', text: 'Look', file: 'https://example.com/offer.pdf', docName: 'offer.pdf' };
  await editReply(file);
  await editReply({ shortCut: 'here', type: 'text', text: 'Kept here', onWhatsApp: false });
  assert.equal(repliesOnPhone(), '[["hello","Hello there!"]]');
  assert.deepEqual(
    (await replies()).map(({ shortCut, type, onWhatsApp, owner }) => [shortCut, type, onWhatsApp, owner]),
    [
      ['hello', 'text', true, shop.number],
      ['offer', 'document', false, shop.number],
      ['here', 'text', false, shop.number],
    ],
  );
  assert.equal((await editReply({ id: reply?.['id'], shortCut: 'hello', type: 'text', delete: true }))['message'], 'Quick reply deleted');
  assert.equal(repliesOnPhone(), '[]');
});

test('quick replies: changes on the phone reach the gateway', async () => {
  const names = async (): Promise<string> => (await replies()).map(({ shortCut, text }) => `${shortCut}: ${text}`).join(', ');
  await onPhone({ kind: 'quickReply', id: '77', shortcut: 'bye', message: 'Bye!' });
  await until(async () => (await names()).endsWith('bye: Bye!'), 'the quick reply of the phone');
  await onPhone({ kind: 'quickReply', id: '77', shortcut: 'bye', message: 'So long!' });
  await until(async () => (await names()).endsWith('bye: So long!'), 'its new text');
  await onPhone({ kind: 'quickReply', id: '77', shortcut: 'bye', message: 'So long!', deleted: true });
  await until(async () => (await names()) === 'offer: Look, here: Kept here', 'its end');
});

test('quick replies: invalid requests are refused', async () => {
  const here = (await replies()).find(({ shortCut }) => shortCut === 'here')?.['id'];
  const text = { shortCut: 'x', type: 'text', text: 'x' };
  const cases: readonly (readonly [edit: Json, status: number, error: string])[] = [
    [{ type: 'text', text: 'x' }, 400, 'shortCut is required'],
    [{ shortCut: 'x', text: 'x' }, 400, 'type is required'],
    [{ ...text, type: 'smell' }, 400, 'type must be one of text, audio, myaudio, ptt, document, video, image'],
    [{ ...text, text: '' }, 400, 'text is required'],
    [{ shortCut: 'x', type: 'image' }, 400, 'file must be an address that begins with http:// or https://'],
    [{ shortCut: 'x', type: 'image', file: 'https://a.b/c', onWhatsApp: true }, 400, 'the phone keeps quick replies of type text alone'],
    [{ ...text, id: 'r0' }, 404, 'Quick reply not found'],
    [{ ...text, delete: true }, 404, 'Quick reply not found'],
    [{ ...text, shortCut: 'HERE', onWhatsApp: false }, 409, 'there is a quick reply HERE already'],
    [{ ...text, id: here, onWhatsApp: true }, 400, 'a quick reply cannot be moved to the phone or from it: delete it and make another one'],
  ];
  for (const [edit, status, error] of cases) assert.equal((await editReply(edit, status))['error'], error, JSON.stringify(edit));
});

/** Calls that reach the phone, with the status for an account without a business. */
const calls: readonly (readonly [path: string, body: Json, status: number])[] = [
  ['/label/edit', { labelid: 'new', name: 'VIP' }, 501],
  ['/chat/labels', { number: contact, labelids: [] }, 501],
  ['/quickreply/edit', { shortCut: 'x', type: 'text', text: 'x', onWhatsApp: true }, 403],
];

for (const [path, body, status] of calls)
  test(`refusals of ${path}: an account without a business, a wrong token, no session and the platform refuse the call`, async () => {
    assert.equal((await person.call('POST', path, body)).status, status);
    const stranger = Account.of(scene.gateway, shop.number, 'no such token');
    assert.equal((await stranger.call('POST', path, body)).status, 401);
    const asked = path === '/chat/labels' ? { number: contact, labelids: ['1'] } : body;
    await scene.platform.sandbox.fault({ kind: 'refuseQuery', number: shop.number, query: 'w:sync:app:state', code: 403 });
    const refused = await shop.call('POST', path, asked);
    assert.deepEqual([refused.status, refused.body['provider_code']], [500, 403], JSON.stringify(refused.body));
    const away = await scene.create();
    const unpaired = await away.call('POST', path, asked);
    assert.equal(unpaired.status, path === '/quickreply/edit' ? 403 : 409, JSON.stringify(unpaired.body));
  });

test('quick replies: a text of an account without a business is stored in the gateway', async () => {
  const { status, body } = await person.call('POST', '/quickreply/edit', { shortCut: 'hi', type: 'text', text: 'Hi!' });
  const [reply] = body['quickReplies'] as readonly Json[];
  assert.deepEqual([status, reply?.['onWhatsApp']], [200, false]);
});

test('labels and quick replies: the phone ignores no change, and the platform gets no unknown request', () => {
  assert.deepEqual(settings().ignored, []);
  assert.deepEqual(scene.platform.sandbox.stats().unknown, {});
});

test('labels: an id that no label of the account can have is refused, and changes nothing', async () => {
  const before = labelsOnPhone();
  for (const labelid of ['__proto__', '-5', 1e21, '5500000000000:7', '1234567890', ':7', '7:7']) {
    const made = await shop.call('POST', '/label/edit', { labelid, name: 'hostile' });
    const put = await shop.call('POST', '/chat/labels', { number: contact, add_labelid: labelid });
    assert.deepEqual([made.status, put.status], [400, 400], String(labelid));
  }
  assert.equal(labelsOnPhone(), before);
});

test('labels: after the highest id a new label gets the lowest id that was never used', async () => {
  assert.equal((await shop.call('POST', '/label/edit', { labelid: '999999999', name: 'Last' })).status, 200);
  assert.equal((await shop.call('POST', '/label/edit', { labelid: '999999999', delete: true })).status, 200);
  const { status, body } = await shop.call('POST', '/label/edit', { labelid: 'new', name: 'One more' });
  assert.equal(status, 200, JSON.stringify(body));
  const { body: all } = await shop.call('GET', '/labels');
  const made = (all as unknown as readonly { readonly labelid: string; readonly name: string }[]).find(({ name }) => name === 'One more');
  assert.match(made?.labelid ?? '', /^\d{1,3}$/);
});

test('labels: an account without a business cannot refresh labels', async () => {
  assert.equal((await person.call('POST', '/labels/refresh', {})).status, 501);
});
