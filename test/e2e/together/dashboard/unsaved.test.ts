/** Tests partly filled forms and unanswered requests in a real browser. The page asks before Back, a link or a reload loses the input. */
import assert from 'node:assert/strict';
import { inBrowser } from '#test/support/dashboard.ts';
import { until } from '#test/support/until.ts';
import { button, type DashboardStage, dashboardStage } from '#test/support/dashboard-stage.ts';

const stage = dashboardStage();

/** Opens the list, follows links to the settings of the session, and types a name. Returns the field. */
const begin = async ({ dashboard, id }: DashboardStage) => {
  const { page } = dashboard;
  await dashboard.goto(`/admin/sessions/${id}`);
  await page.getByRole('link', { name: 'Settings' }).click();
  const field = page.getByLabel('Name', { exact: true });
  await field.fill('half a na');
  return field;
};

inBrowser('Back asks before it leaves a changed form, and the answer decides', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const settings = `/admin/sessions/${on.id}/settings`;
  const field = await begin(on);
  const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
  await page.goBack();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.waitForURL(`**${settings}`);
  assert.equal(await field.inputValue(), 'half a na');
  await page.goBack();
  await dialog.getByRole('button', { name: 'Leave' }).click();
  await page.locator('.chart').first().waitFor();
  await page.waitForURL(`**/admin/sessions/${on.id}`);
  await page.goForward();
  await field.waitFor();
  assert.notEqual(await field.inputValue(), 'half a na');
  await page.waitForURL(`**${settings}`);
});

/** A script for the page. It confirms each question as soon as it is shown, and counts the questions. */
const answerAtOnce = `new MutationObserver(() => {
  const leave = document.querySelector('dialog .button.danger');
  if (leave === null || leave.isAnswered) return;
  leave.isAnswered = true;
  window.questions = (window.questions ?? 0) + 1;
  leave.click();
}).observe(document.body, { subtree: true, childList: true })`;

inBrowser('Back asks once, however fast the answer comes', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await begin(on);
  await page.evaluate(answerAtOnce);
  await page.goBack();
  await page.locator('.chart').first().waitFor();
  assert.equal(await page.evaluate('window.questions'), 1);
  assert.deepEqual(on.dashboard.complaints, []);
});

inBrowser('a link and a reload ask too, and a saved form asks nothing', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const field = await begin(on);
  await page.getByRole('link', { name: 'Console' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await field.inputValue(), 'half a na');
  const asked = page.waitForEvent('dialog');
  void page.reload().catch(() => undefined);
  const question = await asked;
  assert.equal(question.type(), 'beforeunload');
  await question.dismiss();
  assert.equal(await field.inputValue(), 'half a na');
  await field.fill('a whole name');
  await page.locator('form', { has: field }).getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  await page.getByRole('link', { name: 'Console' }).click();
  await page.getByLabel('Number').waitFor();
  await page.goBack();
  await page.getByLabel('Name', { exact: true }).waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.deepEqual(on.dashboard.complaints, []);
});

inBrowser('a dialog with a partly filled form asks before Back closes it', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(`/admin/sessions/${on.id}`);
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await button(on, 'New webhook').first().click();
  await page.getByLabel('Address of the receiver').fill('https://example.com/ho');
  await page.goBack();
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await page.getByLabel('Address of the receiver').inputValue(), 'https://example.com/ho');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.goBack();
  await page.locator('.chart').first().waitFor();
});

/** Opens the dialog for a new webhook. The caller gives the labels in the language of the page. */
const openWebhook = async (on: DashboardStage, [create, address]: readonly [create: string, address: string]) => {
  const { page } = on.dashboard;
  await on.dashboard.goto(`/admin/sessions/${on.id}/webhooks`);
  await button(on, create).first().click();
  const field = page.getByLabel(address);
  await field.waitFor();
  return field;
};

for (const [language, names, words] of [
  ['en', ['New webhook', 'Address of the receiver'], ['Leave without saving?', 'Cancel', 'Leave']],
  ['pt', ['Novo webhook', 'Endereço do receptor'], ['Sair sem salvar?', 'Cancelar', 'Sair da página']],
] as const)
  inBrowser(`Escape and a press outside of a partly filled form ask once before they close it (${language})`, async () => {
    const on = await stage();
    const { page } = on.dashboard;
    await page.evaluate(`localStorage.setItem('language', '${language}')`);
    const [title, no, yes] = words;
    const question = page.getByRole('dialog', { name: title });
    const leavings = [() => page.keyboard.press('Escape'), () => page.mouse.click(5, 5)];
    for (const leave of leavings) {
      const field = await openWebhook(on, names);
      // An untouched form is closed without a question.
      await leave();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await button(on, names[0]).first().click();
      await field.fill('https://example.com/ho');
      await leave();
      await question.getByRole('button', { name: no, exact: true }).click();
      await question.waitFor({ state: 'detached' });
      assert.equal(await field.inputValue(), 'https://example.com/ho');
      // Escape answers the question with no. The third Escape asks again, although nothing else was pressed.
      for (const questions of [1, 0, 1]) {
        await page.keyboard.press('Escape');
        await until(async () => (await question.count()) === questions, `${questions} questions`);
      }
      assert.equal(await field.inputValue(), 'https://example.com/ho');
      await question.getByRole('button', { name: yes, exact: true }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.evaluate(`localStorage.removeItem('language')`);
    assert.deepEqual(on.dashboard.complaints, []);
  });

inBrowser('a changed form stays when the sign-in ends, and is saved when the same person has signed in again', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const field = await begin(on);
  await page.context().clearCookies();
  const box = page.getByRole('dialog', { name: 'Sign in' });
  await box.waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await on.dashboard.signIn();
  await box.waitFor({ state: 'detached' });
  assert.equal(await field.inputValue(), 'half a na');
  await page.context().clearCookies();
  await page.locator('form', { has: field }).getByRole('button', { name: 'Save' }).click();
  await on.dashboard.signIn();
  await page.getByText('Saved.').waitFor();
  assert.deepEqual(on.dashboard.complaints, []);
});

/** A script for the page. It shortens the time-out of requests to about a second. */
const impatient = `AbortSignal.timeout = ((own) => (ms) => own.call(AbortSignal, ms / 20))(AbortSignal.timeout)`;

for (const [request, silent] of [
  ['the state of the session', '**/admin/actors/r*'],
  ['the settings', '**/instance/status'],
] as const)
  inBrowser(`a page whose request for ${request} is never answered asks again`, async () => {
    const { dashboard, id } = await stage();
    const { page } = dashboard;
    let asked = 0;
    // A route without an answer keeps the request open.
    await page.route(silent, () => void (asked += 1), { times: 1 });
    await page.addInitScript(impatient);
    await dashboard.goto(`/admin/sessions/${id}/settings`);
    await page.getByLabel('Name', { exact: true }).waitFor();
    assert.equal(asked, 1);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
