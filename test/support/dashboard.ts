/** The dashboard in a real browser, used by keyboard and mouse. Violations of the content security policy and exceptions of scripts are recorded. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { findBrowser, isBrowserRequired } from './browser.ts';
import { adminToken } from './gateway.ts';

const path = findBrowser();

/** The addition to titles of skipped browser tests, with the reason. Empty if these tests run. */
export const withoutBrowser =
  path === null && !isBrowserRequired ? ' (left out: this machine has no Chromium; CHROMIUM_PATH names one)' : '';

export const inBrowser = (name: string, run: () => Promise<void>): void => {
  test(`dashboard: ${name}${withoutBrowser}`, { skip: withoutBrowser !== '' }, async (t) => {
    try {
      await run();
    } catch (error) {
      for (const text of await Dashboard.shown()) t.diagnostic(text);
      throw error;
    }
  });
};

export interface View {
  readonly width: number;
  readonly height: number;
  readonly scheme: 'light' | 'dark';
  /** The language of the browser. English if absent. */
  readonly locale?: string;
}

export const desk: View = { width: 1400, height: 900, scheme: 'light' };

/** The window of the narrowest common phones. In pixels. */
export const phone: View = { width: 360, height: 780, scheme: 'light' };

/** The windows in which every view is tested. */
export const windows: Readonly<Record<string, View>> = {
  'desk-light': desk,
  'desk-dark': { ...desk, scheme: 'dark' },
  'phone-light': phone,
  'phone-dark': { ...phone, scheme: 'dark' },
};

/** The time-out of waits in the browser. On a busy machine a page needs many seconds. In milliseconds. */
export const browserPatience = 90_000;

/** A script for the page that waits two frames, so a changed colour scheme is drawn. After 2 s it stops, because a browser without a window may draw none. */
export const nextFrame = `new Promise((resolve) => {
  requestAnimationFrame(() => requestAnimationFrame(resolve));
  setTimeout(resolve, 2000);
})`;

const launch = (): Promise<Browser> => {
  assert.ok(path !== null, 'REQUIRE_BROWSER asks for a browser, and there is none');
  return chromium.launch({ executablePath: path, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
};

export class Dashboard {
  /** The browser that the dashboards of this process share, started by the first dashboard. Null if no browser is shared. */
  static #kept: { browser?: Promise<Browser> } | null = null;

  /** The open dashboards, whose pages are reported when a test fails. */
  static readonly #open = new Set<Dashboard>();

  readonly #context: BrowserContext;
  readonly page: Page;
  readonly address: string;
  /** Unexpected lines of the console, such as policy violations and exceptions. */
  readonly complaints: string[] = [];

  private constructor(context: BrowserContext, page: Page, address: string) {
    this.#context = context;
    this.page = page;
    this.address = address;
    Dashboard.#open.add(this);
    page.on('pageerror', (error) => void this.complaints.push(`exception: ${error.message}`));
    page.on('console', (message) => {
      // The browser logs every error response. The page has to show these errors, so the log lines do not count.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) this.complaints.push(message.text());
    });
  }

  /** Shares one browser among all dashboards of this process from now on, and closes it after the last test. Cookies and storage stay separate. */
  static keep(): void {
    Dashboard.#kept = {};
    after(async () => {
      const opened = await Dashboard.#kept?.browser?.catch(() => undefined);
      Dashboard.#kept = null;
      await opened?.close();
    });
  }

  /** Returns the address and the text of each open page. A page that does not answer has no text. */
  static shown(): Promise<readonly string[]> {
    const pages = [...Dashboard.#open].flatMap((dashboard) => dashboard.#context.pages());
    const textOf = (page: Page): Promise<string> => page.innerText('body', { timeout: 2_000 }).catch(String);
    return Promise.all(pages.map(async (page) => `${page.url()}: ${JSON.stringify((await textOf(page)).slice(0, 2_000))}`));
  }

  /** Opens a browser, or a profile of the shared one. The caller closes it. `address` is the address of the gateway. */
  static async open(address: string, view: View = desk): Promise<Dashboard> {
    const browser = await (Dashboard.#kept === null ? launch() : (Dashboard.#kept.browser ??= launch()));
    const context = await browser.newContext({
      viewport: { width: view.width, height: view.height },
      colorScheme: view.scheme,
      reducedMotion: 'reduce',
      locale: view.locale ?? 'en-US',
    });
    context.setDefaultTimeout(browserPatience);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await context.newPage();
    return new Dashboard(context, page, address);
  }

  /** Opens a browser with the administrator signed in at `where`. The caller closes it. */
  static async signedIn(address: string, where = '/admin'): Promise<Dashboard> {
    const dashboard = await Dashboard.open(address);
    try {
      await dashboard.goto(where);
      await dashboard.signIn();
      return dashboard;
    } catch (error) {
      await dashboard.close();
      throw error;
    }
  }

  async goto(where: string): Promise<void> {
    await this.page.goto(this.address + where);
  }

  async signIn(token = adminToken): Promise<void> {
    await this.page.getByLabel('Admin token').fill(token);
    await this.page.keyboard.press('Enter');
    await this.page.getByRole('button', { name: 'Sign out' }).waitFor();
  }

  /** Signs in as a user. The page may then refuse views without permission. */
  async signInAs(name: string, password: string): Promise<void> {
    await this.page.getByRole('button', { name: 'Sign in with a name' }).click();
    await this.page.getByLabel('Name').fill(name);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  /** Signs out, and waits until the page has reloaded. The reload would discard earlier input. */
  async signOut(): Promise<void> {
    const loaded = this.page.waitForEvent('load');
    await this.page.getByRole('button', { name: 'Sign out' }).click();
    await loaded;
  }

  /** Returns the cookies of the browser. */
  cookies(): ReturnType<BrowserContext['cookies']> {
    return this.#context.cookies();
  }

  async view({ width, height, scheme }: View): Promise<void> {
    await this.page.setViewportSize({ width, height });
    await this.page.emulateMedia({ colorScheme: scheme });
    await this.page.evaluate(nextFrame);
  }

  async close(): Promise<void> {
    Dashboard.#open.delete(this);
    await this.#context.close();
    if (Dashboard.#kept === null) await this.#context.browser()?.close();
  }
}
