/** Takes screenshots of the dashboard in every window size. */
import { join } from 'node:path';
import { type Dashboard, desk, windows } from '#test/support/dashboard.ts';

/** Takes a screenshot. `whole` includes the page down to its end, beyond the window. */
export type Shoot = (name: string, whole?: boolean) => Promise<void>;

export const cameraOf =
  (dashboard: Dashboard, folder: string): Shoot =>
  async (name, whole = false) => {
    for (const [suffix, view] of Object.entries(windows)) {
      await dashboard.view(view);
      await dashboard.page.screenshot({ path: join(folder, `${name}-${suffix}.png`), fullPage: whole });
    }
    await dashboard.view(desk);
  };
