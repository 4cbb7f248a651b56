/** Tests the tables of roles and of audited routes. Every route of the administrator has a row, and no row is out of date. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayAct, roles } from '#actors/gateway.ts';
import { withoutSecrets } from '#src/http/auth.ts';
import { AdminSessions } from '#src/http/dashboard.ts';
import { auditedTags, isAudited } from '#src/http/audit.ts';
import { leastRoleOf, leastRoles } from '#src/http/roles.ts';
import { allRoutes } from '#src/http/routes/index.ts';
import { Hub } from '#src/http/stream/hub.ts';
import { defaultStreamLimits } from '#src/http/options.ts';
import { createFakeGateway } from '#test/fakes/gateway.ts';
import { optionsWith } from './setup.ts';

const options = optionsWith({
  simulatedPhone: { page: '', scan: async () => null },
  metrics: { contentType: '', text: async () => '', meter: { stream: () => undefined, answered: () => undefined } },
});
const hub = new Hub({ gateway: createFakeGateway(), limits: defaultStreamLimits, log: options.log });
const rows = allRoutes(options, hub, new AdminSessions(60_000, null));
hub.close();

/** The kinds of credentials for which the admin token is accepted. */
const ofAdministrator: readonly string[] = ['admin', 'metrics', 'globalWebhook'];

test('roles: the table has a row for every route of the administrator', () => {
  const undecided = rows.filter(({ credential, on }) => ofAdministrator.includes(credential) && leastRoles[on[0]] === undefined);
  assert.deepEqual(
    undecided.map(({ on }) => on[0]),
    [],
  );
});

test('roles: every row of the table names an existing route by its first address', () => {
  const known = new Set<string>(rows.map(({ on }) => on[0]));
  assert.deepEqual(
    Object.keys(leastRoles).filter((address) => !known.has(address)),
    [],
  );
});

test('roles: a route without a row needs an administrator', () => {
  assert.equal(leastRoleOf(['POST /never/heard/of']), 'administrator');
  assert.equal(leastRoleOf(['DELETE /instance']), 'administrator');
});

test('roles: an operator runs campaigns, and needs an administrator for agents and the connection to Chatwoot', () => {
  for (const address of ['POST /sender/simple', 'POST /sender/advanced', 'POST /sender/edit', 'GET /sender/listfolders'] as const)
    assert.equal(leastRoleOf([address]), 'operator', address);
  for (const address of ['GET /agent/list', 'POST /agent/try', 'GET /agent/usage', 'GET /chatwoot/config', 'POST /chatwoot/test'] as const)
    assert.equal(leastRoleOf([address]), 'administrator', address);
});

test('roles: each role may use the routes of the lower roles and its own routes', () => {
  const allowed = roles.map((role) => roles.filter((least) => mayAct(role, least)));
  assert.deepEqual(allowed, [['viewer'], ['viewer', 'operator'], ['viewer', 'operator', 'administrator']]);
});

test('roles: a viewer can change only the own sign-in', () => {
  const changing = rows.filter(({ on }) => !on[0].startsWith('GET ') && leastRoleOf(on) === 'viewer').map(({ on }) => on[0]);
  assert.ok(changing.length > 0);
  for (const address of changing) assert.match(address, / \/admin\/(?:me\/|sessions?\b)/);
});

test('roles: a route that returns a token needs an administrator', () => {
  const giving = rows.filter(({ givesToken }) => givesToken === true);
  assert.ok(giving.length > 0);
  for (const { on } of giving) assert.equal(leastRoleOf(on), 'administrator', on[0]);
});

test('audit: the table says for every tag with changing routes if its changes are recorded', () => {
  const tags = new Set(rows.filter(({ on }) => !on[0].startsWith('GET ')).map(({ tag }) => tag));
  assert.deepEqual([...tags].filter((tag) => !Object.hasOwn(auditedTags, tag)).toSorted(), []);
});

test('audit: every change by an administrator is recorded, and requests with the token of an instance are not', () => {
  for (const row of rows)
    if (ofAdministrator.includes(row.credential)) assert.equal(isAudited(row), !row.on[0].startsWith('GET '), row.on[0]);
  const noted = (address: string): boolean | undefined => {
    const row = rows.find(({ on }) => on[0] === address);
    return row && isAudited(row);
  };
  for (const address of [
    'POST /webhook',
    'POST /instance/connect',
    'DELETE /instance',
    'GET /admin/session/token',
    'POST /admin/session/user',
  ])
    assert.equal(noted(address), true, address);
  for (const address of ['POST /send/text', 'POST /message/find', 'POST /chat/read', 'GET /instance/status', 'POST /sender/listmessages'])
    assert.equal(noted(address), false, address);
  assert.equal(isAudited({ on: ['POST /mcp'], tag: 'instance' }), false, 'a call of a tool is noted at the route of the tool');
});

test('roles: a viewer sees no code of linking, and an operator sees those of the passkey', () => {
  const answer = {
    instance: { token: 'secret', qrcode: 'QR', name: 'shop' },
    status: { connected: false, passkey: { stage: 'code', code: 'ABCD', expires: '' } },
  };
  const seen = (code: string, qrcode: string) => ({
    instance: { token: '', qrcode, name: 'shop' },
    status: { connected: false, passkey: { stage: 'code', code, expires: '' } },
  });
  assert.deepEqual(withoutSecrets(true, answer), seen('', ''));
  assert.deepEqual(withoutSecrets(false, answer), seen('ABCD', 'QR'));
});
