/** Tests the API reference in a real browser: its search, its examples, and calls with the session of the dashboard. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { serve } from '#test/sandbox-control/serve.ts';
import { Dashboard, withoutBrowser } from '#test/support/dashboard.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { until } from '#test/support/until.ts';

let gateway: GatewayProcess;
let dashboard: Dashboard;
let id = '';
/** Requests of the browser to servers other than the gateway. */
const strangers: string[] = [];

const inBrowser = (name: string, run: () => Promise<void>): void => {
  test(`reference: ${name}${withoutBrowser}`, { skip: withoutBrowser !== '' }, run);
};

/** Opens a browser that notes each request to another server. */
const open = async (address: string): Promise<Dashboard> => {
  const opened = await Dashboard.open(address);
  opened.page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${address}/`) && !url.startsWith('data:') && !url.startsWith('blob:')) strangers.push(url);
  });
  return opened;
};

before(async () => {
  if (withoutBrowser !== '') return;
  gateway = await new GatewayProcess({}).start();
  const made = await gateway.call('POST', '/instance/create', { body: { name: 'Reader' } });
  ({ id } = (made.body as { instance: { id: string } }).instance);
  dashboard = await open(gateway.address);
});
after(async () => {
  await dashboard?.close();
  await gateway?.close();
});

/** Finds an operation by the search of the page, and waits until it is shown. */
const find = async ({ page }: Dashboard, words: string, summary: string): Promise<void> => {
  await page
    .getByRole('button', { name: /Search/ })
    .first()
    .click();
  // The search box takes the focus after it is shown.
  await page.locator('input:focus').waitFor();
  await page.keyboard.type(words);
  await page
    .getByRole('option', { name: new RegExp(summary) })
    .first()
    .click();
  await page.getByRole('heading', { name: summary }).first().waitFor();
};

/** Clients of Scalar: the name in the list, the name on the button, and the beginning of the example. */
const languages = [
  ['Fetch', 'JavaScript Fetch', /fetch\('http/],
  ['Requests', 'Python Requests', /requests\.post\(/],
  ['cURL', 'PHP cURL', /curl_init\(/],
  ['Curl', 'Shell Curl', /curl http.*\/send\/text/],
] as const;

/** Opens the list of languages by its button. Returns false if it does not open, because a page that is still being drawn may lose the click. */
const opensLanguages = async (page: Dashboard['page'], shown: string): Promise<boolean> => {
  await page.getByRole('button', { name: shown }).first().click();
  const last = page.getByRole('option').nth(languages.length - 1);
  return last.waitFor({ timeout: 10_000 }).then(
    () => true,
    () => false,
  );
};

inBrowser('opens, finds an operation by search and shows an example in four languages', async () => {
  const { page } = dashboard;
  await dashboard.goto('/docs');
  await find(dashboard, 'send text', 'Send a text');
  let shown: string = 'Shell Curl';
  for (const [client, title, code] of languages) {
    await until(async () => opensLanguages(page, shown), `${languages.length} languages are offered`);
    assert.equal(await page.getByRole('option').count(), languages.length);
    await page.getByRole('option', { name: client, exact: true }).click();
    await page.locator('code').filter({ hasText: code }).first().waitFor();
    shown = title;
  }
});

inBrowser('a signed-in user makes calls as the chosen instance, and no token reaches the page', async () => {
  const { page } = dashboard;
  await dashboard.goto('/docs/');
  await page.getByText('Sign in to the dashboard').waitFor();
  await dashboard.goto('/admin');
  await dashboard.signIn();
  await dashboard.goto('/docs/');
  await page.getByLabel('Instance', { exact: true }).selectOption(id);
  await find(dashboard, 'status of', 'Show the status of the instance');
  await page
    .getByRole('button', { name: /Test Request.*instance.status/ })
    .first()
    .click();
  const answered = page.waitForResponse((response) => response.url().endsWith('/instance/status'));
  await page.getByRole('button', { name: /^Send get request/ }).click();
  const answer = await answered;
  const headers = await answer.request().allHeaders();
  assert.deepEqual([answer.status(), headers['x-instance'], headers['token']], [200, id, undefined]);
  assert.partialDeepStrictEqual(await answer.json(), { instance: { id, name: 'Reader', token: '' } });
  await page.getByText('200 OK').first().waitFor();
});

inBrowser('the simulated platform serves the same page without a sign-in', async () => {
  const served = await serve({ after });
  const reader = await open(served.origin);
  try {
    await reader.goto('/docs/');
    await find(reader, 'QR code', 'The phone scans a QR code');
    assert.equal(await reader.page.getByText('Sign in to the dashboard').count(), 0);
    assert.deepEqual(reader.complaints, []);
  } finally {
    await reader.close();
    await served.close();
  }
});

inBrowser('the page requests nothing from other servers, and violates no content security policy', async () => {
  assert.deepEqual(strangers, []);
  assert.deepEqual(dashboard.complaints, []);
});
