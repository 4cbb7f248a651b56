/** `node test/web/linking-photos.ts`: makes the pictures of `docs/linking.md` with the dashboard, the extension and the simulated platform. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Locator } from 'playwright-core';
import { Dashboard, desk } from '#test/support/dashboard.ts';
import { PasskeyBrowser } from '#test/support/passkey-browser.ts';
import { makeCode, sign } from '#test/support/passkeys.ts';
import { Scene } from '#test/support/scene.ts';
import { root } from '#test/source-tree.ts';

const scene = await Scene.open({
  NODE_OPTIONS: `--import=${join(root, 'test/support/monotonic-jump.ts')}`,
  CLOCK_JUMP_MS: '301000',
});
const dashboard = await Dashboard.open(scene.gateway.address, { ...desk, width: 900 });
const browser = await PasskeyBrowser.open(scene.gateway.address);

/** Takes a screenshot of an element for a page of docs/. A palette keeps the file small. */
const shoot = async (name: string, what: Pick<Locator, 'screenshot'>): Promise<void> => {
  const picture = await sharp(await what.screenshot())
    .png({ palette: true, quality: 90, effort: 10 })
    .toBuffer();
  writeFileSync(join(root, 'docs', `${name}.png`), picture);
};

try {
  const { page } = dashboard;
  const account = await scene.create();
  await account.call('POST', '/instance/updateInstanceName', { name: 'Bakery Ana' });
  await scene.platform.sandbox.givePasskey(account.number, {});
  await dashboard.goto(`/admin/sessions/${(await account.seen()).id}`);
  await dashboard.signIn();
  await page.getByRole('button', { name: 'Link a phone' }).click();
  const box = page.locator('dialog');
  const picture = box.getByRole('img', { name: 'QR code' });
  await picture.waitFor();
  await shoot('linking-qr', box);
  await scene.platform.scan({ qrcode: String(await picture.getAttribute('src')), number: account.number, name: 'Ana' });
  await box.getByRole('button', { name: 'Make a code' }).click();
  await box.locator('output').waitFor();
  await shoot('linking-passkey', box);
  await browser.page.setViewportSize({ width: 680, height: 240 });
  await browser.follow(`${scene.gateway.address}#${await makeCode(account)}`);
  await browser.page.getByRole('button', { name: 'Sign with the passkey' }).waitFor();
  await shoot('linking-extension', browser.page);
  scene.gateway.signal('SIGUSR2');
  await account.call('POST', '/instance/passkey', await sign(scene, account));
  await box.locator('output').waitFor();
  await box.getByText('Compare this code').waitFor();
  await shoot('linking-code', box);
} finally {
  await browser.close();
  await dashboard.close();
  await scene.close();
}
