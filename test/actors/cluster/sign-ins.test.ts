/** Sign-ins that the nodes of a cluster share: what one ends, the others end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedSignIns } from '#actors/cluster/sign-ins.ts';
import { StorageUnavailable, type SignInStore } from '#actors/ports.ts';

const table = () => {
  const rows = new Map<string, string>();
  const state = { questions: 0, admin: 'first token' };
  const store: SignInStore = {
    add: async ({ key, admin }) => void rows.set(key, admin),
    left: async ({ key, admin }) => (rows.get(key) === admin ? 1_000 : 0),
    async valid(keys, admin) {
      state.questions += 1;
      return keys.filter((key) => rows.get(key) === admin);
    },
    end: async (key) => void rows.delete(key),
  };
  return { store, state };
};

const nodeOf = ({ store, state }: ReturnType<typeof table>) => {
  const keys = new Set<string>();
  const signIns = new SharedSignIns(store);
  signIns.admin = () => state.admin;
  signIns.remembers({ keys: () => keys, end: (key) => void keys.delete(key) });
  return { signIns, keys };
};

test('sign-ins: one that another node ended ends at the next look, and the others stay', async () => {
  const shared = table();
  const [one, other] = [nodeOf(shared), nodeOf(shared)];
  for (const key of ['k1', 'k2']) await one.signIns.add(key, 1_000);
  assert.equal(await other.signIns.left('k1'), 1_000);
  for (const key of ['k1', 'k2']) other.keys.add(key);
  await one.signIns.end('k1');
  await other.signIns.look();
  assert.deepEqual([...other.keys], ['k2']);
});

test('sign-ins: all of them end when the admin token is another one', async () => {
  const shared = table();
  const { signIns, keys } = nodeOf(shared);
  await signIns.add('k1', 1_000);
  keys.add('k1');
  shared.state.admin = 'second token';
  assert.equal(await signIns.left('k1'), 0);
  await signIns.look();
  assert.deepEqual([...keys], []);
});

test('sign-ins: one that begins during a look is not ended by it', async () => {
  const shared = table();
  const { signIns, keys } = nodeOf(shared);
  keys.add('of a former look');
  const looked = signIns.look();
  keys.add('begun meanwhile');
  await looked;
  assert.deepEqual([...keys], ['begun meanwhile']);
});

test('sign-ins: while nobody is signed in here, nothing is asked', async () => {
  const shared = table();
  await nodeOf(shared).signIns.look();
  assert.equal(shared.state.questions, 0);
});

test('sign-ins: a gateway without other nodes begins one while storage is away; a node does not', async () => {
  const { store } = table();
  const away: SignInStore = { ...store, add: () => Promise.reject(new StorageUnavailable('away')) };
  await new SharedSignIns(away, true).add('k1', 1_000);
  await assert.rejects(new SharedSignIns(away).add('k1', 1_000), StorageUnavailable);
});
