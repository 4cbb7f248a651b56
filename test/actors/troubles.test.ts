/** Tests the troubles that one node reports: sessions and receivers, the reporting node, and the shown part of an address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Troubles, type TroublesInput } from '#actors/inspection/troubles.ts';
import type { LightRow } from '#actors/inspection/rows.ts';
import { usualAlertSettings } from '#actors/model.ts';
import type { FakeAlerts, FakeMailer } from '#test/fakes/alerts.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { World } from '#test/fakes/world.ts';

const row: LightRow = {
  id: 'r1',
  name: 'shop',
  number: '…1234',
  status: 'disconnected',
  state: 'disconnected.loggedOut',
  needsPerson: true,
  linked: false,
  since: 5,
  reason: '401: logged out',
  cause: 'loggedOut',
  lastEvent: 0,
  queue: 0,
};

const stage = (rows: readonly LightRow[], change: Partial<TroublesInput> = {}) => {
  const time = new FakeTime();
  const broken: { readonly id: string; readonly url: string }[] = [];
  const troubles = new Troubles({
    registry: { ids: rows.map(({ id }) => id), record: (id: string) => ({ id }) } as never,
    dispatcher: {
      get broken() {
        return broken;
      },
      health: () => ({ report: { lastError: { at: 1, status: 500, error: 'webhook returned 500' } } }),
    } as never,
    disk: { freeBytes: 0, sizeBytes: 0, warning: '' },
    time,
    node: 'a',
    row: (id) => rows.find((one) => one.id === id) ?? null,
    counts: () => true,
    ...change,
  });
  return { time, broken, troubles };
};

test('troubles: a session that needs a person is reported with its name, and one that works is not', async () => {
  const { troubles } = stage([row, { ...row, id: 'r2', needsPerson: false }]);
  assert.deepEqual(await troubles.find(), [{ kind: 'session', key: 'r1', name: 'shop …1234', reason: '401: logged out', since: 5 }]);
});

test('troubles: a session that waits for a passkey is reported, and one with a failing receiver is not a session in trouble', async () => {
  const { troubles } = stage([
    { ...row, needsPerson: false, state: 'connecting.passkey.asking', reason: '' },
    { ...row, id: 'r2', cause: 'receiverFailed' },
  ]);
  assert.deepEqual(
    (await troubles.find()).map(({ key, reason }) => [key, reason.includes('passkey')]),
    [['r1', true]],
  );
});

test('troubles: a session that another node counts is left to that node', async () =>
  assert.deepEqual(await stage([row], { counts: () => false }).troubles.find(), []));

test('troubles: a receiver is named by its host alone, with the time its circuit opened, and anew after it closed', async () => {
  const { time, broken, troubles } = stage([]);
  const began = time.now();
  broken.push({ id: 'w1', url: 'https://user.example/hook?token=SECRET' });
  const seen = { kind: 'receiver', key: 'w1', name: 'user.example', reason: 'webhook returned 500' };
  assert.deepEqual(await troubles.find(), [{ ...seen, since: began }]);
  await time.pass(60_000);
  assert.deepEqual(await troubles.find(), [{ ...seen, since: began }]);
  const [webhook] = broken.splice(0);
  assert.deepEqual(await troubles.find(), []);
  broken.push(webhook!);
  assert.deepEqual(await troubles.find(), [{ ...seen, since: began + 60_000 }]);
});

test('troubles: a report is bounded, and the disk comes first', async () => {
  const rows = Array.from({ length: 2_000 }, (_, index) => ({ ...row, id: `r${index}` }));
  const found = await stage(rows, { disk: { freeBytes: 1, sizeBytes: 9, warning: 'nearly full' } }).troubles.find();
  assert.deepEqual([found.length, found[0]?.kind, found[0]?.key], [500, 'disk', 'a']);
});

test('troubles: the gateway reports a session that was logged out before its start, until the stop', async () => {
  const world = new World();
  const [alertRows, mailer] = [world.ports.alertRows as FakeAlerts, world.ports.mailer as FakeMailer];
  world.register({
    id: 'r1',
    name: 'shop',
    wanted: 'offline',
    jid: '',
    lastDisconnectCause: 'loggedOut',
    lastDisconnectReason: '401: logged out',
  });
  world.register({ id: 'r2', name: 'new', wanted: 'offline', jid: '', lastDisconnectCause: '', lastDisconnectReason: '' });
  const gateway = await world.start();
  const email = { host: 'mail.test', port: 25, security: 'none' as const, user: '', from: 'a@test', to: ['b@test'] };
  await gateway.saveAlerts({ ...usualAlertSettings, channels: ['email'], email }, {});
  await world.time.pass(3 * 60_000);
  assert.deepEqual(
    mailer.mails.map(({ subject }) => subject),
    ['Dormouse: 1 session needs a person'],
  );
  assert.match(mailer.mails[0]?.text ?? '', /- shop.*: 401: logged out .*http:\/\/gateway\.test\/admin\/sessions\/r1/);
  assert.equal((await gateway.alerts()).troubles[0]?.key, 'r1');
  await gateway.stop();
  const { version } = alertRows.row ?? {};
  await world.time.pass(10 * 60_000);
  assert.equal(alertRows.row?.version, version, 'nothing runs after the stop');
});
