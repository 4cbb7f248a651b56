/** Tests users in the dashboard in a real browser: an administrator adds a user, who signs in, changes the password and sets up one-time codes. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before } from 'node:test';
import { codeOf, stepAt } from '#src/users/credentials.ts';
import { objectionsTo } from '#test/support/access.ts';
import { Dashboard, inBrowser, withoutBrowser } from '#test/support/dashboard.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let dashboard: Dashboard;
const passwords = ['the first long secret', 'the second long secret'] as const;
let secret = '';

before(async () => {
  if (withoutBrowser !== '') return;
  scene = await Scene.open();
  await scene.gateway.call('POST', '/instance/create', { body: { name: 'shop' } });
  dashboard = await Dashboard.signedIn(scene.gateway.address);
});
after(async () => {
  await dashboard?.close();
  await scene?.close();
});

const button = (name: string) => dashboard.page.getByRole('button', { name, exact: true });

const signInAsAna = async (password: string, code = ''): Promise<void> => {
  const { page } = dashboard;
  await page.getByLabel('Name').fill('Ana');
  await page.getByLabel('Password').fill(password);
  await page.getByLabel('One-time code').fill(code);
  await button('Sign in').click();
};

inBrowser('an administrator adds a user, and the list shows the role and the last sign-in', async () => {
  const { page } = dashboard;
  await page.getByRole('link', { name: 'People' }).click();
  await page.getByRole('heading', { name: 'People' }).waitFor();
  assert.ok((await page.getByText('You are signed in with the admin token').count()) === 1);
  await page.getByLabel('Name', { exact: true }).fill('Ana');
  await page.getByLabel('First password').fill('short password');
  await button('Add user').click();
  // The page shows the name as the gateway stored it.
  await page.getByText('The user ana is added.').waitFor();
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'ana', exact: true }) });
  await row.filter({ hasText: 'never' }).waitFor();
  assert.equal(await page.getByLabel('Role of ana').inputValue(), 'viewer');
  await button('New password for ana').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('New password').fill(passwords[0]);
  await dialog.getByRole('button', { name: 'New password' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(await objectionsTo(dashboard, 'people'), []);
});

inBrowser('a name that is too long is refused with a reason, and is not cut', async () => {
  const { page } = dashboard;
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('a'.repeat(70));
  await page.getByLabel('First password').fill('short password');
  await button('Add user').click();
  await page.getByText('name must have at most 64 characters').waitFor();
  assert.equal((await name.inputValue()).length, 70);
  assert.equal(await page.getByRole('rowheader', { name: /^aaa/ }).count(), 0);
  await name.fill('');
  await page.getByLabel('First password').fill('');
});

inBrowser('a viewer signs in by name, sees the sessions, and gets no buttons for refused actions', async () => {
  const { page } = dashboard;
  await dashboard.signOut();
  await button('Sign in with a name').click();
  await signInAsAna('a wrong long secret');
  await page.getByText('the name, the password or the one-time code is wrong').waitFor();
  assert.deepEqual(await objectionsTo(dashboard, 'sign-in by name'), []);
  await signInAsAna(passwords[0]);
  await page.locator('.grid .row:visible').filter({ hasText: 'shop' }).waitFor();
  assert.equal(await button('New session').count(), 0);
  await page.locator('.grid .row:visible').filter({ hasText: 'shop' }).click();
  await page.getByRole('heading', { name: 'shop' }).first().waitFor();
  assert.deepEqual(
    await page
      .locator('.tabs a')
      .allTextContents()
      .then((names) => names.map((name) => name.trim())),
    ['State'],
  );
  await dashboard.goto('/admin/people');
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Users' }).count(), 0);
  assert.equal(await page.getByRole('link', { name: 'Audit log' }).count(), 0);
});

inBrowser('a user changes the password, and signs in with the new one', async () => {
  const { page } = dashboard;
  await page.getByLabel('Present password').first().fill(passwords[0]);
  await page.getByLabel('New password').fill(passwords[1]);
  await button('Change password').click();
  await page.getByText('The password is changed. Sign in again.').waitFor();
  await signInAsAna(passwords[0]);
  await page.getByText('the name, the password or the one-time code is wrong').waitFor();
  await signInAsAna(passwords[1]);
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
});

inBrowser('a user sets up one-time codes with a QR code, and the next sign-in needs a code', async () => {
  const { page } = dashboard;
  const begin = page.locator('form', { has: page.getByRole('button', { name: 'Set up' }) });
  await begin.getByLabel('Present password').fill(passwords[1]);
  await button('Set up').click();
  await page.getByAltText('QR code for an authenticator app').waitFor();
  secret = String(await page.locator('.people code').first().textContent());
  assert.deepEqual(await objectionsTo(dashboard, 'one-time codes'), []);
  const form = page.locator('form', { has: page.getByRole('button', { name: 'Confirm' }) });
  await form.getByLabel('One-time code').fill(codeOf(secret, stepAt(Date.now())));
  await button('Confirm').click();
  await page.getByText('One-time codes are on. Sign in again.').waitFor();
  await signInAsAna(passwords[1]);
  await page.getByText('the name, the password or the one-time code is wrong').waitFor();
  await signInAsAna(passwords[1], codeOf(secret, stepAt(Date.now()) + 1));
  await page.getByText('A sign-in needs a code of your authenticator app.').waitFor();
});

inBrowser('a user whose session an administrator ends gets back to the sign-in page', async () => {
  const { body } = await scene.gateway.call('GET', '/admin/users');
  const { users } = body as unknown as { readonly users: readonly { readonly id: string }[] };
  await scene.gateway.call('POST', '/admin/sessions/end', { body: { userId: users[0]?.id } });
  await dashboard.goto('/admin/people');
  await button('Sign in with the admin token').waitFor();
});

inBrowser('the audit log shows the user of each action, and can be filtered and exported', async () => {
  const { page } = dashboard;
  await button('Sign in with the admin token').click();
  await dashboard.signIn();
  await until(async () => {
    const { body } = await scene.gateway.call('GET', '/admin/audit?actor=adminToken');
    return (body as unknown as { readonly entries: readonly { readonly route: string }[] }).entries.some(
      ({ route }) => route === '/admin/sessions/end',
    );
  }, 'the end of the session is stored');
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  await page.getByText('POST /admin/sessions/end').waitFor();
  await page.getByLabel('Who').fill('ana');
  await button('Show').click();
  await page.getByText('POST /admin/sessions/end').waitFor({ state: 'detached' });
  await page.getByText('POST /admin/me/password').waitFor();
  assert.deepEqual(await objectionsTo(dashboard, 'audit log'), []);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Export as CSV' }).click()]);
  const csv = await readFile(await download.path(), 'utf8');
  assert.match(csv, /^id,at,actor,who,/);
  assert.match(csv, /,user,ana,127\.0\.0\.1,POST,\/admin\/me\/password,,ana,200\r\n/);
  assert.ok(!csv.includes('/admin/sessions/end'));
  assert.deepEqual(dashboard.complaints, []);
});

/** A part of a session whose receiver is left alone after failures. */
const broken = {
  id: 'courier-1',
  state: 'trouble',
  note: 'paused',
  waiting: 1,
  crashes: 0,
  courier: { webhookId: 'w1', host: 'receiver.example', lanes: { used: 0, of: 1 }, circuit: { open: true, failures: 5, until: 0 } },
};

inBrowser('webhooks and parts of a session have the buttons of the role of the user', async () => {
  const { gateway } = scene;
  const made = (await gateway.call('POST', '/instance/create', { body: { name: 'roles' } })).body as unknown as {
    readonly token: string;
    readonly instance: { readonly id: string };
  };
  await gateway.call('POST', '/webhook', { token: made.token, body: { url: 'http://127.0.0.1:9/', events: ['messages'], enabled: true } });
  for (const [role, tab, sign, buttons] of [
    ['administrator', '/webhooks', 'http://127.0.0.1:9/', { 'New webhook': 1, Pause: 1, Edit: 1 }],
    ['operator', '/webhooks', 'http://127.0.0.1:9/', { 'New webhook': 0, Pause: 0, Edit: 0 }],
    ['operator', '', 'receiver.example', { 'Clear circuit': 1 }],
    ['viewer', '', 'receiver.example', { 'Clear circuit': 0 }],
  ] as const) {
    const name = `${role}-${tab.length}`;
    await gateway.call('POST', '/admin/users', { body: { name, role, password: passwords[0] } });
    const own = await Dashboard.open(gateway.address);
    try {
      await own.page.route(`**/admin/actors/${made.instance.id}`, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), parts: [broken] } });
      });
      await own.goto(`/admin/sessions/${made.instance.id}${tab}`);
      await own.signInAs(name, passwords[0]);
      await own.page.getByText(sign).first().waitFor();
      const found = Object.keys(buttons).map(async (label) => [
        label,
        await own.page.getByRole('button', { name: label, exact: true }).count(),
      ]);
      assert.deepEqual(Object.fromEntries(await Promise.all(found)), buttons, name);
    } finally {
      // A handler that still reads its answer would fail after the test.
      await own.page.unrouteAll({ behavior: 'ignoreErrors' });
      await own.close();
    }
  }
});
