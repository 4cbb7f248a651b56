/** Tests forged signatures on real connections. Each ends with its own reason, and no forged data is used. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Curve } from '@whiskeysockets/baileys';
import type { Log, PlatformFact } from '#actors/ports.ts';
import type { Message } from '#actors/model.ts';
import { type ChainForgery, chainForgeries } from '#src/sandbox/interface.ts';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, quietLog, startBench } from './setup.ts';
import { openFront } from './tls-front.ts';

let bench: Bench;
let instance: Instance;
const own = '5511900000901';

before(async () => {
  bench = await startBench();
  instance = await connected(bench, own);
});
after(() => bench.stop());

const said: Readonly<Record<ChainForgery, RegExp>> = {
  issuer: /^the intermediate certificate names another issuer/,
  root: /^the intermediate certificate is not signed by the root/,
  signature: /^the certificate of the server is not signed by the intermediate one/,
  leafIssuer: /^the certificate of the server names another issuer/,
  leafKey: /^the certificate is for another key/,
  leafExpired: /^the certificate of the server has expired/,
  leafEarly: /^the certificate of the server is not valid yet/,
  intermediateExpired: /^the intermediate certificate has expired/,
  intermediateEarly: /^the intermediate certificate is not valid yet/,
};

/** Opens the connection and returns its close. */
const closed = async (one: Instance): Promise<Extract<PlatformFact, { type: 'platform.closed' }>['close']> => {
  one.open();
  return (await one.fact('platform.closed')).close;
};

for (const forgery of chainForgeries) {
  test(`certificate, ${forgery}: the connection ends before anything is reported`, async () => {
    await instance.link.close();
    await bench.running.sandbox.fault({ kind: 'badCertificate', forgery });
    const { handshakes } = bench.running.sandbox.stats();
    const { code, message, data } = await closed(instance);
    assert.deepEqual([code, data], [null, { reason: 'certificateRefused' }]);
    assert.match(message, said[forgery]);
    assert.equal(bench.running.sandbox.stats().handshakes, handshakes);
    instance.open();
    await instance.fact('platform.opened');
  });
}

test('certificate: the chain of another platform is refused where the real one is expected', async (t) => {
  const front = await openFront(bench.running.port);
  t.after(() => front.close());
  // The process trusts the root of the simulated platform by now, so the chain gets another root. `compiled-root.alone.test.ts` needs no forgery.
  await bench.running.sandbox.fault({ kind: 'badCertificate', forgery: 'root' });
  const { message, data } = await closed(bench.instance({}, undefined, { url: front.url }));
  assert.deepEqual(data, { reason: 'certificateRefused' }, message);
  assert.match(message, said.root);
});

const forgedPairings = [
  ['an account that is signed by another key is not linked', 'forgedAccount', 'accountRefused', '5511900000902'],
  ['one that does not know the secret of the code is not linked', 'forgedPairing', 'pairingForged', '5511900000912'],
] as const;
for (const [title, kind, reason, number] of forgedPairings)
  test(`pairing: ${title}`, async () => {
    const one = bench.instance();
    one.open();
    const { qr } = await one.fact('platform.qr');
    await bench.running.sandbox.fault({ kind });
    const linking = bench.running.sandbox.scan({ qr, number, name: 'Somebody' }).catch(() => undefined);
    const { close } = await one.fact('platform.closed');
    assert.deepEqual([close.code, close.data], [null, { reason }]);
    assert.equal(await one.link.paired(), false);
    assert.equal(
      one.facts.all.some(({ type }) => type === 'platform.paired'),
      false,
    );
    await one.link.close();
    await linking;
  });

/** Sends a text. `refusal` is '' for a text that left. */
const send = async (instance: Instance, number: string, text: string): Promise<{ readonly refusal: string; readonly id: string }> => {
  const control = { signal: new AbortController().signal, deadline: Date.now() + 60_000 };
  const content = { kind: 'text' as const, text, preview: null };
  const message = await instance.link.perform(
    { name: 'message.compose', input: { send: { number, replyTo: '', mentions: [], forward: false, content }, draft: null } },
    control,
  );
  assert.ok(message.ok);
  const value: Message = message.value;
  const transmitted = await instance.link.perform({ name: 'message.transmit', input: { message: value } }, control);
  return { refusal: transmitted.ok ? '' : transmitted.refusal.message, id: value.messageId };
};

test('keys: a contact whose keys are forged gets nothing, and the next keys are taken', async () => {
  const { sandbox } = bench.running;
  const number = '5511900000903';
  await sandbox.putPerson({ number, name: 'Friend' });
  await sandbox.fault({ kind: 'forgedKeys', number: own, query: number, times: 1_000 });
  assert.equal((await send(instance, number, 'to whoever it is')).refusal, 'the keys of the recipient are not signed by it');
  // The library requests the keys of a device more than once.
  assert.deepEqual([...new Set(instance.forged)], ['keys']);
  assert.deepEqual(sandbox.received(number), []);
  await sandbox.fault({ kind: 'forgedKeys', number: own, times: 0 });
  assert.equal((await send(instance, number, 'to the friend')).refusal, '');
  await until(() => sandbox.received(number).some(({ text }) => text === 'to the friend'), 'the text');
});

test('keys: forged ones of one member keep a group message from nobody else', async () => {
  const { sandbox } = bench.running;
  const [forged, member] = ['5511900000904', '5511900000905'] as const;
  for (const number of [forged, member]) await sandbox.putPerson({ number, name: number });
  const { jid } = await sandbox.createGroup({ subject: 'Group', creator: member, participants: [own, forged] });
  await sandbox.fault({ kind: 'forgedKeys', number: own, query: forged, times: 1_000 });
  const before = instance.forged.length;
  const { refusal, id } = await send(instance, jid, 'to all');
  assert.equal(refusal, '');
  assert.ok(instance.forged.length > before, 'the forged keys are counted');
  await until(() => sandbox.received(member).some((one) => one.id === id && one.text === 'to all'), 'the text');
  await sandbox.fault({ kind: 'forgedKeys', number: own, times: 0 });
  assert.deepEqual(
    sandbox.received(forged).filter(({ text }) => text !== ''),
    [],
  );
});

/** Returns an instance that accepts forged data, and the warnings in its log. The setting applies to the process, so this instance must be the last one. */
const lenientInstance = () => {
  const warnings: string[] = [];
  const warn: Log['warn'] = (fields, event) => void (event === 'platform.forged' && warnings.push((fields as { detail: string }).detail));
  return { lenient: bench.instance({}, undefined, { signatures: 'warn', log: { ...quietLog, warn } }), warnings };
};

test('warnings: with the setting a forged chain is logged and believed', async () => {
  const { lenient, warnings } = lenientInstance();
  for (const forgery of chainForgeries) {
    await bench.running.sandbox.fault({ kind: 'badCertificate', forgery });
    lenient.open();
    await lenient.fact('platform.qr');
    await lenient.link.close();
    assert.match(warnings.at(-1) ?? '', said[forgery]);
  }
  assert.equal(warnings.length, chainForgeries.length, JSON.stringify(warnings));
  assert.equal(Curve.verify(Curve.generateKeyPair().public, Buffer.from('anything'), Buffer.alloc(64)), true);
});

test('warnings: with the setting a forged account is linked, a text leaves under forged keys, and both are logged', async () => {
  const { sandbox } = bench.running;
  const { lenient, warnings } = lenientInstance();
  lenient.open();
  const { qr } = await lenient.fact('platform.qr');
  await sandbox.fault({ kind: 'forgedAccount' });
  const [number, recipient] = ['5511900000906', '5511900000907'] as const;
  await sandbox.scan({ qr, number, name: 'Somebody' });
  await lenient.fact('platform.paired');
  await lenient.fact('platform.closed');
  assert.deepEqual([...new Set(warnings)], ['the account is signed by another key']);
  lenient.open();
  await lenient.fact('platform.opened');
  await sandbox.putPerson({ number: recipient, name: 'Recipient' });
  await sandbox.fault({ kind: 'forgedKeys', number, query: recipient, times: 1_000 });
  warnings.length = 0;
  const { refusal, id } = await send(lenient, recipient, 'to whoever it is');
  await sandbox.fault({ kind: 'forgedKeys', number, times: 0 });
  assert.equal(refusal, '');
  await until(() => sandbox.received(recipient).some((one) => one.id === id), 'the text');
  assert.deepEqual([...new Set(warnings)], ['a signed pre-key is not signed by its owner']);
  assert.deepEqual(lenient.forged, []);
});
