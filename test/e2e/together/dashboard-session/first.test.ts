/** Tests the dashboard in a real browser, from an empty server on, with the simulated platform. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before } from 'node:test';
import { Dashboard, desk, inBrowser, withoutBrowser } from '#test/support/dashboard.ts';
import { adminToken, GatewayProcess } from '#test/support/gateway.ts';
import { until } from '#test/support/until.ts';

let gateway: GatewayProcess;
let dashboard: Dashboard;
let foreign: Server;

before(async () => {
  if (withoutBrowser !== '') return;
  gateway = await new GatewayProcess({ env: { AUTH_FAILURES_PER_MINUTE: '8' } }).start();
  dashboard = await Dashboard.open(gateway.address);
  foreign = createServer((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'));
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
});

after(async () => {
  await dashboard?.close();
  foreign?.close();
  await gateway?.close();
});

interface Seen {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly token: string;
}

const all = async (): Promise<readonly Seen[]> => (await gateway.call('GET', '/instance/all')).body as unknown as readonly Seen[];
const one = async (name: string): Promise<Seen | undefined> => (await all()).find((seen) => seen.name === name);
const reaches = (name: string, status: string): Promise<unknown> =>
  until(
    async () => (await one(name))?.status === status,
    () => `${name} is ${status}`,
  );

/** Returns the name or the text of the focused element. */
const focused = (): Promise<string> =>
  dashboard.page.evaluate<string>(`
  (({ activeElement: element }) => (element?.labels?.[0]?.textContent ?? element?.getAttribute('aria-label') ?? element?.textContent ?? '').trim())(document)
`);

/** Waits until a view has set its initial focus. An earlier key press would be lost. */
const hasFocus = (name: string): Promise<unknown> => until(async () => (await focused()) === name, `"${name}" has the focus`);

/** Presses Tab until the element with this name has the focus. */
const tabTo = async (name: string): Promise<void> => {
  const passed: string[] = [];
  for (let presses = 0; presses < 25; presses += 1) {
    const at = await focused();
    if (at === name) return;
    passed.push(at.slice(0, 30));
    await dashboard.page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not come to "${name}", only to ${passed.join(' | ')}`);
};

const press = (key: string): Promise<void> => dashboard.page.keyboard.press(key);
const type = (text: string): Promise<void> => dashboard.page.keyboard.type(text);
const sees = (text: string | RegExp): Promise<void> => dashboard.page.getByText(text).first().waitFor();
const view = (): Dashboard['page'] => dashboard.page;

/** Returns a cell in the row of a session. */
const cell = (name: string, column: string) => view().locator('.grid .row:not([hidden])', { hasText: name }).locator(column);
const shows = (name: string, word: string): Promise<void> => cell(name, '.c-state').getByText(word, { exact: true }).waitFor();

inBrowser('a wrong admin token is refused with a message, and sets no cookie', async () => {
  await dashboard.goto('/admin');
  await view().getByLabel('Admin token').fill('not the admin token');
  await press('Enter');
  await sees('This is not the admin token of this server.');
  assert.deepEqual(await dashboard.cookies(), []);
});

inBrowser('the keyboard alone leads from an empty server to the first message', async () => {
  await tabTo('Admin token');
  await press('Control+a');
  await type(adminToken);
  await press('Enter');
  await view().getByRole('heading', { name: 'Your first message in three steps' }).waitFor();
  assert.equal(new URL(view().url()).pathname, '/admin/start');
  // The page shows the heading first. The form waits for its saved progress, and takes the focus after it is painted.
  await hasFocus('Name');
  await tabTo('Name');
  await type('Bakery Ana');
  await press('Enter');
  await view().getByRole('img', { name: 'QR code to scan with the phone' }).waitFor();
  assert.equal((await one('Bakery Ana'))?.status, 'connecting');
  await tabTo('Scan with the simulated phone');
  await press('Enter');
  await hasFocus('To');
  await reaches('Bakery Ana', 'connected');
  await press('Control+a');
  await type('12');
  await tabTo('Message');
  await press('Control+a');
  await type('Written by keyboard');
  await press('Enter');
  await view().getByRole('alert').waitFor();
  // The form keeps the typed number and text, so only the wrong field has to be typed again.
  const typed = await Promise.all(['To', 'Message'].map((label) => view().getByLabel(label, { exact: true }).inputValue()));
  assert.deepEqual(typed, ['12', 'Written by keyboard']);
  await press('Shift+Tab');
  await press('Control+a');
  await type('5511988887777');
  await press('Enter');
  await sees('It works.');
  const { token = '' } = (await one('Bakery Ana')) ?? {};
  const { body } = await gateway.call('POST', '/message/find', { token, body: { chatid: '5511988887777@s.whatsapp.net' } });
  assert.partialDeepStrictEqual(body, { messages: [{ text: 'Written by keyboard', fromMe: true }] });
});

inBrowser('the token of a session reaches the clipboard on request, and appears nowhere else', async () => {
  const { token = '' } = (await one('Bakery Ana')) ?? {};
  assert.ok(!(await view().content()).includes(token));
  await tabTo('Copy the token');
  await press('Enter');
  await sees('The token is in the clipboard.');
  assert.equal(await view().evaluate('navigator.clipboard.readText()'), token);
  const kept = await view().evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
  );
  for (const secret of [token, adminToken]) assert.ok(!`${await view().content()}${kept}`.includes(secret));
});

inBrowser('a later visit to the first page shows the completed steps: the number, the message and the call', async () => {
  await dashboard.goto('/admin/start');
  await sees('It works.');
  await sees(/^Linked: \S*\d{4}$/);
  assert.match((await view().locator('pre.call').textContent()) ?? '', /"number":"5511988887777","text":"Written by keyboard"/);
  assert.equal(await view().locator('[aria-current=step]').count(), 0);
});

inBrowser('scripts and other sites cannot read the cookie', async () => {
  const [cookie, ...more] = await dashboard.cookies();
  assert.deepEqual(more, []);
  assert.partialDeepStrictEqual(cookie, { httpOnly: true, sameSite: 'Strict', path: '/', secure: false });
  assert.equal(await view().evaluate('document.cookie'), '');
});

inBrowser('the list shows the session as it hibernates and wakes', async () => {
  await dashboard.goto('/admin');
  await shows('Bakery Ana', 'connected');
  await cell('Bakery Ana', 'button').click();
  await view().getByRole('menuitem', { name: 'Hibernate' }).click();
  await shows('Bakery Ana', 'asleep');
  await reaches('Bakery Ana', 'hibernated');
  await view()
    .getByRole('button', { name: /1 hibernated/ })
    .waitFor();
  await cell('Bakery Ana', 'button').click();
  await view().getByRole('menuitem', { name: 'Wake' }).click();
  await shows('Bakery Ana', 'connected');
  await reaches('Bakery Ana', 'connected');
});

inBrowser('changes from elsewhere are shown without a reload', async () => {
  const { token = '' } = (await one('Bakery Ana')) ?? {};
  assert.equal((await gateway.call('POST', '/instance/hibernate', { token })).status, 200);
  await shows('Bakery Ana', 'asleep');
  assert.equal((await gateway.call('POST', '/instance/connect', { token, body: {} })).status, 200);
  await shows('Bakery Ana', 'connected');
});

inBrowser('a session is created and linked in one dialog, and appears in the list', async () => {
  await view().getByRole('button', { name: 'New session' }).click();
  await hasFocus('Name');
  await type('Clinic Clara');
  await press('Enter');
  await view().getByRole('button', { name: 'Scan with the simulated phone' }).click();
  await sees(/^Connected\./);
  await view().getByRole('button', { name: 'Done' }).click();
  await shows('Clinic Clara', 'connected');
});

inBrowser('search and filters show the matching sessions, and the slash key moves to the search', async () => {
  await view().locator('.grid').focus();
  await press('/');
  await type('clara');
  await sees('1 of 2 sessions');
  await press('Escape');
  await view()
    .getByRole('button', { name: /0 hibernated/ })
    .click();
  await sees('No session fits.');
  await view().getByRole('button', { name: 'Show all' }).click();
  await shows('Bakery Ana', 'connected');
});

inBrowser('arrow keys move through the list, full stop opens the actions, and Enter opens the session', async () => {
  await view().locator('.grid').focus();
  await press('ArrowDown');
  await press('ArrowDown');
  await press('.');
  await view().getByRole('menu', { name: 'Actions for Clinic Clara' }).waitFor();
  await press('Escape');
  await view().locator('.grid').focus();
  await press('Enter');
  await view().waitForURL(/\/admin\/sessions\/r[0-9a-f]{14}$/);
  await view().goBack();
  await shows('Bakery Ana', 'connected');
});

inBrowser('an action on a filter applies to all sessions that the filter shows', async () => {
  await view()
    .getByRole('button', { name: /2 connected/ })
    .click();
  await view().getByRole('button', { name: 'Hibernate', exact: true }).click();
  await view().getByRole('button', { name: 'Hibernate 2' }).click();
  await sees('2 done.');
  await Promise.all([reaches('Bakery Ana', 'hibernated'), reaches('Clinic Clara', 'hibernated')]);
  await view().getByRole('button', { name: 'Show all' }).click();
});

inBrowser('each row shows the reason of its state, and names are in natural order', async () => {
  for (const name of ['shop 10', 'shop 9']) await gateway.call('POST', '/instance/create', { body: { name } });
  await cell('shop 10', '.c-why').getByText('no phone is linked: Connect shows a code').waitFor();
  await cell('Bakery Ana', '.c-why').getByText('asleep, wakes on a call or a message to send').waitFor();
  assert.equal((await gateway.call('POST', '/instance/connect', { token: (await one('Bakery Ana'))?.token ?? '', body: {} })).status, 200);
  await cell('Bakery Ana', '.c-why')
    .getByText(/^live since \d\d:\d\d$/)
    .waitFor();
  await view().getByRole('button', { name: 'Session', exact: true }).click();
  let seen = '';
  const inOrder = async (): Promise<boolean> => {
    const rows = await view().locator('.grid .row:not([hidden])').all();
    const found = await Promise.all(
      rows.map(async (row) => ({ at: Number(await row.getAttribute('aria-rowindex')), name: await row.locator('.name').textContent() })),
    );
    seen = found
      .toSorted((one, other) => one.at - other.at)
      .map(({ name }) => name)
      .join();
    return seen === 'Bakery Ana,Clinic Clara,shop 9,shop 10';
  };
  await until(inOrder, () => `the order is ${seen}`);
});

inBrowser('an action applies to the selected sessions alone, and mouse, keyboard or one press select them', async () => {
  const { page } = dashboard;
  await page.getByRole('checkbox', { name: 'Select shop 9' }).click();
  await sees('1 selected');
  await page.locator('.grid').focus();
  await press('End');
  await press(' ');
  await sees('2 selected');
  // The rows are rendered one frame after the bar.
  await page.getByRole('checkbox', { name: 'Select shop 10', checked: true }).waitFor();
  await until(
    async () => (await page.locator('.grid .row[aria-selected="true"]').count()) === 2,
    () => 'two rows are selected',
  );
  await page.getByLabel('Name, number or reason').fill('shop 9');
  await sees('2 selected (1 of them not shown)');
  await page.getByLabel('Name, number or reason').fill('');
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete 2' }).click();
  await until(
    async () => (await all()).length === 2,
    () => 'both are deleted',
  );
  assert.deepEqual((await all()).map(({ name }) => name).toSorted(), ['Bakery Ana', 'Clinic Clara']);
  await cell('shop', '.c-state').first().waitFor({ state: 'detached' });
  await page.getByRole('checkbox', { name: 'Select all shown sessions' }).click();
  await sees('2 selected');
  await page.getByRole('checkbox', { name: 'Select Clinic Clara' }).click();
  await sees('1 selected');
  await page.getByRole('button', { name: 'Select none' }).click();
  await page.locator('.bulk').waitFor({ state: 'detached' });
});

inBrowser('a session is deleted only after the user confirms', async () => {
  await cell('Clinic Clara', 'button').click();
  await view().getByRole('menuitem', { name: 'Delete' }).click();
  await view().getByRole('button', { name: 'Cancel' }).click();
  assert.ok(await one('Clinic Clara'));
  await cell('Clinic Clara', 'button').click();
  await view().getByRole('menuitem', { name: 'Delete' }).click();
  await view().getByRole('button', { name: 'Delete', exact: true }).click();
  await sees('Clinic Clara is deleted.');
  await until(async () => !(await one('Clinic Clara')), 'it is gone');
  await cell('Clinic Clara', '.c-state').waitFor({ state: 'detached' });
});

inBrowser('a page of another origin in the same browser changes and reads nothing', async () => {
  const { port } = foreign.address() as AddressInfo;
  const names = async (): Promise<readonly string[]> => (await all()).map(({ name }) => name);
  const known = await names();
  for (const host of ['127.0.0.1', 'localhost']) {
    await view().goto(`http://${host}:${port}/`);
    const read = await view().evaluate(async (address) => {
      const body = '{"name":"forged"}';
      await fetch(`${address}/instance/create`, { method: 'POST', mode: 'no-cors', credentials: 'include', body });
      return fetch(`${address}/instance/all`, { credentials: 'include' }).then(
        () => 'read',
        () => 'not read',
      );
    }, gateway.address);
    assert.equal(read, 'not read');
    assert.deepEqual(await names(), known, host);
  }
  dashboard.complaints.splice(0); // The browser complained about the refused requests of the other page.
});

inBrowser('sign-out ends the session, and wrong tokens are throttled with the time to wait', async () => {
  await dashboard.goto('/admin');
  await dashboard.signOut();
  await view().getByLabel('Admin token').waitFor();
  assert.deepEqual(await dashboard.cookies(), []);
  // The minute of earlier guesses may end in between, and the count begins again.
  const throttled = view().getByText(/^Too many wrong tokens/);
  for (let n = 0; n < 25 && !(await throttled.isVisible()); n += 1) {
    const answered = view().waitForResponse(/\/admin\/session$/);
    await view().getByLabel('Admin token').fill(`guess ${n}`);
    // The button ignores a press until the page shows the previous answer, and Enter would be lost.
    await view().getByRole('button', { name: 'Sign in', exact: true }).click();
    await answered;
    if (n >= 9) await throttled.waitFor({ timeout: 1_000 }).catch(() => undefined);
  }
  await sees(/^Too many wrong tokens came from this address\. Try again in \d+ s\.$/);
});

inBrowser('no page violates the content security policy, and no script fails', async () => {
  await dashboard.view(desk);
  assert.deepEqual(dashboard.complaints, []);
});
