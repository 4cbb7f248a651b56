/** Tests the alerts with two nodes on simulated time: reports, one sender, kills, outages, secrets, and the texts of messages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Alerts } from '#actors/inspection/alerts.ts';
import { type AlertSettings, noAlertSecrets, type Trouble, usualAlertSettings } from '#actors/model.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { textOf } from '#actors/policy/alert-policy.ts';
import { type KnownNode, StorageUnavailable } from '#actors/ports.ts';
import { FakeAlerts, FakeMailer } from '#test/fakes/alerts.ts';
import { testPolicy, World } from '#test/fakes/world.ts';

const minute = 60_000;
const hour = 60 * minute;
const mail = { host: 'mail.test', port: 25, security: 'none' as const, user: '', from: 'gateway@test', to: ['ana@test'] };
const settings: AlertSettings = { ...usualAlertSettings, channels: ['email'], email: mail };
const session: Trouble = { kind: 'session', key: 'r1', name: 'shop …1234', reason: '401: logged out', since: 1_000 };

const stage = async () => {
  const { ports, time, log, receiver } = new World();
  const [alertRows, mailer] = [new FakeAlerts(), new FakeMailer()];
  await alertRows.save(settings, noAlertSecrets);
  const known: KnownNode[] = [];
  const troubles: Trouble[] = [];
  const node = (name: string, isOnDuty = true) => {
    const alerts = new Alerts({
      ports: { ...ports, alertRows, mailer },
      workers: supervisedWorkers(ports, testPolicy, {}),
      baseUrl: 'https://gateway.test',
      node: name,
      onDuty: () => isOnDuty,
      find: async () => [...troubles],
      nodes: async () => known,
    });
    alerts.start();
    return alerts;
  };
  return { alertRows, mailer, receiver, time, log, known, troubles, node };
};

test('alerts: the node on duty sends one mail for a trouble that two nodes report', async () => {
  const { mailer, time, troubles, node } = await stage();
  node('a');
  node('b', false);
  troubles.push(session);
  await time.pass(10 * minute);
  assert.deepEqual(
    mailer.mails.map(({ subject }) => subject),
    ['Dormouse: 1 session needs a person'],
  );
  assert.match(
    mailer.mails[0]?.text ?? '',
    /^1 session needs a person:\n- shop …1234: 401: logged out \(since .* UTC\) https:\/\/gateway\.test\/admin\/sessions\/r1\n/,
  );
});

test('alerts: two nodes that both consider themselves on duty send each message once', async () => {
  const { mailer, time, troubles, node } = await stage();
  for (const name of ['a', 'b', 'c']) node(name);
  troubles.push(session);
  await time.pass(10 * minute);
  troubles.pop();
  await time.pass(20 * minute);
  assert.deepEqual(
    mailer.mails.map(({ subject }) => subject),
    ['Dormouse: 1 session needs a person', 'Dormouse: 1 well again'],
  );
});

test('alerts: a node sends nothing when another node stored the state first', async () => {
  const { alertRows, mailer, time, troubles, node } = await stage();
  node('a');
  troubles.push(session);
  alertRows.beforeSave = () => {
    if (alertRows.row !== null) alertRows.row = { ...alertRows.row, version: alertRows.row.version + 1 };
  };
  await time.pass(10 * minute);
  assert.deepEqual(mailer.mails, []);
});

test('alerts: a restart repeats no message', async () => {
  const { mailer, time, troubles, node } = await stage();
  const before = node('a');
  troubles.push(session);
  await time.pass(5 * minute);
  before.stop();
  node('a');
  await time.pass(hour);
  assert.equal(mailer.mails.length, 1);
});

test('alerts: after a kill between the claim and the mail, the next node on duty sends the mail', async () => {
  const { mailer, time, troubles, node } = await stage();
  const killed = node('a');
  const { send } = mailer;
  mailer.send = () => {
    killed.stop();
    return new Promise(() => undefined);
  };
  troubles.push(session);
  await time.pass(3 * minute);
  mailer.send = send;
  node('b');
  await time.pass(3 * minute);
  assert.equal(mailer.mails.length, 1);
});

test('alerts: an outage of storage delays a message and loses none', async () => {
  const { alertRows, mailer, time, troubles, node } = await stage();
  node('a');
  troubles.push(session);
  const { read } = alertRows;
  alertRows.read = async () => {
    throw new StorageUnavailable('away');
  };
  await time.pass(10 * minute);
  assert.equal(mailer.mails.length, 0);
  alertRows.read = read;
  await time.pass(5 * minute);
  assert.equal(mailer.mails.length, 1);
});

test('alerts: without a channel no node reports troubles; with one, an unchanged report is written once a minute', async () => {
  const { alertRows, time, node } = await stage();
  let reports = 0;
  const { report } = alertRows;
  alertRows.report = (one) => {
    reports += 1;
    return report(one);
  };
  node('a');
  await time.pass(10 * minute);
  assert.ok(reports >= 9 && reports <= 11, `${reports} reports`);
  await alertRows.save({ ...settings, channels: [] }, noAlertSecrets);
  reports = 0;
  await time.pass(10 * minute);
  assert.equal(reports, 0);
});

test('alerts: an unchanged state is not written again', async () => {
  const { alertRows, time, troubles, node } = await stage();
  node('a');
  troubles.push(session);
  await time.pass(10 * minute);
  const version = alertRows.row?.version;
  await time.pass(10 * minute);
  assert.equal(alertRows.row?.version, version);
});

test('alerts: a node whose lease ended is reported, and a node that drains is not', async () => {
  const { mailer, time, known, node } = await stage();
  node('a');
  const common = { version: '1', capacity: 1, load: 0, astray: 0, bus: null, leftMs: -5_000, age: 1, taken: {} };
  known.push({ ...common, name: 'b', draining: false, ended: true }, { ...common, name: 'c', draining: true, ended: false });
  await time.pass(2 * minute);
  assert.deepEqual(
    mailer.mails.map(({ subject }) => subject),
    ['Dormouse: 1 node is lost'],
  );
  assert.match(mailer.mails[0]?.text ?? '', /- b: its lease ended/);
});

test('alerts: a refusal by the mail server is shown, and the mail is sent when the server accepts it', async () => {
  const { mailer, time, troubles, node } = await stage();
  const alerts = node('a');
  mailer.error = 'the mail server does not take the user and the password (535)';
  troubles.push(session);
  await time.pass(3 * minute);
  const shown = await alerts.commands.alerts();
  assert.deepEqual(
    shown.outcomes.map(({ channel, error, waiting }) => [channel, error, waiting]),
    [['email', mailer.error, 1]],
  );
  mailer.error = '';
  await time.pass(10 * minute);
  assert.equal(mailer.mails.length, 1);
  assert.deepEqual(
    (await alerts.commands.alerts()).outcomes.map(({ error, waiting }) => [error, waiting]),
    [['', 0]],
  );
});

test('alerts: Telegram, Slack and a webhook each get their own format, and no error contains a secret', async () => {
  const { alertRows, receiver, node } = await stage();
  const secrets = {
    telegramToken: '1:SECRET',
    slackUrl: 'https://hooks.test/SECRET',
    webhookUrl: 'https://hook.test/SECRET',
    webhookSecret: '',
    emailPassword: '',
  };
  await alertRows.save({ ...settings, telegram: { url: 'https://api.test/', chatId: '-7' } }, secrets);
  const { commands } = node('a');
  for (const channel of ['telegram', 'slack', 'webhook'] as const)
    assert.deepEqual(await commands.testAlert(channel), { ok: true, value: { sent: true, error: '' } });
  assert.deepEqual(
    receiver.posts.map(({ url }) => url),
    ['https://api.test/bot1:SECRET/sendMessage', secrets.slackUrl, secrets.webhookUrl],
  );
  const [telegram, slack, hook] = receiver.posts.map(({ body }) => body);
  assert.deepEqual(
    [telegram?.['chat_id'], telegram?.['text']],
    ['-7', 'This is a test of the alerts of https://gateway.test. Nothing is wrong.'],
  );
  assert.equal(slack?.['text'], telegram?.['text']);
  assert.partialDeepStrictEqual(hook, { type: 'alert', baseUrl: 'https://gateway.test', troubles: [], well: [] });
  receiver.answer = async () => ({ ok: false, status: 403, error: 'webhook returned non-success status: 403 Forbidden' });
  const refused = await commands.testAlert('telegram');
  assert.ok(refused.ok && !refused.value.sent && !refused.value.error.includes('SECRET'));
  assert.ok(!JSON.stringify(await commands.alerts()).includes('SECRET'));
});

test('alerts: secrets that several users store at once are all kept', async () => {
  const { alertRows, node } = await stage();
  const { commands } = node('a');
  const saved = await Promise.all([
    commands.saveAlerts(settings, { emailPassword: 'pw' }),
    commands.saveAlerts(settings, { slackUrl: 'https://hooks.test/x' }),
    commands.saveAlerts(settings, { telegramToken: '1:token' }),
  ]);
  assert.ok(saved.every(({ ok }) => ok));
  assert.partialDeepStrictEqual(alertRows.row?.secrets, {
    emailPassword: 'pw',
    slackUrl: 'https://hooks.test/x',
    telegramToken: '1:token',
  });
});

test('alerts: a mail that one of several recipients did not get is not repeated, and the reason is shown', async () => {
  const { mailer, time, troubles, node } = await stage();
  const { commands } = node('a');
  const { send } = mailer;
  const error = 'the mail server did not take 1 of 2 recipients';
  mailer.send = async (server, mail) => ({ ...(await send(server, mail)), error });
  troubles.push(session);
  await time.pass(hour);
  assert.equal(mailer.mails.length, 1);
  assert.deepEqual(
    (await commands.alerts()).outcomes.map((one) => [one.channel, one.error, one.waiting]),
    [['email', error, 0]],
  );
});

test('alerts: an omitted secret stays, an empty secret is deleted, and a password is not sent to a new server', async () => {
  const { alertRows, node } = await stage();
  const { commands } = node('a');
  await commands.saveAlerts(settings, { emailPassword: 'pw', slackUrl: 'https://hooks.test/x' });
  const kept = await commands.saveAlerts({ ...settings, repeatHours: 1 }, { slackUrl: '' });
  assert.deepEqual(kept.ok && kept.value.secrets, ['emailPassword']);
  assert.equal(alertRows.row?.secrets.emailPassword, 'pw');
  const elsewhere = await commands.saveAlerts({ ...settings, email: { ...mail, host: 'evil.test' } }, {});
  assert.deepEqual(elsewhere.ok || elsewhere.refusal.message, 'emailPassword is needed again for another mail server');
  for (const [change, secrets, sentence] of [
    [{}, { webhookUrl: 'ftp://x' }, /^webhookUrl: /],
    [{}, { webhookSecret: 'short' }, /^webhookSecret: /],
    [{ timeZone: 'Mars/Base' }, {}, /^timeZone /],
    [{ channels: ['email', 'slack'] }, {}, /^slack: the address of the incoming webhook is missing$/],
    [{ email: { ...mail, to: [] } }, {}, /^email: .* the recipient is missing$/],
    [{ channels: ['telegram'] }, {}, /^telegram: /],
    [{ channels: ['webhook'] }, {}, /^webhook: /],
  ] as const) {
    const refused = await commands.saveAlerts({ ...settings, ...change }, secrets);
    assert.match(refused.ok ? '' : refused.refusal.message, sentence);
  }
});

test('alert texts: a name cannot reverse the direction of the text, and an address in it is no link', () => {
  const troubles = [{ ...session, name: 'shop \u202Eevil\u2066 http://evil.test/login', repeated: false }];
  const text = textOf({ id: 'm', at: 1, troubles, well: [], counts: { troubles: 1, well: 0 } }, 'https://g');
  assert.match(text, /\n- shop evil http: \/\/evil\.test\/login: 401/);
});

test('alert texts: a name cannot add lines, and a shortened list says how many entries are left out', () => {
  const troubles = [{ ...session, name: 'shop\r\nBcc: x@y\u0000', reason: 'x'.repeat(500), repeated: false }];
  const text = textOf(
    { id: 'm', at: 1, troubles, well: [{ ...session, kind: 'disk', key: '', name: '' }], counts: { troubles: 41, well: 1 } },
    'https://g',
  );
  assert.match(
    text,
    /\n- shop Bcc: x@y: x{200}… \(since 1970-01-01 00:00 UTC\) https:\/\/g\/admin\/sessions\/r1\n\n- and 40 more\n\nWell again:\n- this gateway\n/,
  );
});
