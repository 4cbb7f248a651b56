/** Tests campaigns from the request to the phones: recipients, order, reports, and reasons for a stop. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import type { Answer } from '#test/support/gateway.ts';
import { postedObjections } from '#test/support/openapi.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

type Json = Readonly<Record<string, unknown>>;

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open({ LOOKUP_EVERY_MS: '1', CAMPAIGN_REFUSALS: '2', CAMPAIGN_RECIPIENTS: '50', CAMPAIGNS_AT_ONCE: '3' });
  account = await scene.paired();
  const webhook = { url: scene.receiver.url, enabled: true, events: ['sender', 'messages'] };
  assert.equal((await account.call('POST', '/webhook', webhook)).status, 200);
  await scene.works(account);
});
after(() => scene.close());

let numbers = 0;
/** Returns numbers that no other test uses. */
const people = (count: number): readonly string[] =>
  Array.from({ length: count }, () => `55119777${String((numbers += 1)).padStart(5, '0')}`);
const texts = (number: string): readonly string[] => scene.platform.sandbox.received(number).map(({ text }) => text);
const to = (number: string, text: string, more: object = {}) => ({ number, type: 'text', text, ...more });

const advanced = (messages: readonly object[], more: object = {}): Promise<Answer> =>
  account.call('POST', '/sender/advanced', { delayMin: 0, delayMax: 0, messages, ...more });

const made = async (answer: Promise<Answer>): Promise<string> => {
  const { status, body } = await answer;
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body['status'], 'queued');
  return String(body['folder_id']);
};

const folders = async (query = ''): Promise<readonly Json[]> =>
  (await account.call('GET', `/sender/listfolders${query}`)).body as unknown as readonly Json[];
const folder = async (id: string): Promise<Json> => (await folders()).find((one) => one['id'] === id) ?? {};
const reaches = (id: string, status: string): Promise<Json> =>
  until(async () => {
    const one = await folder(id);
    return one['status'] === status && one;
  }, `${id} is ${status}`);

const listed = async (id: string, more: object = {}): Promise<{ readonly messages: readonly Json[]; readonly pagination: Json }> => {
  const { status, body } = await account.call('POST', '/sender/listmessages', { folder_id: id, ...more });
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as { readonly messages: readonly Json[]; readonly pagination: Json };
};
const edit = (id: string, action: string): Promise<Answer> => account.call('POST', '/sender/edit', { folder_id: id, action });

/** Returns the statuses of a campaign that the webhook received. */
const told = (id: string): readonly unknown[] =>
  scene.receiver.posted.flatMap(({ body }) => (body['EventType'] === 'sender' && body['folder_id'] === id ? [body['status']] : []));

test('campaigns: each recipient gets the message once, in order, with own placeholder values, and has a reported result', async () => {
  const [one = '', two = '', nobody = ''] = people(3);
  await scene.platform.sandbox.putPerson({ number: nobody, absent: true });
  const answer = await account.call('POST', '/sender/simple', {
    numbers: [one, `+${two.slice(0, 2)} ${two.slice(2)}`, nobody, `${one}@s.whatsapp.net`, 'not a number'],
    type: 'text',
    text: 'Hello {{wa_chatid}}',
    folder: 'January',
    delayMin: 1,
    delayMax: 1,
    scheduled_for: 0,
  });
  assert.deepEqual([answer.body['count'], answer.body['duplicates'], answer.body['failed']], [4, 1, 1], JSON.stringify(answer.body));
  const id = await made(Promise.resolve(answer));
  const done = await reaches(id, 'done');
  assert.deepEqual(
    [done['log_total'], done['log_sucess'], done['log_failed'], done['info'], done['delayMin'], done['owner']],
    [4, 2, 2, 'January', 1, account.number],
  );
  await until(() => texts(two).length === 1, 'the last one has it');
  assert.deepEqual([texts(one).length, texts(nobody)], [1, []]);
  assert.ok(texts(one)[0]?.startsWith('Hello '));
  const { messages, pagination } = await listed(id);
  assert.equal(pagination['totalRecords'], 4);
  assert.deepEqual(
    messages.map(({ status, error, send_folder_id: of }) => [status === 'Failed' ? error : 'Sent', of]),
    [
      ['Sent', id],
      ['Sent', id],
      [`the number ${nobody}@s.whatsapp.net is not on WhatsApp`, id],
      ['number must be digits with the country code, or an id of the platform', id],
    ],
  );
  assert.deepEqual((await listed(id, { messageStatus: 'Failed', limit: 1, offset: 1 })).pagination, {
    totalRecords: 2,
    limit: 1,
    offset: 1,
  });
  assert.deepEqual(await until(() => told(id).length === 2 && told(id), 'the events'), ['sending', 'done']);
  assert.deepEqual(
    (await folders('?status=Archived')).map((archived) => archived['id']),
    [id],
  );
});

/** Every kind of message, with its request and the kind that the phone shows. */
const kinds: readonly (readonly [fields: object, kind: string])[] = [
  [{ type: 'text', text: 'Hi' }, 'extendedTextMessage'],
  [{ type: 'contact', fullName: 'Ana', phoneNumber: '5511999999999' }, 'contactMessage'],
  [{ type: 'location', latitude: -23.5, longitude: -46.6 }, 'locationMessage'],
  [{ type: 'button', text: 'Replies beside a link', choices: ['Yes|1', 'No|2', 'Shop|https://shop.example'] }, 'interactiveMessage'],
  [{ type: 'poll', text: 'Which?', choices: ['a', 'b'] }, 'pollCreationMessageV3'],
  [{ type: 'document', file: `data:text/plain;base64,${Buffer.from('hello').toString('base64')}`, docName: 'a.txt' }, 'documentMessage'],
];

test('campaigns: messages of every kind can name their own recipients, and one person gets them in order', async () => {
  const [one = ''] = people(1);
  const id = await made(advanced(kinds.map(([fields]) => ({ number: one, ...fields }))));
  await reaches(id, 'done');
  const received = await until(() => {
    const all = scene.platform.sandbox.received(one);
    return all.length === kinds.length && all;
  }, 'all kinds arrive');
  assert.deepEqual(
    received.map(({ kind }) => (kind === 'conversation' ? 'extendedTextMessage' : kind)),
    kinds.map(([, kind]) => kind),
  );
});

const valid = { delayMin: 1, delayMax: 2, scheduled_for: 0, numbers: ['5511977700000'], type: 'text', text: 'Hi' };
const many = Array.from({ length: 51 }, (_, at) => `551196660${String(at).padStart(4, '0')}`);

/** Bodies that are refused, with the error text. A campaign refuses the same bodies as the send of that kind. */
const refused: readonly (readonly [title: string, body: object, error: RegExp])[] = [
  ['no numbers', { numbers: [] }, /numbers must have at least 1 entries/],
  ['only an empty entry', { numbers: [''] }, /number is missing/],
  ['only an invalid number', { numbers: ['x'] }, /digits with the country code/],
  ['a status post', { numbers: ['status@broadcast'] }, /campaigns go to contacts and groups/],
  ['too many numbers', { numbers: many }, /at most 50 recipients/],
  ['an unknown type', { type: 'song' }, /type must be one of/],
  ['a text without text', { text: '' }, /Missing number or text/],
  ['a picture without file', { type: 'image' }, /Invalid media type or file format/],
  ['a text as a latitude', { latitude: 'x', longitude: 1, type: 'location' }, /latitude/],
  ['a poll with one choice', { type: 'poll', choices: ['a'] }, /./],
  ['a lowest delay above the highest', { delayMin: 5, delayMax: 4 }, /delayMin must not be greater/],
  ['no delay', { delayMin: 0 }, /delayMin must be at least 1/],
  ['a time more than a year away', { scheduled_for: 9_999_999_999_999 }, /more than a year away/],
];

for (const [title, change, error] of refused)
  test(`campaigns: ${title} gets a 400`, async () => {
    const answer = await account.call('POST', '/sender/simple', { ...valid, ...change });
    assert.equal(answer.status, 400, JSON.stringify(answer.body));
    assert.match(String(answer.body['error']), error);
  });

test('campaigns: numbers can be one text with commas, and times can be in ISO format', async () => {
  const [one = '', two = ''] = people(2);
  const at = Math.ceil(Date.now() / 60_000) * 60_000 + 3_600_000;
  const iso = new Date(at).toISOString();
  const id = await made(account.call('POST', '/sender/simple', { ...valid, numbers: `${one}, +${two};${one}`, scheduled_for: iso }));
  const { log_total: total, scheduled_for: scheduled } = await folder(id);
  assert.deepEqual([total, scheduled], [2, at]);
  const own = await made(advanced([to(one, 'later')], { scheduled_for: iso.replace('Z', '') }));
  assert.equal((await folder(own))['scheduled_for'], at);
  for (const scheduled_for of ['tomorrow', '2026-13-45T00:00:00Z'])
    assert.equal((await advanced([to(one, 'never')], { scheduled_for })).status, 400);
  for (const deleted of [id, own]) assert.equal((await edit(deleted, 'delete')).status, 200);
  assert.deepEqual((await account.call('POST', '/sender/optout', { numbers: `${one},${two}` })).body, { changed: 2 });
  assert.deepEqual((await account.call('POST', '/sender/optout', { numbers: `${one},${two}`, optedOut: false })).body, { changed: 2 });
});

test('campaigns: an error names the invalid message', async () => {
  const answer = await advanced([to('5511977700000', 'fine'), { number: '5511977700000', type: 'contact', fullName: 'Ana' }]);
  assert.deepEqual([answer.status, answer.body], [400, { error: 'messages.1: Missing required fields' }]);
});

test('campaigns: a scheduled campaign can be stopped, continued and deleted, and its sent messages stay', async () => {
  const [one = '', two = ''] = people(2);
  const id = await made(advanced([to(one, 'later')], { scheduled_for: 5 }));
  assert.deepEqual([(await folder(id))['status'], (await listed(id)).messages[0]?.['status']], ['scheduled', 'Scheduled']);
  const steps = [];
  for (const action of ['stop', 'stop', 'continue', 'continue', 'stop']) steps.push((await edit(id, action)).body['status']);
  assert.deepEqual(steps, ['paused', 'paused', 'scheduled', 'scheduled', 'paused']);
  const slow = await made(advanced([to(two, 'now'), to(two, 'much later')], { delayMin: 3_000, delayMax: 3_000 }));
  await until(() => texts(two).length === 1, 'the first one arrives');
  const stats = await until(async () => {
    const { body } = await account.call('GET', '/sender/stats');
    return Number((body['pace'] as Json)['nextAt']) > Date.now() + 2_000_000 && body;
  }, 'the pace is kept');
  assert.ok(Number.isInteger((stats['pace'] as Json)['nextAt']), 'the interface gives whole milliseconds');
  assert.deepEqual([(stats['folders'] as Json)['sending'], (stats['folders'] as Json)['paused']], [1, 1]);
  for (const deleted of [id, slow]) assert.deepEqual((await edit(deleted, 'delete')).body['status'], 'deleting');
  assert.deepEqual(
    [(await edit(id, 'stop')).status, (await account.call('POST', '/sender/listmessages', { folder_id: id })).status],
    [404, 404],
  );
  assert.equal((await account.messages(two)).length, 1);
});

test('campaigns: a campaign beyond the limit is refused, and clearing removes all campaigns', async () => {
  const [one = ''] = people(1);
  for (let n = 0; n < 3; n++) await made(advanced([to(one, `at ${n}`)], { scheduled_for: 60 }));
  const fourth = await advanced([to(one, 'too many')]);
  assert.deepEqual([fourth.status, fourth.body['error']], [429, 'an instance has at most 3 campaigns under way']);
  const cleared = await account.call('DELETE', '/sender/clearall');
  assert.equal(cleared.body['status'], 'processed');
  assert.ok(Number(cleared.body['folders_deleted']) >= 3 && Number(cleared.body['messages_deleted']) >= 3);
  assert.deepEqual(await folders(), []);
});

test('campaigns: contacts who opted out by a call or by a message are skipped', async () => {
  const [called = '', writes = '', one = ''] = people(3);
  assert.deepEqual((await account.call('POST', '/sender/optout', { numbers: [called] })).body, { changed: 1 });
  await scene.platform.sandbox.send(writes, account.number, { kind: 'text', text: ' Stop. ' });
  const contacts = await until(async () => {
    const { body } = await account.call('GET', '/sender/optout');
    const all = body['contacts'] as readonly Json[];
    return all.length === 2 && all;
  }, 'the contact is on the list');
  assert.deepEqual(contacts.map(({ by }) => by).toSorted(), ['api', 'contact']);
  const id = await made(advanced([called, writes, one].map((number) => to(number, 'news'))));
  const done = await reaches(id, 'done');
  assert.deepEqual([done['log_sucess'], done['log_skipped'], done['log_failed']], [1, 2, 2]);
  assert.deepEqual(
    (await listed(id)).messages.map(({ status }) => status === 'Skipped'),
    [true, true, false],
  );
  assert.deepEqual((await account.call('POST', '/sender/optout', { numbers: [called], optedOut: false })).body, { changed: 1 });
  const again = await made(advanced([to(called, 'welcome back')]));
  await reaches(again, 'done');
  await until(() => texts(called).join() === 'welcome back', 'the text arrives');
});

test('campaigns: the quota of new chats stops a campaign with a reason, and no recipient is left out when it continues', async () => {
  const both = people(2);
  await scene.platform.sandbox.restrict(account.number, { capping: { status: 'CAPPED' } });
  const id = await made(advanced(both.map((number) => to(number, 'locked'))));
  const paused = await reaches(id, 'paused');
  assert.match(String(paused['reason']), /temporarily restricted/);
  assert.deepEqual([paused['log_sucess'], paused['log_failed']], [0, 0]);
  assert.deepEqual(await until(() => told(id).length === 2 && told(id), 'the events'), ['sending', 'paused']);
  await scene.platform.sandbox.restrict(account.number, { capping: { status: 'NONE' } });
  assert.equal((await edit(id, 'continue')).body['message'], 'Folder resumed successfully');
  await reaches(id, 'done');
  for (const number of both) await until(() => texts(number).join() === 'locked', `${number} has it once`);
});

test('campaigns: a series of refusals stops a campaign', async () => {
  const some = people(5);
  await scene.platform.sandbox.fault({ kind: 'ackError', number: account.number, code: 479, times: 2 });
  const id = await made(advanced(some.map((number) => to(number, 'refused'))));
  const paused = await reaches(id, 'paused');
  assert.deepEqual([paused['reason'], paused['log_failed'], paused['log_sucess']], ['the platform refused 2 messages in a row', 2, 0]);
  await edit(id, 'continue');
  const done = await reaches(id, 'done');
  assert.deepEqual([done['log_sucess'], done['log_failed'], done['remaining_seconds']], [5, 0, 0]);
  assert.equal((await edit(id, 'continue')).status, 409);
});

test('campaigns: the payload of each message has the recipient as given, before and after the send', async () => {
  const [one = '', two = ''] = people(2);
  const written = [`+${one.slice(0, 2)} (${one.slice(2, 4)}) ${one.slice(4)}`, two, 'nobody'];
  const body = { numbers: written, type: 'text', text: 'numbered', delayMin: 1, delayMax: 1 };
  const shared = await made(account.call('POST', '/sender/simple', { ...body, scheduled_for: 5 }));
  const own = await made(advanced(written.map((number) => to(number, 'numbered'))));
  await reaches(own, 'done');
  const payloads = async (id: string) => (await listed(id)).messages.map(({ sendPayload }) => sendPayload as Json);
  for (const id of [shared, own])
    assert.deepEqual(
      (await payloads(id)).map(({ number, text }) => [number, text]),
      written.map((number) => [number, 'numbered']),
    );
  const found = await account.call('POST', '/message/find', { chatid: `${one}@s.whatsapp.net` });
  const stored = (found.body['messages'] as readonly Json[]).map(({ sendPayload }) => (sendPayload as Json)['number']);
  assert.deepEqual(stored, [written[0]]);
  assert.equal((await edit(shared, 'delete')).status, 200);
});

test('campaigns: an empty entry is Failed from the beginning, and all other recipients get the message', async () => {
  const [one = ''] = people(1);
  const refusal = 'number is missing';
  const body = { numbers: ['', one, '  '], type: 'text', text: 'gaps', delayMin: 1, delayMax: 1, scheduled_for: 0 };
  const ids = [
    await made(account.call('POST', '/sender/simple', body)),
    await made(advanced(['', one, '  '].map((number) => to(number, 'gaps')))),
  ];
  for (const id of ids) {
    await reaches(id, 'done');
    assert.deepEqual(
      (await listed(id)).messages.map(({ status, error }) => (status === 'Failed' ? error : 'sent')),
      [refusal, 'sent', refusal],
    );
  }
  await until(() => texts(one).length === 2, 'both arrive');
});

test('campaigns: a campaign waits while the session is disconnected, and wakes a hibernated session', async () => {
  const [one = ''] = people(1);
  assert.equal((await account.call('POST', '/instance/hibernate')).status, 200);
  await account.reaches('hibernated');
  const id = await made(advanced([to(one, 'wake up')]));
  await reaches(id, 'done');
  await until(() => texts(one).join() === 'wake up', 'the text arrives');
  await account.reaches('connected');
});

test('campaigns: requests without an account or with a wrong token are refused', async () => {
  const bare = await scene.create();
  const answer = await bare.call('POST', '/sender/simple', valid);
  assert.deepEqual(
    [answer.status, answer.body['error']],
    [409, 'the instance is not connected: connect it first, unless it is connecting already'],
  );
  assert.equal((await scene.gateway.call('POST', '/sender/simple', { token: 'wrong', body: valid })).status, 401);
});

test('campaigns: a time-lock from the platform pauses a running campaign before any refusal, until it is lifted', async () => {
  const { sandbox } = scene.platform;
  // The recipients are so many that some are left when a slow test restricts the account.
  const numbers = people(8);
  const read = () => numbers.filter((number) => texts(number).includes('slow')).length;
  const messages = numbers.map((number) => to(number, 'slow'));
  const id = await made(account.call('POST', '/sender/advanced', { delayMin: 1, delayMax: 1, messages }));
  await until(() => read() > 0, 'the first message is read');
  await sandbox.restrict(account.number, { timeLock: { active: true, until: Date.now() + 3_600_000 } });
  const resting = await until(async () => {
    const one = await folder(id);
    return String(one['reason']).includes('start no chats until') && one;
  }, 'the campaign rests');
  assert.deepEqual([resting['status'], resting['log_failed'], read() < numbers.length], ['sending', 0, true]);
  await sandbox.restrict(account.number, { timeLock: { active: false } });
  await reaches(id, 'done');
  await until(() => read() === numbers.length, 'everybody reads it');
});

test('campaigns: each event has the form that the OpenAPI document gives to its type', async () => {
  assert.equal((await account.call('POST', '/webhook/test', {})).status, 200);
  const types = new Set(scene.receiver.posted.map(({ type }) => type));
  assert.ok(types.has('sender') && types.has('test'));
  assert.deepEqual(await postedObjections(scene.gateway.address, scene.receiver.posted), []);
});
