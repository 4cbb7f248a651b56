/** Tests the encodings in stores of the client library, and refusals of other stores with a sentence. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BufferJSON, type AuthenticationCreds } from '@whiskeysockets/baileys';
import { bytesOf, idOfFile, isCarried, readCredentials, readJson, readKey, splitName } from '#src/moving/library-form.ts';
import { SourceFault } from '#src/moving/session.ts';
import { madeCreds } from '#test/support/made-sessions.ts';

const creds = madeCreds('5511911110001');
const json = (value: unknown): string => JSON.stringify(value, BufferJSON.replacer);
const essence = ({ noiseKey, signedIdentityKey, signedPreKey, registrationId, me, account, advSecretKey }: AuthenticationCreds): unknown =>
  JSON.parse(json({ noiseKey, signedIdentityKey, signedPreKey, registrationId, me, account, advSecretKey }));

const spellings: readonly (readonly [string, string])[] = [
  ['once', json(creds)],
  ['twice', JSON.stringify(json(creds))],
  ['three times', JSON.stringify(JSON.stringify(json(creds)))],
  [
    'with the account in base64 text',
    json({
      ...creds,
      account: Object.fromEntries(
        Object.entries(creds.account ?? {}).map(([name, value]) => [name, Buffer.from(value as Uint8Array).toString('base64')]),
      ),
    }),
  ],
  [
    'with lists of numbers',
    json({
      ...creds,
      account: Object.fromEntries(
        Object.entries(creds.account ?? {}).map(([name, value]) => [name, { type: 'Buffer', data: [...(value as Uint8Array)] }]),
      ),
    }),
  ],
  [
    'with indices for bytes',
    JSON.stringify(creds, (_, value: unknown) => (Buffer.isBuffer(value) || value instanceof Uint8Array ? { ...value } : value)),
  ],
];
for (const [title, text] of spellings)
  test(`credentials: JSON ${title} is read`, () => assert.deepEqual(essence(readCredentials(readJson(text, 'x'))), essence(creds)));

const without = (change: object): unknown => JSON.parse(json({ ...creds, ...change }), BufferJSON.reviver);

const refused: readonly (readonly [string, unknown, RegExp])[] = [
  ['no object', 7, /are no object/],
  ['never paired', without({ me: undefined }), /was never paired/],
  ['an abandoned pairing', without({ account: undefined }), /was abandoned/],
  ['no Noise key', without({ noiseKey: {} }), /no valid Noise key/],
  [
    'a short identity key',
    without({ signedIdentityKey: { public: Buffer.alloc(31), private: Buffer.alloc(32) } }),
    /no valid identity key/,
  ],
  ['no registration id', without({ registrationId: undefined }), /no registration id/],
  ['an account without a device', without({ me: { id: '5511911110001@s.whatsapp.net' } }), /no linked device/],
  ['an address that is none', without({ me: { id: 'shop' } }), /name no account/],
  ['a short device signature', without({ account: { ...creds.account, deviceSignature: Buffer.alloc(3) } }), /no valid device signature/],
];
for (const [title, value, reason] of refused)
  test(`credentials: ${title} is refused with a sentence`, () =>
    assert.throws(
      () => readCredentials(value),
      (error) => error instanceof SourceFault && reason.test(error.message),
    ));

test('credentials: the device of old stores loses its agent, and counters stay above used values', () => {
  const { me, accountSyncCounter, nextPreKeyId } = readCredentials(
    without({ me: { id: '5511911110001.0:12@s.whatsapp.net' }, accountSyncCounter: 0, nextPreKeyId: 900 }),
  );
  assert.deepEqual([me?.id, accountSyncCounter, nextPreKeyId], ['5511911110001:12@s.whatsapp.net', 1, 900]);
});

test('names: the longest type wins, and only the replacements of the library are reversed', () => {
  assert.deepEqual(splitName('sender-key-memory-1@g.us'), { type: 'sender-key-memory', id: '1@g.us' });
  assert.deepEqual(splitName('sender-key-1@g.us--2--0'), { type: 'sender-key', id: '1@g.us--2--0' });
  assert.equal(splitName('unknown-type-1'), null);
  assert.equal(idOfFile('sender-key', '551199-1400000000@g.us--5511_1--3'), '551199-1400000000@g.us::5511_1::3');
  assert.equal(idOfFile('app-state-sync-key', 'AAAA__bc='), 'AAAA/bc=');
  assert.equal(idOfFile('tctoken', '__index'), '__index');
  assert.equal(idOfFile('session', '5511_1.12'), '5511_1.12');
});

test('keys: sender keys of old stores become JSON bytes in the encoding of the library', () => {
  const states = [{ senderKeyId: 1, senderChainKey: { iteration: 0, seed: Buffer.from('seed') } }];
  const key = readKey('sender-key', 'g::u::0', JSON.parse(json(states), BufferJSON.reviver));
  assert.ok(Buffer.isBuffer(key?.value));
  assert.deepEqual(JSON.parse(key.value.toString(), BufferJSON.reviver), states);
  const today = Buffer.from(JSON.stringify(states));
  assert.deepEqual(readKey('sender-key', 'g::u::0', JSON.parse(json(today), BufferJSON.reviver))?.value, today);
});

test('keys: a mapping of digits stays text, and a value of another kind is refused', () => {
  assert.equal(readJson('"5511911110001"', 'x'), '5511911110001');
  assert.equal(readJson(JSON.stringify('"5511911110001"'), 'x'), '5511911110001');
  assert.deepEqual(readKey('lid-mapping', '9', '5511911110001')?.value, '5511911110001');
  for (const [type, value] of [
    ['lid-mapping', 7],
    ['session', { sessions: {} }],
    ['pre-key', { public: Buffer.alloc(32) }],
    ['sender-key', Buffer.from('x')],
    ['app-state-sync-key', {}],
  ] as const)
    assert.equal(readKey(type, '1', value), null, type);
  assert.deepEqual(
    ['device-list', 'sender-key-memory', 'app-state-sync-version'].map((type) => isCarried(type as 'session')),
    [false, false, false],
  );
});

test('keys: a key of the shared state is read from bytes, from base64 and from lists', () => {
  const keyData = Buffer.alloc(32, 5);
  for (const spelled of [keyData, keyData.toString('base64'), [...keyData]]) {
    const key = readKey('app-state-sync-key', 'AAAA', {
      keyData: spelled,
      timestamp: '1700000000',
      fingerprint: { rawId: 1, currentIndex: 0, deviceIndexes: [0] },
    });
    assert.ok(key);
    assert.deepEqual(Buffer.from((key.value as { keyData: Uint8Array }).keyData), keyData);
  }
});

test('bytes: a value that is no list of bytes is refused', () => {
  for (const value of [null, 7, 'not base64!', [256], ['a'], {}, { 0: 1, 2: 3 }]) assert.equal(bytesOf(value), null);
});
