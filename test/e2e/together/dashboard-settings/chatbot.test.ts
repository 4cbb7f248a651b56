/**
 * Tests the chatbot in the dashboard in a real browser: agents, triggers, a trial, and tokens. The model server, the phones and the database are the oracle.
 */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { objectionsTo } from '#test/support/access.ts';
import { inBrowser } from '#test/support/dashboard.ts';
import { button, type DashboardStage, dashboardStage } from '#test/support/dashboard-stage.ts';
import { inEmbedded } from '#test/support/embedded-url.ts';
import { type ModelServer, openModelServer } from '#test/support/model-server.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const key = 'sk-verysecret0123456789';
const stage = dashboardStage({ CHATBOT_PAUSE_MS: '300' });

const rows = async <T>(text: string): Promise<readonly T[]> =>
  inEmbedded((await stage()).scene.gateway.dataDir, (database) => database.rows<T>({ name: '', text }, []));
const agents = () =>
  rows<{ id: string; value: Readonly<Record<string, unknown>> }>(`select id, value from definition where kind = 'chatbotAgent'`);
const triggers = () =>
  rows<{ id: string; value: Readonly<Record<string, unknown>> }>(`select id, value from definition where kind = 'chatbotTrigger'`);
const tokens = async (): Promise<number> =>
  (await rows<{ tokens: number }>('select coalesce(sum(tokens), 0)::int as tokens from chatbot_usage'))[0]?.tokens ?? 0;
/** Counts the rows of this session. Rows of sessions of earlier test files are deleted in the background. */
const countOf = async (table: 'message' | 'chat'): Promise<number> => {
  const found = await rows<{ count: number }>(`select count(*)::int as count from ${table} where instance_id = '${(await stage()).id}'`);
  return found[0]?.count ?? 0;
};

let opened: Promise<ModelServer> | undefined;
const models = (): Promise<ModelServer> => (opened ??= openModelServer(key));
after(async () => (await opened)?.close());

const address = ({ id }: DashboardStage, item = ''): string => `/admin/sessions/${id}/chatbot${item}`;

/** True if the page holds the key anywhere: in its markup, or in a field. */
const showsKey = ({ dashboard: { page } }: DashboardStage): Promise<boolean> =>
  page.evaluate<boolean>(
    `document.documentElement.outerHTML.includes('${key}') || [...document.querySelectorAll('input, textarea')].some(({ value }) => value.includes('${key}'))`,
  );

const say = async ({ dashboard: { page } }: DashboardStage, text: string): Promise<void> => {
  const field = page.getByLabel('Message', { exact: true });
  const form = page.locator('form', { has: field });
  // The page shows an answer before it empties the form, and the form ignores presses until then.
  await form.getByRole('button', { name: 'Ask', exact: true, disabled: false }).waitFor();
  await field.fill(text);
  await field.press('Enter');
};

inBrowser('an agent is created with all its fields, and its key is stored encrypted and never shown', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const server = await models();
  await on.dashboard.goto(address(on));
  await page.getByRole('link', { name: 'New agent' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Ada');
  await page.getByLabel('Provider').selectOption({ label: 'Another service' });
  await page.getByLabel('Model', { exact: true }).fill('small');
  await button(on, 'Save').click();
  await page.getByRole('alert').filter({ hasText: '“Base address” is required for a custom provider' }).waitFor();
  await page.getByLabel('Base address').fill(server.url);
  await page.getByLabel('API key').fill(key);
  await page.getByLabel('Instructions').fill('You sell flowers.');
  await page.getByLabel('Temperature').fill('30');
  await page.getByLabel('Messages at most').fill('12');
  await page.getByLabel('Hand the chat over to a person').check();
  await button(on, 'Add a file').click();
  await page.getByLabel('Name', { exact: true }).nth(1).fill('card');
  await page.getByLabel('Address', { exact: true }).fill('https://example.com/card.png');
  await button(on, 'Save').click();
  await page.getByText('The agent is saved.').waitFor();
  await page.getByRole('heading', { name: 'Try the agent' }).waitFor();
  const [agent] = await agents();
  assert.partialDeepStrictEqual(agent?.value, {
    name: 'Ada',
    provider: 'custom',
    baseUrl: server.url,
    model: 'small',
    prompt: 'You sell flowers.',
    temperature: 30,
    diversity: null,
    memoryMost: 12,
    tools: ['handOver'],
    media: [{ name: 'card', description: '', as: 'image', file: 'https://example.com/card.png' }],
  });
  const [row] = await rows<{ text: string }>('select row_to_json(chatbot_key)::text as text from chatbot_key');
  assert.ok(row !== undefined && !row.text.includes(key) && !row.text.includes(Buffer.from(key).toString('hex')));
  assert.equal(await showsKey(on), false);
  assert.deepEqual(await objectionsTo(on.dashboard, 'agent'), []);
});

inBrowser('a trial sends the whole conversation to the model, shows tools and tokens, and stores nothing', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const server = await models();
  const [stored, received] = [await countOf('message'), on.scene.platform.sandbox.received(contact).length];
  server.answer = ({ messages: dialogue }) =>
    dialogue.some(({ role }) => role === 'tool')
      ? { text: 'A person comes.' }
      : dialogue.length > 3
        ? { calls: [{ name: 'hand_over', arguments: '{"reason":"a person"}' }] }
        : { text: 'We open at nine.' };
  await say(on, 'When do you open?');
  const talk = page.getByRole('log');
  await talk.getByText('We open at nine.').waitFor();
  await say(on, 'I want a person');
  await talk.getByText('A person comes.').waitFor();
  await talk.getByText('Would do: hand_over {"reason":"a person"}').waitFor();
  await talk.getByText('Ada · 30 tokens').waitFor();
  assert.deepEqual(
    server.asked.at(-2)?.messages.map(({ role, content }) => `${role}: ${content}`),
    ['system: You sell flowers.', 'user: When do you open?', 'assistant: We open at nine.', 'user: I want a person'],
  );
  server.answer = () => ({ status: 401 });
  await say(on, 'Hello?');
  await talk
    .getByText('No answer: the service refuses the key')
    .or(talk.getByText(/No answer: .*key/))
    .waitFor();
  assert.deepEqual([await countOf('message'), on.scene.platform.sandbox.received(contact).length], [stored, received]);
  assert.equal(await countOf('chat'), 0);
  assert.equal(await tokens(), 45);
  assert.deepEqual(await objectionsTo(on.dashboard, 'trial'), []);
  await button(on, 'Start again').click();
  await page.getByText('Write a message as a contact would.').waitFor();
});

inBrowser('an agent with a trigger answers a contact when it is switched on, and the page shows the tokens of the day', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const server = await models();
  server.answer = () => ({ text: 'Good morning to you.' });
  await on.dashboard.goto(address(on));
  await button(on, 'New trigger').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Words').fill('hello|good morning');
  await dialog.getByLabel('Priority').fill('3');
  await dialog.getByLabel('Field of the lead').selectOption('lead_status');
  await dialog.getByLabel('Comparison').selectOption({ label: 'is not' });
  await dialog.getByLabel('Value').fill('won');
  assert.deepEqual(await objectionsTo(on.dashboard, 'trigger'), []);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('only if lead_status is not won').waitFor();
  const [agent] = await agents();
  assert.partialDeepStrictEqual((await triggers())[0]?.value, {
    agentId: agent?.id,
    words: 'hello|good morning',
    priority: 3,
    leadField: 'lead_status',
    leadOperator: 'not_equals',
    leadValue: 'won',
  });
  await page.getByLabel('The chatbot answers').check();
  await page.getByLabel('Stop keyword').fill('human');
  await button(on, 'Save').click();
  await page.getByText('Saved.', { exact: true }).waitFor();
  await on.scene.platform.sandbox.send(contact, on.account.number, { kind: 'text', text: 'Good morning!' });
  await until(
    () => on.scene.platform.sandbox.received(contact).some(({ text }) => text === 'Good morning to you.'),
    'the contact has the answer',
  );
  const used = await until(async () => {
    const now = await tokens();
    return now > 45 && now;
  }, 'the tokens are counted');
  await on.dashboard.goto(address(on));
  await page.getByText(`Today (UTC): ${used} of 1,000,000.`).waitFor();
  assert.deepEqual(await objectionsTo(on.dashboard, 'chatbot'), []);
});

inBrowser('an agent is changed without typing its key again, and deleted with its triggers', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const server = await models();
  await on.dashboard.goto(address(on));
  await page.getByRole('link', { name: 'Ada' }).click();
  await page.getByLabel('Instructions').fill('You sell shoes.');
  await button(on, 'Remove file 1').click();
  await button(on, 'Save').click();
  await page.getByText('The agent is saved.').waitFor();
  assert.partialDeepStrictEqual((await agents())[0]?.value, { prompt: 'You sell shoes.', media: [] });
  server.answer = () => ({ text: 'Shoes, yes.' });
  await say(on, 'What do you sell?');
  await page.getByRole('log').getByText('Shoes, yes.').waitFor();
  assert.equal(server.asked.at(-1)?.messages[0]?.content, 'You sell shoes.');
  await page.locator('.form').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No agent yet').waitFor();
  assert.deepEqual([await agents(), await triggers(), await rows('select 1 from chatbot_key')], [[], [], []]);
  assert.deepEqual([server.objections, on.dashboard.complaints], [[], []]);
});
