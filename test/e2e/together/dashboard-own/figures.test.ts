/** Tests the metrics of the last day: counted by a real gateway, and drawn in a real browser beside those of a second node. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createFigureStore } from '#src/storage/stores/monitoring.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { objectionsTo } from '#test/support/access.ts';
import { Dashboard, inBrowser } from '#test/support/dashboard.ts';
import { inEmbedded } from '#test/support/embedded-url.ts';
import { until } from '#test/support/until.ts';

interface Answer {
  readonly steps: number;
  readonly nodes: readonly (Readonly<Record<'received' | 'sent' | 'delivered' | 'failed' | 'memoryBytes', readonly (number | null)[]>> & {
    readonly name: string;
  })[];
}

let scene: Scene;
let dashboard: Dashboard;
before(async () => {
  scene = await Scene.open();
});
after(async () => {
  await dashboard?.close();
  await scene?.close();
});

const sum = (values: readonly (number | null)[] = []): number => values.reduce<number>((all, value) => all + (value ?? 0), 0);

test('figures: sent and received messages and their deliveries are counted once, and the counts survive a restart', async () => {
  const account = await scene.paired();
  for (const text of ['one', 'two', 'three']) await account.sends(contact, text);
  await scene.stored(account, [await scene.write(account, 'back'), await scene.write(account, 'and again')]);
  // The receiver has a message before the gateway reads the response and counts the delivery.
  await until(async () => {
    const answer = await scene.gateway.call('GET', '/globalwebhook/deliveries?state=delivered');
    return (answer.body as unknown as { readonly deliveries: readonly unknown[] }).deliveries.length >= 5;
  }, 'the messages are delivered');
  // A stop stores the counts at once, so the test need not wait for a minute.
  await scene.gateway.end('SIGTERM');
  await scene.gateway.start();
  const { status, body } = await scene.gateway.call('GET', '/admin/figures?hours=1');
  const { steps, nodes } = body as unknown as Answer;
  const [node] = nodes;
  assert.deepEqual([status, steps, nodes.length, node?.name], [200, 60, 1, '']);
  assert.deepEqual([sum(node?.sent), sum(node?.received), sum(node?.failed)], [3, 2, 0]);
  assert.ok(sum(node?.delivered) >= 5);
  assert.ok(Math.max(...(node?.memoryBytes ?? []).map(Number)) > 50e6);
});

inBrowser('small charts show each figure of this gateway, for the last day and for an hour', async () => {
  dashboard = await Dashboard.signedIn(scene.gateway.address);
  const { page } = dashboard;
  await page.getByRole('link', { name: 'Figures' }).click();
  await page.getByRole('heading', { name: 'Figures' }).waitFor();
  await until(async () => (await page.locator('.figure canvas').count()) === 7, 'seven charts are drawn');
  await page.getByLabel('Over').selectOption('1');
  await page.getByRole('img', { name: /^Messages out: last .* a minute, highest .* a minute$/ }).waitFor();
  assert.equal(await page.locator('.figure-lines').count(), 0);
  assert.deepEqual(await objectionsTo(dashboard, 'figures'), []);
});

/** Counts the points of a chart that have the colour of its main line. */
const coloured = (figure: string): string => `(() => {
  const box = document.querySelector('[data-figure=${figure}] .plot');
  const canvas = box.querySelector('canvas');
  const wanted = getComputedStyle(box.querySelector('.inks > .ink-main')).color.match(/\\d+/g).slice(0, 3).map(Number);
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) if (wanted.every((value, index) => Math.abs(value - data[at + index]) < 3) && data[at + 3] > 200) count += 1;
  return count;
})()`;

inBrowser('charts of a cluster have a line for each node and one for all, and a pointed moment is marked in every chart', async () => {
  const { page } = dashboard;
  const now = Math.floor(Date.now() / 60_000);
  const row = { spanMs: 60_000, received: 10, sent: 5, delivered: 20, failed: 1, reconnects: 0, memoryBytes: 3e8, loopMs: 12 };
  const rows = Array.from({ length: 60 }, (_, back) => ({ ...row, minute: now - back }));
  await inEmbedded(scene.gateway.dataDir, async (database) => {
    for (const node of ['alpha', 'beta']) await createFigureStore(database).put(node, rows);
  });
  await dashboard.goto('/admin/charts');
  await page.getByLabel('Over').selectOption('1');
  await page.getByLabel('Node').waitFor();
  const lines = page.locator('[data-figure=sent] .figure-lines');
  await lines.getByText('alpha').waitFor();
  assert.match(String(await lines.textContent()), /this gateway.*alpha.*5 a minute.*beta.*all together/s);
  await until(async () => Number(await page.evaluate(coloured('sent'))) > 50, 'the line of all nodes is drawn in its colour');
  // A redrawn chart is a new element, which gets no pointer event until the pointer moves.
  const pointed = page.locator(':is([data-figure=sent], [data-figure=memoryBytes]) figcaption').filter({ hasText: / at \d\d:\d\d/ });
  const over = page.locator('[data-figure=sent] .u-over');
  await until(async () => {
    await over.hover({ position: { x: 50, y: 20 } });
    await over.hover({ position: { x: 60, y: 20 } });
    return (await pointed.count()) === 2;
  }, 'both charts show the pointed moment');
  await page.mouse.move(0, 0);
  assert.deepEqual(await objectionsTo(dashboard, 'figures of nodes'), []);
  await page.getByLabel('Node').selectOption('beta');
  await page.locator('.figure-lines').first().waitFor({ state: 'detached' });
  assert.deepEqual(dashboard.complaints, []);
});
