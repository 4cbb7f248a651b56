/** Tests the languages of the dashboard in a real browser: the language of the browser, a choice that is kept, and translated reasons of the server. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { pt } from '#src/web/page/texts/pt.js';
import { objectionsTo } from '#test/support/access.ts';
import { Dashboard, desk, inBrowser, withoutBrowser } from '#test/support/dashboard.ts';
import { adminToken } from '#test/support/gateway.ts';
import { Scene } from '#test/support/scene.ts';

let scene: Scene;

before(async () => {
  if (withoutBrowser === '') scene = await Scene.open();
});
after(() => scene?.close());

/** Opens a view in a browser of this language, and signs in by the Portuguese labels. */
const opened = async (where: string, locale: string): Promise<Dashboard> => {
  const dashboard = await Dashboard.open(scene.gateway.address, { ...desk, locale });
  await dashboard.goto(where);
  await dashboard.page.getByLabel('Token de administrador').fill(adminToken);
  await dashboard.page.keyboard.press('Enter');
  await dashboard.page.getByRole('button', { name: 'Sair' }).waitFor();
  return dashboard;
};

inBrowser('the dashboard uses the language of the browser, and keeps another choice', async () => {
  const dashboard = await opened('/admin', 'pt-BR');
  try {
    const { page } = dashboard;
    assert.equal(await page.locator('html').getAttribute('lang'), 'pt-BR');
    await page.getByRole('button', { name: 'EN, English', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'en');
    await page.getByRole('button', { name: 'PT, Português', exact: true }).click();
    await page.getByRole('button', { name: 'Sair' }).waitFor();
    assert.deepEqual(dashboard.complaints, []);
  } finally {
    await dashboard.close();
  }
});

inBrowser(`the page of a session shows state and reason in the user's language, and the list fits on a phone`, async () => {
  const { body } = await scene.gateway.call('POST', '/instance/create', { body: { name: 'loja' } });
  const dashboard = await opened(`/admin/sessions/${(body.instance as { id: string }).id}`, 'pt-PT');
  try {
    const why = dashboard.page.locator('.why');
    await why.getByRole('heading', { name: 'parada' }).waitFor();
    assert.match(String(await why.textContent()), /Clique em Conectar para vincular um telefone/);
    // An error of the server is translated too, and names the fields by their labels.
    await dashboard.page.getByRole('link', { name: pt.tab_settings }).click();
    const form = dashboard.page.locator('form', { has: dashboard.page.getByLabel(pt.paceLeast) });
    await form.getByLabel(pt.paceLeast).fill('9');
    await form.getByLabel(pt.paceMost).fill('3');
    await form.getByRole('button', { name: pt.save }).click();
    await form.getByText(`“${pt.paceLeast}” não pode ser maior que “${pt.paceMost}”`).waitFor();
    await form.getByLabel(pt.paceLeast).fill('0');
    await form.getByLabel(pt.paceMost).fill('0');
    await form.getByRole('button', { name: pt.save }).click();
    await dashboard.page.getByText(pt.saved).waitFor();
    await dashboard.goto('/admin');
    await dashboard.page.getByRole('link', { name: 'loja' }).waitFor();
    assert.equal((await objectionsTo(dashboard, 'lista')).join('\n'), '');
    assert.deepEqual(dashboard.complaints, []);
  } finally {
    await dashboard.close();
  }
});

inBrowser('pages with English explanations announce the language, and mark it for screen readers', async () => {
  const dashboard = await opened('/admin/disk-use', 'pt-BR');
  const { page } = dashboard;
  try {
    for (const where of ['/admin/disk-use', '/admin/settings-in-force']) {
      await dashboard.goto(where);
      await page.locator('.rules dd').first().waitFor();
      await page.getByText('As explicações estão em inglês.').waitFor();
      assert.deepEqual(await page.locator('.rules dd:not(:has([lang=en]))').allTextContents(), [], where);
    }
    assert.deepEqual(dashboard.complaints, []);
  } finally {
    await dashboard.close();
  }
});
