/** Tests simultaneous connect calls: which pairing goes on and which caller gets which answer, with one socket at a time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceView, Result } from '#actors/gateway.ts';
import type { OpenOptions } from '#actors/ports.ts';
import { identity } from '#test/fakes/platform.ts';
import { settle } from '#test/fakes/time.ts';
import { refusalOf, staged, type Stage } from './stage.ts';

const unpaired = { id: 'r1', jid: '', owner: '', wanted: 'offline' } as const;
const qr: OpenOptions = {};
const codeA: OpenOptions = { phone: '5511900000001' };
const codeB: OpenOptions = { phone: '5511900000002' };
const requests = { 'a QR': qr, 'a code for A': codeA, 'a code for B': codeB } as const;

const codeFor = (phone: string): string => `CODE000${phone.at(-1)}`;

/** Shows the offer of the platform on the newest connection: the pairing code of the last request, or a QR code with the number of the connection. */
const show = async (stage: Stage): Promise<void> => {
  const link = stage.link();
  const phone = link.codes.at(-1);
  link.say(phone === undefined ? { type: 'platform.qr', qr: `QR${link.opens.length}` } : { type: 'platform.code', code: codeFor(phone) });
  await settle();
};

const begin = async (stage: Stage, options: OpenOptions): Promise<Promise<Result<InstanceView>>[]> => {
  const calls = [stage.gateway.connect('r1', options)];
  await settle();
  return calls;
};

/** Stages of the first pairing at which the second request arrives. */
const points: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  'waits for the gate': async () => undefined,
  'opens its connection': (stage) => stage.world.time.pass(1_000),
  'is past the handshake': async (stage) => {
    await stage.world.time.pass(1_000);
    stage.link().say({ type: 'platform.handshaken' });
  },
  'is on offer': async (stage) => {
    await stage.world.time.pass(1_000);
    stage.link().say({ type: 'platform.handshaken' });
    await show(stage);
  },
  'waits in its back-off': async (stage) => {
    await stage.world.time.pass(1_000);
    stage.link().end(503);
    await settle();
  },
};

const shownTo = (result: Result<InstanceView>): string =>
  result.ok ? result.value.qrcode.replace(/^data:image\/png;base64,/, '') + result.value.paircode : refusalOf(result);

const wantedBy = (stage: Stage, { phone }: OpenOptions): string =>
  phone === undefined ? `QR${stage.link().opens.length}` : codeFor(phone);

for (const [firstTitle, first] of Object.entries(requests)) {
  for (const [point, reach] of Object.entries(points)) {
    for (const [secondTitle, second] of Object.entries(requests)) {
      const same = first.phone === second.phone;
      const waits = point === 'waits for the gate' || point === 'waits in its back-off';
      const reopened = !same && second.phone === undefined && !waits;
      test(`connect: ${secondTitle} while ${firstTitle} ${point} ${same ? 'joins it' : reopened ? 'begins anew' : 'takes its place'}`, async () => {
        const stage = await staged([unpaired, 'r2'], { handshakes: { atOnce: 1, perSecond: 1 } });
        if (point === 'waits for the gate') {
          await stage.world.answerOf(stage.gateway.reset('r2')); // `r2` has the only place.
          await stage.world.time.pass(1_000);
        }
        const [opening] = await begin(stage, first);
        await reach(stage);
        if (point === 'waits for the gate') assert.equal(stage.gateway.numbers().handshakesWaiting, 1);
        const before = stage.opens();
        const offered = point === 'is on offer';
        const joined = stage.gateway.connect('r1', second);
        await settle();
        if (same && offered) assert.equal(shownTo(await joined), wantedBy(stage, second), 'it answers at once with what is shown');
        if (point === 'waits for the gate') stage.link('r2').login();
        await stage.world.time.pass(2_000);
        const link = stage.link();
        assert.equal(stage.opens(), before + (reopened || waits ? 1 : 0));
        assert.equal(link.opens.at(-1)?.options.phone ?? '', waits || reopened ? (second.phone ?? '') : (first.phone ?? ''));
        if (!(same && offered)) {
          if (waits || reopened || point === 'opens its connection') link.say({ type: 'platform.handshaken' });
          await show(stage);
        }
        assert.equal(shownTo(await stage.world.answerOf(joined)), wantedBy(stage, second));
        // The first caller learns the result of its own request. It never gets the offer that was made for another request.
        const answers = offered ? [wantedBy(stage, first)] : same ? [wantedBy(stage, first)] : ['conflict'];
        if (opening && !reopened) assert.deepEqual([shownTo(await stage.world.answerOf(opening))], answers);
        assert.equal(stage.gateway.view('r1')?.status, 'connecting');
        assert.equal(shownTo({ ok: true, value: stage.gateway.view('r1')! }), wantedBy(stage, second));
        stage.world.assertKept();
      });
    }
  }
}

test('connect: a QR code that is rendered too late, after a pairing code was requested, is not shown', async () => {
  const pictures = Promise.withResolvers<void>();
  const stage = await staged([unpaired], {}, ({ ports }) => {
    ports.media.qrPng = () => pictures.promise.then(() => 'picture');
  });
  const calls = await begin(stage, qr);
  stage.link().say({ type: 'platform.handshaken' }, { type: 'platform.qr', qr: 'QR1' });
  calls.push(stage.gateway.connect('r1', codeA));
  await settle();
  pictures.resolve();
  await settle();
  assert.equal(stage.gateway.view('r1')?.qrcode, '');
  await show(stage);
  assert.deepEqual((await stage.world.answerOf(Promise.all(calls))).map(shownTo), ['conflict', codeFor(codeA.phone ?? '')]);
});

test('connect: of two calls that arrive together the later one decides the pairing, and the earlier caller is told', async () => {
  const stage = await staged([unpaired]);
  const calls = [stage.gateway.connect('r1', codeA), stage.gateway.connect('r1', codeB)];
  await settle();
  stage.link().say({ type: 'platform.handshaken' });
  await show(stage);
  assert.deepEqual((await stage.world.answerOf(Promise.all(calls))).map(shownTo), ['conflict', codeFor(codeB.phone ?? '')]);
  assert.equal(stage.opens(), 1);
  stage.world.assertKept();
});

test('connect: a pairing that replaces another one has its full time', async () => {
  const stage = await staged([unpaired]);
  const calls = await begin(stage, qr);
  stage.link().say({ type: 'platform.handshaken' });
  await show(stage);
  await stage.world.answerOf(Promise.all(calls));
  await stage.world.time.pass(119_000);
  void stage.gateway.connect('r1', codeA);
  await settle();
  await show(stage);
  await stage.world.time.pass(299_000);
  assert.equal(stage.gateway.view('r1')?.paircode, codeFor(codeA.phone ?? ''));
  await stage.world.time.pass(2_000);
  assert.equal(stage.status(), 'disconnected');
});

test('connect: a pairing that ends while the next connect is stored leaves the new session wanted online', async () => {
  const stage = await staged([unpaired]);
  const calls = await begin(stage, qr);
  stage.link().say({ type: 'platform.handshaken' });
  await show(stage);
  await stage.world.answerOf(Promise.all(calls));
  await stage.world.time.pass(115_000);
  const stored = Promise.withResolvers<void>();
  stage.world.db.holds.set('instances.update', stored.promise);
  const again = stage.gateway.connect('r1', qr);
  await stage.world.time.pass(10_000);
  assert.equal(stage.status(), 'disconnected');
  stage.world.db.holds.delete('instances.update');
  stored.resolve();
  await settle();
  stage.link().say({ type: 'platform.handshaken' });
  await show(stage);
  assert.ok((await stage.world.answerOf(again)).ok);
  stage.link().say({ type: 'platform.paired', identity });
  await settle();
  stage.link().end(515);
  await settle();
  stage.link().login();
  await settle();
  assert.deepEqual([stage.status(), stage.wanted()], ['connected', 'online']);
});

test('connect: if the platform makes no code for a number the caller is told, and another number works', async () => {
  const stage = await staged([unpaired]);
  const [call] = await begin(stage, codeA);
  stage.link().say({ type: 'platform.handshaken' });
  stage.link().end(null, { reason: 'numberRefused' });
  assert.equal(refusalOf(await stage.world.answerOf(call!, 100)), 'invalid');
  await stage.world.time.pass(600_000);
  assert.deepEqual([stage.opens(), stage.status(), stage.wanted()], [1, 'disconnected', 'offline']);
  assert.match(stage.gateway.view('r1')?.record.lastDisconnectReason ?? '', /no pairing code for this number/);
  const again = stage.gateway.connect('r1', codeB);
  await settle();
  stage.link().say({ type: 'platform.handshaken' });
  await show(stage);
  assert.equal(shownTo(await stage.world.answerOf(again)), codeFor(codeB.phone ?? ''));
});

for (const [title, meet] of [
  ['is being restored', async () => undefined],
  ['was just paired', async (stage: Stage) => stage.link().say({ type: 'platform.handshaken' }, { type: 'platform.paired', identity })],
  ['waits in its back-off', async (stage: Stage) => stage.link().end(428)],
] as const) {
  test(`connect: a phone number has no effect on a session that is paired and ${title}`, async () => {
    const stage = await staged([title === 'was just paired' ? unpaired : { id: 'r1', wanted: 'offline' }]);
    void stage.gateway.connect('r1', qr);
    await stage.world.time.pass(100);
    await meet(stage);
    const call = stage.gateway.connect('r1', codeA);
    await stage.world.time.pass(100);
    if (title === 'was just paired') stage.link().end(515);
    await settle();
    stage.link().login();
    assert.ok((await stage.world.answerOf(call)).ok);
    assert.deepEqual([stage.status(), stage.link().codes], ['connected', []]);
    stage.world.assertKept();
  });
}
