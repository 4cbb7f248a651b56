/** A session whose phone removed it, in a real browser: its page says why, and links it again. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { Dashboard, inBrowser } from '#test/support/dashboard.ts';
import { Scene } from '#test/support/scene.ts';

interface Stage {
  readonly scene: Scene;
  readonly account: Account;
  readonly id: string;
  readonly dashboard: Dashboard;
}

/** Opened by the first test, so that nothing starts where there is no browser. */
let opened: Promise<Stage> | undefined;
const open = async (): Promise<Stage> => {
  const scene = await Scene.open();
  const account = await scene.paired();
  const { id } = await account.seen();
  const dashboard = await Dashboard.open(scene.gateway.address);
  await dashboard.goto(`/admin/sessions/${id}`);
  await dashboard.signIn();
  return { scene, account, id, dashboard };
};
const stage = (): Promise<Stage> => (opened ??= open());
after(async () => {
  const { scene, dashboard } = (await opened?.catch(() => undefined)) ?? {};
  await dashboard?.close();
  await scene?.close();
});

const lit = ({ dashboard: { page } }: Stage, state: string) => page.locator(`.chart .state.lit[data-state="${state}"]`).waitFor();
const button = ({ dashboard: { page } }: Stage, name: string) => page.getByRole('button', { name, exact: true });

/** The phone scans what the page shows. */
const scanFrom = async ({ scene, account, dashboard: { page } }: Stage, place: string): Promise<void> => {
  const qrcode = String(await page.locator(place).getByRole('img', { name: 'QR code' }).getAttribute('src'));
  await scene.platform.scan({ qrcode, number: account.number, name: 'Ana' });
};

const loggedOut = async (on: Stage): Promise<void> => {
  await lit(on, 'connected');
  await on.scene.platform.sandbox.logout(on.account.number);
  await lit(on, 'disconnected.loggedOut');
};

inBrowser('a session that its phone removed says what happened, and below it the last step', async () => {
  const on = await stage();
  await loggedOut(on);
  const { page } = on.dashboard;
  assert.match(String(await page.locator('.why .reason').textContent()), /^The platform closed the connection \(401: .*credentials/);
  assert.equal(await page.locator('.why .because .note').textContent(), 'Last step: The credentials are gone.');
});

inBrowser('its head links it again, as one that was never linked', async () => {
  const on = await stage();
  assert.equal(await button(on, 'Connect').count(), 0);
  await button(on, 'Link a phone').click();
  await scanFrom(on, 'dialog');
  await lit(on, 'connected');
  await on.dashboard.page.getByRole('dialog').waitFor({ state: 'detached' });
  await button(on, 'Reconnect').waitFor();
});

inBrowser('when somebody else asks for its connection, the page shows the code by itself until a phone scanned it', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await loggedOut(on);
  await on.account.connect();
  await scanFrom(on, '.link-panel');
  await on.account.reaches('connected');
  await lit(on, 'connected');
  await page.locator('.link-panel').waitFor({ state: 'detached' });
});

inBrowser('a session that was logged out by its button is linked anew, and not connected without credentials', async () => {
  const on = await stage();
  await button(on, 'Disconnect').click();
  await on.dashboard.page.getByRole('dialog').getByRole('button', { name: 'Disconnect', exact: true }).click();
  await lit(on, 'disconnected.idle');
  await button(on, 'Link a phone').waitFor();
  assert.equal(await button(on, 'Connect').count(), 0);
  assert.equal(await button(on, 'Disconnect').count(), 0);
});

inBrowser('the list says what a session that waits for a phone needs, and its menu offers it', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.account.connect();
  await on.dashboard.goto('/admin');
  await page.locator('.row .c-why', { hasText: 'Waits for a phone' }).waitFor();
  await page.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: 'Link a phone' }).click();
  await scanFrom(on, 'dialog');
  await page.getByText(/^Connected\./).waitFor();
  assert.deepEqual(on.dashboard.complaints, []);
});
