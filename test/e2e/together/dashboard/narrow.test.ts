/** Tests the pages of the dashboard at the width of a narrow phone, in both languages, with long names. */
import assert from 'node:assert/strict';
import { Dashboard, inBrowser, phone } from '#test/support/dashboard.ts';
import { layoutFaults } from '#test/support/layout.ts';
import { Scene } from '#test/support/scene.ts';

const longName = 'Padaria Nossa Senhora da Conceição do Mato Dentro, balcão 2';
/** A name of one word, which has no place for a line break. */
const longWord = 'Campanhadenatalparatodososclientesantigosdapadariaedomercado';

/** Makes a session with a long name and two campaigns. Returns the addresses of the pages to check. */
const filledPages = async (scene: Scene): Promise<readonly string[]> => {
  const account = await scene.paired();
  const { id } = await account.seen();
  assert.equal((await account.call('POST', '/instance/updateInstanceName', { name: longName })).status, 200);
  for (const folder of [longWord, longName]) {
    const body = { type: 'text', text: 'Hi', folder, numbers: ['5511988880001'], delayMin: 1, delayMax: 1, scheduled_for: 0 };
    assert.equal((await account.call('POST', '/sender/simple', body)).status, 200);
  }
  const tabs = ['', '/campaigns', '/campaigns/new', '/webhooks', '/chatbot', '/chatwoot', '/console', '/settings'];
  const pages = [
    'start',
    'charts',
    'alerting',
    'global-webhook',
    'disk-use',
    'moving',
    'people',
    'audit-log',
    'settings-in-force',
    'about',
  ];
  return ['/admin', ...tabs.map((tab) => `/admin/sessions/${id}${tab}`), ...pages.map((page) => `/admin/${page}`)];
};

/** Opens each page in this language, and returns a sentence for each fault of the layout. */
const faultsOf = async (dashboard: Dashboard, language: string, pages: readonly string[]): Promise<readonly string[]> => {
  const { page } = dashboard;
  await page.evaluate(`localStorage.setItem('language', '${language}')`);
  const found: string[] = [];
  for (const where of pages) {
    await dashboard.goto(where);
    await page.locator(`html[lang^="${language}"] main :is(h1, .grid)`).first().waitFor();
    await page.locator('main .turning').first().waitFor({ state: 'detached' });
    const spelled = await page.locator('[spellcheck="true"]').count();
    const faults = [...(await layoutFaults(dashboard)), ...(spelled === 0 ? [] : [`the browser looks up the words of ${spelled} fields`])];
    found.push(...faults.map((fault) => `${language} ${where}: ${fault}`));
  }
  return [...found, ...dashboard.complaints];
};

inBrowser('on a narrow phone no element overlaps, is cut, or scrolls sideways outside of a table', async () => {
  const scene = await Scene.open();
  const user = { name: 'ana.maria.da.silva.operadora', role: 'operator', password: 'a password for one test' };
  const made = await scene.gateway.call('POST', '/admin/users', { body: user });
  const dashboard = await Dashboard.open(scene.gateway.address, phone);
  try {
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const pages = await filledPages(scene);
    await dashboard.goto('/admin');
    await dashboard.signIn();
    // Portuguese has the longer words.
    assert.deepEqual(await faultsOf(dashboard, 'pt', pages), []);
    assert.deepEqual(await faultsOf(dashboard, 'en', pages.slice(0, 3)), []);
  } finally {
    await dashboard.close();
    await scene.gateway.call('POST', '/admin/users/delete', { body: { id: made.body['id'] } });
    await scene.close();
  }
});
