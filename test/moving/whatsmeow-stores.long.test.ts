/** Tests devices that the bare library paired, written in the format of whatsmeow and read back. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type AuthenticationCreds, proto } from '@whiskeysockets/baileys';
import type { SourceOptions } from '#src/moving/session.ts';
import { whatsmeowReader } from '#src/moving/whatsmeow/found.ts';
import { eventually, opened, openSandbox, type TestSandbox } from '#test/sandbox/client.ts';
import { testDatabase } from '#test/support/database.ts';
import {
  contact,
  groupMember,
  jidOf,
  keysOf,
  libraryOn,
  pairedDevice,
  type PairedDevice,
  plain,
  sessionOf,
} from '#test/support/whatsmeow/paired.ts';
import { options, openTestFolder, storeOf } from '#test/support/whatsmeow/reading.ts';
import { createTables, postgresTarget, sqliteTarget, type Target, writeDevice } from '#test/support/whatsmeow/writer.ts';

const database = await testDatabase();
const scratch = await openTestFolder();
let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let device: PairedDevice;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  const paired = await pairedDevice(sandbox, '5511999990051', 'Ana');
  const tokens = [
    ['tctoken 200000000000001@lid', { token: Buffer.from('one'), timestamp: '1700000000', senderTimestamp: 1_700_000_001 }],
    ['tctoken 5511900000000@s.whatsapp.net', { token: Buffer.from('two'), timestamp: '1700000002' }],
  ] as const;
  device = { ...paired, held: { creds: paired.held.creds, values: new Map([...paired.held.values, ...tokens]) } };
});
after(() => cleanUp());

const filled = async (target: Target): Promise<void> => {
  await createTables(target, 15);
  await writeDevice(target, device.held);
  await target.close();
};

/** Reads the one session inside the iteration, while its store is open. */
const only = async <T>(given: Partial<SourceOptions>, look: (one: ReturnType<typeof sessionOf>) => Promise<T>): Promise<T> => {
  for await (const one of whatsmeowReader.read(options(given))) return await look(sessionOf(one));
  throw new Error('nothing was found');
};

/** Fields of the credentials that every store of whatsmeow has. */
const kept = 'noiseKey signedIdentityKey signedPreKey registrationId advSecretKey me platform signalIdentities myAppStateKeyId'.split(' ');

const compared = (creds: AuthenticationCreds): unknown => [
  plain(Object.fromEntries(Object.entries(creds).filter(([name]) => kept.includes(name)))),
  // The library has an object of the protocol in place of plain bytes.
  plain(proto.ADVSignedDeviceIdentity.fromObject(creds.account ?? {})),
];

const ofType = (values: ReadonlyMap<string, unknown>, ...types: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    [...values]
      .filter(([name]) => types.includes(name.slice(0, name.indexOf(' '))))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, plain(value)]),
  );

const exact = ['pre-key', 'identity-key', 'app-state-sync-key', 'lid-mapping', 'tctoken'] as const;

const hashes = async (): Promise<unknown> =>
  Promise.all(
    (await readdir(scratch.folder)).toSorted().map(async (name) => [
      name,
      createHash('sha256')
        .update(await readFile(join(scratch.folder, name)))
        .digest('hex'),
    ]),
  );

for (const [title, place] of [
  [
    'an SQLite file',
    async () => {
      const path = scratch.newFile();
      await filled(sqliteTarget(path));
      return { path };
    },
  ],
  [
    'an SQLite file whose log was not moved into it',
    async () => {
      const path = scratch.newFile();
      await filled(sqliteTarget(path, true));
      assert.notEqual((await stat(`${path}-wal`)).size, 0);
      return { path };
    },
  ],
  [
    'a PostgreSQL database',
    async () => {
      await filled(await postgresTarget(database.url));
      return { url: database.url };
    },
  ],
] as const) {
  test(`whatsmeow store: credentials and keys come back byte by byte from ${title}`, async () => {
    const given = await place();
    const before = await hashes();
    await only(given, async (one) => {
      assert.deepEqual(compared(one.creds), compared(device.held.creds));
      const { 'tctoken __index': index, ...keys } = Object.fromEntries(await keysOf(one));
      assert.ok(index, 'the library finds the tokens by their index');
      assert.deepEqual(ofType(new Map(Object.entries(keys)), ...exact), ofType(device.held.values, ...exact));
      const sessions = (values: ReadonlyMap<string, unknown>) => Object.keys(ofType(values, 'session', 'sender-key'));
      assert.deepEqual(sessions(new Map(Object.entries(keys))), sessions(device.held.values));
      assert.deepEqual(one.notes, []);
    });
    assert.deepEqual(await hashes(), before, 'the source is as it was');
  });
}

test('whatsmeow store: pre-keys get ids above those of the source', async () => {
  const path = scratch.newFile();
  await filled(sqliteTarget(path));
  const highest = Math.max(
    ...[...device.held.values.keys()].flatMap((name) => (name.startsWith('pre-key ') ? [Number(name.slice(8))] : [])),
  );
  await only({ path }, async ({ creds }) =>
    assert.deepEqual([creds.nextPreKeyId, creds.firstUnuploadedPreKeyId], [highest + 1, highest + 1]),
  );
});

test('whatsmeow store: sessions under numbers are read under the LIDs that the library uses', async () => {
  const path = await storeOf(scratch.newFile(), [device.held], (target) =>
    target.run(`update whatsmeow_sessions set their_id = (select pn from whatsmeow_lid_map where their_id like lid || '_1:%') || substr(their_id, instr(their_id, ':'))
      where exists (select 1 from whatsmeow_lid_map where their_id like lid || '_1:%')`),
  );
  const names = (values: ReadonlyMap<string, unknown>) => Object.keys(ofType(values, 'session'));
  assert.ok(names(device.held.values).some((name) => name.includes('_1.')));
  await only({ path }, async (one) => assert.deepEqual(names(await keysOf(one)), names(device.held.values)));
});

test('whatsmeow store: a schema from before LIDs lacks their table and columns, and has another format of jids', async () => {
  const path = scratch.newFile();
  await storeOf(path, [device.held], undefined, 4);
  await only({ path }, async (one) => {
    assert.equal(one.creds.me?.id, device.held.creds.me?.id);
    assert.equal(one.creds.me?.lid, undefined);
    const keys = await keysOf(one);
    assert.deepEqual(Object.keys(ofType(keys, 'lid-mapping')), []);
    assert.deepEqual(ofType(keys, 'pre-key'), ofType(device.held.values, 'pre-key'));
    assert.notEqual(Object.keys(ofType(keys, 'session')).length, 0);
  });
});

test('whatsmeow store: waiting messages are read, and old contacts and groups can read messages of the session', async () => {
  const path = scratch.newFile();
  await filled(sqliteTarget(path));
  const { number, group, lidGroup } = device;
  const waiting = await Promise.all(
    [number, group, lidGroup].map(
      async (chat) => (await sandbox.sandbox.send(contact, chat, { kind: 'text', text: `waited in ${chat}` })).id,
    ),
  );
  const client = await only({ path }, (one) => libraryOn(sandbox, one));
  await opened(client);
  for (const id of waiting)
    await client.wait('messages.upsert', ({ messages }) => messages.find(({ key, message }) => key.id === id && message?.conversation));
  for (const chat of [jidOf(contact), group, lidGroup]) {
    const text = `after the move to ${chat}`;
    await client.sock.sendMessage(chat, { text });
    const readers = chat.endsWith('@g.us') ? [contact, groupMember] : [contact];
    for (const reader of readers)
      await eventually(() => sandbox.sandbox.received(reader).find((one) => one.text === text), `${reader} reads ${text}`);
  }
  await client.end();
});
