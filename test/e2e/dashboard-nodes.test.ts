/** Tests the dashboard of several nodes in a real browser: the nodes, the sessions of all nodes, and a session on another node than that of the page. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { objectionsTo } from '#test/support/access.ts';
import { Dashboard, inBrowser, withoutBrowser } from '#test/support/dashboard.ts';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { until } from '#test/support/until.ts';

const left = withoutBrowser !== '' || withNats.skip !== undefined;
let nats: NatsServer;
let nodes: Nodes;
let dashboard: Dashboard;
let account: Account;
/** The owner of the session, and the other node, which serves the page. */
let owner = '';
let other = '';
const locate = async (): Promise<void> => {
  [owner = ''] = await nodes.settled([account]);
  other = owner === 'first' ? 'second' : 'first';
};

before(async () => {
  if (left) return;
  nats = await NatsServer.open();
  nodes = await Nodes.open({ NATS_URL: nats.url });
  const second = await nodes.another('second').start();
  account = await nodes.scene.paired();
  await locate();
  dashboard = await Dashboard.signedIn((other === 'first' ? nodes.first : second).address);
});
after(async () => {
  await dashboard?.close();
  await nodes?.close();
  await nats?.stop();
});

const amongNodes = (name: string, run: () => Promise<void>): void =>
  inBrowser(`${name}${withNats.skip === undefined ? '' : ' (left out: this machine has no nats-server)'}`, async () => {
    if (withNats.skip === undefined) await run();
  });

amongNodes('the list shows a session of another node with its state and its node', async () => {
  const { page } = dashboard;
  const row = page.locator('.grid .row:visible').filter({ hasText: owner });
  await row.filter({ hasText: 'connected' }).waitFor();
  // A node that answers late counts as silent until the next load.
  await page.locator('.silent-nodes').waitFor({ state: 'detached' });
});

amongNodes('the list can show the sessions of one node', async () => {
  const { page } = dashboard;
  const more: Account[] = [];
  // The ids of the sessions are random: of a few, all may belong to one node.
  while (more.length < 20 && new Set(await nodes.settled([account, ...more])).size < 2) more.push(await nodes.scene.paired());
  const owners = await nodes.settled([account, ...more]);
  await page.reload();
  const filter = page.getByLabel('Show one node only');
  const shown = page.locator('.grid .row:visible');
  for (const name of new Set(owners)) {
    await filter.selectOption(name);
    const count = owners.filter((one) => one === name).length;
    await page.getByText(`${count} of ${owners.length} sessions`).waitFor();
    // The rows are drawn with the next frame.
    await until(
      async () => (await shown.count()) === count && (await shown.filter({ hasText: name }).count()) === count,
      `the list shows the sessions of ${name} alone`,
    );
  }
  assert.deepEqual(await objectionsTo(dashboard, 'list of one node'), []);
  await page.getByRole('button', { name: 'Show all' }).click();
  for (const one of more) assert.equal((await one.call('DELETE', '/instance', {})).status, 200);
  await filter.waitFor({ state: 'detached' });
});

amongNodes('the page of a session says on which node it is and why, and shows its steps and its events', async () => {
  const { page } = dashboard;
  const { id } = await account.seen();
  await locate();
  await dashboard.goto(`/admin/sessions/${id}`);
  await page.locator('.chart .state.lit[data-state="connected"]').waitFor();
  const figures = String(await page.locator('.why .figures').textContent());
  assert.match(figures, new RegExp(`Node\\s*${owner}`));
  assert.match(figures, /Taken over\s*(without an owner|for a request|moved to balance)/);
  await nodes.scene.platform.sandbox.fault({ kind: 'streamError', code: 503, number: account.number });
  await page.locator('.log li').filter({ hasText: 'closed' }).first().waitFor();
  await page.locator('.chart .state.lit[data-state="connected"]').waitFor();
  assert.equal((await objectionsTo(dashboard, 'session')).join('\n'), '');
});

amongNodes('on a narrow screen a node is drained without scrolling the table of nodes', async () => {
  const { page } = dashboard;
  const size = page.viewportSize();
  await page.getByRole('link', { name: 'Nodes' }).click();
  const button = page.getByRole('button', { name: `Drain ${owner}` });
  await button.waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  let box: Awaited<ReturnType<typeof button.boundingBox>> = null;
  await until(
    async () => {
      box = await button.boundingBox();
      return box !== null && box.x >= 0 && box.x + box.width <= 390;
    },
    () => `the button is in the window; it is at ${JSON.stringify(box)}`,
  );
  if (size !== null) await page.setViewportSize(size);
  await page.goBack();
});

amongNodes('a node that does not reach NATS is shown as such, and again as connected when NATS is back', async () => {
  const { page } = dashboard;
  await page.getByRole('link', { name: 'Nodes' }).click();
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
  await row('first').waitFor();
  const away = page.getByText('NATS is away');
  await away.first().waitFor({ state: 'detached' });
  await nats.stop();
  await row('first').filter({ hasText: 'NATS is away' }).waitFor();
  await row('second').filter({ hasText: 'NATS is away' }).waitFor();
  await nats.start();
  await away.first().waitFor({ state: 'detached' });
  await page.goBack();
});

amongNodes('the page of a node has its sessions and no others', async () => {
  const { page } = dashboard;
  await locate();
  const { id } = await account.seen();
  await page.getByRole('link', { name: 'Nodes' }).click();
  await page.getByRole('link', { name: owner, exact: true }).click();
  await page.getByRole('heading', { name: `Node ${owner}` }).waitFor();
  const link = page.locator(`td a[href="/admin/sessions/${id}"], th a[href="/admin/sessions/${id}"]`);
  await link.waitFor();
  await page.getByText('Sessions on this node: 1').waitFor();
  assert.deepEqual(await objectionsTo(dashboard, 'node'), []);
  await dashboard.goto(`/admin/cluster/${other}`);
  await page.getByText('No session is on this node.').waitFor();
  assert.equal(await link.count(), 0);
  await dashboard.goto('/admin/cluster/nobody');
  await page.getByText('No node has the name nobody.').waitFor();
  await dashboard.goto('/admin');
});

amongNodes('the pages of proxies and versions show the sessions and nodes of all nodes', async () => {
  const { page } = dashboard;
  const { id } = await account.seen();
  await dashboard.goto('/admin/proxies-of-sessions');
  await page
    .getByRole('row')
    .filter({ has: page.locator(`a[href="/admin/sessions/${id}"]`) })
    .filter({ hasText: 'connected' })
    .waitFor();
  await dashboard.goto('/admin/about');
  await page.getByRole('rowheader', { name: 'first' }).waitFor();
  await page.getByRole('rowheader', { name: 'second' }).waitFor();
  await dashboard.goto('/admin');
});

amongNodes('the nodes are listed with what they have, and one is drained by its button with its progress', async () => {
  const { page } = dashboard;
  await page.getByRole('link', { name: 'Nodes' }).click();
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
  await row('first').filter({ hasText: 'live' }).waitFor();
  await row('second').filter({ hasText: 'live' }).waitFor();
  assert.equal((await objectionsTo(dashboard, 'nodes')).join('\n'), '');
  await locate();
  await page.getByRole('button', { name: `Drain ${owner}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
  await row(owner).filter({ hasText: 'draining' }).filter({ hasText: '0 of' }).waitFor();
  // A node that is slow to accept the session takes it as one without an owner.
  await row(other)
    .filter({ hasText: /from a node that drained|without an owner/ })
    .waitFor();
  await until(async () => (await nodes.owners([account])).join() === other, 'the other node owns the session');
  await page.getByText(`${owner} has no sessions any more. It can be stopped.`).waitFor();
  const progress = page.getByRole('progressbar', { name: `Drain of ${owner}` });
  assert.deepEqual([await progress.getAttribute('value'), await progress.getAttribute('max')], ['1', '1']);
  assert.equal((await objectionsTo(dashboard, 'draining nodes')).join('\n'), '');
  // A reloaded page still shows the progress of the drain.
  await page.reload();
  await progress.waitFor();
  assert.deepEqual([await progress.getAttribute('value'), await progress.getAttribute('max')], ['1', '1']);
  assert.equal(await page.getByRole('button', { name: `Drain ${owner}` }).count(), 0);
});

amongNodes('nothing of these pages is refused by their policy or throws', async () => {
  assert.deepEqual(dashboard.complaints, []);
});
