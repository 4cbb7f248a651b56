/** Tests the limit of connections that calls begin on one instance: what costs, what is free, and that a refused call changes nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceView, Result } from '#actors/gateway.ts';
import { refusalOf, staged, type Stage } from './stage.ts';

const second = 1_000;
const minute = 60 * second;
const idle = { id: 'r1', wanted: 'offline' } as const;
const owner = '5511999999999';
const unpaired = { ...idle, jid: '', owner: '' } as const;

const connect = (stage: Stage, options: { readonly phone?: string } = {}): Promise<Result<InstanceView>> =>
  stage.world.answerOf(stage.gateway.connect('r1', options));
const reset = (stage: Stage): Promise<Result<InstanceView>> => stage.world.answerOf(stage.gateway.reset('r1'));

/** The platform refuses every session that is opened from now on. */
const refuseAll = ({ world }: Stage): void => {
  world.platform.onOpen = (link) => queueMicrotask(() => link.end(403));
};

/** Shows a QR code, or the pairing code of the caller, on every connection that is opened from now on. */
const offer = ({ world }: Stage): void => {
  world.platform.onOpen = (link) => queueMicrotask(() => link.say({ type: 'platform.qr', qr: `QR${link.opens.length}` }));
};

test('connect limit: a client that connects a refused session in a loop begins ten connections, and then one a minute', async () => {
  const stage = await staged([idle]);
  refuseAll(stage);
  const { time } = stage.world;
  const began = time.now();
  const reasons = new Set<string>();
  while (time.now() < began + 30 * minute) {
    reasons.add(refusalOf(await connect(stage)));
    await time.pass(500);
  }
  assert.deepEqual([...reasons], ['', 'limited']);
  assert.equal(stage.opens(), 10 + 29);
  assert.equal(stage.link().opens.filter(({ at }) => at < began + minute).length, 10);
});

test('connect limit: a refused call says when the next one may begin a connection, and that one does', async () => {
  const stage = await staged([idle]);
  refuseAll(stage);
  for (let n = 0; n < 10; n += 1) assert.equal(refusalOf(await connect(stage)), '');
  const refused = await connect(stage);
  assert.ok(!refused.ok && refused.refusal.reason === 'limited');
  const { retryAfter = 0, message } = refused.refusal;
  assert.ok(retryAfter > 50 && retryAfter <= 60, `${retryAfter} s`);
  assert.match(message, new RegExp(`try again in ${retryAfter} s`));
  await stage.world.time.pass((retryAfter - 1) * second);
  assert.equal(refusalOf(await connect(stage)), 'limited');
  await stage.world.time.pass(second);
  assert.equal(refusalOf(await connect(stage)), '');
});

test('connect limit: a refused call stores nothing, and leaves the session as it is', async () => {
  const stage = await staged([idle]);
  refuseAll(stage);
  for (let n = 0; n < 10; n += 1) await connect(stage);
  const { updated } = stage.world.db.instances.get('r1')!;
  await stage.world.time.pass(second);
  assert.equal(refusalOf(await connect(stage)), 'limited');
  assert.deepEqual([stage.wanted(), stage.status(), stage.world.db.instances.get('r1')?.updated], ['offline', 'disconnected', updated]);
});

test('connect limit: a refused call does not permit that another account is paired', async () => {
  const stage = await staged([{ ...idle, jid: '', owner }]);
  offer(stage);
  for (let n = 0; n < 10; n += 1) await connect(stage, n % 2 === 0 ? {} : { phone: owner });
  const refused = await stage.world.answerOf(stage.gateway.connect('r1', { phone: '5511900000003', allowAccountChange: true }));
  assert.equal(refusalOf(refused), 'limited');
  assert.equal(stage.link().host.accountOf('5511900000009'), 'refused');
});

test('connect limit: calls that join a pairing or find the session connected cost nothing', async () => {
  const stage = await staged([unpaired]);
  offer(stage);
  for (let n = 0; n < 50; n += 1) assert.equal(refusalOf(await connect(stage)), '');
  assert.equal(stage.opens(), 1);
  stage.link().login();
  await stage.world.time.pass(second);
  for (let n = 0; n < 50; n += 1) assert.equal(refusalOf(await connect(stage)), '');
  stage.letIn();
  for (let n = 0; n < 9; n += 1) {
    assert.equal(refusalOf(await reset(stage)), '');
    await stage.world.time.pass(100);
  }
});

test('connect limit: calls that the back-off or a suspension holds back cost nothing', async () => {
  for (const [code, data] of [
    [503, {}],
    [402, { expire: '86400' }],
  ] as const) {
    const stage = await staged([idle]);
    stage.world.platform.onOpen = (link) => queueMicrotask(() => link.end(code, data));
    for (let n = 0; n < 60; n += 1) assert.equal(refusalOf(await connect(stage)), '', `call ${n} after ${code}`);
  }
});

test('connect limit: a page that shows a new code whenever the last one has expired is never refused', async () => {
  const stage = await staged([unpaired]);
  offer(stage);
  const { time } = stage.world;
  const end = time.now() + 6 * 60 * minute;
  while (time.now() < end) {
    assert.equal(refusalOf(await connect(stage)), '');
    await time.pass(second);
  }
  assert.ok(stage.opens() > 150, `${stage.opens()} codes`);
});

test('connect limit: a client that changes between codes in a loop is refused, and the pairing under way goes on', async () => {
  const stage = await staged([unpaired]);
  offer(stage);
  await connect(stage);
  const phones = (n: number) => (n % 2 === 0 ? { phone: '5511900000001' } : {});
  const answers: string[] = [];
  for (let n = 0; n < 30; n += 1) {
    const call = stage.gateway.connect('r1', phones(n));
    await stage.world.time.pass(100);
    if (n % 2 === 0) stage.link().say({ type: 'platform.code', code: 'ABCD1234' });
    answers.push(refusalOf(await stage.world.answerOf(call)));
  }
  assert.equal(answers.filter((reason) => reason === '').length, 9 + 10, 'the last allowed pairing is joined by the calls for it');
  assert.deepEqual(new Set(answers), new Set(['', 'limited']));
  assert.equal(stage.status(), 'connecting');
  assert.ok(stage.opens() <= 6, `${stage.opens()} connections`);
});

test('connect limit: resets in a loop are refused, and the session stays connected', async () => {
  const stage = await staged(['r1']);
  stage.letIn();
  const before = stage.opens();
  const answers: string[] = [];
  for (let n = 0; n < 20; n += 1) {
    answers.push(refusalOf(await reset(stage)));
    await stage.world.time.pass(second);
  }
  assert.deepEqual(answers, [...Array.from({ length: 10 }, () => ''), ...Array.from({ length: 10 }, () => 'limited')]);
  assert.deepEqual([stage.opens() - before, stage.status()], [10, 'connected']);
  await stage.world.time.pass(minute);
  assert.equal(refusalOf(await reset(stage)), '');
});

test('connect limit: resets, connects, wakes and steps of the inspector share the limit of the instance, and others have their own', async () => {
  const stage = await staged(['r1', { ...idle, id: 'r2' }]);
  const { gateway, world } = stage;
  stage.letIn();
  const event = { type: 'reconnect' } as const;
  const by = { address: '10.0.0.1', via: 'token' } as const;
  const answers: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    for (const step of [
      () => gateway.hibernate('r1'),
      () => gateway.connect('r1', {}),
      () => gateway.reset('r1'),
      () => gateway.act('r1', event, by),
    ]) {
      answers.push(refusalOf(await world.answerOf<Result<unknown>>(step())));
      await world.time.pass(second);
    }
  }
  assert.deepEqual(
    answers.slice(0, 14),
    Array.from({ length: 14 }, () => ''),
  );
  assert.deepEqual(answers.slice(14), ['limited', 'limited']);
  assert.equal(refusalOf(await world.answerOf(gateway.connect('r2', {}))), '');
});

test('connect limit: a change of the proxy that would restart the session again is refused, and stores nothing', async () => {
  const stage = await staged(['r1']);
  stage.letIn();
  const urls = (n: number) => `http://own${n}.test:3128`;
  const change = (n: number) => stage.world.answerOf(stage.gateway.changeProxy('r1', { url: urls(n) }));
  for (let n = 0; n < 10; n += 1) {
    assert.equal(refusalOf(await change(n)), '');
    await stage.world.time.pass(second);
  }
  assert.equal(refusalOf(await change(10)), 'limited');
  assert.equal(stage.world.db.instances.get('r1')?.proxy?.url, urls(9));
  assert.equal(refusalOf(await change(9)), '', 'the same proxy restarts nothing');
  assert.equal(stage.status(), 'connected');
});
