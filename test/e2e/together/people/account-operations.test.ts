/** Tests name, privacy and calls of the account, from the request to the state of the platform, and from the phone to the gateway. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import { Agent, fetch } from 'undici';
import type { Account } from '#test/support/account.ts';
import { type Json, same } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  // The phone shares the key of its settings some time after the login.
  await until(async () => (await account.call('POST', '/profile/name', { name: 'First' })).status === 200, 'the phone has shared its key');
  const webhook = { url: scene.receiver.url, enabled: true, events: ['call', 'messages'] };
  assert.equal((await account.call('POST', '/webhook', webhook)).status, 200);
});
after(() => scene.close());

const platform = () => scene.platform.sandbox;
const privacy = () => platform().account(account.number).privacy;

const ok = async (method: string, path: string, body?: Json): Promise<Json> => {
  const answered = await account.call(method, path, body);
  assert.equal(answered.status, 200, JSON.stringify(answered.body));
  return answered.body;
};

test('profile: a new name reaches the phone, the record and the people who get messages', async () => {
  const answered = await ok('POST', '/profile/name', { name: ' Corner Shop ' });
  assert.deepEqual([answered['success'], (answered['profile'] as Json)['name']], [true, 'Corner Shop']);
  await until(() => platform().settings(account.number).pushName === 'Corner Shop', 'the phone has the name');
  await until(async () => same(await account.seen(), { profileName: 'Corner Shop' }), 'the record has the name');
  assert.equal((await account.send(contact, 'who am I')).status, 200);
  await until(() => platform().received(contact).at(-1)?.pushName === 'Corner Shop', 'the contact sees the name');
});

test('profile: a name that is changed on the phone changes in the gateway', async () => {
  await platform().change(account.number, { kind: 'pushName', name: 'Renamed on the phone' });
  await until(async () => same(await account.seen(), { profileName: 'Renamed on the phone' }), 'the record has the name');
});

test('profile: a name reaches the phone even if the phone changed the same collection meanwhile', async () => {
  await platform().change(account.number, { kind: 'pushName', name: 'Meanwhile' });
  await ok('POST', '/profile/name', { name: 'Last word' });
  await until(() => platform().settings(account.number).pushName === 'Last word', 'the phone has the name');
});

test('profile: a name with an @ that looks like an address is kept on the phone, and contacts see it without the @', async () => {
  const logins = scene.logins(account);
  for (const [name, seen] of [
    ['Meet 5:30@Bar', 'Meet 5:30Bar'],
    ['Shop@', 'Shop'],
    ['Tom @ Home', 'Tom @ Home'],
  ] as const) {
    await ok('POST', '/profile/name', { name });
    await until(() => platform().settings(account.number).pushName === name, 'the phone has the name');
    await until(async () => same(await account.seen(), { profileName: name }), 'the record has the name');
    assert.equal((await account.send(contact, 'who am I now')).status, 200);
    await until(() => platform().received(contact).at(-1)?.pushName === seen, 'the contact sees the name');
  }
  assert.equal(scene.logins(account), logins);
});

/** A file of the media host, whose certificate only this platform knows. */
const fileAt = async (url: string): Promise<Buffer> => {
  const dispatcher = new Agent({ connect: { ca: platform().trust().mediaAuthority } });
  try {
    return Buffer.from(await (await fetch(url, { dispatcher })).arrayBuffer());
  } finally {
    await dispatcher.close();
  }
};

const photo = await sharp({ create: { width: 900, height: 600, channels: 3, background: '#c86432' } })
  .jpeg()
  .toBuffer();

test('profile: a picture is set as a square JPEG, shown in the instance, and removed again', async () => {
  const set = await ok('POST', '/profile/image', { image: `data:image/jpeg;base64,${photo.toString('base64')}` });
  assert.ok(same(set['profile'] as Json, { image_updated: true, image_removed: false }));
  const { picture } = platform().account(account.number);
  assert.ok(picture, 'the platform has the picture');
  const { format, width, height } = await sharp(await fileAt(picture.url)).metadata();
  assert.deepEqual([format, width === height, (width ?? 0) <= 640], ['jpeg', true, true]);
  await until(async () => (await account.seen()).profilePicUrl !== '', 'the record has its address');
  const removed = await ok('POST', '/profile/image', { image: 'remove' });
  assert.ok(same(removed['profile'] as Json, { image_updated: false, image_removed: true }));
  assert.equal(platform().account(account.number).picture, undefined);
  await until(async () => (await account.seen()).profilePicUrl === '', 'the record has none');
});

test('profile: an invalid or empty picture and an address inside the network are refused, and nothing changes', async () => {
  const before = platform().account(account.number).picture;
  const refusals: readonly (readonly [Json, number])[] = [
    [{}, 400],
    [{ image: 7 }, 400],
    [{ image: 'not a picture at all' }, 415],
    [{ image: 'two words!' }, 400],
    [{ image: `data:text/plain;base64,${Buffer.from('a text').toString('base64')}` }, 415],
    [{ image: 'http://169.254.169.254/latest/meta-data' }, 400],
  ];
  for (const [body, status] of refusals) {
    const answered = await account.call('POST', '/profile/image', body);
    assert.equal(answered.status, status, `${JSON.stringify(body)}: ${JSON.stringify(answered.body)}`);
  }
  assert.deepEqual(platform().account(account.number).picture, before);
});

test('privacy: a change over the API reaches the platform, and other settings stay', async () => {
  const change = { last: 'none', groupadd: 'contacts', readreceipts: 'none', online: 'match_last_seen', calladd: 'known' };
  const answered = await ok('POST', '/instance/privacy', change);
  assert.deepEqual(answered, { ...change, status: 'all', profile: 'all' });
  assert.ok(same(privacy(), change), JSON.stringify(privacy()));
  assert.deepEqual(await ok('GET', '/instance/privacy'), answered);
});

test('privacy: a change on the phone reaches the gateway, and applies to read receipts at once', async () => {
  await platform().changeAccount(account.number, { privacy: { profile: 'contacts', readreceipts: 'all' } });
  const told = await ok('GET', '/instance/privacy');
  assert.deepEqual([told['profile'], told['readreceipts']], ['contacts', 'all']);
  const read: string[] = [];
  platform().subscribe((event) => {
    if (event.type === 'receipt' && event.kind === 'read' && event.to === contact) read.push(event.id);
  });
  // The gateway sends no query in between, so only the notification reports the change.
  await platform().changeAccount(account.number, { privacy: { readreceipts: 'none' } });
  await platform().changeAccount(account.number, { privacy: { readreceipts: 'all' } });
  const id = await scene.write(account, 'read me');
  await scene.stored(account, [id]);
  await until(async () => {
    await ok('POST', '/message/markread', { id: [id] });
    return read.includes(id);
  }, 'the contact learns that it was read');
});

test('calls: a ringing call is refused without a body, by its id and by its number, and the caller and the stored call show that', async () => {
  const bodies: readonly ((id: string) => Json)[] = [() => ({}), (id) => ({ id }), () => ({ number: contact })];
  for (const body of bodies) {
    const { id } = await platform().call(contact, account.number, { step: 'offer' });
    const isTold = (Status: string): boolean =>
      scene.receiver.posted.some(
        ({ body: told }) => told['EventType'] === 'call' && JSON.stringify(told).includes(id) && JSON.stringify(told).includes(Status),
      );
    await until(() => isTold('offer'), 'the call is told');
    assert.deepEqual(await ok('POST', '/call/reject', body(id)), { response: 'Call rejected' });
    const call = platform()
      .callLog()
      .find((one) => one.id === id);
    assert.deepEqual(
      call?.steps.map(({ step, by }) => [step, by]),
      [
        ['offer', contact],
        ['reject', account.number],
      ],
    );
    await until(() => isTold('reject'), 'the refusal is told');
    const again = await account.call('POST', '/call/reject', { id });
    assert.deepEqual([again.status, again.body['error']], [404, 'no such call is ringing']);
  }
});

test('calls: a call that the caller ended or the phone answered stops ringing', async () => {
  for (const step of ['terminate', 'accept', 'timeout'] as const) {
    const { id } = await platform().call(contact, account.number, { step: 'offer' });
    await platform().call(contact, account.number, { step, id });
    const isTold = (): boolean =>
      scene.receiver.posted.some(({ body }) => JSON.stringify(body).includes(id) && JSON.stringify(body).includes(step));
    await until(isTold, `the ${step} is told`);
    assert.equal((await account.call('POST', '/call/reject')).status, 404);
  }
});

const refusals: readonly (readonly [title: string, call: string, body: Json, status: number, error: string | RegExp])[] = [
  ['a blank name', 'POST /profile/name', { name: '  ' }, 400, 'name must not be empty'],
  ['no name', 'POST /profile/name', {}, 400, 'name is required'],
  ['a name that is too long', 'POST /profile/name', { name: 'x'.repeat(26) }, 400, 'name must have at most 25 characters'],
  ['a name that is no text', 'POST /profile/name', { name: ['x'] }, 400, 'name must be a text'],
  [
    'a value that a category does not have',
    'POST /instance/privacy',
    { online: 'none' },
    400,
    'online must be one of all, match_last_seen',
  ],
  ['a value that is no text', 'POST /instance/privacy', { last: 7 }, 400, /last must be/],
  ['nothing to change', 'POST /instance/privacy', { unknown: 'all' }, 400, /^name at least one of groupadd, last/],
  ['a call without a number', 'POST /call/make', {}, 400, 'missing number in payload'],
  ['a call to an invalid number', 'POST /call/make', { number: 'nobody' }, 400, 'invalid number JID'],
  ['a call with a negative duration', 'POST /call/make', { number: contact, call_duration: -1 }, 400, 'invalid call_duration'],
  ['a call over the API', 'POST /call/make', { number: contact }, 501, /^calls cannot be placed/],
  [
    'the status of a payment',
    'POST /message/payment/status',
    { id: 'x', status: 'shipped' },
    501,
    /^the status of a payment cannot be sent/,
  ],
  ['a status that no payment has', 'POST /message/payment/status', { id: 'x', status: 'lost' }, 400, /status must be one of/],
  ['the rejection of a call that does not ring', 'POST /call/reject', {}, 404, 'no such call is ringing'],
  ['the rejection of a call from an invalid number', 'POST /call/reject', { number: 'nobody' }, 400, /^number must be digits/],
];
for (const [title, call, body, status, error] of refusals)
  test(`account: ${title} is refused`, async () => {
    const [method = '', path = ''] = call.split(' ');
    const answered = await account.call(method, path, body);
    assert.equal(answered.status, status, JSON.stringify(answered.body));
    if (typeof error === 'string') assert.equal(answered.body['error'], error);
    else assert.match(String(answered.body['error']), error);
  });

test('account: an instance without a session and a wrong token are refused', async () => {
  const idle = await scene.create();
  const calls: readonly (readonly [method: string, path: string, body?: Json])[] = [
    ['POST', '/profile/name', { name: 'Shop' }],
    ['GET', '/instance/privacy'],
    ['POST', '/instance/privacy', { last: 'all' }],
    ['POST', '/call/reject', {}],
    ['POST', '/call/make', { number: contact }],
  ];
  for (const [method, path, body] of calls) {
    assert.equal((await idle.call(method, path, body)).status, 409, path);
    const options = { token: 'wrong', ...(body === undefined ? {} : { body }) };
    assert.equal((await scene.gateway.call(method, path, options)).status, 401, path);
  }
});

test('account: the gateway sends the platform no unknown request', () => assert.deepEqual(platform().stats().unknown, {}));
