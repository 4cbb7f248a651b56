/** Tests a session that was removed on its phone, in a real browser. Its page shows the reason, and links the session again. */
import assert from 'node:assert/strict';
import { inBrowser } from '#test/support/dashboard.ts';
import { button, dashboardStage, type DashboardStage, lit } from '#test/support/dashboard-stage.ts';

const stage = dashboardStage();

/** The phone scans what the page shows. */
const scanFrom = async ({ scene, account, dashboard: { page } }: DashboardStage, place: string): Promise<void> => {
  const qrcode = String(await page.locator(place).getByRole('img', { name: 'QR code' }).getAttribute('src'));
  await scene.platform.scan({ qrcode, number: account.number, name: 'Ana' });
};

const loggedOut = async (on: DashboardStage): Promise<void> => {
  await lit(on, 'connected').waitFor();
  await on.scene.platform.sandbox.logout(on.account.number);
  await lit(on, 'disconnected.loggedOut').waitFor();
};

inBrowser('a session that its phone removed says what happened, and below it the last step', async () => {
  const on = await stage();
  await loggedOut(on);
  const { page } = on.dashboard;
  assert.match(String(await page.locator('.why .reason').textContent()), /^The platform closed the connection \(401: .*credentials/);
  assert.equal(await page.locator('.why .because .note').textContent(), 'Last step: The credentials are deleted or set aside.');
});

inBrowser('its head links it again, as one that was never linked', async () => {
  const on = await stage();
  assert.equal(await button(on, 'Connect').count(), 0);
  await button(on, 'Link a phone').click();
  await scanFrom(on, 'dialog');
  await lit(on, 'connected').waitFor();
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
  await lit(on, 'connected').waitFor();
  await page.locator('.link-panel').waitFor({ state: 'detached' });
});

inBrowser('a session that was logged out by its button is linked anew, and not connected without credentials', async () => {
  const on = await stage();
  await button(on, 'Disconnect').click();
  await on.dashboard.page.getByRole('dialog').getByRole('button', { name: 'Disconnect', exact: true }).click();
  await lit(on, 'disconnected.idle').waitFor();
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
