/** Tests a session that was removed on its phone, in a real browser. Its page shows the reason, and links the session again. */
import assert from 'node:assert/strict';
import { inBrowser } from '#test/support/dashboard.ts';
import { button, dashboardStage, type DashboardStage, lit } from '#test/support/dashboard-stage.ts';

const stage = dashboardStage();

/** Scans the code of the page with the phone. */
const scanFrom = async ({ scene, account, dashboard: { page } }: DashboardStage, place: string): Promise<void> => {
  const qrcode = String(await page.locator(place).getByRole('img', { name: 'QR code' }).getAttribute('src'));
  await scene.platform.scan({ qrcode, number: account.number, name: 'Ana' });
};

const loggedOut = async (on: DashboardStage): Promise<void> => {
  await lit(on, 'connected').waitFor();
  await on.scene.platform.sandbox.logout(on.account.number);
  await lit(on, 'disconnected.loggedOut').waitFor();
};

inBrowser('a session that its phone removed shows the reason, and the last step below it', async () => {
  const on = await stage();
  await loggedOut(on);
  const { page } = on.dashboard;
  assert.match(String(await page.locator('.why .reason').textContent()), /^The platform closed the connection \(401: .*credentials/);
  assert.equal(await page.locator('.why .because .note').textContent(), 'Last step: The credentials are deleted or set aside.');
});

inBrowser('a button at the head of the page links a removed session again, like a new one', async () => {
  const on = await stage();
  assert.equal(await button(on, 'Connect').count(), 0);
  await button(on, 'Link a phone').click();
  await scanFrom(on, 'dialog');
  await lit(on, 'connected').waitFor();
  await on.dashboard.page.getByRole('dialog').waitFor({ state: 'detached' });
  await button(on, 'Reconnect').waitFor();
});

inBrowser('when another client connects the session, the page shows the code until a phone has scanned it', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await loggedOut(on);
  await on.account.connect();
  await scanFrom(on, '.link-panel');
  await on.account.reaches('connected');
  await lit(on, 'connected').waitFor();
  await page.locator('.link-panel').waitFor({ state: 'detached' });
});

inBrowser('a session that was logged out by its button offers to link a phone, and offers no other connection', async () => {
  const on = await stage();
  await button(on, 'Disconnect').click();
  await on.dashboard.page.getByRole('dialog').getByRole('button', { name: 'Disconnect', exact: true }).click();
  await lit(on, 'disconnected.idle').waitFor();
  await button(on, 'Link a phone').waitFor();
  assert.equal(await button(on, 'Connect').count(), 0);
  assert.equal(await button(on, 'Disconnect').count(), 0);
});

inBrowser('the list shows that a session waits for a phone, and its menu offers to link it', async () => {
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
