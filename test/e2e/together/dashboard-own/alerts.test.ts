/** Tests the page of alerts in a real browser: settings, secrets that are never shown, tests of channels, and problems that need a person. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { objectionsTo } from '#test/support/access.ts';
import { type MailServerStandIn, mailLogin, openMailServer, openPosts, type PostsStandIn } from '#test/support/alert-channels.ts';
import { Dashboard, inBrowser, withoutBrowser } from '#test/support/dashboard.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { until } from '#test/support/until.ts';

const gateway = new GatewayProcess({ env: { DISK_FREE_PERCENT: '99' } });
let dashboard: Dashboard;
let mail: MailServerStandIn;
let posts: PostsStandIn;

before(async () => {
  if (withoutBrowser !== '') return;
  [mail, posts] = [await openMailServer(), await openPosts()];
  await gateway.start();
  dashboard = await Dashboard.signedIn(gateway.address);
});
after(async () => {
  await dashboard?.close();
  await gateway.close();
  await mail?.close();
  await posts?.close();
});

const part = (name: string) => dashboard.page.getByRole('group', { name, exact: true });
const button = (name: string) => dashboard.page.getByRole('button', { name, exact: true });
/** Saves the form, and waits until the page has rendered it again. Earlier input would be lost. */
const save = async (): Promise<void> => {
  const { page } = dashboard;
  await page.evaluate(`document.querySelector('.alert-form').id = 'before'`);
  // The page shows the notice for four seconds, and renders the form again after one more response.
  await Promise.all([page.getByText('The alerts are saved.').last().waitFor(), button('Save').click()]);
  await page.locator('.alert-form:not(#before)').waitFor();
};
/** Returns the time in São Paulo after the given number of hours, such as `22:30`. */
const clockThere = (hours: number): string =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'America/Sao_Paulo' }).format(
    Date.now() + hours * 3_600_000,
  );
/** Returns the minutes since midnight. */
const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

const stored = async () =>
  (await gateway.call('GET', '/admin/alerts')).body as unknown as {
    readonly settings: Record<string, unknown>;
    readonly secrets: readonly string[];
  };

inBrowser('an administrator sets up mail alerts, and a test mail arrives', async () => {
  const { page } = dashboard;
  await page.getByRole('link', { name: 'Alerts' }).click();
  await page.getByRole('heading', { name: 'Alerts' }).waitFor();
  await page.getByText('No channel is switched on').waitFor();
  assert.deepEqual(await objectionsTo(dashboard, 'alerts'), []);
  await button('Send a test: E-mail').click();
  await page.getByText('alerts are not set up: save them first').waitFor();
  const email = part('E-mail');
  await email.getByLabel('Switched on').check();
  await email.getByLabel('Mail server').fill('127.0.0.1');
  await email.getByLabel('Port').fill(String(mail.port));
  await email.getByLabel('Encryption').selectOption('none');
  await email.getByLabel('User').fill(mailLogin.user);
  await email.getByLabel('Password').fill(mailLogin.password);
  await email.getByLabel('Sender').fill('gateway@test.example');
  await email.getByLabel('Recipients').fill('ana@test.example, bea@test.example');
  // Quiet hours keep the regular check from mailing the problem of the disk now. A later test expects the problem in Slack, and the gateway does not
  // report a known problem again for hours.
  const [from, to] = [clockThere(-1), clockThere(11)];
  await page.getByLabel('From').fill(from);
  await page.getByLabel('To', { exact: true }).fill(to);
  await page.getByLabel('Time zone of the quiet hours').fill('America/Sao_Paulo');
  await save();
  await button('Send a test: E-mail').click();
  await page.getByText('The test was sent: E-mail.').waitFor();
  assert.deepEqual(mail.mails[0]?.to, ['ana@test.example', 'bea@test.example']);
  const { settings, secrets } = await stored();
  const quiet = { from: minutesOf(from), to: minutesOf(to) };
  assert.deepEqual([settings['quiet'], settings['timeZone'], secrets], [quiet, 'America/Sao_Paulo', ['emailPassword']]);
});

inBrowser('the mail password is never shown, is kept if the field stays empty, and is removed on request', async () => {
  const { page } = dashboard;
  await dashboard.goto('/admin/alerting');
  const email = part('E-mail');
  await email.getByText('A value is stored, and is never shown.').waitFor();
  assert.equal(await email.getByLabel('Password', { exact: true }).inputValue(), '');
  assert.ok(!(await page.content()).includes(mailLogin.password));
  await page.getByLabel('Hours until a problem is reported again').fill('5');
  await save();
  assert.deepEqual([(await stored()).settings['repeatHours'], (await stored()).secrets], [5, ['emailPassword']]);
  await email.getByLabel('Mail server').fill('mail.other.example');
  await button('Save').click();
  await page.getByText('“Password” is needed again for another mail server').waitFor();
  assert.equal(await email.getByLabel('Mail server').inputValue(), 'mail.other.example', 'what was written stays');
  await email.getByLabel('Remove: Password').check();
  await save();
  assert.deepEqual((await stored()).secrets, []);
});

inBrowser('the page shows the reason of a refused test message, and the success of a delivered one', async () => {
  const { page } = dashboard;
  await part('Slack').getByLabel('Switched on').check();
  await button('Save').click();
  await page.getByText('slack: the address of the incoming webhook is missing').waitFor();
  await part('Slack').getByLabel('Switched on').uncheck();
  await part('Slack').getByLabel('Address of the incoming webhook').fill(`${posts.address}/slack`);
  await part('Webhook').getByLabel('Address').fill('ftp://nowhere');
  await button('Save').click();
  await page.getByText('“Address”: url must start with http:// or https://').waitFor();
  await part('Webhook').getByLabel('Address').fill('');
  await save();
  posts.status = 403;
  await button('Send a test: Slack').click();
  await page.getByText('webhook returned non-success status: 403 Forbidden').waitFor();
  posts.status = 200;
  await button('Send a test: Slack').click();
  await page.getByText('The test was sent: Slack.').waitFor();
  assert.equal(posts.posts.length, 2);
});

inBrowser('the page of alerts shows a problem, and the last message of each channel', async () => {
  const { page } = dashboard;
  await part('E-mail').getByLabel('Switched on').uncheck();
  await part('Slack').getByLabel('Switched on').check();
  for (const label of ['From', 'To']) await page.getByLabel(label, { exact: true }).fill('');
  await save();
  // The gateway checks for problems once a minute, and a running check does not use the new settings.
  await until(() => posts.posts.length === 3, 'the alert about the disk', 150_000);
  await dashboard.goto('/admin/alerting');
  const row = page.getByRole('row').filter({ hasText: 'Disk' });
  await row
    .filter({ hasText: 'the disk of the data folder is nearly full' })
    .filter({ hasText: /sent [A-Z]/ })
    .waitFor();
  await part('Slack')
    .getByText(/Last message .*: sent/)
    .waitFor();
  assert.deepEqual(await objectionsTo(dashboard, 'alerts with a trouble'), []);
  assert.deepEqual(dashboard.complaints, []);
});
