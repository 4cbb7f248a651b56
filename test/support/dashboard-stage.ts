/** The dashboard on the page of a live session, with the real gateway and the simulated platform. */
import { after } from 'node:test';
import type { Account } from './account.ts';
import { Dashboard } from './dashboard.ts';
import { Scene } from './scene.ts';

export interface DashboardStage {
  readonly scene: Scene;
  readonly account: Account;
  readonly id: string;
  readonly dashboard: Dashboard;
}

/** Returns a function that opens the stage at its first call, so skipped tests start no gateway. The stage closes after the last test of the file. */
export const dashboardStage = (settings: Readonly<Record<string, string>> = {}): (() => Promise<DashboardStage>) => {
  const open = async (): Promise<DashboardStage> => {
    const scene = await Scene.open(settings);
    const account = await scene.paired();
    const { id } = await account.seen();
    const dashboard = await Dashboard.signedIn(scene.gateway.address, `/admin/sessions/${id}`);
    return { scene, account, id, dashboard };
  };
  let opened: Promise<DashboardStage> | undefined;
  after(async () => {
    const { scene, dashboard } = (await opened?.catch(() => undefined)) ?? {};
    await dashboard?.close();
    await scene?.close();
  });
  return () => (opened ??= open());
};

/** Returns the locator of a highlighted state in the chart. */
export const lit = ({ dashboard: { page } }: DashboardStage, state: string) => page.locator(`.chart .state.lit[data-state="${state}"]`);

export const button = ({ dashboard: { page } }: DashboardStage, name: string) => page.getByRole('button', { name, exact: true });
