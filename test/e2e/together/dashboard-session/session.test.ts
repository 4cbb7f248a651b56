/** Tests the page of one session in a real browser with the real gateway and the simulated platform: the chart follows the session, with reasons. */
import assert from 'node:assert/strict';
import sharp from 'sharp';
import { objectionsTo } from '#test/support/access.ts';
import { ChatwootStandIn } from '#test/support/chatwoot/stand-in.ts';
import { inBrowser, nextFrame, phone, windows } from '#test/support/dashboard.ts';
import { button, dashboardStage, type DashboardStage, lit } from '#test/support/dashboard-stage.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

/** Settings with a back-off that lasts until a test ends it, and with few retries of deliveries. */
const settings = {
  RECONNECT_MIN_MS: '30000',
  RECONNECT_MAX_MS: '30000',
  WEBHOOK_QUICK_RETRIES_MS: '0,50',
  WEBHOOK_SLOW_RETRIES_MS: '100',
  CIRCUIT_FAILURES: '8',
};

const stage = dashboardStage(settings);
const goTo = ({ dashboard, id }: DashboardStage, tab = '') => dashboard.goto(`/admin/sessions/${id}${tab}`);

inBrowser('the chart shows the state of a session, and the path to it', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await lit(on, 'connected').waitFor();
  assert.equal(await page.locator('.chart .chip').textContent(), 'opened');
  assert.equal(await page.locator('.why .reason').textContent(), 'The platform accepted the login.');
  assert.match(String(await page.locator('.log li').first().textContent()), /authenticating.*connected.*opened/s);
});

inBrowser('after a broken connection the chart shows the new state, the reason, and a countdown to the next attempt', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.scene.platform.sandbox.fault({ kind: 'streamError', code: 503, number: on.account.number });
  await lit(on, 'connecting.waiting').waitFor();
  assert.match(
    String(await page.locator('.why .reason').textContent()),
    /^The platform closed the connection \(503: .*\); .* after a pause\.$/,
  );
  assert.match(String(await page.locator('.chart .chip').textContent()), /closed\s*503 · back off/);
  assert.match(String(await lit(on, 'connecting.waiting').textContent()), /next try in \d+ s/);
  await button(on, 'Reconnect').click();
  await lit(on, 'connected').waitFor();
});

inBrowser('buttons on the page hibernate a session and wake it', async () => {
  const on = await stage();
  await button(on, 'Hibernate').click();
  await lit(on, 'hibernated.asleep').waitFor();
  await button(on, 'Wake').click();
  await lit(on, 'connected').waitFor();
});

inBrowser('the keyboard moves the time line back, new steps do not move it, and it returns to the present', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await page.getByRole('slider').focus();
  await page.keyboard.press('Home');
  await lit(on, 'disconnected.idle').waitFor();
  await page.keyboard.press('ArrowRight');
  await lit(on, 'connecting.admission').waitFor();
  assert.match(String(await page.locator('.chart .chip').textContent()), /connect/);
  assert.equal(await page.locator('.chart-panel.back').count(), 1);
  await on.account.call('POST', '/instance/reset', {});
  await on.account.reaches('connected');
  await page.locator('.log li', { hasText: 'reset' }).first().waitFor();
  assert.equal(await lit(on, 'connecting.admission').count(), 1);
  await button(on, 'Back to live').click();
  await lit(on, 'connected').waitFor();
  assert.equal(await page.locator('.chart-panel.back').count(), 0);
});

inBrowser('arrow keys move over the chart, and labels at the next states name the events that lead there', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  // A newly opened page shows no delayed states of the reset.
  await goTo(on);
  await lit(on, 'connected').waitFor();
  await page.locator('.chart [tabindex="0"]').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  const at = await page.evaluate(`document.activeElement?.getAttribute('data-state')`);
  assert.equal(at, 'hibernated.asleep');
  await page.locator('.chart .tag').first().waitFor();
  const tags = await page.locator('.chart .tag').allTextContents();
  assert.deepEqual(tags.map((tag) => tag.trim()).toSorted(), ['connect', 'disconnect', 'rest']);
  assert.match(String(await page.locator('.legend').textContent()), /asleep/);
  await page.keyboard.press('Enter');
  await page.getByRole('slider').focus();
  assert.equal(await page.locator('.chart .tag').count(), 3, 'a state that was pressed stays pointed at');
  await page.locator('.chart [tabindex="0"]').focus();
  await page.keyboard.press('Escape');
});

/** A script for the page, which returns the states of the chart whose words are wider than their box. */
const wordsCut = `[...document.querySelectorAll('.chart .state:not(.alone)')]
  .filter((state) => [...state.querySelectorAll('text')].some((text) => text.getBBox().width > state.querySelector('.box').getBBox().width - 8))
  .map((state) => state.getAttribute('data-state'))`;

inBrowser('the chart folds its housekeeping steps until the user opens them', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const box = (state: string) => page.locator(`.chart [data-state="${state}"]`);
  const folded = box('disconnected.housekeepingSteps');
  await folded.waitFor();
  assert.equal(await box('disconnected.deleting').count(), 0);
  assert.equal(await box('unlinking.waiting').count(), 0);
  await folded.focus();
  await page.keyboard.press('Enter');
  await box('disconnected.deleting').waitFor();
  assert.equal(await folded.count(), 0);
  await until(
    () => page.evaluate<boolean>(`document.activeElement?.dataset.state === 'disconnected.closing'`),
    () => 'the first of the steps has the focus',
  );
  assert.deepEqual(await page.evaluate(wordsCut), []);
  await button(on, 'All steps').click();
  await box('unlinking').click();
  await box('unlinking.waiting').waitFor();
  await button(on, 'All steps').click();
  await folded.waitFor();
});

inBrowser('the switch between the charts stays under the pointer', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const places: unknown[] = [];
  for (const name of ['Supervisor', 'Session', 'All steps', 'All steps']) {
    await button(on, name).click();
    // The position is relative to the page, because a press may scroll the page.
    places.push(
      await page.evaluate(`(() => {
        const { left, top } = document.querySelector('.chart-panel .switch').getBoundingClientRect();
        return [left + scrollX, top + scrollY];
      })()`),
    );
  }
  assert.deepEqual(places.slice(1), places.slice(0, -1));
});

inBrowser('a session in a housekeeping step highlights the folded box, which shows the name of the step', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const other = await on.scene.paired();
  assert.equal((await other.call('POST', '/instance/disconnect', {})).status, 200);
  await other.reaches('disconnected');
  await on.dashboard.goto(`/admin/sessions/${(await other.seen()).id}`);
  await lit(on, 'disconnected.idle').waitFor();
  await page
    .locator('.log li', { has: page.locator('strong', { hasText: 'deleting credentials' }) })
    .first()
    .click();
  const folded = lit(on, 'disconnected.housekeepingSteps');
  await folded.waitFor();
  assert.match(String(await folded.textContent()), /^deleting/);
  assert.equal((await other.call('DELETE', '/instance', {})).status, 200);
  await on.dashboard.goto(`/admin/sessions/${on.id}`);
  await lit(on, 'connected').waitFor();
});

inBrowser('no word of the chart is wider than its box', async () => {
  const on = await stage();
  for (const view of Object.values(windows)) {
    await on.dashboard.view(view);
    // On a phone the chart is folded until the user opens it. The fold changes some time after the window size.
    const fold = on.dashboard.page.locator('.fold');
    const isFolding = view.width === phone.width;
    await fold.waitFor({ state: isFolding ? 'attached' : 'detached' });
    if (isFolding && (await fold.getAttribute('open')) === null) await fold.locator('summary').click();
    await lit(on, 'connected').waitFor();
    const cut = await on.dashboard.page.evaluate(wordsCut);
    assert.deepEqual(cut, []);
  }
});

/** A script for the page, which returns the buttons that a notice covers after they were scrolled into view. */
const coveredButtons = `(async () => {
  const { toast } = await import(document.querySelector('link[rel=modulepreload][href$="/ui/asking.js"]').href);
  toast('Reconnecting', 'bad');
  await ${nextFrame};
  return [...document.querySelectorAll('#app button:not(.toast *), #app a')].filter((button) => {
    if (!button.checkVisibility()) return false;
    button.scrollIntoView({ block: 'center' });
    const { left, top, width, height } = button.getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2)?.closest('.toasts') != null;
  }).map((button) => button.textContent);
})()`;

/** A script for the page, which returns the initials of each name. */
const initials = `(async () => {
  const { initialsOf } = await import(document.querySelector('link[rel=modulepreload][href$="/sessions/words.js"]').href);
  return ['Ana Silva', 'ana', 'A', '😀 Shop', '😀😀', ''].map(initialsOf);
})()`;

inBrowser('the initials of a name are whole characters', async () => {
  const { page } = (await stage()).dashboard;
  assert.deepEqual(await page.evaluate(initials), ['AS', 'AN', 'A', '😀S', '😀😀', '']);
});

inBrowser('on a phone a notice covers no button', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.view(windows['phone-light']!);
  for (const where of ['/admin', `/admin/sessions/${on.id}`, `/admin/sessions/${on.id}/settings`]) {
    await on.dashboard.goto(where);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.locator('main button:visible').first().waitFor();
    assert.deepEqual(await page.evaluate(coveredButtons), [], where);
  }
  await goTo(on);
});

inBrowser('the console sends a message, and shows events as they arrive', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await page.getByRole('link', { name: 'Console' }).click();
  await page.locator('.events .pulse', { hasText: /^live$/ }).waitFor();
  await page.getByLabel('Number').fill(contact);
  await page.getByLabel('Text', { exact: true }).fill('Sent from the console');
  await button(on, 'Send').click();
  await page.locator('summary', { hasText: /answer.*Sent from the console/ }).waitFor();
  await until(() => on.scene.readBy(contact).has('Sent from the console'), 'the contact reads the text');
  await on.scene.write(on.account, 'Written by the contact');
  await page.locator('summary', { hasText: /messages.*Written by the contact/ }).waitFor();
});

inBrowser('a webhook is created and tested, and its refused deliveries are sent again', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const { receiver } = on.scene;
  await goTo(on, '/webhooks');
  await button(on, 'New webhook').click();
  await page.getByLabel('Address of the receiver').fill(receiver.url);
  await button(on, 'Save').click();
  await button(on, 'Test').click();
  await page.getByText(/The receiver answered 200 after \d+ ms/).waitFor();
  receiver.answer(503);
  await button(on, 'Test').click();
  await page.getByText(/The test failed .*503/).waitFor();
  await on.scene.write(on.account, 'Nobody takes this');
  const row = page.getByRole('row').filter({ hasText: 'given up' }).first();
  await row.waitFor();
  assert.match(String(await row.textContent()), /503/);
  receiver.answer(200);
  await row.getByRole('button', { name: /^Replay/ }).click();
  await receiver.wait(({ body }) => JSON.stringify(body).includes('Nobody takes this'), 'the replayed message');
  await page.getByRole('row').filter({ hasText: 'delivered' }).first().waitFor();
  await button(on, 'Pause').click();
  await page.locator('.webhook .badge', { hasText: 'paused' }).waitFor();
});

inBrowser('a late answer to an earlier filter does not replace the answer to the later one', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const late = Promise.withResolvers<void>();
  await page.route(/deliveries\?.*state=waiting/, async (route) => {
    await late.promise;
    await route.fulfill({ json: { deliveries: [], hasMore: false } });
  });
  await goTo(on, '/webhooks');
  const shown = page.getByRole('row').filter({ hasText: 'delivered' });
  await shown.first().waitFor();
  const filters = page.getByRole('group', { name: 'Deliveries by state' });
  const answered = page.waitForResponse(/state=waiting/);
  await filters.getByRole('button', { name: 'waiting' }).click();
  await filters.getByRole('button', { name: 'delivered' }).click();
  await page.waitForResponse(/state=delivered/);
  await shown.first().waitFor();
  late.resolve();
  await answered;
  await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
  assert.ok((await shown.count()) > 0);
  await page.unroute(/deliveries\?.*state=waiting/);
});

inBrowser('the list of parts shows an open circuit breaker, and a button resets it', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const { receiver } = on.scene;
  await goTo(on);
  receiver.answer(503);
  for (const text of ['one', 'two', 'three', 'four']) await on.scene.write(on.account, `Behind the circuit: ${text}`);
  const clear = button(on, 'Clear circuit');
  await clear.waitFor();
  assert.match(String(await page.locator('.parts li.of-person').textContent()), /webhook to .* courier.*circuit open, probe in \d+ s/);
  await on.scene.write(on.account, 'Waits for the circuit');
  receiver.answer(200);
  await clear.click();
  await receiver.wait(({ body }) => JSON.stringify(body).includes('Waits for the circuit'), 'what waited behind the circuit');
  await clear.waitFor({ state: 'detached' });
});

inBrowser('settings are saved, and the token is shown on request', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await goTo(on, '/settings');
  await page.getByLabel('Name', { exact: true }).fill('Bakery Ana');
  await page.getByLabel('Name', { exact: true }).press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Bakery Ana' }).waitFor();
  await button(on, 'Show').click();
  await page.getByText(on.account.token).waitFor();
});

for (const tab of ['', '/webhooks', '/console', '/settings']) {
  inBrowser(`${tab === '' ? '/state' : tab} violates no rule of accessibility, and is no wider than the window`, async () => {
    const on = await stage();
    await goTo(on, tab);
    await on.dashboard.page.locator('.session-body .panel').first().waitFor();
    assert.equal((await objectionsTo(on.dashboard, tab)).join('\n'), '');
  });
}

inBrowser('a gateway outside of a cluster shows nothing about nodes', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await goTo(on);
  await page.locator('.why .figures').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Nodes' }).count(), 0);
  assert.doesNotMatch(String(await page.locator('.why .figures').textContent()), /Node/);
});

inBrowser('the page violates no content security policy, and no script throws', async () => {
  const on = await stage();
  assert.deepEqual(on.dashboard.complaints, []);
});

inBrowser('the connector to Chatwoot is shown with its inbox, and its deliveries like those of webhooks', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const desk = await ChatwootStandIn.open();
  try {
    const connected = await on.account.call('PUT', '/chatwoot/config', desk.settings);
    assert.equal(connected.status, 200, JSON.stringify(connected.body));
    await on.scene.write(on.account, 'For the agents');
    await until(() => desk.texts().includes('For the agents'), 'the agents see it');
    await goTo(on, '/webhooks');
    await page.getByText(/^Chatwoot: inbox 5 at 127\.0\.0\.1:\d+$/).waitFor();
    await page.getByRole('row').filter({ hasText: 'Chatwoot' }).filter({ hasText: 'delivered' }).first().waitFor();
  } finally {
    await on.account.call('PUT', '/chatwoot/config', { ...desk.settings, enabled: false });
    await desk.close();
  }
});

inBrowser('the list and the head of the page show the current picture of the account over its initials', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const picture = `/admin/actors/${on.id}/picture`;
  const answer = () => on.scene.gateway.call('GET', picture, { token: '' });
  const shown = async (where: string): Promise<string> => {
    const image = page.locator(where);
    await image.waitFor();
    // The test polls, because the content security policy forbids the evaluated string with which the driver would wait.
    await until(
      async () => Number(await page.evaluate(`document.querySelector(${JSON.stringify(where)})?.naturalWidth ?? 0`)) > 0,
      'the picture',
    );
    return String(await image.getAttribute('src'));
  };
  const addresses: string[] = [];
  for (const background of ['#c86432', '#3264c8']) {
    const jpeg = await sharp({ create: { width: 640, height: 640, channels: 3, background } })
      .jpeg()
      .toBuffer();
    await on.scene.platform.sandbox.changeAccount(on.account.number, { picture: jpeg.toString('base64') });
    await until(async () => {
      await goTo(on);
      await page.locator('.session-head .face').waitFor();
      const address = await page
        .locator('.session-head .face img')
        .getAttribute('src', { timeout: 2_000 })
        .catch(() => null);
      return address !== null && !addresses.includes(address);
    }, 'the head shows the picture');
    const address = await shown('.session-head .face img');
    await on.dashboard.goto('/admin');
    assert.equal(await shown('.row .picture img[src]'), address);
    assert.ok(address.startsWith(`${picture}?of=`));
    addresses.push(address);
  }
  assert.equal((await answer()).status, 401);
  await on.scene.platform.sandbox.changeAccount(on.account.number, { picture: '' });
  await until(async () => {
    await goTo(on);
    await page.locator('.session-head .face').waitFor();
    return (await page.locator('.session-head .face img').count()) === 0;
  }, 'the head shows initials again');
  assert.deepEqual(on.dashboard.complaints, []);
});
