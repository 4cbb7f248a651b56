/** Tests users, their sign-ins and the audit log in the database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditNote } from '#actors/model.ts';
import { auditStatements } from '#src/storage/stores/users.ts';
import { testDatabase } from '#test/support/database.ts';
import { planOf } from '#test/support/plans.ts';

const database = await testDatabase();
const { users, signIns, auditLog } = await database.storage();
const run = (text: string) => database.admin.rows<Record<string, unknown>>({ name: '', text }, []);
const hour = 3_600_000;
let made = 0;

const newUser = async (role: 'viewer' | 'operator' | 'administrator' = 'viewer') => {
  const [id, version] = [`u${(made += 1)}`, `v${made}`];
  const user = { id, name: `name-${made}`, role, hasCode: false, createdAt: 1, lastSignInAt: 0 };
  assert.equal(await users.add({ ...user, password: 'hash', version }, 1_000), 'added');
  return { ...user, version };
};

const signInOf = async ({ id, version }: { readonly id: string; readonly version: string }, ms = hour) => {
  const key = `k${(made += 1)}`;
  return { key, isAdded: await signIns.add({ key, admin: version, userId: id, address: '192.0.2.1' }, ms, 1_000) };
};

test('users: names are unique, and the number of users is limited', async () => {
  const { name } = await newUser();
  const other = { id: 'other', name, role: 'viewer' as const, hasCode: false, createdAt: 1, lastSignInAt: 0, password: 'h', version: 'v' };
  assert.equal(await users.add(other, 1_000), 'taken');
  assert.equal(await users.add({ ...other, name: 'free' }, (await users.all()).length), 'full');
  assert.equal(await users.byId('other'), null);
});

test('users: of two simultaneous additions with one name one succeeds', async () => {
  const add = (id: string) =>
    users.add({ id, name: 'twin', role: 'viewer', hasCode: false, createdAt: 1, lastSignInAt: 0, password: 'h', version: 'v' }, 1_000);
  assert.deepEqual((await Promise.all(['t1', 't2', 't3'].map(add))).toSorted(), ['added', 'taken', 'taken']);
});

test('users: secrets are read back unchanged, and a change keeps fields that it does not name', async () => {
  const { id } = await newUser();
  await users.change(id, { codeSecret: 'ABC' }, 'v-a');
  assert.partialDeepStrictEqual(await users.byId(id), {
    password: 'hash',
    codeSecret: 'ABC',
    version: 'v-a',
    hasCode: true,
    readable: true,
  });
  await users.change(id, { role: 'operator' }, 'v-b');
  assert.partialDeepStrictEqual(await users.byId(id), { role: 'operator', password: 'hash', codeSecret: 'ABC', version: 'v-b' });
  await users.change(id, { codeSecret: '' }, 'v-c');
  assert.partialDeepStrictEqual(await users.byId(id), { codeSecret: '', hasCode: false });
});

test('users: of two changes of the same version the second one changes nothing', async () => {
  const { id, version } = await newUser();
  const both = await Promise.all([
    users.change(id, { password: 'one' }, 'v-one', version),
    users.change(id, { password: 'two' }, 'v-two', version),
  ]);
  assert.equal(both.filter((user) => user === null).length, 1);
});

test('users: a secret that cannot be decrypted sets its user aside, and no other', async () => {
  const [damaged, sound] = [await newUser(), await newUser()];
  await run(`update gateway_user set password = '\\x02aa' where id = '${damaged.id}'`);
  assert.partialDeepStrictEqual(await users.byId(damaged.id), { readable: false, password: '' });
  assert.partialDeepStrictEqual(await users.byId(sound.id), { readable: true, password: 'hash' });
});

test('users: a one-time code is valid once, also for two simultaneous sign-ins, and an older one is not', async () => {
  const user = await newUser();
  const both = await Promise.all([users.signedIn(user, 5, 100), users.signedIn(user, 5, 100)]);
  assert.deepEqual(both.toSorted(), [false, true]);
  assert.equal(await users.signedIn(user, 6, 99), false);
  assert.equal(await users.signedIn(user, 7, 101), true);
  assert.equal(await users.signedIn({ ...user, version: 'former' }, 8, 102), false);
  assert.equal((await users.byId(user.id))?.lastSignInAt, 7);
});

test('users: the code that confirmed a secret is used, and a later mark is not lowered', async () => {
  const user = await newUser();
  await users.change(user.id, { codeSecret: 'ABC', codeStep: 100 }, 'v-a');
  const confirmed = { ...user, version: 'v-a' };
  assert.equal(await users.signedIn(confirmed, 5, 100), false);
  assert.equal(await users.signedIn(confirmed, 5, 101), true);
  await users.change(user.id, { codeSecret: 'DEF', codeStep: 99 }, 'v-b');
  assert.equal(await users.signedIn({ ...user, version: 'v-b' }, 6, 101), false);
});

test('sign-ins of users: one is valid while its user has the same version', async () => {
  const user = await newUser('operator');
  const { key } = await signInOf(user);
  const { id, name, role, hasCode, version } = user;
  assert.deepEqual((await signIns.find(key, 'of the token'))?.user, { id, name, role, hasCode, version });
  assert.deepEqual(await signIns.valid([key], 'of the token'), [key]);
  await users.change(user.id, { role: 'viewer' }, 'v-new');
  assert.equal(await signIns.find(key, 'of the token'), null);
  assert.deepEqual(await run(`select 1 from sign_in where key = '${key}'`), [], 'the row is deleted with the change');
});

test('sign-ins of users: none begins for an outdated version or for a deleted user', async () => {
  const user = await newUser();
  await users.change(user.id, { password: 'new' }, 'v-new');
  assert.equal((await signInOf(user)).isAdded, false);
  const current = { ...user, version: 'v-new' };
  assert.equal((await signInOf(current)).isAdded, true);
  await users.remove(user.id);
  assert.equal((await signInOf(current)).isAdded, false);
});

test('sign-ins of users: of many that race with a change of the password none is left', async () => {
  const user = await newUser();
  const work = Array.from({ length: 10 }, () => signInOf(user));
  const changed = users.change(user.id, { password: 'new' }, 'v-after');
  const keys = (await Promise.all(work)).map(({ key }) => key);
  await changed;
  assert.deepEqual(await signIns.valid(keys, 'of the token'), []);
});

test('sign-ins of users: repeated sign-ins of one user end no session of others', async () => {
  const [quiet, busy] = [await newUser(), await newUser()];
  const { key } = await signInOf(quiet, 1_000_000);
  const keys: string[] = [];
  for (let n = 0; n < 60; n += 1) keys.push((await signInOf(busy, hour + n)).key);
  assert.deepEqual(await signIns.valid(keys, 'x'), keys.slice(-50));
  assert.deepEqual(await signIns.valid([key], 'x'), [key]);
});

test('sign-ins: the list shows valid ones with their owner, the latest first', async () => {
  await run('delete from sign_in');
  const user = await newUser();
  await signIns.add({ key: 'by-token', admin: 'now', userId: null, address: '192.0.2.2' }, hour, 1_000);
  await signIns.add({ key: 'by-former-token', admin: 'former', userId: null, address: '' }, hour, 1_000);
  await run(`update sign_in set since = since - 1000`);
  await run(`insert into sign_in (key, admin, until) values ('of-the-last-release', 'now', 99999999999999)`);
  const { key } = await signInOf(user);
  const listed = await signIns.list('now');
  assert.deepEqual(
    listed.map(({ id, user: owner, address }) => [id, owner?.name ?? null, address]),
    [
      [key, user.name, '192.0.2.1'],
      ['by-token', null, '192.0.2.2'],
      ['of-the-last-release', null, ''],
    ],
  );
});

const note = (change: Partial<AuditNote> = {}): AuditNote => ({
  at: 1_000,
  actor: 'user',
  who: 'ana',
  address: '192.0.2.1',
  method: 'POST',
  route: '/webhook',
  instance: 'r1',
  subject: '',
  status: 200,
  ...change,
});

test('audit log: entries are read back unchanged, the latest first, in pages and by filters', async () => {
  const notes = [1, 2, 3, 4, 5].map((n) =>
    note({ at: n * 1_000, who: n % 2 === 0 ? 'bea' : 'ana', instance: `r${n % 3}`, route: `/${n}` }),
  );
  await auditLog.add(notes);
  const { entries, next } = await auditLog.find({ limit: 10 });
  assert.partialDeepStrictEqual(entries, notes.toReversed());
  assert.equal(entries.length, notes.length);
  assert.equal(next, null);
  const first = await auditLog.find({ limit: 2 });
  assert.ok(first.next !== null);
  const rest = await auditLog.find({ limit: 10, before: first.next });
  assert.deepEqual([...first.entries, ...rest.entries], entries);
  const routes = async (query: object) => (await auditLog.find({ limit: 10, ...query })).entries.map(({ route }) => route);
  assert.deepEqual(await routes({ who: 'bea' }), ['/4', '/2']);
  assert.deepEqual(await routes({ instance: 'r2' }), ['/5', '/2']);
  assert.deepEqual(await routes({ from: 2_000, to: 4_000 }), ['/3', '/2']);
  assert.deepEqual(await routes({ actor: 'adminToken' }), []);
});

test('audit log: old entries are deleted, then the oldest beyond the limit, and those of tokens displace no others', async () => {
  await run('delete from audit_entry');
  await auditLog.add([note({ at: 1, route: '/old' }), ...Array.from({ length: 10 }, (_, n) => note({ at: 100 + n, route: `/user-${n}` }))]);
  await auditLog.add(Array.from({ length: 30 }, (_, n) => note({ at: 200 + n, actor: 'instanceToken', who: 'r1', route: `/token-${n}` })));
  const routesOf = async () => (await run('select route from audit_entry order by id')).map(({ route }) => route);
  assert.equal(await auditLog.expire(50, 1_000, 100), 1);
  assert.equal(await auditLog.expire(50, 20, 4), 4, 'in pieces');
  while ((await auditLog.expire(50, 20, 4)) > 0);
  assert.deepEqual(await routesOf(), [
    ...Array.from({ length: 10 }, (_, n) => `/user-${n}`),
    ...Array.from({ length: 20 }, (_, n) => `/token-${n + 10}`),
  ]);
});

test('audit log: a page and a sweep scan no whole table', async () => {
  await run(
    `insert into audit_entry (at, actor, of_token, who, address, method, route, instance_id, subject, status)
     select n, 'user', false, 'who' || n % 100, '', 'POST', '/x', 'r' || n % 1000, '', 200 from generate_series(1, 30000) as n`,
  );
  await run('analyze audit_entry');
  for (const statement of [auditStatements.page, auditStatements.pageOfInstance, auditStatements.expire]) {
    const nodes = await planOf(database.admin, statement);
    assert.ok(
      nodes.every((node) => node['Node Type'] !== 'Seq Scan'),
      `${statement.name}: ${nodes.map((node) => node['Node Type']).join()}`,
    );
  }
});
