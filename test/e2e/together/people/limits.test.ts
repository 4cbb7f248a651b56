/** Tests the limits of an account: the limits that the platform reports, and refusals that say until when they hold. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { type Json, picked } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';

type Restrictions = Parameters<Scene['platform']['sandbox']['restrict']>[1];

const until = Date.UTC(2040, 0, 2, 3, 4, 5);
const cycleStart = Date.UTC(2039, 11, 1);
const cycleEnd = Date.UTC(2039, 11, 31);
const iso = (ms: number): string => new Date(ms).toISOString();

const free: Restrictions = { timeLock: { active: false }, capping: { status: 'NONE' }, oldQueries: false };

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  await scene.works(account);
});
beforeEach(() => scene.platform.sandbox.restrict(account.number, free));
after(() => scene.close());

const limits = async (): Promise<Json> => {
  const { status, body } = await account.call('GET', '/instance/wa_messages_limits');
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

const free463 = { can_send_new_messages: true, reachable: true, provider: 'whatsapp', error_key: undefined };

/** Restrictions of the platform, with the expected answers. */
const rows: readonly {
  readonly title: string;
  readonly restrictions: Restrictions;
  readonly answer: Json;
  readonly timelock: Json;
  readonly capping: Json;
}[] = [
  {
    title: 'without a restriction unknown quotas are null, and there is no `until`',
    restrictions: {},
    answer: free463,
    timelock: { available: true, active: false, until: undefined },
    capping: { available: true, status: 'NONE', used_quota: null, total_quota: null, cycle_end: undefined },
  },
  {
    title: 'the answer reports a reach-out time-lock',
    restrictions: { timeLock: { active: true, until, type: 'BIZ_QUALITY' } },
    answer: { can_send_new_messages: false, error_key: 'WHATSAPP_REACHOUT_TIMELOCK' },
    timelock: { available: true, active: true, until: iso(until), enforcement_type: 'BIZ_QUALITY' },
    capping: { status: 'NONE' },
  },
  {
    title: 'the answer reports that the new chats of a cycle are used up',
    restrictions: { capping: { status: 'CAPPED', used: 10, total: 10, cycleStart, cycleEnd } },
    answer: { can_send_new_messages: false, error_key: undefined },
    timelock: { active: false },
    capping: {
      status: 'CAPPED',
      used_quota: 10,
      total_quota: 10,
      cycle_start: iso(cycleStart),
      cycle_end: iso(cycleEnd),
      ote_status: 'EXHAUSTED',
    },
  },
  {
    title: 'the older query is used if the platform knows no other one',
    restrictions: { capping: { status: 'FIRST_WARNING', used: 7, total: 10 }, oldQueries: true },
    answer: free463,
    timelock: { active: false },
    capping: { available: true, status: 'FIRST_WARNING', used_quota: 7, total_quota: 10 },
  },
];

for (const { title, restrictions, answer, timelock, capping } of rows)
  test(`limits: ${title}`, async () => {
    await scene.platform.sandbox.restrict(account.number, restrictions);
    const body = await limits();
    assert.deepEqual(picked(body, answer), answer);
    assert.deepEqual(picked(body['reachout_timelock'] as Json, timelock), timelock);
    assert.deepEqual(picked(body['new_chat_message_capping'] as Json, capping), capping);
  });

let strangers = 5_000;
const stranger = (): string => `551198888${String((strangers += 1)).padStart(4, '0')}`;

test('limits: a text to a stranger is refused with 463 and the end of the lock, and an existing chat continues', async () => {
  await scene.platform.sandbox.restrict(account.number, { timeLock: { active: true, until, type: 'BIZ_QUALITY' } });
  const { status, body } = await account.send(stranger(), 'hello');
  const expected = {
    error: 'the account is restricted from starting new chats (reach-out time-lock)',
    error_source: 'whatsapp_server',
    provider: 'whatsapp',
    provider_code: 463,
    error_key: 'WHATSAPP_REACHOUT_TIMELOCK',
    diagnostics_endpoint: '/instance/wa_messages_limits',
    details: { reachout_timelock: { available: true, active: true, until: iso(until), enforcement_type: 'BIZ_QUALITY' } },
  };
  assert.deepEqual([status, body], [500, expected]);
  assert.equal((await account.send(contact, 'an old chat')).status, 200);
});

test('limits: a text to a stranger is refused with 475 and the quota of the cycle', async () => {
  await scene.platform.sandbox.restrict(account.number, { capping: { status: 'CAPPED', used: 10, total: 10, cycleEnd } });
  const { status, body } = await account.send(stranger(), 'hello');
  assert.deepEqual([status, body['provider_code']], [500, 475]);
  const capping = { status: 'CAPPED', used_quota: 10, cycle_end: iso(cycleEnd) };
  assert.deepEqual(picked((body['details'] as Json | undefined)?.['new_chat_message_capping'] as Json | undefined, capping), capping);
});

test('limits: an instance that is not connected gets an error with this reason', async () => {
  const other = await scene.create();
  assert.equal((await other.call('GET', '/instance/wa_messages_limits')).status, 409);
});

test('limits: the gateway sends the platform no unknown request', () => assert.deepEqual(scene.platform.sandbox.stats().unknown, {}));
