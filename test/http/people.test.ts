/** Tests users of the dashboard on the whole service with its database: sign-in, roles, and sessions that end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, stepAt } from '#src/users/credentials.ts';
import { testDatabase } from '#test/support/database.ts';
import { own, password, peopleOf } from '#test/support/people.ts';
import { TestService, adminToken } from '#test/support/service.ts';

const database = await testDatabase();
const service = await TestService.open(database.url, { TRUSTED_PROXIES: 'loopback', AUTH_FAILURES_PER_MINUTE: '20' });
const { elsewhere, newUser, signIn, signedIn } = peopleOf(service);

test('users: an administrator makes, changes, lists and deletes them, and no answer holds a secret', async () => {
  const user = await newUser('viewer', 'Ana.Silva');
  assert.equal(user.name, 'ana.silva', 'names are kept in lower case');
  const again = await service.admin('POST', '/admin/users', { name: 'ANA.SILVA', role: 'viewer', password });
  assert.deepEqual([again.status, again.body], [409, { error: 'there is a user of this name' }]);
  const weak = await service.admin('POST', '/admin/users', { name: 'weak', role: 'viewer', password: 'short' });
  assert.deepEqual([weak.status, weak.body], [400, { error: 'the password must have 12 to 256 characters' }]);
  assert.equal((await service.admin('POST', '/admin/users', { name: 'king', role: 'root', password })).status, 400);
  const changed = await service.admin('POST', '/admin/users/update', { id: user.id, role: 'operator' });
  assert.partialDeepStrictEqual(changed.body as object, { name: 'ana.silva', role: 'operator', hasCode: false });
  const listed = (await service.admin('GET', '/admin/users')).body as { readonly users: readonly object[] };
  assert.deepEqual(Object.keys(listed.users[0] ?? {}).toSorted(), ['createdAt', 'hasCode', 'id', 'lastSignInAt', 'name', 'role']);
  assert.equal((await service.admin('POST', '/admin/users/delete', { id: user.id })).status, 200);
  assert.equal((await service.admin('POST', '/admin/users/delete', { id: user.id })).status, 404);
});

test('sign-in: a name and its password get a session cookie, and the answer names the user', async () => {
  const { name } = await newUser('operator');
  const { reply } = await signedIn(name.toUpperCase());
  assert.match(reply.headers.get('set-cookie') ?? '', /^dormouse_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
  assert.partialDeepStrictEqual(reply.body as object, { signedIn: true, user: name, role: 'operator', hasCode: false });
});

test('sign-in: a wrong password, an unknown name and an invalid name get the same answer and no cookie', async () => {
  const { name } = await newUser('viewer');
  const answers = [];
  for (const body of [
    { name, password: 'another long secret' },
    { name: 'nobody', password },
    { name: '=cmd()', password },
    { name, password: `${password} ` },
  ]) {
    const { status, body: told, headers } = await signIn(body);
    answers.push([status, told, headers.get('set-cookie')]);
  }
  assert.deepEqual(
    answers,
    Array.from({ length: 4 }, () => [403, { error: 'the name, the password or the one-time code is wrong' }, null]),
  );
});

test('sign-in: an unknown name is answered after the same time as a known one', async () => {
  const timeOf = async (given: string): Promise<number> => {
    const begun = performance.now();
    await signIn({ name: given, password: 'a wrong password' });
    return performance.now() - begun;
  };
  // The shortest of several times counts, because other load only adds time. The known and the unknown name alternate.
  let [known, unknown] = [Infinity, Infinity];
  const areAlike = (): boolean => unknown > known / 2 && unknown < known * 2;
  for (let round = 0; round < 5 && !areAlike(); round += 1) {
    const { name } = await newUser('viewer');
    for (let n = 0; n < 8; n += 1) {
      known = Math.min(known, await timeOf(name));
      unknown = Math.min(unknown, await timeOf(`nobody-has-this-${round}`));
    }
  }
  assert.ok(areAlike(), `${unknown} ms for an unknown name, ${known} ms for a known one`);
});

test('sign-in: guesses from one network are limited together with those of admin tokens', async () => {
  const from = elsewhere();
  for (let n = 0; n < 20; n += 1) assert.equal((await signIn({ name: `guess-${n}`, password: 'guess' }, from)).status, 403);
  const { name } = await newUser('viewer');
  const limited = await signIn({ name, password }, from);
  assert.deepEqual([limited.status, limited.headers.get('set-cookie')], [429, null]);
  assert.equal((await service.call('GET', '/instance/all', { ...from, admintoken: adminToken })).status, 429);
  assert.equal((await signIn({ name, password })).status, 200, 'other networks are not limited');
});

test('sign-in: guesses for one name are limited across all networks', async () => {
  const { name } = await newUser('viewer');
  // All guesses are sent at once, because the limit gives back a guess every few seconds.
  const replies = await Promise.all(Array.from({ length: 24 }, () => signIn({ name, password: 'guess' })));
  const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.ok(
    statuses.slice(0, 20).every((status) => status === 403),
    statuses.join(),
  );
  assert.ok(statuses.includes(429), statuses.join());
});

test('sign-in: another site cannot sign its visitor in', async () => {
  const { name } = await newUser('viewer');
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'none' }]) {
    const reply = await signIn({ name, password }, { ...elsewhere(), ...(headers as Record<string, string>) });
    assert.deepEqual([reply.status, reply.headers.get('set-cookie')], [403, null], JSON.stringify(headers));
  }
});

test('roles: a viewer reads states without secrets and changes nothing', async () => {
  const { id } = await service.instance('watched');
  const { name } = await newUser('viewer');
  const { ask } = await signedIn(name);
  const all = (await ask('GET', '/instance/all')).body as readonly { readonly token: string; readonly id: string }[];
  assert.equal(all.find((one) => one.id === id)?.token, '');
  const named = { 'x-instance': id };
  assert.equal((await ask('GET', '/instance/status', undefined, named)).status, 200);
  for (const [method, path, body, headers] of [
    ['POST', '/instance/create', { name: 'mine' }, {}],
    ['GET', '/admin/users', undefined, {}],
    ['POST', '/admin/users', { name: 'me-too', role: 'administrator', password }, {}],
    ['GET', '/admin/audit', undefined, {}],
    ['POST', '/admin/token/rotate', {}, {}],
    ['POST', '/admin/session', {}, {}],
    ['GET', '/admin/session/token', undefined, named],
    ['POST', '/instance/token/rotate', {}, named],
    ['POST', '/instance/connect', {}, named],
    ['DELETE', '/instance', undefined, named],
    ['POST', '/send/text', { number: '5511999999999', text: 'x' }, named],
    ['POST', '/message/find', {}, named],
    ['GET', '/webhook', undefined, named],
    ['POST', '/webhook', { url: 'http://127.0.0.1:9/' }, named],
    ['GET', '/sse?events=messages', undefined, named],
    ['GET', '/chatwoot/config', undefined, named],
  ] as const) {
    const { status } = await ask(method, path, body, headers as Record<string, string>);
    assert.equal(status, 403, `${method} ${path} answers ${status}`);
  }
});

test('roles: an operator runs sessions, and gets no settings, secrets or people', async () => {
  const { id } = await service.instance('run');
  const { name } = await newUser('operator');
  const { ask } = await signedIn(name);
  const named = { 'x-instance': id };
  assert.equal((await ask('POST', '/instance/disconnect', {}, named)).status, 200);
  assert.equal((await ask('GET', '/webhook', undefined, named)).status, 200);
  for (const [method, path, body] of [
    ['POST', '/webhook', { url: 'http://127.0.0.1:9/' }],
    ['POST', '/instance/updateInstanceName', { name: 'x' }],
    ['GET', '/admin/session/token', undefined],
    ['DELETE', '/instance', undefined],
    ['POST', '/admin/users/update', { id: 'u', role: 'administrator' }],
  ] as const)
    assert.equal((await ask(method, path, body, named)).status, 403, path);
});

test('roles: no user can raise the own role, also not by the routes for the own account', async () => {
  const user = await newUser('viewer');
  const { ask } = await signedIn(user.name);
  assert.equal((await ask('POST', '/admin/users/update', { id: user.id, role: 'administrator' })).status, 403);
  const reply = await ask('POST', '/admin/me/password', { password, newPassword: 'another long secret', role: 'administrator', id: 'u0' });
  assert.equal(reply.status, 200);
  assert.equal((reply.body as { readonly role: string }).role, 'viewer');
});

test('forged requests: the session of a user is accepted from the page of the gateway only', async () => {
  const { name } = await newUser('administrator');
  const { cookie } = await signedIn(name);
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, {}]) {
    const reply = await service.call(
      'POST',
      '/admin/users',
      { cookie, ...(headers as Record<string, string>) },
      { name: 'forged', role: 'viewer', password },
    );
    assert.equal(reply.status, 403, JSON.stringify(headers));
  }
});

for (const [change, patch] of [
  ['role', { role: 'operator' }],
  ['password', { password: 'another long secret' }],
] as const)
  test(`sessions: they end when the ${change} changes, and their streams too`, async () => {
    const user = await newUser('viewer');
    const { ask, cookie } = await signedIn(user.name);
    const stream = await fetch(`${service.address}/admin/actors/stream`, { headers: { cookie, ...own } });
    assert.equal(stream.status, 200);
    const ended = stream.text().then(
      () => true,
      () => true,
    );
    assert.equal((await service.admin('POST', '/admin/users/update', { id: user.id, ...patch })).status, 200);
    assert.equal((await ask('GET', '/instance/all')).status, 401);
    assert.equal(await ended, true);
  });

test('streams: the sessions of one user share 20 streams of the inspector, and each user has a separate limit', async (t) => {
  const gone = new AbortController();
  t.after(() => gone.abort());
  const open = async (cookie: string) =>
    (await fetch(`${service.address}/admin/actors/stream`, { headers: { cookie, ...own }, signal: gone.signal })).status;
  const [ana, bea] = [await newUser('viewer'), await newUser('viewer')];
  const [first, second, other] = [await signedIn(ana.name), await signedIn(ana.name), await signedIn(bea.name)];
  for (let n = 0; n < 10; n += 1) assert.deepEqual([await open(first.cookie), await open(second.cookie)], [200, 200]);
  assert.deepEqual([await open(first.cookie), await open(second.cookie), await open(other.cookie)], [429, 429, 200]);
});

test('sessions: a session that a request looks up during a change of the password ends', async () => {
  const user = await newUser('viewer');
  const sessions = await Promise.all(Array.from({ length: 4 }, () => signedIn(user.name)));
  await service.restart();
  const asked = sessions.map(({ ask }) => ask('GET', '/instance/all'));
  const changed = service.admin('POST', '/admin/users/update', { id: user.id, password: 'another long secret' });
  await Promise.all([...asked, changed]);
  for (const { ask } of sessions) assert.equal((await ask('GET', '/instance/all')).status, 401);
});

test('sessions: the session of a user survives a restart of the gateway, and that of a deleted user does not', async () => {
  const user = await newUser('viewer');
  const { ask } = await signedIn(user.name);
  await service.restart();
  assert.equal((await ask('GET', '/instance/all')).status, 200);
  await service.admin('POST', '/admin/users/delete', { id: user.id });
  assert.equal((await ask('GET', '/instance/all')).status, 401);
});

test('sessions: a user can list and end the own ones, and an administrator those of all users', async () => {
  const [ana, bea] = [await newUser('viewer'), await newUser('viewer')];
  const [first, second, other] = [await signedIn(ana.name), await signedIn(ana.name), await signedIn(bea.name)];
  const seen = (
    (await first.ask('GET', '/admin/sessions')).body as { readonly sessions: readonly { id: string; user: string; own: boolean }[] }
  ).sessions;
  assert.deepEqual([seen.map(({ user }) => user), seen.filter((one) => one.own).length], [[ana.name, ana.name], 1]);
  assert.equal((await first.ask('POST', '/admin/sessions/end', { userId: bea.id })).status, 404);
  const mine = seen.find((one) => !one.own)?.id;
  assert.deepEqual((await first.ask('POST', '/admin/sessions/end', { id: mine })).body, { ended: 1 });
  assert.equal((await second.ask('GET', '/instance/all')).status, 401);
  assert.equal((await first.ask('GET', '/instance/all')).status, 200);
  assert.deepEqual((await service.admin('POST', '/admin/sessions/end', { userId: bea.id })).body, { ended: 1 });
  assert.equal((await other.ask('GET', '/instance/all')).status, 401);
});

test('own password: a change requires the old password with limited guesses, and afterwards only the new password is valid', async () => {
  const user = await newUser('viewer');
  const { ask } = await signedIn(user.name);
  const change = (old: string) => ask('POST', '/admin/me/password', { password: old, newPassword: 'another long secret' });
  assert.deepEqual((await change('a wrong password')).body, { error: 'the password is wrong' });
  assert.equal((await change(password)).status, 200);
  assert.equal((await ask('GET', '/instance/all')).status, 401);
  assert.equal((await signIn({ name: user.name, password })).status, 403);
  const again = await signedIn(user.name, { password: 'another long secret' });
  const statuses: number[] = [];
  for (let n = 0; n < 24; n += 1)
    statuses.push((await again.ask('POST', '/admin/me/password', { password: 'guess', newPassword: 'x'.repeat(12) })).status);
  assert.ok(statuses.includes(429), statuses.join());
});

test('one-time codes: after the set-up each sign-in needs a new code, and an administrator can switch the codes off', async () => {
  const user = await newUser('viewer');
  const first = await signedIn(user.name);
  const { secret, uri, picture } = (await first.ask('POST', '/admin/me/code', { password })).body as {
    secret: string;
    uri: string;
    picture: string;
  };
  assert.ok(uri.includes(secret) && picture.startsWith('data:image/png;base64,'));
  const codeNow = (steps = 0): string => codeOf(secret, stepAt(Date.now()) + steps);
  const confirming = codeNow();
  const confirm = (body: object) => first.ask('POST', '/admin/me/code/confirm', { secret, password, code: confirming, ...body });
  assert.equal((await confirm({ code: '000000' })).status, 403);
  assert.equal((await confirm({ password: 'a wrong password' })).status, 403);
  assert.equal((await signIn({ name: user.name, password })).status, 200, 'nothing changes before the confirmation');
  assert.partialDeepStrictEqual((await confirm({})).body as object, { hasCode: true });
  assert.equal((await first.ask('GET', '/instance/all')).status, 401);
  assert.equal((await signIn({ name: user.name, password })).status, 403);
  assert.equal((await signIn({ name: user.name, password, code: '000000' })).status, 403);
  const used = await signIn({ name: user.name, password, code: confirming });
  assert.equal(used.status, 403, 'the code of the confirmation does not count again');
  const code = codeNow(1);
  const both = await Promise.all([signIn({ name: user.name, password, code }), signIn({ name: user.name, password, code })]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 403], 'of two requests with one code one counts');
  assert.equal((await signIn({ name: user.name, password, code: codeNow(-1) })).status, 403, 'an older code does not count either');
  await service.admin('POST', '/admin/users/update', { id: user.id, resetCode: true });
  assert.equal((await signIn({ name: user.name, password })).status, 200);
});

test('one-time codes: guesses with the right password are limited to ten', async () => {
  const user = await newUser('viewer');
  const { ask } = await signedIn(user.name);
  const { secret } = (await ask('POST', '/admin/me/code', { password })).body as { readonly secret: string };
  await ask('POST', '/admin/me/code/confirm', { secret, password, code: codeOf(secret, stepAt(Date.now())) });
  const statuses: number[] = [];
  for (let n = 0; n < 12; n += 1) statuses.push((await signIn({ name: user.name, password, code: '000000' })).status);
  assert.deepEqual(statuses, [...Array<number>(10).fill(403), 429, 429]);
});

test('own password: the owner of the admin token has no password to change', async () => {
  const { status } = await service.admin('POST', '/admin/me/password', { password, newPassword: password });
  assert.equal(status, 400);
});

test('storage: neither a password nor a secret of codes is readable in a table', async () => {
  const user = await newUser('viewer');
  const { ask } = await signedIn(user.name);
  const { secret } = (await ask('POST', '/admin/me/code', { password })).body as { readonly secret: string };
  await ask('POST', '/admin/me/code/confirm', { secret, password, code: codeOf(secret, stepAt(Date.now())) });
  const rows = JSON.stringify(
    await database.admin.rows(
      { name: '', text: `select *, encode(password, 'escape') as p, encode(code_secret, 'escape') as c from gateway_user` },
      [],
    ),
  );
  for (const text of [password, secret, '$argon2id']) assert.ok(!rows.includes(text), text);
});
