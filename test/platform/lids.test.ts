/** Tests that the cached LIDs of people equal the answers of the library. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_CONNECTION_CONFIG, type SignalKeyStoreWithTransaction } from '@whiskeysockets/baileys';
import { createBaileysLogger } from '#src/platform/app-state/baileys-logger.ts';
import { rememberLids } from '#src/platform/keys/ratchets.ts';
import { quietLog } from '#test/support/database.ts';

type Mapping = Parameters<typeof rememberLids>[0];

/** The mapping of the library, over a table that the test controls. */
const makeMapping = () => {
  const table = new Map<string, string>();
  const state = { asked: 0, hold: Promise.resolve() };
  const mapping = {
    async getLIDsForPNs(pns: string[]) {
      state.asked += 1;
      const found = pns.flatMap((pn) => (table.has(pn) ? [{ pn, lid: table.get(pn) ?? '' }] : []));
      await state.hold;
      return found.length === 0 ? null : found;
    },
    async storeLIDPNMappings(pairs: { lid: string; pn: string }[]) {
      for (const { lid, pn } of pairs) table.set(pn, lid);
    },
  } as unknown as Mapping;
  rememberLids(mapping);
  return { mapping, state, know: (pn: string, lid: string) => mapping.storeLIDPNMappings([{ lid, pn }]) };
};

test('lids: a known one is looked up once', async () => {
  const { mapping, state, know } = makeMapping();
  await know('1@s.whatsapp.net', '7@lid');
  for (let n = 0; n < 3; n += 1) assert.equal(await mapping.getLIDForPN('1@s.whatsapp.net'), '7@lid');
  assert.equal(state.asked, 1);
});

test('lids: an unknown one is looked up again, because it may become known', async () => {
  const { mapping, know } = makeMapping();
  assert.equal(await mapping.getLIDForPN('1@s.whatsapp.net'), null);
  await know('1@s.whatsapp.net', '7@lid');
  assert.equal(await mapping.getLIDForPN('1@s.whatsapp.net'), '7@lid');
});

test('lids: a new pair replaces the cached one, even if it arrives during a lookup', async () => {
  const { mapping, state, know } = makeMapping();
  await know('1@s.whatsapp.net', '7@lid');
  const { promise, resolve } = Promise.withResolvers<void>();
  state.hold = promise;
  const early = mapping.getLIDForPN('1@s.whatsapp.net');
  await know('1@s.whatsapp.net', '8@lid');
  resolve();
  assert.equal(await early, '7@lid');
  assert.equal(await mapping.getLIDForPN('1@s.whatsapp.net'), '8@lid');
});

test('lids: a number without a LID stands for itself where keys are fetched, and has none elsewhere', async () => {
  const { mapping, know } = makeMapping();
  await know('1@s.whatsapp.net', '7@lid');
  assert.deepEqual(await mapping.getLIDsForPNs(['1@s.whatsapp.net', '2@s.whatsapp.net']), [
    { pn: '1@s.whatsapp.net', lid: '7@lid' },
    { pn: '2@s.whatsapp.net', lid: '2@s.whatsapp.net' },
  ]);
  assert.equal(await mapping.getLIDForPN('2@s.whatsapp.net'), null);
});

test('lids: one that is found after the end of the connection leaves no timer armed', async (t) => {
  const found = Promise.withResolvers<object>();
  const keys = { get: () => found.promise } as unknown as SignalKeyStoreWithTransaction;
  const auth = { creds: {}, keys } as Parameters<typeof DEFAULT_CONNECTION_CONFIG.makeSignalRepository>[0];
  const { lidMapping, close } = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, createBaileysLogger(quietLog, 'r1'));
  rememberLids(lidMapping);
  const look = lidMapping.getLIDForPN('1@s.whatsapp.net');
  close?.();
  const timers = t.mock.method(globalThis, 'setTimeout');
  found.resolve({ '1': '7' });
  assert.equal(await look, '7@lid');
  assert.equal(timers.mock.callCount(), 0);
});
