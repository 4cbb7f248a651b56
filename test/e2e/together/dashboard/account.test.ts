/** Tests the dialog when a phone with another account scans the code of a session, in a real browser. It names the conflict, and restarts on request. */
import assert from 'node:assert/strict';
import { inBrowser } from '#test/support/dashboard.ts';
import { button, dashboardStage, type DashboardStage, lit } from '#test/support/dashboard-stage.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const stage = dashboardStage();

/** Scans the code of the dialog with the phone of another account. */
const scanWithAnother = async ({ scene, account, dashboard: { page } }: DashboardStage): Promise<string> => {
  const number = account.number.replace('5511', '5521');
  const qrcode = String(await page.locator('dialog').getByRole('img', { name: 'QR code' }).getAttribute('src'));
  await scene.platform.scan({ qrcode, number, name: 'Bia' });
  return number;
};

const chatsOf = async ({ account }: DashboardStage): Promise<number> => {
  const { body } = await account.call('POST', '/chat/find', {});
  return (body['chats'] as readonly unknown[]).length;
};

inBrowser('the phone of another account is refused, and the dialog shows the reason and the possible actions', async () => {
  const on = await stage();
  await lit(on, 'connected').waitFor();
  const sent = await on.account.call('POST', '/send/text', { number: contact, text: 'of the account before' });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await on.scene.platform.sandbox.logout(on.account.number);
  await lit(on, 'disconnected.loggedOut').waitFor();
  await button(on, 'Link a phone').click();
  await assert.rejects(scanWithAnother(on), /the client refused to be linked/);
  await on.dashboard.page.getByRole('dialog').getByText('That phone has another account than this session had.').waitFor();
  assert.equal((await on.account.seen()).owner, on.account.number);
  assert.equal(await chatsOf(on), 1);
});

inBrowser('the button of the dialog links the other account, and deletes all data of the former one', async () => {
  const on = await stage();
  await button(on, 'Begin with another account').click();
  const other = await scanWithAnother(on);
  await lit(on, 'connected').waitFor();
  await on.dashboard.page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await on.account.seen()).owner, other);
  await until(async () => (await chatsOf(on)) === 0, 'the chats of the account before are gone');
  assert.deepEqual(on.dashboard.complaints, []);
});
