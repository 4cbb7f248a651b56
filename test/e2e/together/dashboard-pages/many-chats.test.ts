/** Tests a session with thousands of chats, and a chat with thousands of messages, in a real browser: few elements, and everything within reach. */
import assert from 'node:assert/strict';
import { fill } from '#test/bench/fill.ts';
import { inBrowser, nextFrame } from '#test/support/dashboard.ts';
import { dashboardStage, type DashboardStage } from '#test/support/dashboard-stage.ts';
import { inEmbedded } from '#test/support/embedded-url.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const chats = 5_000;
const messages = 3_000;

const stage = dashboardStage();

/** Inserts rows as the gateway stores them. The chat of the contact is the oldest one, and has all the messages. */
const fillIn = async ({ scene, id }: DashboardStage): Promise<void> => {
  const common = { instance_id: `'${id}'` };
  const jid = `'55119' || '5' || lpad(n::text, 7, '0') || '@s.whatsapp.net'`;
  await inEmbedded(scene.gateway.dataDir, async (database) => {
    await fill(database, 'chat', chats - 1, {
      ...common,
      chat_id: jid,
      id: `'r' || lpad(to_hex(n), 14, '0')`,
      name: `'Person ' || n`,
      phone: `'+55 11 95' || lpad(n::text, 7, '0')`,
      unread_count: 'case when n % 10 = 0 then 1 else 0 end',
      last_message_timestamp: '1700000000000 + n * 1000::bigint',
    });
    await fill(database, 'message', messages, {
      ...common,
      message_id: `'3EB0' || lpad(upper(to_hex(n)), 18, '0')`,
      chat_id: `'${contact}@s.whatsapp.net'`,
      id: `'r' || lpad(to_hex(n), 7, '0')`,
      message_type: `'Conversation'`,
      type: `'text'`,
      sender: `'${contact}@s.whatsapp.net'`,
      timestamp: '1600000000000 + n * 1000::bigint',
      text: `'text number ' || n || '.'`,
    });
  });
};

const idOf = async ({ account }: DashboardStage): Promise<string> => String((await account.chatOf(`${contact}@s.whatsapp.net`))?.['id']);

const countOf = ({ dashboard: { page } }: DashboardStage, selector: string): Promise<number> => page.locator(selector).count();

inBrowser('a list of 5,000 chats has few elements, loads chats as the user scrolls, and finds every chat', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.scene.stored(on.account, [await on.scene.write(on.account, 'The newest text')]);
  await fillIn(on);
  await on.dashboard.goto(`/admin/sessions/${on.id}/chats`);
  await page.locator(`.chat-rows li[aria-setsize="${chats}"]`).first().waitFor();
  await page.getByText('5,000 chats').waitFor();
  const seen = new Set<string>();
  const names = `[...document.querySelectorAll('.chat-rows .name')].map((one) => one.textContent)`;
  // The list is in the order of the last messages, so the numbers in the names count down from the newest.
  for (let at = 0; seen.size < 500; at += 1) {
    await page.evaluate(`document.querySelector('.chat-rows').scrollTop = ${at * 400}`);
    await until(
      async () => (await page.evaluate<number>(`document.querySelector('.chat-rows').scrollHeight`)) > at * 400 + 400,
      'more chats are loaded',
    );
    await page.evaluate(nextFrame);
    for (const name of await page.evaluate<string[]>(names)) seen.add(name);
    assert.ok((await countOf(on, '.chat-rows li')) < 60);
  }
  const numbers = [...seen].filter((name) => name.startsWith('Person 4')).map((name) => Number(name.slice('Person '.length)));
  for (let n = chats - 2; n > chats - 450; n -= 1) assert.ok(numbers.includes(n), `Person ${n} was passed`);
  await page.getByLabel('Search by name or number').fill('Person 17');
  await page.getByText('111 chats').waitFor();
  await page.getByLabel('Search by name or number').fill('');
  await page.getByRole('button', { name: 'Unread' }).click();
  await page.getByText('501 chats').waitFor();
});

inBrowser('a new message moves a chat to the top that the list had not loaded yet', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(`/admin/sessions/${on.id}/chats`);
  await page.locator('.chat-rows li').first().waitFor();
  await on.scene.platform.sandbox.send('5511950000001', on.account.number, { kind: 'text', text: 'It has been a while' });
  await page.locator('.chat-rows li[aria-posinset="1"]', { hasText: 'It has been a while' }).waitFor();
  assert.equal(await countOf(on, '.chat-rows li:has-text("It has been a while")'), 1);
});

/** Returns the texts of the conversation that have elements now. */
const textsOf = ({ dashboard: { page } }: DashboardStage): Promise<readonly string[]> =>
  page.evaluate(`[...document.querySelectorAll('.message .text')].map((one) => one.textContent.trim())`);

inBrowser('a chat of 3,000 messages scrolls to its beginning and back with few elements and without a gap', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(`/admin/sessions/${on.id}/chats/${await idOf(on)}`);
  await page.getByText('The newest text').last().waitFor();
  await page.locator('.messages').focus();
  const seen = new Set<string>();
  const isAtBeginning = async (): Promise<boolean> => (await page.getByText('No older messages are stored.').count()) > 0;
  await until(
    async () => {
      await page.evaluate(`document.querySelector('.messages').scrollTop = 0`);
      for (const text of await textsOf(on)) seen.add(text);
      assert.ok((await countOf(on, '.message')) <= 150);
      return isAtBeginning();
    },
    () => `the beginning is reached; ${seen.size} messages were seen`,
    240_000,
  );
  for (const text of await textsOf(on)) seen.add(text);
  for (let n = 0; n < messages; n += 1) assert.ok(seen.has(`text number ${n}.`), `message ${n} was shown`);
  const now = await textsOf(on);
  assert.equal(now[0], 'text number 0.');
  assert.deepEqual(
    now,
    now.map((_text, n) => `text number ${n}.`),
    'the messages stand in their order',
  );
  const place = `document.querySelector('[data-message="3EB0000000000000000064"]')?.getBoundingClientRect().top`;
  await page.evaluate(`document.querySelector('[data-message="3EB0000000000000000064"]').scrollIntoView()`);
  const before = Number(await page.evaluate(place));
  await on.scene.write(on.account, 'Meanwhile a text came');
  await page.locator('.chat-rows li', { hasText: 'Meanwhile a text came' }).waitFor();
  assert.ok(Math.abs(Number(await page.evaluate(place)) - before) < 2, 'what is read stays where it is');
  await page.getByRole('button', { name: 'Newest messages' }).click();
  await page.locator('.message', { hasText: 'Meanwhile a text came' }).waitFor();
  await until(
    async () =>
      Number(
        await page.evaluate(
          `(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(document.querySelector('.messages'))`,
        ),
      ) < 5,
    'the end is in sight',
  );
  assert.deepEqual(on.dashboard.complaints, []);
});
