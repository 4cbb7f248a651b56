/** Tests `/chat/details` and `/chat/avatar`: stored facts, lookups, and repeated lookups. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import type { Account } from '#test/support/account.ts';
import { type Json, picked } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
let picture = '';
let group = '';
before(async () => {
  picture = (
    await sharp({ create: { width: 640, height: 640, channels: 3, background: '#06a' } })
      .jpeg()
      .toBuffer()
  ).toString('base64');
  scene = await Scene.open();
  const earlier = asked();
  account = await scene.paired();
  await platform().changeAccount(contact, { picture });
  await platform().putPerson({ number: contact, businessName: 'Bakery' });
  group = (await platform().createGroup({ subject: 'Staff', creator: contact, participants: [account.number] })).jid;
  await scene.stored(account, [await scene.write(account, 'hello')]);
  await until(() => asked() >= earlier + 2, 'the own picture and that of the contact are looked up');
});
after(() => scene.close());

const platform = () => scene.platform.sandbox;
const asked = (): number => platform().stats().pictures;
const jid = (number: string): string => `${number}@s.whatsapp.net`;

const ok = async (path: string, body: Json): Promise<Json> => {
  const answered = await account.call('POST', path, body);
  assert.equal(answered.status, 200, JSON.stringify(answered.body));
  return answered.body;
};

test('details: a chat has picture, business and common groups, and a repeated call looks up nothing', async () => {
  const details = await until(async () => {
    const found = await ok('/chat/details', { number: contact });
    return found['common_groups'] !== '' && found['image'] !== '' && found;
  }, 'the group and the picture are stored');
  assert.deepEqual(picked(details, { wa_chatid: '', is_business: '', business_name: '', common_groups: '', owner: '' }), {
    wa_chatid: jid(contact),
    is_business: true,
    business_name: 'Bakery',
    common_groups: `(Staff)${group}`,
    owner: account.number,
  });
  assert.match(String(details['image']), /^https:/);
  const before = [asked(), platform().stats().lookups.requests];
  await ok('/chat/details', { number: jid(contact) });
  const small = await ok('/chat/details', { number: contact, preview: true });
  assert.match(String(small['imagePreview']), /^https:/);
  assert.deepEqual([asked(), platform().stats().lookups.requests], before);
});

test('details: a person without a chat is looked up, a group has no business, and a missing account gets a 404', async () => {
  const stranger = await ok('/chat/details', { number: '+55 11 98888-0901' });
  assert.deepEqual(picked(stranger, { wa_chatid: '', is_business: '', common_groups: '', image: '' }), {
    wa_chatid: jid('5511988880901'),
    is_business: false,
    common_groups: '',
    image: '',
  });
  const room = await ok('/chat/details', { number: group });
  assert.deepEqual(picked(room, { wa_chatid: '', wa_isGroup: 0, is_business: 0 }), {
    wa_chatid: group,
    wa_isGroup: true,
    is_business: false,
  });
  await platform().putPerson({ number: '5511988880902', absent: true });
  assert.equal((await account.call('POST', '/chat/details', { number: '5511988880902' })).status, 404);
});

test('avatar: the call returns full, small, hidden and absent pictures, and force repeats a lookup, but not twice in a row', async () => {
  const whole = await ok('/chat/avatar', { number: contact });
  assert.deepEqual([whole['status'], whole['imagePreview']], ['there', '']);
  const small = await ok('/chat/avatar', { number: contact, preview: true });
  assert.deepEqual([small['image'], String(small['imagePreview']).startsWith('https:')], ['', true]);
  const fresh = '5511988880903';
  await platform().changeAccount(fresh, { picture, privacy: { profile: 'none' } });
  const before = asked();
  assert.deepEqual(await ok('/chat/avatar', { number: fresh, force: true }), { image: '', imagePreview: '', status: 'hidden' });
  await ok('/chat/avatar', { number: fresh, force: true });
  assert.equal(asked() - before, 1);
  assert.deepEqual((await ok('/chat/avatar', { number: '5511988880904' }))['status'], 'absent');
});

const refusals: readonly (readonly [title: string, path: string, body: Json, error: string])[] = [
  ['a request without a number', '/chat/details', {}, 'Invalid request payload'],
  ['a preview that is no boolean', '/chat/details', { number: contact, preview: 'perhaps' }, 'Invalid request payload'],
  ['a picture without a number', '/chat/avatar', {}, 'number is required'],
  [
    'the picture of an invalid number',
    '/chat/avatar',
    { number: 'nobody' },
    'number must be digits with the country code, or an id of the platform',
  ],
];
for (const [title, path, body, error] of refusals)
  test(`details: ${title} is refused`, async () => {
    const answered = await account.call('POST', path, body);
    assert.deepEqual([answered.status, answered.body['error']], [400, error]);
  });

test('details: an instance without a session and a wrong token are refused, and the platform gets no unknown request', async () => {
  const idle = await scene.create();
  for (const path of ['/chat/details', '/chat/avatar']) {
    assert.equal((await idle.call('POST', path, { number: contact })).status, 409, path);
    assert.equal((await scene.gateway.call('POST', path, { token: 'wrong', body: { number: contact } })).status, 401, path);
  }
  assert.deepEqual(platform().stats().unknown, {});
});
