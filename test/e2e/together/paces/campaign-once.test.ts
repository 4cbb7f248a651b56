/** Tests `Idempotency-Key` of campaigns. For any repetition and any kill there is one campaign, and each recipient gets one message. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '#test/support/account.ts';
import type { Answer } from '#test/support/gateway.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

type Json = Readonly<Record<string, unknown>>;

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open({ LOOKUP_EVERY_MS: '1' });
  account = await scene.paired();
  await scene.works(account);
});
after(() => scene.close());

const number = '5511966600001';
const later = 60;

const simple = (info: string, more: object = {}): object => ({
  numbers: [number, 'nobody'],
  type: 'text',
  text: info,
  info,
  delayMin: 1,
  delayMax: 2,
  scheduled_for: 0,
  ...more,
});
const advanced = (info: string, more: object = {}): object => ({
  info,
  delayMin: 0,
  delayMax: 0,
  messages: [
    { number, type: 'text', text: info },
    { number: 'nobody', type: 'text', text: info },
  ],
  ...more,
});
const bodies = { simple, advanced };
type Kind = keyof typeof bodies;
const kinds: readonly Kind[] = ['simple', 'advanced'];

const post = (kind: string, key: string, body: object): Promise<Answer> =>
  scene.gateway.call('POST', kind === 'text' ? '/send/text' : `/sender/${kind}`, {
    token: account.token,
    headers: { 'idempotency-key': key },
    body,
  });

const folders = async (info: string): Promise<readonly Json[]> => {
  const { body } = await account.call('GET', '/sender/listfolders');
  return (body as unknown as readonly Json[]).filter((one) => one['info'] === info);
};
const texts = (text: string): number => scene.platform.sandbox.received(number).filter((one) => one.text === text).length;
const conflict = [409, { error: 'the Idempotency-Key was used with another request' }];
const restart = async (): Promise<void> => {
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  await account.reaches('connected');
};

for (const kind of kinds) {
  test(`campaigns once: ten simultaneous calls of ${kind} with one key make one campaign and get the same answer, also after a kill`, async () => {
    const info = `ten of ${kind}`;
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(kind, info, bodies[kind](info))));
    const [first] = answers;
    assert.deepEqual([first?.status, first?.body['count'], first?.body['failed']], [200, 2, 1], JSON.stringify(first?.body));
    await until(async () => (await folders(info))[0]?.['status'] === 'done', 'the campaign is done');
    await restart();
    for (const { status, body } of [...answers, await post(kind, info, bodies[kind](info))])
      assert.deepEqual([status, body], [200, first?.body]);
    assert.deepEqual([(await folders(info)).length, texts(info)], [1, 1]);
  });

  test(`campaigns once: another body of ${kind} with the same key gets a 409, and so does another operation`, async () => {
    const info = `other of ${kind}`;
    const body = bodies[kind](info, { scheduled_for: later });
    const first = await post(kind, info, body);
    const others = [
      await post(kind, info, bodies[kind](info, { scheduled_for: later, delayMax: 9 })),
      await post(kind, info, bodies[kind](`${info}!`, { scheduled_for: later })),
      await post(kind === 'simple' ? 'advanced' : 'simple', info, bodies[kind === 'simple' ? 'advanced' : 'simple'](info)),
      await post('text', info, { number, text: info }),
    ];
    for (const { status, body: answer } of others) assert.deepEqual([status, answer], conflict);
    // Unknown fields, and the order of fields, do not matter.
    const again = await post(kind, info, { unknown: 1, ...Object.fromEntries(Object.entries(body).toReversed()) });
    assert.deepEqual([again.status, again.body, (await folders(info)).length, texts(info)], [200, first.body, 1, 0]);
  });

  test(`campaigns once: a refused call of ${kind} does not use up the key, and each call without a key makes a campaign`, async () => {
    const info = `free of ${kind}`;
    const key = `${kind} free`;
    assert.equal((await post(kind, key, bodies[kind](info, { delayMin: 5, delayMax: 4 }))).status, 400);
    assert.equal((await post(kind, key, bodies[kind](info, { scheduled_for: later }))).status, 200);
    for (let n = 0; n < 2; n++) await account.call('POST', `/sender/${kind}`, bodies[kind](info, { scheduled_for: later }));
    assert.equal((await folders(info)).length, 3);
    assert.match(String((await post(kind, '', bodies[kind](info))).body['error']), /^idempotency-key /);
  });
}

test('campaigns once: a campaign with the key of a send is refused', async () => {
  assert.equal((await post('text', 'sent', { number, text: 'sent' })).status, 200);
  const other = await post('simple', 'sent', simple('sent'));
  assert.deepEqual([other.status, other.body], conflict);
});

test('campaigns once: after a kill during the creation, the same key leads to one campaign', async (t) => {
  const numbers = Array.from({ length: 10_000 }, (_, at) => `55117${String(at).padStart(8, '0')}`);
  const many = (info: string): object => simple(info, { scheduled_for: later, numbers });
  const began = performance.now();
  assert.equal((await post('simple', 'measured', many('measured'))).status, 200);
  const took = performance.now() - began;
  for (const share of [0.6, 0.95]) {
    const info = `killed after ${share}`;
    const lost = post('simple', info, many(info)).catch(() => null);
    await wait(took * share);
    await scene.gateway.end('SIGKILL');
    const answered = (await lost) !== null;
    await scene.gateway.start();
    const left = await folders(info);
    const again = await post('simple', info, many(info));
    const ids = (await folders(info)).map(({ id }) => id);
    t.diagnostic(`at ${share} of ${Math.round(took)} ms: ${answered ? 'answered' : 'not answered'}, ${left.length} stored`);
    assert.deepEqual([again.status, ids], [200, [again.body['folder_id']]]);
    if (left.length > 0) assert.equal(left[0]?.['id'], ids[0]);
  }
});
