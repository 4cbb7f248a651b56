/** Every view of the dashboard in every window, looked at by axe-core: contrast, names, roles, order. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before } from 'node:test';
import { Dashboard, desk, inBrowser, windows, withoutBrowser } from '#test/support/dashboard.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { walk } from '#test/web/walk.ts';

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

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

const violations = async (): Promise<readonly Violation[]> => {
  const { page } = dashboard;
  await page.evaluate(`window.axe === undefined ? (() => { ${axe} })() : undefined`);
  return page.evaluate<readonly Violation[]>('axe.run(document).then(({ violations }) => violations)');
};

const sentence = (where: string, { id, help, nodes }: Violation): string =>
  `${where}: ${id}, ${help}\n${nodes.map(({ html, failureSummary }) => `    ${html.slice(0, 200)}\n    ${failureSummary}`).join('\n')}`;

inBrowser('no view has a violation of the rules of accessibility, and none is wider than the window', async () => {
  const found: string[] = [];
  const at = async (name: string): Promise<void> => {
    for (const [suffix, window] of Object.entries(windows)) {
      await dashboard.view(window);
      for (const violation of await violations()) found.push(sentence(`${name} ${suffix}`, violation));
      const wider = await dashboard.page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      if (wider) found.push(`${name} ${suffix}: the page is wider than the window`);
    }
    await dashboard.view(desk);
  };
  await walk({ dashboard, gateway, at });
  assert.equal(found.join('\n'), '');
  assert.deepEqual(dashboard.complaints, []);
});
