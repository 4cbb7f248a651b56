/** Opens every view of the dashboard in every state, beginning with an empty server. Calls a function at each state. */
import type { Dashboard } from '#test/support/dashboard.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';

/** The dashboard, and the function `at` that is called at each state. It must restore the window if it changes it. */
export interface Walker {
  readonly dashboard: Dashboard;
  readonly gateway: GatewayProcess;
  at(name: string): Promise<void>;
}

const buttons = (page: Dashboard['page']) => (name: string | RegExp) => page.getByRole('button', { name });

const firstRun = async ({ dashboard, at }: Walker): Promise<void> => {
  const { page } = dashboard;
  const button = buttons(page);
  await dashboard.goto('/admin');
  await page.getByLabel('Admin token').waitFor();
  await at('sign-in');
  await page.getByLabel('Admin token').fill('not the token');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await at('sign-in-wrong');
  await dashboard.signIn();
  await page.getByLabel('Name').waitFor();
  await at('start-1-name');
  await page.getByLabel('Name').fill('Bakery Ana');
  await button('Continue').click();
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  await at('start-2-scan');
  await button('Use a pairing code').click();
  await page.getByLabel('Phone number').fill('12');
  await button('Get the code').click();
  await page.getByRole('alert').waitFor();
  await at('start-2-phone-wrong');
  await page.getByLabel('Phone number').fill('5511999990001');
  await at('start-2-phone');
  await button('Get the code').click();
  await page.locator('.paircode').waitFor();
  const code = await page.locator('.paircode').textContent();
  await page.reload();
  await page.locator('.paircode', { hasText: String(code) }).waitFor();
  await at('start-2-code');
  await button('Show a QR code instead').click();
  await button('Scan with the simulated phone').click();
  await page.getByLabel('Message').waitFor();
  await at('start-3-message');
  await button('Send').click();
  await page.getByText('It works.').waitFor();
  await at('start-4-done');
};

const list = async ({ dashboard, gateway, at }: Walker): Promise<void> => {
  const { page } = dashboard;
  const button = buttons(page);
  for (const name of ['Clinic Clara', 'Support Iris', 'Garage João', 'School of a name that is longer than a column is wide, and longer'])
    await gateway.call('POST', '/instance/create', { body: { name } });
  await dashboard.goto('/admin');
  await page.getByRole('link', { name: 'Bakery Ana' }).waitFor();
  await at('list');
  await button(/disconnected/).click();
  await at('list-filtered');
  await button('Delete').click();
  await page.getByRole('dialog').waitFor();
  await at('list-bulk-delete');
  await button('Cancel').click();
  await page.getByLabel('Name, number or reason').fill('nobody');
  await page.getByText('No session fits.').waitFor();
  await at('list-nothing');
  await button('Show all').click();
  await button('Actions for Bakery Ana').click();
  await page.getByRole('menu').waitFor();
  await at('list-menu');
  await page.keyboard.press('Escape');
  await button('New session').click();
  await page.getByLabel('Name', { exact: true }).waitFor();
  await at('list-new');
  await page.keyboard.type('Pizza Hugo');
  await page.keyboard.press('Enter');
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  await at('list-link');
  await page.keyboard.press('Escape');
  await dashboard.goto('/admin/bogus');
  await page.getByText('There is nothing at this address.').waitFor();
  await at('not-found');
};

/** Opens all views in all states. The server must be new, without instances. */
export const walk = async (walker: Walker): Promise<void> => {
  await firstRun(walker);
  await list(walker);
};
