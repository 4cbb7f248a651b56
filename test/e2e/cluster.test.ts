/** Tests several nodes on one database, as processes that are killed, paused and stopped. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '#test/support/account.ts';
import { adminToken, type GatewayProcess } from '#test/support/gateway.ts';
import { contact } from '#test/support/scene.ts';
import { Nodes, refusesToStart } from '#test/support/nodes.ts';
import { patience, until } from '#test/support/until.ts';

let nodes: Nodes;
before(async () => {
  nodes = await Nodes.open();
});
after(() => nodes?.close());

/** Connects accounts through the first node. */
const paired = async (count: number): Promise<Account[]> => {
  const accounts: Account[] = [];
  for (let made = 0; made < count; made += 1) accounts.push(await nodes.scene.paired());
  return accounts;
};

const works = async (accounts: readonly Account[]): Promise<void> => {
  for (const account of accounts) await account.reaches('connected');
  for (const account of accounts) await nodes.scene.works(account);
};

/** Returns the number of instances that this process took from lost nodes. */
const takenAfterFailures = async (node: GatewayProcess): Promise<number> => {
  const answer = await fetch(`${node.address}/metrics`, { headers: { admintoken: adminToken } });
  return Number(/^dormouse_leases_taken_total\{cause="failover"\} (\d+)$/m.exec(await answer.text())?.[1] ?? 0);
};

test('cluster: a second node of a name, and a gateway without a node name, are refused with a sentence', async () => {
  await refusesToStart(nodes.another('first'), /Another node named first is running/);
  await refusesToStart(nodes.another('alone', { NODE_NAME: '' }), /Another gateway uses this database/);
  await refusesToStart(nodes.another('second', { ENCRYPTION_KEY: '' }), /NODE_NAME and NATS_URL need DATABASE_URL and ENCRYPTION_KEY/);
  await refusesToStart(nodes.another('no name'), /NODE_NAME must be a name/);
});

test('cluster: sessions of a killed node return on another node, without a second login at the same time', async () => {
  const accounts = await paired(3);
  await works(accounts);
  assert.deepEqual(await nodes.owners(accounts), ['first', 'first', 'first']);
  const second = await nodes.another('second').start();
  // On a slow machine sessions have moved to the new node by now.
  while (!(await nodes.owners(accounts)).includes('first')) accounts.push(...(await paired(1)));
  const kept = accounts[(await nodes.owners(accounts)).indexOf('first')]!;
  const elsewhere = await nodes.at(second, kept).send(contact, 'by the other node');
  assert.equal(elsewhere.status, 503);
  assert.match(String(elsewhere.body['error']), /^another node has the instance/);
  assert.equal(elsewhere.headers.get('retry-after'), '2');
  await nodes.first.end('SIGKILL');
  await nodes.ownedBy('second', accounts);
  const heirs = accounts.map((account) => nodes.at(second, account));
  await works(heirs);
  assert.equal(nodes.doubleLogins, 0);
  for (const account of accounts) assert.equal(nodes.scene.logins(account), 2, 'one by each node');

  // The first node returns and gets its share.
  await nodes.first.start();
  await second.end('SIGTERM');
  await nodes.ownedBy('first', accounts);
  // The node did not wait for the end of any lease.
  assert.equal(await takenAfterFailures(nodes.first), 0);
  assert.match(second.printed, /service\.stopped/);
  await works(accounts);
  assert.equal(nodes.doubleLogins, 0);
});

test('cluster: a node that stops gives its sessions to the others first', async () => {
  const accounts = await paired(2);
  const second = await nodes.another('third').start();
  nodes.first.signal('SIGTERM');
  await nodes.ownedBy('third', accounts);
  await works(accounts.map((account) => nodes.at(second, account)));
  assert.equal(await nodes.first.endsWithin(2 * patience), 0, nodes.first.printed);
  assert.equal(nodes.doubleLogins, 0);
  await nodes.first.start();
  await second.end('SIGTERM');
  await works(accounts);
});

test('cluster: a paused node sends nothing when it continues, and rejoins', async () => {
  const accounts = await paired(2);
  await works(accounts);
  const second = await nodes.another('fourth').start();
  nodes.first.signal('SIGSTOP');
  await nodes.ownedBy('fourth', accounts);
  const heirs = accounts.map((account) => nodes.at(second, account));
  await works(heirs);
  const before = accounts.map((account) => nodes.scene.logins(account));
  nodes.first.signal('SIGCONT');
  await until(() => nodes.first.printed.includes('node.lost'), 'it knows that it is no node');
  await wait(3_000);
  assert.deepEqual(
    accounts.map((account) => nodes.scene.logins(account)),
    before,
    'nobody was thrown out',
  );
  // Ten seconds after it came back it gets sessions again.
  const owners = await nodes.owners(accounts);
  await works(accounts.map((account, at) => nodes.at(owners[at] === 'fourth' ? second : nodes.first, account)));
  assert.doesNotMatch(nodes.first.printed + second.printed, /unhandledRejection|rashed|surprised/);
  await second.end('SIGTERM');
  await works(accounts);
});
