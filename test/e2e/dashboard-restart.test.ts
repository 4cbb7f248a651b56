/** Tests the dashboard during restarts of the gateway, in a real browser with the real gateway and the simulated platform. */
import assert from 'node:assert/strict';
import { desk, inBrowser, windows } from '#test/support/dashboard.ts';
import { objectionsTo } from '#test/support/access.ts';
import { button, dashboardStage, type DashboardStage, lit } from '#test/support/dashboard-stage.ts';
import { inEmbedded } from '#test/support/embedded-url.ts';

const stage = dashboardStage();

/** Stops the gateway in order and starts it on the same port. `meanwhile` runs while the gateway is down. */
const restart = async ({ scene: { gateway } }: DashboardStage, meanwhile = async (): Promise<void> => undefined): Promise<void> => {
  const { port } = new URL(gateway.address);
  assert.equal(await gateway.end('SIGTERM'), 0);
  await meanwhile();
  await gateway.start({ PORT: port });
};

inBrowser('the page of a session without steps takes every press', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const { id } = await (await on.scene.create()).seen();
  const { port } = new URL(on.scene.gateway.address);
  await on.scene.gateway.end();
  await on.scene.gateway.start({ PORT: port });
  // The steps of all sessions are stored every ten seconds, and this may have been between the creation and the kill.
  await inEmbedded(on.scene.gateway.dataDir, (database) =>
    database.rows({ name: '', text: 'delete from step_log where instance_id = $1' }, [id]),
  );
  await on.dashboard.goto(`/admin/sessions/${id}`);
  await page.getByText('Nothing has happened').waitFor();
  await button(on, 'Delete').click();
  await page.locator('dialog[open] .button.danger').click();
  await page.locator('.row:not([hidden])').first().waitFor();
});

inBrowser('the time line of a session that has rested since a restart has its last steps, and the session wakes', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(`/admin/sessions/${on.id}`);
  await lit(on, 'connected').waitFor();
  await button(on, 'Hibernate').click();
  await lit(on, 'hibernated.asleep').waitFor();
  await restart(on);
  await on.dashboard.goto(`/admin/sessions/${on.id}`);
  await page.locator('.log li').first().waitFor();
  const steps = await page.locator('.log li').allTextContents();
  assert.match(steps[0] ?? '', /asleep/);
  assert.ok(
    steps.some((step) => /authenticating.*connected/s.test(step)),
    steps.join('\n'),
  );
  await button(on, 'Wake').click();
  await lit(on, 'connected').waitFor();
  const later = await page.locator('.log li').allTextContents();
  assert.ok(later.length > steps.length && later.some((step) => step === steps.at(-1)), 'former steps stay');
});

/** Returns the filters that remove the colour of the elements of these classes. Runs in the page. */
const filtersOf = (classes: string): string =>
  `[...document.querySelectorAll('${classes}')].map((one) => [one, ...document.querySelectorAll(':has(*)')]
    .filter((parent) => parent === one || parent.contains(one)).map((parent) => getComputedStyle(parent).filter).find((filter) => filter !== 'none') ?? 'none')`;

for (const [view, path, classes] of [
  ['the list', () => '/admin', '.count, .row:not([hidden]) .c-state'],
  ['the page of a session', (id: string) => `/admin/sessions/${id}`, '.badge, .chart .state.lit'],
] as const)
  inBrowser(`${view} says since when the server is gone, takes the colour from what is old, and goes on after a restart`, async () => {
    const on = await stage();
    const { page } = on.dashboard;
    const banner = page.locator('.no-contact');
    await on.dashboard.goto(path(on.id));
    await page.locator(classes).first().waitFor();
    await banner.waitFor({ state: 'detached' });
    assert.ok((await page.evaluate<string[]>(filtersOf(classes))).every((filter) => filter === 'none'));
    await restart(on, async () => {
      await banner.waitFor();
      assert.match(String(await banner.textContent()), /^The server does not answer\. The page shows the state of \d\d:\d\d:\d\d, /);
      assert.ok((await page.evaluate<string[]>(filtersOf(classes))).every((filter) => filter === 'grayscale(1)'));
      assert.deepEqual(await objectionsTo(on.dashboard, view), []);
    });
    await banner.waitFor({ state: 'detached' });
    await page.locator(classes).first().waitFor();
    assert.equal(await page.getByLabel('Admin token').count(), 0, 'nobody has to sign in again');
  });

/** The sentence on a page that could not load its data. */
const noAnswer = ({ dashboard: { page } }: DashboardStage) => page.getByText('The server does not answer.', { exact: true });

inBrowser('a page that asks nothing by itself says that the server is gone, and keeps what was typed', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const banner = page.locator('.no-contact');
  await on.dashboard.goto(`/admin/sessions/${on.id}`);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByLabel('Name', { exact: true }).fill('half a na');
  const another = await page.context().newPage();
  await another.goto(`${on.dashboard.address}/admin/disk-use`);
  await another.getByRole('heading', { name: 'Parts of the database' }).waitFor();
  await restart(on, async () => {
    await another.locator('.no-contact').waitFor();
    assert.equal(await another.getByRole('heading', { name: 'Parts of the database' }).count(), 1);
    await page.bringToFront();
    await banner.waitFor();
    await page.locator('form').first().getByRole('button', { name: 'Save' }).click();
    await noAnswer(on).waitFor();
  });
  await banner.waitFor({ state: 'detached' });
  await noAnswer(on).waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'half a na');
  await another.close();
});

inBrowser('figures that could not be loaded are loaded when the server is back', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(`/admin/sessions/${on.id}`);
  await page.locator('.chart').waitFor();
  await restart(on, async () => {
    await page.getByRole('link', { name: 'Figures' }).click();
    await page.locator('.no-contact').waitFor();
    await noAnswer(on).waitFor();
  });
  await page.locator('.figure').first().waitFor();
  assert.equal(await noAnswer(on).count(), 0);
});

inBrowser('a conversation that was opened while the server was gone is loaded when it is back', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const unknown = page.locator('.composer .error', { hasText: 'it is not known whether the message was sent' });
  await on.scene.write(on.account, 'Is anybody there?');
  await on.dashboard.goto(`/admin/sessions/${on.id}/chats`);
  await page.locator('.chat-rows a').first().waitFor();
  await restart(on, async () => {
    await page.locator('.no-contact').waitFor();
    await page.locator('.chat-rows a').first().click();
    await noAnswer(on).waitFor();
    await page.getByLabel('Message', { exact: true }).fill('Yes');
    await page.getByRole('button', { name: 'Send' }).click();
    await unknown.waitFor();
  });
  await page.locator('.message').getByText('Is anybody there?').waitFor();
  assert.equal(await noAnswer(on).count(), 0);
  assert.equal(await unknown.count(), 1, 'the sentence stays with the text until it is sent or changed');
  // A text waits for its connection for five seconds only.
  await on.account.reaches('connected');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('.message').getByText('Yes', { exact: true }).waitFor();
  assert.equal(await unknown.count(), 0);
});

inBrowser('an open question closes when another view is shown', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto('/admin');
  await page.locator('.row .name').first().click();
  await button(on, 'Delete').click();
  await page.locator('dialog[open]').waitFor();
  await page.goBack();
  await page.locator('.row:not([hidden])').first().waitFor();
  assert.equal(await page.locator('dialog').count(), 0);
});

inBrowser('on a phone what needs a person is the first thing seen, and the chart of a session is folded', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto('/admin');
  await on.dashboard.view(windows['phone-dark'] ?? desk);
  await page.locator('.row:not([hidden])').first().waitFor();
  const lefts = await page.evaluate<[string, number][]>(
    `[...document.querySelectorAll('.count')].map((one) => [one.className, one.getBoundingClientRect().left])`,
  );
  assert.match(lefts.toSorted((a, b) => a[1] - b[1])[0]?.[0] ?? '', /of-person/);
  await on.dashboard.goto(`/admin/sessions/${on.id}`);
  await page.locator('.fold summary').waitFor();
  assert.equal(await page.locator('.chart').isVisible(), false);
  assert.deepEqual(await objectionsTo(on.dashboard, 'folded'), []);
  await on.dashboard.view(windows['phone-dark'] ?? desk);
  await page.locator('.fold summary').click();
  await lit(on, 'connected').waitFor();
  await on.dashboard.view(desk);
});

inBrowser(
  'after a restart the list keeps the word of a session that a person has to look after, and its page says what to do',
  async () => {
    const on = await stage();
    const { page } = on.dashboard;
    await on.scene.platform.sandbox.fault({ kind: 'streamError', code: 403, number: on.account.number });
    await on.account.reaches('disconnected');
    await on.dashboard.goto('/admin');
    const row = page.locator('.row.of-person');
    // The steps of the closing come before this word.
    const refused = row.locator('.c-state').getByText('refused', { exact: true });
    await refused.waitFor();
    await restart(on);
    await on.dashboard.goto('/admin');
    await refused.waitFor();
    await on.dashboard.goto(`/admin/sessions/${on.id}`);
    await page.locator('.why .todo', { hasText: 'Open the app on the phone: it says what to do.' }).waitFor();
  },
);
