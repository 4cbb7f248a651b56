/** Tests the page for imports of the dashboard in a real browser: a dry run of a file, its import, and the result of each session. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { objectionsTo } from '#test/support/access.ts';
import { Dashboard, inBrowser, withoutBrowser } from '#test/support/dashboard.ts';
import { Scene } from '#test/support/scene.ts';
import { writeMadeSession } from '#test/support/made-sessions.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';

const folder = temporaryFolder();
let scene: Scene;
let dashboard: Dashboard;
const left = withoutBrowser !== '';

before(async () => {
  if (left) return;
  scene = await Scene.open();
  await writeMadeSession(join(folder, 'sessions', 'shop'), { number: '5511911110001', preKeys: 20 });
  await writeMadeSession(join(folder, 'sessions', 'torn'), { number: '5511911110002', preKeys: 2 });
  await writeFile(join(folder, 'sessions', 'torn', 'creds.json'), '{');
  execFileSync('tar', ['-C', folder, '-czf', join(folder, 'sessions.tar.gz'), 'sessions']);
  dashboard = await Dashboard.signedIn(scene.gateway.address);
});
after(async () => {
  await dashboard?.close();
  await scene?.close();
  await removeFolder(folder);
});

inBrowser('an uploaded file gets a dry run before its import, and the page shows the result of each session', async () => {
  const { page } = dashboard;
  await dashboard.goto('/admin/start');
  await page.getByRole('link', { name: /Import its sessions without a QR code/ }).click();
  await page.getByRole('heading', { name: 'Import sessions' }).waitFor();
  await page.getByLabel('File').setInputFiles(join(folder, 'sessions.tar.gz'));
  await page.getByRole('button', { name: 'Try' }).click();
  const rows = page.locator('tbody tr');
  await rows.filter({ hasText: 'shop' }).filter({ hasText: 'can be imported' }).waitFor();
  await rows.filter({ hasText: 'torn' }).filter({ hasText: 'creds.json cannot be read' }).waitFor();
  assert.deepEqual((await scene.gateway.call('GET', '/instance/all')).body, []);
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  const shop = rows.filter({ hasText: 'shop' }).filter({ hasText: 'imported' });
  await shop.filter({ hasText: 'stop it there before you connect it here' }).waitFor();
  assert.deepEqual(await objectionsTo(dashboard, 'moving'), []);
  await shop.getByRole('link', { name: 'shop' }).click();
  await page.getByRole('heading', { name: 'shop' }).first().waitFor();
});
