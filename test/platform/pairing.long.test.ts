/** Tests pairing by QR code and by pairing code, the restart after it, and the fate of the credentials. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createMedia } from '#src/media/media.ts';
import { watchStalls } from '#test/bench/stalls.ts';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

let bench: Bench;
before(async () => {
  bench = await startBench();
});
after(() => bench.stop());

test('pairing: a QR code is shown, the phone scans it, and the platform requests a new connection', async () => {
  const instance = bench.instance();
  assert.equal(await instance.link.paired(), false);
  instance.open();
  const { qr } = await instance.fact('platform.qr');
  assert.equal(await instance.link.paired(), false);
  await bench.running.sandbox.scan({ qr, number: '5511900000011', name: 'Ana' });
  const { close } = await instance.fact('platform.closed');
  assert.deepEqual(close, { code: 515, message: 'Stream Errored (restart required)' });
  assert.deepEqual(
    instance.facts.all.map(({ type }) => type),
    ['platform.handshaken', 'platform.qr', 'platform.paired', 'platform.closed'],
  );
  assert.equal(await instance.link.paired(), true);
  instance.open();
  const { identity } = await instance.fact('platform.opened');
  assert.equal(identity.owner, '5511900000011');
  assert.match(identity.jid, /^5511900000011:\d+@s\.whatsapp\.net$/);
  assert.match(identity.lid, /^\d{15}@lid$/);
  assert.equal(identity.platform, 'android');
  assert.equal(identity.isBusiness, false);
});

test('pairing: the first paired fact comes after the credentials are stored', async () => {
  const instance = bench.instance();
  let release = (): void => undefined;
  instance.open();
  const { qr } = await instance.fact('platform.qr');
  instance.vault.slow = new Promise((resolve) => {
    release = resolve;
  });
  await bench.running.sandbox.scan({ qr, number: '5511900000012' });
  assert.equal(instance.vault.stored.credentials?.includes('"account"'), false);
  release();
  await instance.fact('platform.paired');
  assert.equal(instance.vault.stored.credentials?.includes('"account"'), true);
});

test('pairing: prepared keys are uploaded, and stay stored', async () => {
  const instance = await connected(bench, '5511900000013');
  const creds = () => JSON.parse(instance.vault.stored.credentials ?? '{}') as { nextPreKeyId: number; firstUnuploadedPreKeyId: number };
  await until(() => creds().firstUnuploadedPreKeyId === 813, 'the upload is stored');
  assert.equal(creds().nextPreKeyId, 813);
  const ids = [...instance.vault.stored.keys.keys()].filter((key) => key.startsWith('pre-key '));
  // The first message of the phone uses one of them, and may come before or after this line.
  assert.ok(ids.length === 812 || ids.length === 811, `${ids.length} keys`);
});

test('pairing: a pairing code links the session', async () => {
  const instance = bench.instance();
  instance.open({ phone: '+55 11 90000-0014' });
  const { code } = await instance.fact('platform.code');
  assert.match(code, /^[0-9A-Z]{8}$/);
  // The code is typed at once, because a reported code has been accepted by the platform.
  await bench.running.sandbox.enterCode({ number: '5511900000014', code });
  assert.equal((await instance.fact('platform.closed')).close.code, 515);
  assert.equal(instance.facts.all.filter(({ type }) => type === 'platform.qr').length, 0);
  instance.open({ phone: '5511900000014' });
  assert.equal((await instance.fact('platform.opened')).identity.owner, '5511900000014');
});

/** Returns the reported QR texts and codes, in order. */
const told = ({ facts }: Instance): readonly string[] =>
  facts.all.flatMap((fact) => (fact.type === 'platform.qr' ? ['QR'] : fact.type === 'platform.code' ? [fact.code] : []));

for (const [title, first, meet] of [
  ['before the handshake', {}, async () => undefined],
  ['while a QR is on offer', {}, async (instance: Instance) => void (await instance.fact('platform.qr'))],
  [
    'while a code for another number is requested',
    { phone: '5511900000030' },
    async (instance: Instance) => void (await instance.fact('platform.handshaken')),
  ],
  [
    'while a code for another number is on offer',
    { phone: '5511900000030' },
    async (instance: Instance) => void (await instance.fact('platform.code')),
  ],
] as const) {
  test(`pairing: a code that is requested ${title} is made on the same connection, and links the session`, async () => {
    const number = '5511900000031';
    const instance = bench.instance();
    instance.open(first);
    await meet(instance);
    const before = told(instance).length;
    const connections = bench.running.sandbox.stats().connections.total;
    instance.link.pair(number);
    const code = await instance.facts.wait(
      (fact) => fact.type === 'platform.code' && told(instance).indexOf(fact.code) >= before && fact.code,
      'the code',
    );
    assert.ok(bench.running.sandbox.stats().connections.total <= connections + (title === 'before the handshake' ? 1 : 0));
    assert.deepEqual(told(instance).slice(before), [code], 'nothing else is told after the call');
    await bench.running.sandbox.enterCode({ number, code });
    assert.equal((await instance.fact('platform.closed')).close.code, 515);
    instance.open({ phone: number });
    assert.equal((await instance.fact('platform.opened')).identity.owner, number);
    assert.equal(bench.running.sandbox.stats().logins.double, 0);
    await bench.running.sandbox.logout(number);
  });
}

for (const number of ['9991234567890', '0551190000', '123']) {
  test(`pairing: a number that the platform makes no code for (${number}) is a close that says so`, async () => {
    const instance = bench.instance();
    instance.open({ phone: number });
    const { close } = await instance.fact('platform.closed');
    assert.deepEqual([close.code, close.data], [null, { reason: 'numberRefused' }]);
    assert.deepEqual(told(instance), []);
    assert.deepEqual(instance.surprises, []);
  });
}

test('pairing: a linked session requests no code', async () => {
  const instance = await connected(bench, '5511900000032');
  const { length } = told(instance);
  instance.link.pair('5511900000033');
  await bench.running.sandbox.putPerson({ number: '5511900000034' });
  await bench.running.sandbox.send('5511900000034', '5511900000032', { kind: 'text', text: 'hi' });
  await instance.message(({ text }) => text === 'hi');
  assert.equal(told(instance).length, length);
  await instance.link.close();
  instance.link.pair('5511900000033');
  instance.open();
  assert.equal((await instance.fact('platform.opened')).identity.owner, '5511900000032');
});

test('pairing: a QR after an abandoned code works while the storage is slow', async () => {
  const instance = bench.instance();
  instance.open({ phone: '5511900000035' });
  await instance.fact('platform.handshaken');
  instance.vault.away = 'write';
  await instance.fact('platform.code');
  await instance.link.close();
  instance.vault.away = false;
  instance.open();
  const { qr } = await instance.fact('platform.qr');
  await bench.running.sandbox.scan({ qr, number: '5511900000035' });
  assert.equal((await instance.fact('platform.closed')).close.code, 515);
});

test('pairing: after an abandoned code a QR code is shown with the same keys', async () => {
  const instance = bench.instance();
  instance.open({ phone: '5511900000015' });
  await instance.fact('platform.code');
  await instance.link.close();
  assert.equal(await instance.link.paired(), false);
  instance.open();
  const { qr } = await instance.fact('platform.qr');
  assert.deepEqual(instance.vault.discarded, []);
  await bench.running.sandbox.scan({ qr, number: '5511900000015' });
  assert.equal((await instance.fact('platform.closed')).close.code, 515);
});

test('pairing: credentials with a number and without an account are discarded at the next open', async () => {
  const instance = bench.instance();
  instance.open();
  await instance.fact('platform.qr');
  await instance.link.close();
  const creds = JSON.parse(instance.vault.stored.credentials ?? '{}') as object;
  instance.vault.stored.credentials = JSON.stringify({ ...creds, me: { id: '5511900000015@s.whatsapp.net', name: '~' } });
  instance.open();
  await instance.fact('platform.qr');
  assert.deepEqual(instance.vault.discarded, [{ how: 'delete', reason: 'pairing was abandoned' }]);
});

test('pairing: an unscanned attempt is continued with the same keys', async () => {
  const instance = bench.instance();
  instance.open();
  await instance.fact('platform.qr');
  await instance.link.close();
  const { writes } = instance.vault;
  const before = writes.length;
  instance.open();
  await instance.fact('platform.qr');
  assert.equal(writes.length, before);
});

test('pairing: after the last QR text it closes with 408', async () => {
  const instance = bench.instance({ pairingQr: 60 });
  instance.open();
  const { close } = await instance.fact('platform.closed');
  assert.equal(close.code, 408);
  assert.ok(new Set(instance.facts.all.flatMap((fact) => (fact.type === 'platform.qr' ? [fact.qr] : []))).size > 1);
});

test('session: a stored session logs in again, with a fresh link and few queries', async () => {
  const first = await connected(bench, '5511900000016');
  await first.link.close();
  const second = bench.instance();
  second.vault.stored.credentials = first.vault.stored.credentials;
  for (const [key, value] of first.vault.stored.keys) second.vault.stored.keys.set(key, value);
  second.open();
  await second.fact('platform.opened');
  assert.ok(second.vault.queries.length <= 8, JSON.stringify(second.vault.queries));
});

test('session: a logout removes the device from the platform, and nothing more is reported', async () => {
  const instance = await connected(bench, '5511900000017');
  const told = instance.facts.all.length;
  await instance.link.logout();
  assert.equal(instance.facts.all.length, told);
  assert.equal(bench.running.sandbox.people().find(({ number }) => number === '5511900000017')?.devices.length, 0);
  assert.equal(await instance.link.paired(), true);
  await instance.link.discard('delete', 'asked for');
  assert.equal(await instance.link.paired(), false);
});

test('session: a time-lock is forgotten with the credentials of its account', async () => {
  const instance = await connected(bench, '5511900000028');
  await bench.running.sandbox.restrict('5511900000028', { timeLock: { active: true, until: Date.now() + 3_600_000 } });
  await until(() => instance.link.timeLock()?.active === true, 'the time-lock is known');
  await instance.link.logout();
  assert.equal(instance.link.timeLock()?.active, true);
  await instance.link.discard('delete', 'asked for');
  assert.equal(instance.link.timeLock(), null);
});

test('session: removing the device on the phone is a close with 401', async () => {
  const instance = await connected(bench, '5511900000018');
  await bench.running.sandbox.logout('5511900000018');
  const { close } = await instance.fact('platform.closed');
  assert.equal(close.code, 401);
  await instance.link.discard('setAside', close.message);
  assert.deepEqual(instance.vault.discarded, [{ how: 'setAside', reason: 'Stream Errored (conflict)' }]);
});

test('session: storage that is away is a close without a code and with that reason', async () => {
  const instance = bench.instance();
  instance.vault.away = true;
  instance.open();
  const { close } = await instance.fact('platform.closed');
  assert.deepEqual([close.code, close.data], [null, { reason: 'storageUnavailable' }]);
  assert.deepEqual(instance.surprises, []);
});

test('session: unreadable credentials are a close without a code and with that reason', async () => {
  const instance = bench.instance();
  instance.vault.stored.credentials = '{"half":';
  instance.open();
  const { close } = await instance.fact('platform.closed');
  assert.deepEqual([close.code, close.data], [null, { reason: 'corruptCredentials' }]);
  assert.deepEqual(instance.surprises, []);
});

test('session: losing the instance to another node ends the connection', async () => {
  const instance = await connected(bench, '5511900000019');
  instance.vault.epoch = 2;
  await bench.running.sandbox.putPerson({ number: '5511900000020' });
  await bench.running.sandbox.send('5511900000020', '5511900000019', { kind: 'text', text: 'hi' });
  const { close } = await instance.fact('platform.closed');
  assert.deepEqual([close.code, close.data], [null, { reason: 'epochLost' }]);
  assert.deepEqual(instance.surprises, []);
});

test('session: a message that arrives while storage is away waits, and is read once', async () => {
  const instance = await connected(bench, '5511900000021');
  const { sandbox } = bench.running;
  await sandbox.putPerson({ number: '5511900000022' });
  instance.vault.away = true;
  await sandbox.send('5511900000022', '5511900000021', { kind: 'text', text: 'one' });
  await sandbox.send('5511900000022', '5511900000021', { kind: 'text', text: 'two' });
  instance.vault.away = false;
  await instance.message(({ text }) => text === 'two');
  const texts = instance.entries.all.flatMap((entry) => (entry.kind === 'message' ? [entry.message.text] : []));
  assert.deepEqual(texts, ['one', 'two']);
  assert.equal(sandbox.stats().messages.retryReceipts, 0);
});

test('session: unstored keys are known to the next connection, and stored later', async () => {
  const instance = await connected(bench, '5511900000023');
  const { sandbox } = bench.running;
  await sandbox.putPerson({ number: '5511900000024' });
  const say = async (text: string): Promise<void> => {
    await sandbox.send('5511900000024', '5511900000023', { kind: 'text', text });
    await instance.message((message) => message.text === text, text);
  };
  await say('one');
  instance.vault.away = 'write';
  await say('two');
  await instance.link.close();
  await assert.rejects(instance.link.discard('delete', 'too early'), { name: 'StorageUnavailable' });
  instance.vault.away = false;
  instance.open();
  await instance.fact('platform.opened');
  await say('three');
  await instance.link.close();
  assert.equal(sandbox.stats().messages.retryReceipts, 0);
  assert.ok([...instance.vault.stored.keys.keys()].some((key) => key.startsWith('session ')));
});

test('pairing: with keys from a worker no stall of the event loop is long', async () => {
  const media = createMedia();
  await media.generatePreKeys(1);
  const stallOf = async (): Promise<number> => {
    const instance = bench.instance({}, bench.running.port, { preKeys: (count) => media.generatePreKeys(count) });
    const stalls = watchStalls();
    instance.open();
    await instance.fact('platform.qr');
    return stalls.stop().cpu;
  };
  // The least of three: a collection of garbage is no work of a pairing.
  const cpu = Math.min(await stallOf(), await stallOf(), await stallOf());
  await media.close();
  // Generating the keys on the event loop would take more than 100 ms in one piece. Processor time excludes other load.
  assert.ok(cpu < 90, `${cpu} ms`);
});
