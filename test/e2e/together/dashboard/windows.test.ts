/** Tests many windows of the dashboard in one browser over HTTP/1.1, which shares six connections to a server among all windows. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { inBrowser } from '#test/support/dashboard.ts';
import { type DashboardStage, dashboardStage } from '#test/support/dashboard-stage.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const stage = dashboardStage();

/** Opens a further window at an address. Returns its page, and a function that counts the open streams of the window. */
const openWindow = async ({ dashboard }: DashboardStage, where: string) => {
  const page = await dashboard.page.context().newPage();
  const streams = new Set<unknown>();
  page.on('request', (request) => {
    if (/\/(?:sse|stream)(?:\?|$)/.test(request.url())) streams.add(request);
  });
  page.on('requestfailed', (request) => void streams.delete(request));
  page.on('requestfinished', (request) => void streams.delete(request));
  await page.goto(dashboard.address + where);
  return { page, streams: () => streams.size };
};

/** Calls the server from the page. Without a free connection the call is never answered. Returns the status. */
const called = (page: Page): Promise<number> =>
  page.evaluate(`fetch('/admin/session', { signal: AbortSignal.timeout(60000) }).then(({ status }) => status)`);

/** Shows or hides a window as a change of tabs does. The browser of the test shows all windows by itself. */
const show = (page: Page, isShown: boolean): Promise<void> =>
  page.evaluate(`(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: ${!isShown} });
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${isShown ? 'visible' : 'hidden'}' });
    document.dispatchEvent(new Event('visibilitychange'));
  })()`);

const paused = (page: Page) => page.getByText(/^Several windows of this server are open/);

const chatOf = async ({ account, id }: DashboardStage): Promise<string> => {
  const chat = await account.chatOf(`${contact}@s.whatsapp.net`);
  return `/admin/sessions/${id}/chats/${String(chat?.['id'])}`;
};

inBrowser('seven visible windows with chats get answers, and the windows that were used last are live', async () => {
  const on = await stage();
  await on.scene.stored(on.account, [await on.scene.write(on.account, 'Is the bakery open?')]);
  await on.dashboard.goto('/admin/about');
  const windows: Awaited<ReturnType<typeof openWindow>>[] = [];
  for (let n = 0; n < 7; n += 1) {
    const one = await openWindow(on, await chatOf(on));
    await one.page.locator('.message').first().waitFor();
    windows.push(one);
  }
  const [first, , , , , , last] = windows;
  assert.ok(first !== undefined && last !== undefined);
  await paused(first.page).waitFor();
  const streams = (): number => windows.reduce((sum, one) => sum + one.streams(), 0);
  await until(() => streams() === 3 && first.streams() === 0 && last.streams() === 1, 'three streams are open, one of the last window');
  for (const { page } of windows) assert.equal(await called(page), 200);

  // A window without a stream can send, and shows arriving messages.
  await first.page.locator('textarea').fill('We open at nine');
  await first.page.keyboard.press('Enter');
  await until(() => on.scene.readBy(contact).has('We open at nine'), 'the contact reads the message');
  await on.scene.write(on.account, 'Thank you');
  for (const { page } of [first, last]) await page.locator('.message', { hasText: 'Thank you' }).waitFor();

  // A window becomes live when it is used.
  await first.page.evaluate("window.dispatchEvent(new Event('focus'))");
  await paused(first.page).waitFor({ state: 'detached' });
  await until(() => first.streams() === 1 && streams() === 3, 'its stream is open');

  // Closed windows release their streams to the others.
  for (const { page } of windows.slice(1, 5)) await page.close();
  for (const { page } of windows.slice(5)) await paused(page).waitFor({ state: 'detached' });
  for (const { page } of [first, ...windows.slice(5)]) await page.close();
});

inBrowser('a hidden window closes its stream, and loads the missed messages when it is shown again', async () => {
  const on = await stage();
  await on.dashboard.goto('/admin/about');
  const { page, streams } = await openWindow(on, await chatOf(on));
  await page.locator('.message').first().waitFor();
  await until(() => streams() === 1, 'one stream is open');
  await show(page, false);
  await until(() => streams() === 0, 'the stream is closed');
  await on.scene.stored(on.account, [await on.scene.write(on.account, 'Said while nobody looked')]);
  await show(page, true);
  await page.locator('.message', { hasText: 'Said while nobody looked' }).waitFor();
  await until(() => streams() === 1, 'one stream is open again');
  await page.close();
  assert.deepEqual(on.dashboard.complaints, []);
});
