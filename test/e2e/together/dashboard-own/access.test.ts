/** Checks every view of the dashboard in every window with axe-core: contrast, names, roles, order. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { objectionsTo } from '#test/support/access.ts';
import { Dashboard, inBrowser, withoutBrowser } from '#test/support/dashboard.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { walk } from '#test/web/walk.ts';

let gateway: GatewayProcess;
let dashboard: Dashboard;

before(async () => {
  if (withoutBrowser !== '') return;
  gateway = await new GatewayProcess({}).start();
  dashboard = await Dashboard.open(gateway.address);
});
after(async () => {
  await dashboard?.close();
  await gateway?.close();
});

inBrowser('no view violates a rule of accessibility, and no view is wider than the window', async () => {
  const found: string[] = [];
  const at = async (name: string): Promise<void> => void found.push(...(await objectionsTo(dashboard, name)));
  await walk({ dashboard, gateway, at });
  assert.equal(found.join('\n'), '');
  assert.deepEqual(dashboard.complaints, []);
});
