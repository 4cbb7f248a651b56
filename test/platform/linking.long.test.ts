/** Tests the behaviour of the platform during linking: new QR codes, void codes, repeated steps, refused requests. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bench, startBench } from './setup.ts';

let bench: Bench;
before(async () => {
  bench = await startBench();
});
after(() => bench.stop());

for (const kind of ['registrationRefresh', 'rotateQr'] as const) {
  test(`pairing: after a scan that the platform answers with ${kind}, the next QR text links the session`, async () => {
    const number = '5511900000041';
    const instance = bench.instance();
    instance.open();
    const { qr } = await instance.fact('platform.qr');
    await bench.running.sandbox.fault({ kind, number });
    await assert.rejects(bench.running.sandbox.scan({ qr, number }), /another QR code/);
    const next = await instance.facts.wait((fact) => fact.type === 'platform.qr' && fact.qr !== qr && fact.qr, 'the next text');
    assert.equal(next.split(',')[0], qr.split(',')[0], 'the same reference');
    assert.ok(instance.vault.stored.credentials?.includes(next.split(',')[3] ?? '?'), 'the secret was stored first');
    await bench.running.sandbox.scan({ qr: next, number });
    assert.equal((await instance.fact('platform.closed')).close.code, 515);
    await bench.running.sandbox.logout(number);
  });
}

test('pairing: a success before the pairing is no login', async () => {
  const instance = bench.instance();
  await bench.running.sandbox.fault({ kind: 'earlySuccess' });
  instance.open();
  const { qr } = await instance.fact('platform.qr');
  await bench.running.sandbox.scan({ qr, number: '5511900000048' });
  assert.equal((await instance.fact('platform.closed')).close.code, 515);
  assert.equal(instance.facts.all.filter(({ type }) => type === 'platform.opened').length, 0);
});

for (const kind of ['voidCode', 'voidCodeByHand'] as const) {
  test(`pairing: a code that the platform voids (${kind}) is replaced by another, which links the session`, async () => {
    const number = '5511900000042';
    const instance = bench.instance();
    instance.open({ phone: number });
    const { code } = await instance.fact('platform.code');
    await bench.running.sandbox.fault({ kind, number });
    await assert.rejects(bench.running.sandbox.enterCode({ number, code }), /voided/);
    const next = await instance.facts.wait((fact) => fact.type === 'platform.code' && fact.code !== code && fact.code, 'another code');
    await bench.running.sandbox.enterCode({ number, code: next });
    assert.equal((await instance.fact('platform.closed')).close.code, 515);
    await bench.running.sandbox.logout(number);
  });
}

test('pairing: a step without its key, and a step that is repeated three times, still link the session', async () => {
  const number = '5511900000043';
  const instance = bench.instance();
  instance.open({ phone: number });
  const { code } = await instance.fact('platform.code');
  await bench.running.sandbox.fault({ kind: 'emptyHello', number });
  await bench.running.sandbox.fault({ kind: 'repeatHello', number });
  await bench.running.sandbox.enterCode({ number, code });
  assert.equal((await instance.fact('platform.closed')).close.code, 515);
});

test('pairing: a code that was mistyped on the phone can be typed again', async () => {
  const number = '5511900000044';
  const instance = bench.instance();
  instance.open({ phone: number });
  const { code } = await instance.fact('platform.code');
  await assert.rejects(bench.running.sandbox.enterCode({ number, code: 'WRONG234' }), /wrong code/);
  await bench.running.sandbox.enterCode({ number, code });
  assert.equal((await instance.fact('platform.closed')).close.code, 515);
});

for (const [browser, system] of [
  ['safari', 'Mac OS'],
  ['firefox', 'Linux'],
  ['edge', 'Windows'],
] as const) {
  test(`pairing: a code for ${browser} on ${system} is accepted, whatever the name of the device`, async () => {
    const instance = bench.instance();
    instance.open({ phone: '5511900000045', browser, system, systemName: 'Minha Empresa' });
    assert.match((await instance.fact('platform.code')).code, /^[0-9A-Z]{8}$/);
  });
}

for (const [code, reason] of [
  [400, 'deviceNameRefused'],
  [429, 'codesLimited'],
  [403, 'codeRefused'],
] as const) {
  test(`pairing: a request of a code that the platform refuses with ${code} is a close that says so (${reason})`, async () => {
    await bench.running.sandbox.fault({ kind: 'refuseQuery', query: 'md/set/link_code', code });
    const instance = bench.instance();
    instance.open({ phone: '5511900000046' });
    const { close } = await instance.fact('platform.closed');
    assert.deepEqual([close.code, close.data], [null, { reason }]);
  });
}

test('pairing: a version that is too old is distinguished from a code that was not typed', async () => {
  const number = '5511900000047';
  const instance = bench.instance({ pairingCode: 5_000 });
  bench.running.sandbox.requireVersion({ link: '2.9999.0' });
  instance.open({ phone: number });
  const { code } = await instance.fact('platform.code');
  await assert.rejects(bench.running.sandbox.enterCode({ number, code }), /too old/);
  const { close } = await instance.fact('platform.closed');
  assert.deepEqual(close.data, { reason: 'linkingStalled' });
  bench.running.sandbox.requireVersion({});
});
