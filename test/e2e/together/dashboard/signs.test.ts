/** Tests names and texts of strangers with characters that reverse the direction of a text, on every page of the dashboard in a real browser. */
import assert from 'node:assert/strict';
import { inBrowser } from '#test/support/dashboard.ts';
import { type DashboardStage, dashboardStage } from '#test/support/dashboard-stage.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const stage = dashboardStage();

/** Characters of each kind that changes the direction of a text: an override, an isolate, and marks. */
const signs = '\u202E\u2066\u200E\u200F\u061C';

/**
 * A script for the page. It returns each place that shows such a character unchanged. Form fields keep their input. Texts of a conversation keep marks
 * and isolates, because languages need them.
 */
const raw = `(() => {
  const sign = /[\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069]/;
  const found = sign.test(document.title) ? ['title of the tab'] : [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
    if ((node.parentElement.closest('.message .text') === null ? sign : /[\\u202D\\u202E]/).test(node.data)) found.push(node.parentElement.tagName + ' ' + JSON.stringify(node.data));
  for (const element of document.querySelectorAll('*'))
    for (const { name, value } of element.attributes)
      if (sign.test(value) && name !== 'value' && name !== 'href' && name !== 'src') found.push(element.tagName + ' ' + name);
  return found;
})()`;

const pages = [
  '',
  '/charts',
  '/alerting',
  '/proxies-of-sessions',
  '/global-webhook',
  '/disk-use',
  '/moving',
  '/people',
  '/audit-log',
  '/settings-in-force',
  '/about',
];

/** Puts the characters into all names and texts that strangers or other users can set. Returns the addresses of the pages that show them. */
const fill = async ({ scene, account, id }: DashboardStage): Promise<readonly string[]> => {
  const ok = async (path: string, body: object) => {
    const answer = await account.call('POST', path, body);
    assert.ok(answer.status < 300, `${path} ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await ok('/instance/updateInstanceName', { name: `shop${signs}` });
  await ok('/webhook', { action: 'add', enabled: true, url: `http://127.0.0.1:9/?x=${signs}`, events: ['messages'] });
  const agent = {
    name: `agent${signs}`,
    provider: 'custom',
    baseUrl: 'http://127.0.0.1:9',
    model: `m${signs}`,
    apikey: 'k',
    basePrompt: 'p',
  };
  const made = await ok('/agent/edit', { agent });
  await ok('/quickreply/edit', { shortCut: `reply${signs}`, type: 'text', text: `text${signs}` });
  await ok('/trigger/edit', { trigger: { type: 'agent', agent_id: made['id'], wordsToStart: `word${signs}` } });
  const campaign = {
    type: 'text',
    text: `Hi${signs}`,
    folder: `folder${signs}`,
    numbers: [contact, `x${signs}`],
    delayMin: 1,
    delayMax: 1,
    scheduled_for: 0,
  };
  const { folder_id: folder } = await ok('/sender/simple', campaign);
  await scene.stored(account, [await scene.write(account, `text${signs}`)]);
  await scene.gateway.call('POST', '/globalwebhook', {
    body: { url: `http://127.0.0.1:9/?y=${signs}`, events: ['messages'], enabled: true },
  });
  await scene.gateway.call('POST', `/admin/nodes/${encodeURIComponent(`node${signs}`)}/drain`, { body: {} });
  await until(async () => {
    const { body } = await scene.gateway.call('GET', '/admin/audit?limit=200');
    return JSON.stringify(body).includes(signs);
  }, 'the subject is in the audit log');
  const chat = await account.chatOf(`${contact}@s.whatsapp.net`);
  const tabs = [
    '',
    'chats',
    `chats/${String(chat?.['id'])}`,
    'webhooks',
    'campaigns',
    `campaigns/${String(folder)}`,
    'chatbot',
    'chatwoot',
    'console',
    'settings',
  ];
  return [...pages.map((page) => `/admin${page}`), ...tabs.map((tab) => `/admin/sessions/${id}/${tab}`.replace(/\/$/, ''))];
};

const troubled = '/admin/alerting';

/**
 * Adds a problem to the response for the page of alerts, because the gateway checks for problems once a minute. A route disables the browser's cache,
 * so every page would load all its files again.
 */
const addTrouble = ({ dashboard: { page }, id }: DashboardStage): Promise<unknown> =>
  page.route('**/admin/alerts', async (route) => {
    const trouble = { kind: 'session', key: id, name: `shop${signs}`, reason: `reason${signs}`, since: Date.now(), toldAt: null };
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), troubles: [trouble], total: 1 } });
  });

inBrowser('every page shows the code of a character that would reverse a text, and never the character itself', async () => {
  const on = await stage();
  const { dashboard } = on;
  const { page } = dashboard;
  const coded: string[] = [];
  let conversation: string | null = null;
  for (const where of await fill(on)) {
    if (where === troubled) await addTrouble(on);
    await dashboard.goto(where);
    await page.locator('main :is(h1, .grid)').first().waitFor();
    await page.locator('main .turning').first().waitFor({ state: 'detached' });
    if (/admin$|alerting|proxies|audit-log|global-webhook|sessions\//.test(where)) await page.getByText('[U+202E]').first().waitFor();
    assert.deepEqual(await page.evaluate(raw), [], where);
    if (/chats\/r/.test(where)) conversation = await page.locator('.message .text', { hasText: 'text' }).first().textContent();
    if ((await page.getByText('[U+061C]').count()) > 0) coded.push(where);
    if (where === troubled) await page.unrouteAll({ behavior: 'wait' });
  }
  assert.ok(coded.length >= 14, coded.join(' '));
  assert.match(String(conversation), /text\[U\+202E\]\u2066\u200E\u200F\u061C/);
  // Some parts of a page open only when they are pressed.
  await dashboard.goto(`/admin/sessions/${on.id}/webhooks`);
  await page.getByRole('listitem', { name: '[U+202E]' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').waitFor();
  assert.deepEqual(await page.evaluate(raw), [], 'question');
  assert.deepEqual(dashboard.complaints, []);
});
