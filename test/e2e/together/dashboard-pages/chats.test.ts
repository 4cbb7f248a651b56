/** Tests the chats of a session in a real browser: reading and writing, with the simulated phone as the oracle. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after } from 'node:test';
import type { Route } from 'playwright-core';
import sharp from 'sharp';
import { objectionsTo } from '#test/support/access.ts';
import type { Account } from '#test/support/account.ts';
import { Cable } from '#test/support/cable.ts';
import { Dashboard, desk, inBrowser } from '#test/support/dashboard.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

interface Stage {
  readonly scene: Scene;
  readonly account: Account;
  readonly id: string;
  /** The relay between the browser and the gateway. */
  readonly cable: Cable;
  readonly dashboard: Dashboard;
}

const open = async (): Promise<Stage> => {
  const scene = await Scene.open();
  const account = await scene.paired();
  const { id } = await account.seen();
  await scene.stored(account, [await scene.write(account, 'Is the bakery open on Sunday?')]);
  const cable = await Cable.open(scene.gateway.address);
  const dashboard = await Dashboard.signedIn(cable.url.replace(/\/$/, ''), `/admin/sessions/${id}/chats`);
  return { scene, account, id, cable, dashboard };
};
let opened: Promise<Stage> | undefined;
const stage = () => (opened ??= open());
after(async () => {
  const { scene, cable, dashboard } = (await opened?.catch(() => undefined)) ?? {};
  await dashboard?.close();
  await cable?.close();
  await scene?.close();
});

/** Opens the chat with the contact from the list. */
const conversation = async ({ account, dashboard, id }: Stage) => {
  const chat = await account.chatOf(`${contact}@s.whatsapp.net`);
  await dashboard.goto(`/admin/sessions/${id}/chats`);
  await dashboard.page.locator(`.chat-rows a[href$="/${String(chat?.['id'])}"]`).click();
  await dashboard.page.locator('.message').first().waitFor();
  return dashboard.page;
};

const message = ({ dashboard: { page } }: Stage, text: string) => page.locator('.message', { hasText: text });

const choose = async (on: Stage, text: string, act: string): Promise<void> => {
  const { page } = on.dashboard;
  await message(on, text).last().hover();
  await message(on, text).last().getByRole('button', { name: 'Actions for this message' }).click();
  await page.getByRole('menuitem', { name: act }).click();
};

const shown = ({ scene, account }: Stage, text: string) =>
  scene.platform.sandbox.shown(contact, account.number).find((one) => one.text === text);

inBrowser('a text that is written in a chat reaches the phone once, and its receipts are shown in the chat', async () => {
  const on = await stage();
  const page = await conversation(on);
  await page.getByLabel('Message', { exact: true }).fill('Yes, from eight to noon.');
  await page.keyboard.press('Enter');
  await message(on, 'Yes, from eight to noon.').waitFor();
  const received = await until(() => {
    const found = on.scene.platform.sandbox.received(contact).filter(({ text }) => text === 'Yes, from eight to noon.');
    return found.length > 0 && found;
  }, 'the phone decrypts the text');
  assert.equal(received.length, 1);
  // The stream can show the message before the answer to the request empties the field.
  await until(async () => (await page.getByLabel('Message', { exact: true }).inputValue()) === '', 'the field is empty');
  await on.scene.platform.sandbox.receipt(contact, { type: 'read', ids: [received[0]?.id ?? ''] });
  await message(on, 'Yes, from eight to noon.').getByRole('img', { name: 'read', exact: true }).waitFor();
  assert.equal(await message(on, 'Yes, from eight to noon.').count(), 1);
});

inBrowser('a text whose answer was lost is sent once, although the button is pressed again', async () => {
  const on = await stage();
  const page = await conversation(on);
  const once = async (route: Route): Promise<void> => {
    await route.fetch();
    await route.abort();
  };
  await page.route('**/send/text', once, { times: 1 });
  await page.getByLabel('Message', { exact: true }).fill('Only once');
  await page.keyboard.press('Enter');
  await page.locator('.composer .error').waitFor();
  await until(() => on.scene.readBy(contact).has('Only once'), 'the phone has the text');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.locator('.composer .error').waitFor({ state: 'detached' });
  await on.scene.works(on.account);
  assert.equal(on.scene.platform.sandbox.received(contact).filter(({ text }) => text === 'Only once').length, 1);
  await message(on, 'Only once').first().waitFor();
  assert.equal(await message(on, 'Only once').count(), 1);
});

inBrowser('a message that arrives is shown in the conversation and in the list, without a reload', async () => {
  const on = await stage();
  const page = await conversation(on);
  await on.scene.platform.sandbox.send('5511988880077', on.account.number, { kind: 'text', text: 'Another person asks' });
  await page.locator('.chat-rows li', { hasText: 'Another person asks' }).waitFor();
  await on.scene.write(on.account, 'Two loaves, please');
  await message(on, 'Two loaves, please').waitFor();
  const row = page.locator('.chat-rows li[aria-posinset="1"]');
  await row.filter({ hasText: 'Two loaves, please' }).waitFor();
  await row.filter({ hasText: 'Two loaves, please' }).locator('.unread').waitFor();
});

inBrowser('a reply quotes its message on the phone, and a press on a quote shows the quoted message', async () => {
  const on = await stage();
  const page = await conversation(on);
  const first = await on.scene.write(on.account, 'Do you have rye?');
  await message(on, 'Do you have rye?').waitFor();
  await choose(on, 'Do you have rye?', 'Reply');
  await page.getByText('Reply to').waitFor();
  // The text field takes the focus after the page has shown the quoted message above the field.
  await page.locator('.composer textarea:focus').waitFor();
  await page.keyboard.type('Rye is on Friday.');
  await page.keyboard.press('Enter');
  const received = await until(
    () => on.scene.platform.sandbox.received(contact).find(({ text }) => text === 'Rye is on Friday.'),
    'the phone has the answer',
  );
  assert.ok(JSON.stringify(received.content).includes(`"stanzaId":"${first}"`), JSON.stringify(received.content));
  await page.getByText('Reply to').waitFor({ state: 'detached' });
  await on.scene.platform.sandbox.send(contact, on.account.number, { kind: 'text', text: 'Friday is fine', replyTo: received.id });
  const quote = message(on, 'Friday is fine').locator('.quote', { hasText: 'Rye is on Friday.' });
  await quote.click();
  await page.locator('.message.marked', { hasText: 'Rye is on Friday.' }).waitFor();
  await until(
    async () => /Rye/.test(String(await page.evaluate('document.activeElement?.textContent'))),
    'the quoted message has the focus',
  );
});

inBrowser('a reaction is sent, taken back, and shown in the chat', async () => {
  const on = await stage();
  await conversation(on);
  const own = String(on.account.number);
  await on.scene.write(on.account, 'See you then!');
  await message(on, 'See you then!').waitFor();
  const reactions = () => shown(on, 'See you then!')?.reactions ?? {};
  await choose(on, 'See you then!', 'React with 👍');
  await until(() => reactions()[own] === '👍', 'the phone shows the reaction');
  await message(on, 'See you then!').locator('.reactions .own').waitFor();
  await choose(on, 'See you then!', 'Take the reaction back');
  await until(() => (reactions()[own] ?? '') === '', 'the phone shows none');
  await message(on, 'See you then!').locator('.reactions').waitFor({ state: 'detached' });
  const { id = '' } = on.scene.platform.sandbox.received(contact).find(({ text }) => text === 'Rye is on Friday.') ?? {};
  await on.scene.platform.sandbox.send(contact, on.account.number, { kind: 'reaction', messageId: id, emoji: '🙏' });
  await on.dashboard.page.locator('.message.own', { hasText: 'Rye is on Friday.' }).locator('.reactions', { hasText: '🙏' }).waitFor();
});

inBrowser('an edit changes its message, and a deletion removes the text', async () => {
  const on = await stage();
  await conversation(on);
  const { sandbox } = on.scene.platform;
  const mended = await on.scene.write(on.account, 'At nime?');
  await message(on, 'At nime?').waitFor();
  await sandbox.send(contact, on.account.number, { kind: 'edit', messageId: mended, text: 'At nine?' });
  await message(on, 'At nine?').filter({ hasText: 'edited' }).waitFor();
  assert.equal(await message(on, 'At nime?').count(), 0);
  const gone = await on.scene.write(on.account, 'Wrong chat, sorry');
  await message(on, 'Wrong chat, sorry').waitFor();
  await sandbox.send(contact, on.account.number, { kind: 'delete', messageId: gone });
  await message(on, 'This message was deleted.').waitFor();
  await conversation(on);
  await message(on, 'At nine?').filter({ hasText: 'edited' }).waitFor();
  assert.deepEqual([await message(on, 'At nine?').count(), await message(on, 'Wrong chat, sorry').count()], [1, 0]);
});

/** One second of silence as a WAV file. */
const silence = (): Buffer => {
  const head = Buffer.from('RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\0\0\0\0\0\0\0\0\x01\0\x08\0data\0\0\0\0', 'latin1');
  const rate = 8_000;
  head.writeUInt32LE(36 + rate, 4);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt32LE(rate, 40);
  return Buffer.concat([head, Buffer.alloc(rate, 0x80)]);
};

inBrowser('pictures, audio and documents are loaded on request, and a file that cannot be shown says so', async () => {
  const on = await stage();
  const page = await conversation(on);
  const { sandbox } = on.scene.platform;
  const jpeg = await sharp({ create: { width: 64, height: 48, channels: 3, background: '#c86432' } })
    .jpeg()
    .toBuffer();
  const to = on.account.number;
  await sandbox.send(contact, to, { kind: 'image', data: jpeg.toString('base64'), mimetype: 'image/jpeg', caption: 'This bread' });
  await sandbox.send(contact, to, { kind: 'audio', data: silence().toString('base64'), mimetype: 'audio/wav' });
  await sandbox.send(contact, to, { kind: 'document', data: 'aGVsbG8=', mimetype: 'text/plain', fileName: 'order.txt' });
  await sandbox.send(contact, to, { kind: 'video', data: 'bm8gdmlkZW8=', mimetype: 'video/mp4', caption: 'No video' });
  await message(on, 'This bread').getByRole('button', { name: 'Show: Picture' }).click();
  const width = `document.querySelector('.message .picture img')?.naturalWidth ?? 0`;
  await until(async () => (await page.evaluate(width)) === 64, 'the picture is shown');
  await page.getByRole('button', { name: 'Show: Sound' }).click();
  const seconds = `document.querySelector('.message audio')?.duration ?? 0`;
  await until(async () => Math.abs(Number(await page.evaluate(seconds)) - 1) < 0.1, 'the sound can be played');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download: order.txt' }).click()]);
  assert.deepEqual([download.suggestedFilename(), await readFile(await download.path(), 'utf8')], ['order.txt', 'hello']);
  await message(on, 'No video').getByRole('button', { name: 'Show: Video' }).click();
  await message(on, 'No video').getByText('The file cannot be shown').waitFor();
  assert.deepEqual(on.dashboard.complaints, []);
});

inBrowser('a file with a caption reaches the phone', async () => {
  const on = await stage();
  const page = await conversation(on);
  await page.getByLabel('Attach a file').setInputFiles({ name: 'prices.txt', mimeType: 'text/plain', buffer: Buffer.from('Rye: 4') });
  await page.getByText('prices.txt').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('Our prices');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const received = await until(
    () => on.scene.platform.sandbox.received(contact).find(({ text }) => text === 'Our prices'),
    'the phone has the file',
  );
  assert.deepEqual([received.media?.bytes, received.media?.fileName], [6, 'prices.txt']);
  await message(on, 'Our prices').getByRole('button', { name: 'Download: prices.txt' }).waitFor();
});

inBrowser('a chat is marked as read only by its button', async () => {
  const on = await stage();
  const page = await conversation(on);
  await on.scene.write(on.account, 'Still there?');
  await message(on, 'Still there?').waitFor();
  const read = () => on.scene.platform.sandbox.shown(on.account.number, contact).find(({ text }) => text === 'Still there?')?.read;
  assert.equal(read(), false, 'to look at a chat does not mark it as read');
  await page.getByRole('button', { name: 'Mark as read' }).click();
  await until(() => read() === true, 'the phone shows the chat as read');
  await page.getByRole('button', { name: 'Mark as read' }).waitFor({ state: 'detached' });
});

inBrowser('names and texts of strangers are shown as texts, links are safe, and no name reverses the text beside it', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const { sandbox } = on.scene.platform;
  const stranger = '5511988880666';
  await sandbox.putPerson({ number: stranger, name: '\u202Emoc.knab <b>Bank</b>' });
  const texts = [
    '<img src=x onerror="window.hacked = 1"><script>window.hacked = 1</script>',
    'javascript:window.hacked=1 https://bank.example@evil.example/ data:text/html,<script>1</script>',
    `see https://example.com/a?b=1&c="onmouseover=window.hacked=1 and ${'.'.repeat(50_000)}x`,
    `${'\u0300'.repeat(2_000)}marks`,
    '\u202Eevas era uoy',
  ];
  for (const text of texts) await sandbox.send(stranger, on.account.number, { kind: 'text', text });
  await on.dashboard.goto(`/admin/sessions/${on.id}/chats`);
  const row = page.locator('.chat-rows a', { hasText: '[U+202E]moc.knab <b>Bank</b>' });
  await row.click();
  await message(on, '[U+202E]evas era uoy').waitFor();
  assert.equal(await page.locator('.messages :is(img, script, b)').count(), 0);
  const links = await page.evaluate(`[...document.querySelectorAll('.message a')].map((a) => [a.href, a.target, a.rel])`);
  assert.deepEqual(links, [['https://example.com/a?b=1&c=', '_blank', 'noopener noreferrer nofollow']]);
  assert.equal(await page.evaluate('window.hacked'), undefined);
  assert.equal(await page.locator('.chat-rows bdi.name').count(), await page.locator('.chat-rows li').count());
  const overlaps = await page.evaluate(
    `[...document.querySelectorAll('.bubble')].every((one) => getComputedStyle(one).overflow === 'clip')`,
  );
  assert.equal(overlaps, true, 'marks stay within their message');
  assert.deepEqual(on.dashboard.complaints, []);
});

inBrowser('a chat has its own address without a token or a number, and "back" leads to the list', async () => {
  const on = await stage();
  const page = await conversation(on);
  const address = new URL(page.url());
  assert.match(address.pathname + address.search, /^\/admin\/sessions\/r[0-9a-f]+\/chats\/r[0-9a-f]{14}$/);
  await on.dashboard.goto(address.pathname);
  await message(on, 'Is the bakery open on Sunday?').waitFor();
  await on.dashboard.goto(`/admin/sessions/${on.id}/chats/r00000000000000`);
  await page.getByText('This chat does not exist.').waitFor();
  await conversation(on);
  await page.goBack();
  await page.getByText('Choose a chat').waitFor();
});

inBrowser('a search finds chats by name and number, and the keyboard opens a found chat', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(`/admin/sessions/${on.id}/chats`);
  await page.locator('.chat-rows a').first().waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('98888-0077');
  await page.locator('.chat-rows li[aria-setsize="1"]').waitFor();
  assert.match(String(await page.locator('.chat-rows li').textContent()), /Another person asks/);
  await page.getByLabel('Search by name or number').fill('nobody is called this');
  await page.getByRole('button', { name: 'Show all chats' }).click();
  await page.locator('.chat-rows li[aria-posinset="2"] a').waitFor();
  await page.locator('.chat-rows li[aria-posinset="1"] a').focus();
  await page.keyboard.press('ArrowDown');
  await until(async () => (await page.evaluate(`document.activeElement?.dataset.at`)) === '1', 'the second chat has the focus');
  await page.keyboard.press('Enter');
  await page.locator('.message').first().waitFor();
  await page.locator('.messages').focus();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('.');
  await page.getByRole('menuitem', { name: 'Reply' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('menuitem', { name: 'Reply' }).waitFor({ state: 'detached' });
});

inBrowser('messages that arrive while the event stream is lost are shown once and in order after it reconnects', async () => {
  const on = await stage();
  const page = await conversation(on);
  await on.scene.write(on.account, 'Before the cut');
  await message(on, 'Before the cut').waitFor();
  on.cable.cut('reset');
  await page.getByText('The connection for new messages is lost.').waitFor();
  const ids: string[] = [];
  for (let n = 1; n <= 60; n += 1) ids.push(await on.scene.write(on.account, `Meanwhile ${n}.`));
  await on.scene.stored(on.account, ids);
  on.cable.mend();
  await message(on, 'Meanwhile 60.').waitFor();
  await on.scene.write(on.account, 'After the cut');
  await message(on, 'After the cut').waitFor();
  await page.getByText('The connection for new messages is lost.').waitFor({ state: 'detached' });
  const all = await page.locator('.message .text').allTextContents();
  const own = all.map((text) => text.trim()).filter((text) => /^(?:Before|After) the cut|^Meanwhile/.test(text));
  const stored = (await on.account.messages(contact)).map(({ text }) => text).filter((text) => own.includes(text));
  assert.equal(own.length, 62);
  assert.deepEqual(own, stored.toReversed());
});

inBrowser('a user with the role viewer sees no chat, and no request of the viewer reads or writes a chat', async () => {
  const on = await stage();
  const password = 'the first long secret';
  const made = await on.scene.gateway.call('POST', '/admin/users', { body: { name: 'vera', role: 'viewer', password } });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const viewer = await Dashboard.open(on.scene.gateway.address);
  try {
    const { page } = viewer;
    await viewer.goto(`/admin/sessions/${on.id}/chats`);
    await viewer.signInAs('vera', password);
    await page.getByText('There is nothing at this address.').waitFor();
    assert.equal(await page.locator('.tabs a', { hasText: 'Chats' }).count(), 0);
    const before = on.scene.platform.sandbox.received(contact).length;
    const bodies = {
      '/chat/find': {},
      '/message/find': {},
      '/message/download': { id: '3EB0' },
      '/send/text': { number: contact, text: 'never' },
      '/send/media': { number: contact, type: 'document', file: 'aGVsbG8=' },
      '/message/react': { id: '3EB0', text: '👍' },
      '/chat/read': { number: contact, read: true },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json', 'x-instance': on.id }, body: JSON.stringify(body) };
      assert.equal(await page.evaluate(`fetch('${path}', ${JSON.stringify(init)}).then(({ status }) => status)`), 403, path);
    }
    assert.equal(on.scene.platform.sandbox.received(contact).length, before);
    assert.deepEqual(viewer.complaints, []);
  } finally {
    await viewer.close();
  }
});

inBrowser('the list of chats and a conversation obey the rules of accessibility, and fit on a phone', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(`/admin/sessions/${on.id}/chats`);
  await page.locator('.chat-rows a').first().waitFor();
  assert.equal((await objectionsTo(on.dashboard, 'chats')).join('\n'), '');
  await conversation(on);
  assert.equal((await objectionsTo(on.dashboard, 'conversation')).join('\n'), '');
  await on.dashboard.view({ width: 360, height: 740, scheme: 'light' });
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
  assert.equal(await page.locator('.chat-list').isVisible(), false);
  await page.getByRole('link', { name: 'All chats' }).click();
  await page.locator('.chat-list').waitFor();
  await on.dashboard.view(desk);
  assert.deepEqual(on.dashboard.complaints, []);
});
