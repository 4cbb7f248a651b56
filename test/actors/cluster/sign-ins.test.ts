/** Tests sign-ins that the nodes of a cluster share. A sign-in that one node ends is ended on all nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedSignIns } from '#actors/cluster/sign-ins.ts';
import { StorageUnavailable, type SignInStore } from '#actors/ports.ts';

const administrator = { user: null, address: '' };

const table = () => {
  const rows = new Map<string, string>();
  const state = { questions: 0, admin: 'first token' };
  const store: SignInStore = {
    async add({ key, admin }) {
      rows.set(key, admin);
      return true;
    },
    find: async (key, admin) => (rows.get(key) === admin ? { left: 1_000, user: null } : null),
    list: async () => [],
    async valid(keys, admin) {
      state.questions += 1;
      return keys.filter((key) => rows.get(key) === admin);
    },
    end: async (key) => rows.delete(key),
  };
  return { store, state };
};

const nodeOf = ({ store, state }: ReturnType<typeof table>) => {
  const keys = new Set<string>();
  const signIns = new SharedSignIns(store, () => state.admin);
  signIns.remembers({ keys: () => keys, end: (key) => void keys.delete(key) });
  return { signIns, keys };
};

test('sign-ins: one that another node ended is ended at the next look, and the others stay', async () => {
  const shared = table();
  const [one, other] = [nodeOf(shared), nodeOf(shared)];
  for (const key of ['k1', 'k2']) await one.signIns.add(key, 1_000, administrator);
  assert.deepEqual(await other.signIns.find('k1'), { left: 1_000, user: null });
  for (const key of ['k1', 'k2']) other.keys.add(key);
  await one.signIns.end('k1');
  await other.signIns.look();
  assert.deepEqual([...other.keys], ['k2']);
});

test('sign-ins: all of them end when the admin token changes', async () => {
  const shared = table();
  const { signIns, keys } = nodeOf(shared);
  await signIns.add('k1', 1_000, administrator);
  keys.add('k1');
  shared.state.admin = 'second token';
  assert.equal(await signIns.find('k1'), null);
  await signIns.look();
  assert.deepEqual([...keys], []);
});

test('sign-ins: one that begins during a look is not ended by that look', async () => {
  const shared = table();
  const { signIns, keys } = nodeOf(shared);
  keys.add('of a former look');
  const looked = signIns.look();
  keys.add('begun meanwhile');
  await looked;
  assert.deepEqual([...keys], ['begun meanwhile']);
});

test('sign-ins: without a sign-in on this node no look is made', async () => {
  const shared = table();
  await nodeOf(shared).signIns.look();
  assert.equal(shared.state.questions, 0);
});

test('sign-ins: while storage is away a single gateway accepts one, and a node of a cluster does not', async () => {
  const { store } = table();
  const away: SignInStore = { ...store, add: () => Promise.reject(new StorageUnavailable('away')) };
  await new SharedSignIns(away, () => '', true).add('k1', 1_000, administrator);
  await assert.rejects(new SharedSignIns(away, () => '').add('k1', 1_000, administrator), StorageUnavailable);
});

test('sign-ins: while storage is away users cannot sign in, also on a single gateway', async () => {
  const { store } = table();
  const away: SignInStore = { ...store, add: () => Promise.reject(new StorageUnavailable('away')) };
  const user = { id: 'u1', name: 'ana', role: 'viewer', hasCode: false, version: 'v1' } as const;
  await assert.rejects(new SharedSignIns(away, () => '', true).add('k1', 1_000, { user, address: '' }), StorageUnavailable);
});
