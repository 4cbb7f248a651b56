/**
 * `npm run photos [-- folder]`: photographs of every view of the dashboard, in light and dark, on a desk's width and a phone's.
 * They are to be looked at: what is ugly, cut off or needs explaining is mended.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Dashboard, desk, windows } from '#test/support/dashboard.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { temporaryFolder } from '#test/support/processes.ts';
import { walk } from './walk.ts';

const folder = resolve(process.argv[2] ?? temporaryFolder());
mkdirSync(folder, { recursive: true });

const gateway = await new GatewayProcess({}).start();
const dashboard = await Dashboard.open(gateway.address);
const { page } = dashboard;

const shoot = async (name: string): Promise<void> => {
  for (const [suffix, view] of Object.entries(windows)) {
    await dashboard.view(view);
    await page.screenshot({ path: join(folder, `${name}-${suffix}.png`) });
  }
  await dashboard.view(desk);
};

try {
  await walk({ dashboard, gateway, at: shoot });
  process.stdout.write(`${folder}\n`);
  for (const complaint of dashboard.complaints) process.stdout.write(`complaint: ${complaint}\n`);
} finally {
  await dashboard.close();
  await gateway.close();
}
