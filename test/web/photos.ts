/**
 * `npm run photos [-- folder]`: makes screenshots of every view of the dashboard, in light and dark, at the width of a desktop and of a phone. A developer
 * looks for faults of the layout in them. The pictures of the README are made with them.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Dashboard } from '#test/support/dashboard.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { temporaryFolder } from '#test/support/processes.ts';
import { cameraOf } from './camera.ts';
import { photographSession } from './session-photos.ts';
import { walk } from './walk.ts';

const folder = resolve(process.argv[2] ?? temporaryFolder());
mkdirSync(folder, { recursive: true });

const gateway = await new GatewayProcess({}).start();
const dashboard = await Dashboard.open(gateway.address);

try {
  await walk({ dashboard, gateway, at: cameraOf(dashboard, folder) });
  const complaints = [...dashboard.complaints, ...(await photographSession(folder))];
  process.stdout.write(`${folder}\n`);
  for (const complaint of complaints) process.stdout.write(`complaint: ${complaint}\n`);
} finally {
  await dashboard.close();
  await gateway.close();
}
