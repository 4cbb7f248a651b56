/** Tests alerts and metrics of several real nodes. The node on duty is killed, another node reports it once, and each node has its metrics. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type MailServerStandIn, mailLogin, mailSettings, openMailServer, subjectsOf } from '#test/support/alert-channels.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';
import { Nodes } from '#test/support/nodes.ts';
import { until } from '#test/support/until.ts';

let nodes: Nodes;
let mail: MailServerStandIn;
let second: GatewayProcess;
let third: GatewayProcess;
before(async () => {
  mail = await openMailServer();
  nodes = await Nodes.open();
  [second, third] = [await nodes.another('second').start(), await nodes.another('third').start()];
});
after(async () => {
  await nodes?.close();
  await mail?.close();
});

test('alerts: when the node on duty of three nodes dies, one of the others reports it once', async () => {
  const settings = {
    kinds: ['node', 'session'],
    channels: ['email'],
    timeZone: '',
    repeatHours: 1,
    receiverMinutes: 10,
    email: mailSettings(mail),
    telegram: { url: 'https://api.telegram.org', chatId: '' },
    secrets: { emailPassword: mailLogin.password },
  };
  assert.equal((await second.call('POST', '/admin/alerts', { body: settings })).status, 200);
  await wait(20_000);
  await nodes.first.end('SIGKILL');
  await until(() => mail.mails.length > 0, 'the loss of the node is told', 180_000);
  assert.deepEqual(subjectsOf(mail), ['Dormouse: 1 node is lost']);
  assert.match(mail.mails[0]?.text ?? '', /- first: its lease ended without a sign-off/);
  await wait(40_000);
  assert.equal(mail.mails.length, 1);
  for (const node of [second, third]) {
    const { body } = await node.call('GET', '/admin/alerts');
    assert.partialDeepStrictEqual(body['troubles'], [{ kind: 'node', key: 'first' }]);
  }
});

test('figures: every live node has rows of its own, which all nodes show', async () => {
  // The first node may have stored a row before it was killed.
  for (const node of [second, third])
    await until(async () => {
      const { body } = await node.call('GET', '/admin/figures?hours=1');
      const names = (body['nodes'] as readonly { readonly name: string }[]).map(({ name }) => name);
      return names.filter((name) => name !== 'first').join() === 'second,third';
    }, 'the figures of both nodes');
});
