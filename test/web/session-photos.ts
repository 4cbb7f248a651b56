/** Makes screenshots of the page of a session in its main states, and the picture of the README. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Account } from '#test/support/account.ts';
import { Dashboard, desk } from '#test/support/dashboard.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { root } from '#test/source-tree.ts';
import { cameraOf, type Shoot } from './camera.ts';

const settings = {
  RECONNECT_MIN_MS: '40000',
  RECONNECT_MAX_MS: '40000',
  WEBHOOK_TIMEOUT_MS: '500',
  CIRCUIT_FAILURES: '2',
};
/** No server listens on this port. */
const deadReceiver = 'http://localhost:9/events';
/** The size of the picture in the README, in pixels. Its file may have 200 kB. */
const cover = { width: 1400, height: 1010 };

const webhookTo = (url: string): object => ({ action: 'add', url, enabled: true, events: ['messages', 'messages_update'] });

interface Stage {
  readonly scene: Scene;
  readonly account: Account;
  readonly dashboard: Dashboard;
  readonly address: string;
  readonly shoot: Shoot;
}

const lit = ({ dashboard: { page } }: Stage, state: string) => page.locator(`.chart .state.lit[data-state="${state}"]`).waitFor();

const photographStates = async (stage: Stage): Promise<void> => {
  const { scene, account, dashboard, shoot } = stage;
  const { page } = dashboard;
  await lit(stage, 'connected');
  await shoot('session-connected', true);
  await page.locator('[data-state="connecting.opening"]').hover();
  await shoot('session-next');
  await page.mouse.move(5, 5);
  await page.getByRole('button', { name: 'Supervisor' }).click();
  await shoot('session-supervisor');
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  await page.getByRole('slider').press('ArrowLeft');
  await page.getByRole('slider').press('ArrowLeft');
  await shoot('session-back', true);
  await page.getByRole('button', { name: 'Back to live' }).click();
  await page.getByRole('button', { name: 'Hibernate' }).click();
  await lit(stage, 'hibernated.asleep');
  await shoot('session-asleep');
  await page.getByRole('button', { name: 'Wake' }).click();
  await lit(stage, 'connected');
  await scene.platform.sandbox.fault({ kind: 'streamError', code: 503, number: account.number });
  await lit(stage, 'connecting.waiting');
  await page.getByRole('button', { name: 'Clear circuit' }).waitFor();
  await shoot('session-waiting', true);
};

/** Takes the picture of the README in the light and the dark scheme. A palette keeps the files small. */
const photographCover = async ({ dashboard }: Stage): Promise<void> => {
  await dashboard.page.mouse.move(5, 5);
  // Notices of earlier actions would cover a part of the picture.
  await dashboard.page.locator('.toasts:not(:has(.toast))').waitFor({ state: 'attached' });
  for (const scheme of ['light', 'dark'] as const) {
    await dashboard.view({ ...cover, scheme });
    await dashboard.page.waitForTimeout(200);
    const picture = await sharp(await dashboard.page.screenshot())
      .png({ palette: true, quality: 92, effort: 10 })
      .toBuffer();
    writeFileSync(join(root, 'docs', `dashboard${scheme === 'dark' ? '-dark' : ''}.png`), picture);
  }
  await dashboard.view(desk);
};

const photographTabs = async ({ scene, account, dashboard, address, shoot }: Stage): Promise<void> => {
  const { page } = dashboard;
  await page.getByRole('button', { name: 'Reconnect' }).click();
  await account.reaches('connected');
  await account.call('POST', '/webhook', webhookTo(scene.receiver.url));
  await dashboard.goto(`${address}/webhooks`);
  await page.getByRole('heading', { name: deadReceiver }).waitFor();
  await page.getByRole('button', { name: 'Test' }).last().click();
  await page.locator('.webhook .result').waitFor();
  await shoot('session-webhooks', true);
  await page.getByRole('button', { name: 'New webhook' }).click();
  await shoot('session-webhook-new');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Console' }).click();
  await shoot('session-console-empty');
  await page.getByLabel('Number').fill(contact);
  await page.getByLabel('Text', { exact: true }).fill('Your bread is ready.');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('summary', { hasText: 'answer' }).waitFor();
  await scene.write(account, 'Thank you!');
  await page.locator('summary', { hasText: 'Thank you!' }).click();
  await shoot('session-console', true);
  await page.getByRole('link', { name: 'Chats' }).click();
  await page.locator('.chat-rows a').first().waitFor();
  await shoot('session-chats');
  await page.locator('.chat-rows a').first().click();
  await page.locator('.message').last().hover();
  await page.getByRole('button', { name: 'Actions for this message' }).last().click();
  await page.getByRole('menuitem', { name: 'Reply' }).click();
  await shoot('session-conversation');
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Show' }).waitFor();
  await shoot('session-settings', true);
  await dashboard.goto('/admin/sessions/r00000000000000');
  await page.getByText('does not exist').waitFor();
  await shoot('session-gone');
};

/** Takes pictures of a session that was never linked, and of a session that waits for its phone. */
const photographBeginnings = async ({ scene, dashboard, shoot }: Stage): Promise<void> => {
  const { page } = dashboard;
  const fresh = await scene.create();
  await dashboard.goto(`/admin/sessions/${(await fresh.seen()).id}`);
  await page.getByRole('button', { name: 'Link a phone' }).waitFor();
  await shoot('session-new', true);
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByText('No webhook yet').waitFor();
  await shoot('session-webhooks-none');
  await page.getByRole('link', { name: 'State' }).click();
  await page.getByRole('button', { name: 'Link a phone' }).click();
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  await shoot('session-link');
};

export const photographSession = async (folder: string): Promise<readonly string[]> => {
  const scene = await Scene.open(settings);
  const dashboard = await Dashboard.open(scene.gateway.address);
  try {
    const account = await scene.paired();
    await account.call('POST', '/instance/updateInstanceName', { name: 'Bakery Ana' });
    await account.call('POST', '/webhook', webhookTo(deadReceiver));
    await scene.works(account);
    const address = `/admin/sessions/${(await account.seen()).id}`;
    const stage = { scene, account, dashboard, address, shoot: cameraOf(dashboard, folder) };
    await dashboard.goto(address);
    await dashboard.signIn();
    await photographStates(stage);
    await photographCover(stage);
    await photographTabs(stage);
    await photographBeginnings(stage);
    return dashboard.complaints;
  } finally {
    await dashboard.close();
    await scene.close();
  }
};
