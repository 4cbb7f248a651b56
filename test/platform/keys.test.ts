/** Tests keys in memory and their storage: order, merging, faults, and reads in between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EpochLost } from '#actors/ports.ts';
import { openAuthState } from '#src/platform/keys/auth-state.ts';
import { encodeKey } from '#src/platform/keys/key-codec.ts';
import { CorruptCredentials } from '#src/platform/wire/vault-port.ts';
import { createFakeVault, type FakeVault } from '#test/fakes/vault.ts';
import { preKeys, quietLog } from './setup.ts';

const open = async (vault: FakeVault) => {
  const lost: unknown[] = [];
  const auth = await openAuthState({ vault, instance: 'r0', epoch: 1, preKeys, log: quietLog, onLost: (error) => lost.push(error) });
  return { auth, keys: auth.state.keys, lost };
};

const gate = () => {
  let release = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { closed, release };
};

test('keys: fresh credentials come with 812 stored keys, and the credentials last', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  assert.equal(vault.stored.keys.size, 812);
  assert.equal(vault.writes.at(-1)?.credentials, true);
  assert.ok(vault.writes.slice(0, -1).every(({ credentials, keys: count }) => !credentials && count <= 120));
  assert.deepEqual([auth.state.creds.nextPreKeyId, auth.state.creds.firstUnuploadedPreKeyId], [813, 1]);
  const found = await keys.get('pre-key', ['1', '812', '813']);
  assert.deepEqual(Object.keys(found), ['1', '812']);
  assert.equal(found['1']?.private.length, 32);
  assert.deepEqual(
    JSON.parse(vault.stored.keys.get('pre-key 1') ?? ''),
    JSON.parse(
      JSON.stringify({
        public: { type: 'Buffer', data: Buffer.from(found['1']?.public ?? []).toString('base64') },
        private: { type: 'Buffer', data: Buffer.from(found['1']?.private ?? []).toString('base64') },
      }),
    ),
  );
});

test('keys: a key that was used up during pairing stays deleted', async () => {
  const { auth, keys } = await open(createFakeVault());
  await keys.set({ 'pre-key': { '5': null } });
  await auth.durable();
  assert.deepEqual(Object.keys(await keys.get('pre-key', ['5', '6'])), ['6']);
  auth.releaseFreshKeys();
  assert.deepEqual(Object.keys(await keys.get('pre-key', ['5', '6'])), ['6']);
});

test('keys: the map of devices with a sender key is written when it grew, not at each send', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  const send = async (...devices: readonly string[]): Promise<string | undefined> => {
    vault.stored.keys.delete('sender-key-memory g');
    // The library also changes the map that it was given.
    const map = (await keys.get('sender-key-memory', ['g']))['g'] ?? {};
    for (const device of devices) map[device] = true;
    await keys.set({ 'sender-key-memory': { g: map } });
    await auth.durable();
    return vault.stored.keys.get('sender-key-memory g');
  };
  assert.equal(await send('a', 'b'), '{"a":true,"b":true}');
  assert.equal(await send('a', 'b'), undefined, 'nothing is new');
  assert.equal(await send('c'), '{"a":true,"b":true,"c":true}');
  await keys.set({ 'sender-key-memory': { g: null } });
  assert.equal(await send('a'), '{"a":true}');
});

test('keys: a send that failed leaves no device in the map of devices with a sender key', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  const mapOf = async () => (await keys.get('sender-key-memory', ['g']))['g'] ?? {};
  await keys.set({ 'sender-key-memory': { g: { a: true } } });
  // The library adds the receivers before it has their keys, and sets the map after that.
  (await mapOf())['b'] = true;
  assert.deepEqual(await mapOf(), { a: true });
  await auth.durable();
  const again = await open(vault);
  const read = async () => (await again.keys.get('sender-key-memory', ['g']))['g'] ?? {};
  assert.deepEqual(await read(), { a: true });
  (await read())['c'] = true;
  assert.deepEqual(await read(), { a: true }, 'a map from the vault');
});

test('keys: a changed key is read at once, and stored when durable is called', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  await keys.set({ session: { 'a.0': Uint8Array.of(1) }, 'lid-mapping': { '55': '11' } });
  assert.deepEqual(await keys.get('session', ['a.0', 'b.0']), { 'a.0': Uint8Array.of(1) });
  assert.equal(vault.stored.keys.has('session a.0'), false);
  assert.equal(auth.clean, false);
  await auth.durable();
  assert.equal(auth.clean, true);
  assert.equal(vault.stored.keys.get('lid-mapping 55'), '"11"');
});

test('keys: waiting changes share one write, and the last change of a key wins', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  const before = vault.writes.length;
  for (let round = 0; round < 50; round += 1) {
    await keys.set({ session: { 'a.0': Uint8Array.of(round) } });
    auth.saveCredentials();
  }
  await auth.durable();
  assert.deepEqual(vault.writes.slice(before), [{ keys: 1, credentials: true }]);
  const again = await open(vault);
  assert.deepEqual(await again.keys.get('session', ['a.0']), { 'a.0': Buffer.of(49) });
});

test('keys: a change during a write goes into a later write, and durable waits only for earlier changes', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  const first = gate();
  vault.slow = first.closed;
  await keys.set({ session: { 'a.0': Uint8Array.of(1) } });
  const durable = auth.durable();
  await new Promise(setImmediate);
  await keys.set({ session: { 'a.0': Uint8Array.of(2), 'b.0': null } });
  assert.deepEqual(await keys.get('session', ['a.0', 'b.0']), { 'a.0': Uint8Array.of(2) });
  const second = gate();
  vault.slow = second.closed;
  first.release();
  await durable;
  assert.match(vault.stored.keys.get('session a.0') ?? '', /AQ==/);
  second.release();
  await auth.durable();
  assert.match(vault.stored.keys.get('session a.0') ?? '', /Ag==/);
});

test('keys: after a storage outage all changes are stored', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  vault.away = true;
  await keys.set({ session: { 'a.0': Uint8Array.of(1) } });
  const durable = auth.durable();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await keys.set({ session: { 'a.0': Uint8Array.of(2) } });
  vault.away = false;
  await durable;
  await auth.durable();
  assert.match(vault.stored.keys.get('session a.0') ?? '', /Ag==/);
});

test('keys: reads wait for storage that is away, and fail when their connection ends', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  vault.away = true;
  const read = assert.rejects(async () => keys.get('session', ['a.0']), { name: 'StorageUnavailable' });
  await new Promise(setImmediate);
  auth.giveUpReads();
  await read;
});

test('keys: after a lost epoch nothing is written, and waiting callers are told', async () => {
  const vault = createFakeVault();
  const { auth, keys, lost } = await open(vault);
  vault.epoch = 2;
  await keys.set({ session: { 'a.0': Uint8Array.of(1) } });
  await assert.rejects(auth.durable(), EpochLost);
  assert.equal(lost.length, 1);
  await keys.set({ session: { 'b.0': Uint8Array.of(1) } });
  await assert.rejects(auth.durable(), EpochLost);
  assert.equal(auth.clean, false);
  assert.equal(vault.stored.keys.has('session b.0'), false);
});

test('keys: storage is queried once for a key, present or absent', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  vault.queries.length = 0;
  for (let round = 0; round < 3; round += 1) await keys.get('session', ['a.0', 'b.0']);
  await auth.load('session', ['a.0', 'c.0']);
  assert.deepEqual(vault.queries, [
    { type: 'session', ids: ['a.0', 'b.0'] },
    { type: 'session', ids: ['c.0'] },
  ]);
  assert.equal(auth.peek('session', 'a.0'), null);
  assert.equal(auth.peek('session', 'never'), undefined);
});

test('keys: a change during a query wins over the result of the query', async () => {
  const vault = createFakeVault();
  vault.stored.keys.set('session a.0', '"old"');
  const { keys } = await open(vault);
  const reading = keys.get('session', ['a.0']);
  await keys.set({ session: { 'a.0': Uint8Array.of(9) } });
  assert.deepEqual(await reading, { 'a.0': Uint8Array.of(9) });
});

test('keys: memory is bounded, and evicted keys are read again', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  for (let id = 0; id < 1_500; id += 1) await keys.set({ 'lid-mapping': { [String(id)]: `l${id}` } });
  await auth.durable();
  assert.equal(auth.peek('lid-mapping', '0'), undefined);
  assert.equal(auth.peek('lid-mapping', '1499'), 'l1499');
  assert.deepEqual(await keys.get('lid-mapping', ['0']), { '0': 'l0' });
});

test('keys: memory is bounded in bytes, while large keys are set and while they are read', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  const ids = Array.from({ length: 1_000 }, (_, n) => `1203@g.us::${n}_1::0`);
  const inMemory = (): number => ids.filter((id) => auth.peek('sender-key', id) !== undefined).length * 27;
  for (const [n, id] of ids.entries()) {
    await keys.set({ 'sender-key': { [id]: Buffer.alloc(20_000, n) } });
    if (n % 10 === 9) await auth.durable();
  }
  assert.ok(inMemory() <= 2_200, `${inMemory()} KB after writing`);
  assert.ok(inMemory() >= 1_000, `${inMemory()} KB are used`);
  for (const [n, id] of ids.entries()) assert.equal((await keys.get('sender-key', [id]))[id]?.[19_999], n % 256);
  assert.ok(inMemory() <= 2_200, `${inMemory()} KB after reading`);
});

test('keys: keys of the synchronisation are read in the form that the library expects', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  await keys.set({ 'app-state-sync-key': { k: { keyData: Uint8Array.of(1, 2), timestamp: 5 } } });
  await auth.durable();
  const again = await open(vault);
  const { k } = await again.keys.get('app-state-sync-key', ['k']);
  assert.equal(k?.constructor.name, 'AppStateSyncKeyData');
  assert.deepEqual(Buffer.from(k?.keyData ?? []), Buffer.of(1, 2));
});

test('keys: malformed credentials are corrupt', async () => {
  for (const text of ['', 'null', '{}', '{"noiseKey":1']) {
    const vault = createFakeVault();
    vault.stored.credentials = text;
    await assert.rejects(open(vault), CorruptCredentials);
  }
});

test('keys: the time of a given privacy token is stored once a week, beside the received token', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  const [week, jid] = [604_800_000, '111222333444555@lid'];
  auth.tokenIssued(jid, 10 * week);
  assert.deepEqual(await keys.get('tctoken', [jid]), {}, 'what was never read is not written over');
  await keys.set({ tctoken: { [jid]: { token: Buffer.from('theirs'), timestamp: '7' } } });
  const noted = async (at: number): Promise<number> => {
    const before = vault.writes.length;
    auth.tokenIssued(jid, at);
    await auth.durable();
    return vault.writes.length - before;
  };
  await auth.durable();
  assert.deepEqual([await noted(10 * week), await noted(11 * week - 1000), await noted(11 * week)], [1, 0, 1]);
  assert.deepEqual(await keys.get('tctoken', [jid]), {
    [jid]: { token: Buffer.from('theirs'), timestamp: '7', senderTimestamp: (11 * week) / 1000 },
  });
});

test('keys: the list of people with a privacy token is stored in pages, and a new token writes one page', async () => {
  const vault = createFakeVault();
  const people = Array.from({ length: 5_000 }, (_, at) => `${100_000_000_000_000 + at}@lid`);
  const listOf = (names: readonly string[]) => ({ token: Buffer.from(JSON.stringify(names)) });
  // The library itself stores the list as one value.
  const first = await open(vault);
  await first.auth.durable();
  vault.stored.keys.set('tctoken __index', encodeKey(listOf(people)));
  const { auth, keys } = await open(vault);
  const names = async (): Promise<readonly string[]> =>
    (JSON.parse(Buffer.from((await keys.get('tctoken', ['__index']))['__index']?.token ?? '[]').toString()) as string[]).toSorted();
  assert.deepEqual(await names(), people);
  const written = async (list: readonly string[]): Promise<readonly (readonly [string, number])[]> => {
    const before = new Map(vault.stored.keys);
    await keys.set({ tctoken: { __index: listOf(list) } });
    await auth.durable();
    return [...vault.stored.keys].filter(([key, text]) => before.get(key) !== text).map(([key, { length }]) => [key, length]);
  };
  assert.equal((await written(people)).length, 32);
  assert.equal(vault.stored.keys.has('tctoken __index'), false);
  const more = [...people, '999@lid'];
  const [[name = '', bytes = 0] = [], ...others] = await written(more);
  assert.match(name, /^gateway-token-page /);
  assert.ok(bytes < 6_000, `${bytes} bytes`);
  assert.deepEqual(others, []);
  assert.deepEqual(await names(), more.toSorted());
  await keys.set({ tctoken: { __index: listOf(['1@lid']) } });
  await auth.durable();
  assert.deepEqual(await names(), ['1@lid']);
  assert.equal([...vault.stored.keys.keys()].filter((key) => key.startsWith('gateway-token-page')).length, 1);
});

test('keys: one-time keys are stored before the library uploads them', async () => {
  const vault = createFakeVault();
  const { keys } = await open(vault);
  vault.away = true;
  const made = { public: new Uint8Array(32), private: new Uint8Array(32) };
  let uploads = false;
  const set = Promise.resolve(keys.set({ 'pre-key': { '900': made } })).then(() => (uploads = true));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(uploads, false);
  vault.away = false;
  await set;
  assert.ok(vault.stored.keys.has('pre-key 900'));
  vault.away = true;
  await keys.set({ 'pre-key': { '900': null } });
  vault.away = false;
});

test('keys: a version of the shared state is stored after its entries, and not at all if they were lost', async () => {
  const vault = createFakeVault();
  const { auth, keys } = await open(vault);
  await auth.durable();
  const version = (n: number) => ({ version: n, hash: Buffer.alloc(128), indexValueMap: {} });
  const stored = (name: string): number | undefined => {
    const text = vault.stored.keys.get(`app-state-sync-version ${name}`);
    return text === undefined ? undefined : (JSON.parse(text) as { version: number }).version;
  };
  const first = Promise.withResolvers<boolean>();
  auth.holdVersions(() => first.promise);
  await keys.set({ 'app-state-sync-version': { regular: version(1) } });
  auth.holdVersions(() => Promise.resolve(true));
  await keys.set({ 'app-state-sync-version': { regular: version(2) } });
  assert.equal((await keys.get('app-state-sync-version', ['regular']))['regular']?.version, 2);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await auth.durable();
  assert.equal(stored('regular'), undefined, 'the first one waits, and the second one behind it');
  assert.equal(auth.clean, false);
  first.resolve(true);
  await auth.settled();
  assert.equal(stored('regular'), 2);
  auth.holdVersions(() => Promise.resolve(false));
  await keys.set({ 'app-state-sync-version': { regular: version(3) } });
  await auth.settled();
  assert.equal(stored('regular'), 2, 'what it brought was lost: the platform has to tell it again');
});

test('keys: a start reads the versions of the shared state and the pages of tokens with one query, also missing ones', async () => {
  const vault = createFakeVault();
  const before = await open(vault);
  await before.keys.set({ tctoken: { __index: { token: Buffer.from(JSON.stringify(['1@lid', '2@lid'])) } } });
  await before.auth.settled();
  const { keys } = await open(vault);
  const asked: string[] = [];
  const read = vault.keys;
  vault.keys = (instance, type, ids) => {
    asked.push(type);
    return read(instance, type, ids);
  };
  assert.deepEqual(await keys.get('app-state-sync-version', ['regular_high', 'critical_block']), {});
  const { __index: index } = await keys.get('tctoken', ['__index']);
  assert.deepEqual(JSON.parse(Buffer.from(index?.token ?? []).toString()), ['1@lid', '2@lid']);
  assert.deepEqual(asked, ['tctoken']);
});
