/** Tests `/chat/check`: one request for unknown numbers, none for known ones, and none beyond the pace. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { type Json, picked } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open({ LOOKUPS_AT_ONCE: '12', LOOKUP_EVERY_MS: '600000' });
  account = await scene.paired();
});
after(() => scene.close());

const jid = (number: string): string => `${number}@s.whatsapp.net`;
const requests = (): number => scene.platform.sandbox.stats().lookups.requests;
const put = (number: string, change: object) => scene.platform.sandbox.putPerson({ number, ...change });

const check = async (numbers: readonly unknown[], by = account): Promise<readonly Json[]> => {
  const { status, body } = await by.call('POST', '/chat/check', { numbers });
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as readonly Json[];
};

test('check: one request to the platform checks accounts, missing accounts, Brazilian forms, businesses, groups and invalid entries', async () => {
  const { lid } = await put('5511988880301', {});
  await put('551188880302', {});
  await put('5511988880303', { absent: true });
  await put('4915100000304', { businessName: 'Bakery' });
  const { jid: group } = await scene.platform.sandbox.createGroup({ subject: 'Staff', creator: contact, participants: [account.number] });
  await until(async () => (await check([group]))[0]?.['groupName'] === 'Staff', 'the group is known');
  const before = requests();
  const asked = [
    '+55 (11) 98888-0301',
    '5511988880302',
    '5511988880303',
    jid('4915100000304'),
    group,
    '120363999@g.us',
    'nobody',
    account.number,
  ];
  const answers = await check(asked);
  assert.equal(requests() - before, 1);
  const nothing = { verifiedName: '', groupName: '', error: '' };
  assert.deepEqual(answers.slice(0, 5), [
    { ...nothing, query: asked[0], jid: jid('5511988880301'), lid: `${lid}@lid`, isInWhatsapp: true },
    { ...nothing, query: asked[1], jid: jid('551188880302'), lid: answers[1]?.['lid'], isInWhatsapp: true },
    { ...nothing, query: asked[2], jid: jid('5511988880303'), lid: '', isInWhatsapp: false },
    { ...nothing, query: asked[3], jid: jid('4915100000304'), lid: answers[3]?.['lid'], isInWhatsapp: true, verifiedName: 'Bakery' },
    { ...nothing, query: group, jid: group, lid: '', isInWhatsapp: true, groupName: 'Staff' },
  ]);
  assert.deepEqual(
    answers.slice(5).map((one) => picked(one, { isInWhatsapp: 0, error: '' })),
    [
      { isInWhatsapp: false, error: 'the account is in no such group' },
      { isInWhatsapp: false, error: 'number must be digits with the country code, or an id of the platform' },
      { isInWhatsapp: true, error: '' },
    ],
  );
  assert.deepEqual(await check([`${lid}@lid`]), [{ ...answers[0], query: `${lid}@lid` }]);
  assert.deepEqual(await check(asked), answers);
  assert.equal(requests() - before, 1, 'what was answered is not asked again');
});

test('check: above the rate limit the answer has a time for the next attempt, and known numbers are still answered', async () => {
  const before = requests();
  const many = Array.from({ length: 10 }, (_, n) => `55119888804${String(n).padStart(2, '0')}`);
  const refused = await account.call('POST', '/chat/check', { numbers: many });
  assert.equal(refused.status, 429, JSON.stringify(refused.body));
  assert.ok(Number(refused.headers.get('retry-after')) > 60);
  const never = await account.call('POST', '/chat/check', {
    numbers: Array.from({ length: 13 }, (_, n) => `55119888805${String(n).padStart(2, '0')}`),
  });
  assert.deepEqual([never.status, never.body['error']], [400, 'at most 12 numbers that are not known can be looked up at once']);
  assert.equal(requests(), before);
  assert.equal((await check(['5511988880301']))[0]?.['isInWhatsapp'], true);
});

test('check: a person who wrote is known without a request, and a checked number is not looked up by a send', async () => {
  const other = await scene.paired();
  const { id } = await scene.platform.sandbox.send('5511988880601', other.number, { kind: 'text', text: 'hello' });
  await until(async () => (await other.messages('5511988880601')).some(({ messageid }) => messageid === id), 'the text is stored');
  const before = requests();
  assert.equal((await check(['5511988880601'], other))[0]?.['isInWhatsapp'], true);
  assert.equal(requests(), before);
  const twice = await Promise.all([check(['5511988880602'], other), check(['5511988880602'], other)]);
  assert.deepEqual(twice[0], twice[1]);
  assert.equal((await other.send('5511988880602', 'known by now')).status, 200);
  assert.equal(requests() - before, 1);
});

test('check: a refusal of the platform is returned with its code, and is not cached', async () => {
  const other = await scene.paired();
  await scene.platform.sandbox.fault({ kind: 'refuseLookups', number: other.number, code: 500 });
  const [silent] = await check(['5511988880701'], other);
  assert.deepEqual(picked(silent, { jid: '', error: '' }), { jid: jid('5511988880701'), error: 'the platform did not say' });
  assert.ok(!('isInWhatsapp' in (silent ?? {})));
  assert.equal((await check(['5511988880701'], other))[0]?.['isInWhatsapp'], true);
  await scene.platform.sandbox.fault({ kind: 'refuseLookups', number: other.number });
  const refused = await other.call('POST', '/chat/check', { numbers: ['5511988880702'] });
  assert.deepEqual([refused.status, refused.body['provider_code']], [429, 429]);
});

const refusals: readonly (readonly [title: string, body: Json, error: string])[] = [
  ['no numbers', {}, 'Missing numbers in payload'],
  ['an empty list', { numbers: [] }, 'Missing numbers in payload'],
  ['a number instead of a list', { numbers: { of: 'nobody' } }, 'numbers must be a list'],
  ['a list of 501 numbers', { numbers: Array.from({ length: 501 }, () => '1') }, 'numbers must have at most 500 entries'],
];
for (const [title, body, error] of refusals)
  test(`check: ${title} is refused`, async () => {
    const answered = await account.call('POST', '/chat/check', body);
    assert.deepEqual([answered.status, answered.body['error']], [400, error]);
  });

test('check: an instance without a session and a wrong token are refused, and the platform gets no unknown request', async () => {
  const idle = await scene.create();
  assert.equal((await idle.call('POST', '/chat/check', { numbers: ['551'] })).status, 409);
  assert.equal((await scene.gateway.call('POST', '/chat/check', { token: 'wrong', body: { numbers: ['551'] } })).status, 401);
  assert.deepEqual(scene.platform.sandbox.stats().unknown, {});
});
