/** Tests campaigns in the dashboard in a real browser. The phones of the simulated platform and the database are the oracle. */
import assert from 'node:assert/strict';
import { objectionsTo } from '#test/support/access.ts';
import { inBrowser } from '#test/support/dashboard.ts';
import { button, type DashboardStage, dashboardStage } from '#test/support/dashboard-stage.ts';
import { inEmbedded } from '#test/support/embedded-url.ts';
import { until } from '#test/support/until.ts';

const stage = dashboardStage({ LOOKUP_EVERY_MS: '1', CAMPAIGN_DAILY_CAP: '20' });

const rows = async <T>(text: string): Promise<readonly T[]> =>
  inEmbedded((await stage()).scene.gateway.dataDir, (database) => database.rows<T>({ name: '', text }, []));

/** Returns the newest campaign in the database, with the states of its recipients in order. */
const stored = async () => {
  const [campaign] = await rows<{ id: string; info: string; status: string }>(
    'select id, info, status from campaign order by created desc limit 1',
  );
  const recipients = await rows<{ state: string }>(
    `select state from campaign_recipient where campaign_id = '${campaign?.id ?? ''}' order by position`,
  );
  return { ...campaign, states: recipients.map(({ state }) => state) };
};

const address = ({ id }: DashboardStage, item = ''): string => `/admin/sessions/${id}/campaigns${item}`;

const textsOf = ({ scene }: DashboardStage, number: string): readonly string[] =>
  scene.platform.sandbox.received(number).map(({ text }) => text);

const confirm = async ({ dashboard: { page } }: DashboardStage): Promise<string> => {
  const dialog = page.getByRole('dialog');
  const text = await dialog.locator('p').textContent();
  await dialog.getByRole('button', { name: 'Create and send' }).click();
  await dialog.waitFor({ state: 'detached' });
  return text ?? '';
};

inBrowser('a campaign is created from a typed list by keyboard alone, and each contact gets one message', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(address(on));
  await page.getByRole('link', { name: 'New campaign' }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Name', { exact: true }).focus();
  await page.keyboard.type('January');
  await page.getByLabel('Numbers').focus();
  await page.keyboard.type('+55 11 97770-0001\n5511977700002\n\n12\n5511977700001');
  await page.getByText('Valid recipients: 2.').waitFor();
  await page.getByText('Rows with errors, which are left out: 2.').waitFor();
  await page.getByRole('cell', { name: 'a number has 5 to 15 digits' }).waitFor();
  await page.getByRole('cell', { name: 'the number is in the list twice' }).waitFor();
  await page.getByLabel('Text').focus();
  await page.keyboard.type('We open at nine');
  for (const label of ['Shortest pause (s)', 'Longest pause (s)']) await page.getByLabel(label).fill('1');
  await button(on, 'Create campaign').focus();
  await page.keyboard.press('Enter');
  assert.match(await confirm(on), /^Recipients: 2\. The first message leaves at once, and each next one 1 to 1 s later\.$/);
  await page.getByRole('heading', { name: 'January' }).waitFor();
  await page.locator('.badge', { hasText: 'done' }).waitFor();
  await page.getByText('2 of 2 messages').waitFor();
  const contacts = ['5511977700001', '5511977700002'];
  await until(() => contacts.every((number) => textsOf(on, number).length > 0), 'the contacts read the message');
  assert.deepEqual(
    contacts.map((number) => textsOf(on, number)),
    [['We open at nine'], ['We open at nine']],
  );
  const { info, status, states } = await stored();
  assert.deepEqual([info, status, states], ['January', 'done', ['sent', 'sent']]);
});

/**
 * Types further numbers into a long list, as fast as the page accepts them. Returns how often the preview changed meanwhile, and how often the
 * typing paused for the 300 ms after which the page reads a long list. A busy machine causes pauses by itself.
 */
const typeOn = (first: string, more: number) => `(async () => {
  const field = document.querySelector('textarea[name="numbers"]');
  let changes = 0;
  let rests = 0;
  const observer = new MutationObserver(() => (changes += 1));
  observer.observe(document.querySelector('.preview'), { subtree: true, childList: true, characterData: true });
  for (let n = 0; n < ${more}; n += 1) {
    field.value += '\\n' + (${first}n + BigInt(n));
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    const typed = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (performance.now() - typed >= 250) rests += 1;
  }
  observer.disconnect();
  return { changes, rests };
})()`;

inBrowser('a long list is read when the typing pauses, all of it is sent, and a list that is too long is refused', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(address(on, '/new'));
  const numbers = page.getByLabel('Numbers');
  const paste = async (text: string): Promise<void> => {
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
    await numbers.fill('');
    await numbers.press('ControlOrMeta+V');
  };
  const list = (size: number) => Array.from({ length: size }, (_, n) => 5_511_900_000_000 + n).join('\n');
  await page.getByText('At most 10,000 rows.').waitFor();
  await paste(list(100_000));
  await page.getByText('A typed list has at most 10,000 rows. Choose a file for a longer list.').waitFor();
  assert.equal(await numbers.inputValue(), '');
  // The browser checks no spelling in a list of numbers.
  assert.equal(await numbers.getAttribute('spellcheck'), 'false');
  await paste(list(2_000));
  await page.getByText('Valid recipients: 2,000.').waitFor();
  const { changes, rests } = await page.evaluate<{ readonly changes: number; readonly rests: number }>(typeOn('5511900002000', 20));
  assert.ok(changes < 10 * (rests + 1), `${changes} changes, with ${rests} rests`);
  await page.getByLabel('Text').fill('Hi');
  await button(on, 'Create campaign').click();
  await page.getByRole('dialog').getByText('Recipients: 2,020.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Valid recipients: 2,020.').waitFor();
  // A list without a line break is one row.
  await paste('5'.repeat(100_000));
  await page.getByText('Rows with errors, which are left out: 1.').waitFor();
  const shown = await page.locator('.preview th[scope="row"]').textContent();
  assert.equal(shown, `${'5'.repeat(100)}…`);
  await numbers.fill('');
  await page.getByLabel('Text').fill('');
});

inBrowser('columns of a CSV file fill the text of each contact, and rows with errors are left out', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(address(on, '/new'));
  await button(on, 'CSV file').click();
  const csv = 'Nome;Telefone;Cidade\r\n"Ana; Lima";+55 11 97770-0011;Recife\r\nBo;123;Natal\r\nCy;5511977700012;Olinda\r\n';
  const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv, 'latin1') };
  await page.getByLabel('File', { exact: true }).setInputFiles(file);
  assert.equal(await page.getByLabel('Column with the numbers').inputValue(), '1');
  await page.getByLabel('Text').fill('Oi {{Nome}} de {{cidade}}!');
  await page.getByText('Oi Ana; Lima de Recife!').waitFor();
  await page.getByText('Rows with errors, which are left out: 1.').waitFor();
  assert.deepEqual(await objectionsTo(on.dashboard, 'new campaign'), []);
  for (const label of ['Shortest pause (s)', 'Longest pause (s)']) await page.getByLabel(label).fill('1');
  await button(on, 'Create campaign').click();
  await confirm(on);
  await until(() => textsOf(on, '5511977700012').length > 0, 'the last contact has the message');
  assert.deepEqual(textsOf(on, '5511977700011'), ['Oi Ana; Lima de Recife!']);
  assert.deepEqual(textsOf(on, '5511977700012'), ['Oi Cy de Olinda!']);
  assert.deepEqual((await stored()).states.length, 2);
});

inBrowser('the preview and the confirmation of a campaign name unknown placeholders and the daily limit', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(address(on, '/new'));
  const numbers = Array.from({ length: 45 }, (_, at) => `55119777010${String(at).padStart(2, '0')}`);
  const unknown = /does not know this placeholder and sends it as written: \{\{nmae\}\}\. It knows \{\{name\}\}/;
  const limit =
    /at most 20 campaign messages within 24 hours\. In the last 24 hours it sent \d+\. The last message leaves about 2 days after/;
  await page.getByLabel('Numbers').fill(numbers.join('\n'));
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByText(limit).waitFor();
  await page.getByLabel('Text').fill('Hi {{nmae}}');
  await preview.getByText(unknown).waitFor();
  assert.deepEqual(await objectionsTo(on.dashboard, 'campaign with cautions'), []);
  await button(on, 'Create campaign').click();
  const dialog = page.getByRole('dialog');
  assert.match((await dialog.locator('.caution').allTextContents()).join('\n'), new RegExp(`${unknown.source}.*\n.*${limit.source}`));
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByLabel('Text').fill('Hi {{name}}');
  await page.getByLabel('Numbers').fill('5511977701001');
  await preview.locator('.caution').first().waitFor({ state: 'detached' });
});

inBrowser('an empty file is refused with a message, and the next change of the form removes the message', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(address(on, '/new'));
  await button(on, 'CSV file').click();
  const file = page.getByLabel('File', { exact: true });
  const csv = (text: string) => file.setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  const alerts = page.locator('form [role=alert]');
  await csv('\r\n;;\r\n');
  await alerts.filter({ hasText: 'The file is empty, or has only the names of its columns.' }).waitFor();
  await page.getByLabel('Text').fill('Hi');
  await button(on, 'Create campaign').click();
  await alerts.filter({ hasText: 'There is no valid recipient.' }).waitFor();
  await csv('5511977701001');
  await page.getByText('Valid recipients: 1.').waitFor();
  assert.equal(await alerts.count(), 0);
  await csv('');
  await alerts.filter({ hasText: 'The file is empty, or has only the names of its columns.' }).waitFor();
  await button(on, 'Type a list').click();
  await button(on, 'CSV file').click();
  assert.equal(await alerts.count(), 0);
});

inBrowser('a placeholder in a cell of the file does not reveal a note about the contact', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const number = '5511977700061';
  await on.scene.platform.sandbox.send(number, on.account.number, { kind: 'text', text: 'Hello' });
  const lead = () =>
    on.account.call('POST', '/chat/editLead', { id: `${number}@s.whatsapp.net`, lead_notes: 'owes us money', lead_email: 'a@example.com' });
  await until(async () => (await lead()).status === 200, 'the contact has a note');
  await on.dashboard.goto(address(on, '/new'));
  await button(on, 'CSV file').click();
  const csv = `phone,nome\n${number},{{lead_notes}}\n`;
  await page.getByLabel('File', { exact: true }).setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
  await page.getByLabel('Text').fill('Oi {{nome}}, {{lead_email}}');
  await page.getByText('Oi lead_notes, {{lead_email}}').waitFor();
  for (const label of ['Shortest pause (s)', 'Longest pause (s)']) await page.getByLabel(label).fill('1');
  await button(on, 'Create campaign').click();
  await confirm(on);
  await until(() => textsOf(on, number).length > 0, 'the contact has the message');
  assert.deepEqual(textsOf(on, number), ['Oi lead_notes, a@example.com']);
});

inBrowser('an unreadable list is refused with the reason, and a list that is too long is not sent', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(address(on, '/new'));
  await button(on, 'CSV file').click();
  const give = (text: string): Promise<void> =>
    page.getByLabel('File', { exact: true }).setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  const says = (sentence: RegExp): Promise<void> => page.getByText(sentence).waitFor();
  await give('phone,name\n5511900000001,Ana\n5511900000002,"Bob\n5511900000003,Cy\n');
  await says(/^The quotation mark in line 3 is not closed/);
  await page.getByText('Type numbers or choose a file').waitFor();
  await give(`5511900000001${','.repeat(1_000_000)}\n`);
  await says(/^Line 1 has more than 200 columns\.$/);
  await give('a'.repeat(20_000_001));
  await says(/^The list is larger than 20 MB\.$/);
  await give('cpf,telefone\n12345678901,5511900000001.0\n98765432100,5.51E+12\n');
  await says(/^Valid recipients: 1\.$/);
  await page.getByRole('cell', { name: /^scientific notation has lost digits/ }).waitFor();
  const column = page.getByLabel('Column with the numbers');
  assert.equal(await column.locator('option:checked').textContent(), 'telefone');
  await column.selectOption({ label: 'cpf' });
  await says(/^Valid recipients: 2\.$/);
  await give(Array.from({ length: 100_001 }, (_, at) => 5511900000000 + at).join('\n'));
  await says(/^A campaign takes at most 100,000 recipients, and this list has 100,001\./);
  await page.getByLabel('Text').fill('Hi');
  await button(on, 'Create campaign').click();
  await page.getByRole('alert').filter({ hasText: 'at most 100,000 recipients' }).waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.deepEqual(on.dashboard.complaints, []);
});

inBrowser('an uploaded picture is sent with its caption, and a campaign without its file is refused with the reason', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(address(on, '/new'));
  await page.getByLabel('Numbers').fill('5511977700021');
  await page.getByLabel('Kind').selectOption({ label: 'Picture' });
  await page.getByLabel('Caption').fill('The offer of the week');
  await button(on, 'Create campaign').click();
  await page.getByRole('alert').filter({ hasText: 'Give the address of a file, or choose a file.' }).waitFor();
  const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await page
    .getByLabel('Or a file of this computer')
    .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(picture, 'base64') });
  await button(on, 'Create campaign').click();
  await confirm(on);
  const [message] = await until(() => {
    const all = on.scene.platform.sandbox.received('5511977700021');
    return all.length > 0 && all;
  }, 'the contact has the picture');
  assert.deepEqual([message?.kind, message?.text], ['imageMessage', 'The offer of the week']);
});

inBrowser('a scheduled campaign is stopped, continued and deleted', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(address(on, '/new'));
  await page.getByLabel('Numbers').fill('5511977700031');
  await page.getByLabel('Name', { exact: true }).fill('Later');
  await page.getByLabel('Text').fill('Never sent');
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
  await page.getByLabel('First message').fill(tomorrow);
  await button(on, 'Create campaign').click();
  await confirm(on);
  await page.locator('.badge', { hasText: 'scheduled' }).waitFor();
  await button(on, 'Stop').click();
  await page.locator('.badge', { hasText: 'paused' }).waitFor();
  assert.equal((await stored()).status, 'paused');
  await button(on, 'Continue').click();
  await page.locator('.badge', { hasText: 'scheduled' }).waitFor();
  assert.equal((await stored()).status, 'waiting');
  await page.locator('.item').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Campaigns' }).waitFor();
  await page.getByRole('link', { name: 'Later' }).waitFor({ state: 'detached' });
  await until(async () => (await stored()).info !== 'Later', 'the campaign is gone from the database');
  assert.deepEqual(textsOf(on, '5511977700031'), []);
  assert.deepEqual(await objectionsTo(on.dashboard, 'campaigns'), []);
});

inBrowser('failures are counted by reason, and the progress of a campaign from the API is shown live', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await on.dashboard.goto(address(on));
  await page.getByRole('heading', { name: 'Campaigns' }).waitFor();
  const absent = ['5511977700041', '5511977700042'];
  for (const number of absent) await on.scene.platform.sandbox.putPerson({ number, absent: true });
  const numbers = ['5511977700043', ...absent, 'nobody'];
  const body = { type: 'text', text: 'Hi', folder: 'Mixed', numbers, delayMin: 1, delayMax: 1, scheduled_for: 0 };
  assert.equal((await on.account.call('POST', '/sender/simple', body)).status, 200);
  const item = page.getByRole('listitem', { name: 'Mixed' });
  await item.getByText('4 of 4 messages · 3 not sent').waitFor();
  await item.getByRole('link', { name: 'Mixed' }).click();
  const reasons = page.getByRole('group', { name: 'Failures by reason' });
  await reasons.getByRole('row', { name: 'the number … is not on WhatsApp 2' }).waitFor();
  await reasons.getByRole('row', { name: /digits with the country code.* 1$/ }).waitFor();
  const sent = page.getByRole('rowheader', { name: '5511977700043' });
  await sent.waitFor();
  await button(on, 'not sent').click();
  await sent.waitFor({ state: 'detached' });
  await until(async () => (await page.locator('.messages tbody tr').count()) === 3, 'the three failures are listed');
  assert.deepEqual((await stored()).states, ['sent', 'failed', 'failed', 'failed']);
  assert.deepEqual(await objectionsTo(on.dashboard, 'campaign'), []);
  await on.dashboard.goto(address(on, '/r00000000000000'));
  await page.getByText('This campaign does not exist (any more).').waitFor();
  assert.deepEqual(on.dashboard.complaints, []);
});

inBrowser('a campaign that stopped by itself shows the reason and can continue, and refused messages can be sent again', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const { sandbox } = on.scene.platform;
  const send = (number: string, folder: string) => {
    const body = { type: 'text', text: folder, folder, numbers: [number], delayMin: 1, delayMax: 1, scheduled_for: 0 };
    return on.account.call('POST', '/sender/simple', body);
  };
  await on.dashboard.goto(address(on));
  await sandbox.restrict(on.account.number, { capping: { status: 'CAPPED' } });
  await send('5511977700051', 'Capped');
  const capped = page.getByRole('listitem', { name: 'Capped' });
  await capped.locator('.badge.of-person', { hasText: 'paused' }).waitFor();
  await capped.getByText(/temporarily restricted/).waitFor();
  assert.deepEqual(await objectionsTo(on.dashboard, 'stopped campaign'), []);
  await sandbox.restrict(on.account.number, { capping: { status: 'NONE' } });
  await capped.getByRole('button', { name: 'Continue' }).click();
  await capped.locator('.badge', { hasText: 'done' }).waitFor();
  await until(() => textsOf(on, '5511977700051').length > 0, 'the contact has the message');
  assert.deepEqual(textsOf(on, '5511977700051'), ['Capped']);

  await sandbox.fault({ kind: 'ackError', number: on.account.number, code: 479, times: 1 });
  await send('5511977700052', 'Refused');
  const refused = page.getByRole('listitem', { name: 'Refused' });
  await refused.getByText('1 of 1 message · 1 not sent').waitFor();
  await refused.getByRole('button', { name: 'Try the failed ones again' }).click();
  await refused.getByText('1 of 1 message', { exact: true }).waitFor();
  await until(() => textsOf(on, '5511977700052').length > 0, 'the contact has the message');
  await until(async () => (await stored()).states.join() === 'sent', 'the message is stored as sent');
  assert.deepEqual(on.dashboard.complaints, []);
});
