/**
 * `npm run photos [-- folder]`: photographs of every view of the dashboard, in light and dark, on a desk's width and a phone's.
 * They are to be looked at: what is ugly, cut off or needs explaining is mended.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Dashboard, desk, type View } from '#test/support/dashboard.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { temporaryFolder } from '#test/support/processes.ts';

const folder = resolve(process.argv[2] ?? temporaryFolder());
mkdirSync(folder, { recursive: true });

const phone: View = { width: 390, height: 844, scheme: 'light' };
const views: Readonly<Record<string, View>> = {
  'desk-light': desk,
  'desk-dark': { ...desk, scheme: 'dark' },
  'phone-light': phone,
  'phone-dark': { ...phone, scheme: 'dark' },
};

const gateway = await new GatewayProcess({}).start();
const dashboard = await Dashboard.open(gateway.address);
const { page } = dashboard;

const shoot = async (name: string): Promise<void> => {
  for (const [suffix, view] of Object.entries(views)) {
    await dashboard.view(view);
    await page.waitForTimeout(150);
    await page.screenshot({ path: join(folder, `${name}-${suffix}.png`) });
  }
  await dashboard.view(desk);
};

const button = (name: string | RegExp) => page.getByRole('button', { name });

const firstRun = async (): Promise<void> => {
  await dashboard.goto('/admin');
  await page.getByLabel('Admin token').waitFor();
  await shoot('sign-in');
  await page.getByLabel('Admin token').fill('not the token');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await shoot('sign-in-wrong');
  await dashboard.signIn();
  await page.getByLabel('Name').waitFor();
  await shoot('start-1-name');
  await page.getByLabel('Name').fill('Bakery Ana');
  await button('Continue').click();
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  await shoot('start-2-scan');
  await button('Use a pairing code').click();
  await page.getByLabel('Phone number').fill('5511999990001');
  await shoot('start-2-phone');
  await button('Get the code').click();
  await page.locator('.paircode').waitFor();
  await shoot('start-2-code');
  await button('Show a QR code instead').click();
  await button('Scan with the simulated phone').click();
  await page.getByLabel('Message').waitFor();
  await shoot('start-3-message');
  await button('Send').click();
  await page.getByText('It works.').waitFor();
  await shoot('start-4-done');
};

const list = async (): Promise<void> => {
  for (const name of ['Clinic Clara', 'Support Iris', 'Garage João', 'School of a name that is longer than a column is wide, and longer'])
    await gateway.call('POST', '/instance/create', { body: { name } });
  await dashboard.goto('/admin');
  await page.getByRole('link', { name: 'Bakery Ana' }).waitFor();
  await shoot('list');
  await button(/disconnected/).click();
  await shoot('list-filtered');
  await button('Delete').click();
  await shoot('list-bulk-delete');
  await button('Cancel').click();
  await page.getByLabel('Name, number or reason').fill('nobody');
  await shoot('list-nothing');
  await button('Show all').click();
  await button('Actions for Bakery Ana').click();
  await shoot('list-menu');
  await page.keyboard.press('Escape');
  await button('New session').click();
  await page.getByLabel('Name', { exact: true }).waitFor();
  await shoot('list-new');
  await page.keyboard.type('Pizza Hugo');
  await page.keyboard.press('Enter');
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  await shoot('list-link');
  await page.keyboard.press('Escape');
  await dashboard.goto('/admin/nowhere-to-be-found'.replace('/nowhere', '/sessions/a/b/nowhere'));
  await shoot('not-found');
};

try {
  await firstRun();
  await list();
  process.stdout.write(`${folder}\n`);
  for (const complaint of dashboard.complaints) process.stdout.write(`complaint: ${complaint}\n`);
} finally {
  await dashboard.close();
  await gateway.close();
}
