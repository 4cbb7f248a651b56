/** Measures the cost of open pages of the dashboard while texts arrive. Rounds with three pages in a real browser alternate with rounds without pages. */
import { request } from 'undici';
import { findBrowser } from '#test/support/browser.ts';
import { Dashboard } from '#test/support/dashboard.ts';
import { openGateway, openStage } from './arrivals.ts';
import { scaled, type Bench, type Setting } from './bench.ts';
import { adminToken, type GatewayClient } from './clients.ts';
import { profiled, spent, type Spent } from './cost.ts';
import { median, type Figure } from './report.ts';
import { eventually, pause } from './workshop.ts';

/** A kind of rounds: texts arrive as fast as the gateway accepts them, or at a steady pace. */
interface Kind {
  readonly name: string;
  /** The number of pairs of a round with pages and a round without pages. */
  readonly rounds: number;
  /** The number of pairs that do not count. */
  readonly warmUp: number;
  readonly texts: number;
}

const pace = 100;
const burst: Kind = { name: 'arrivals with three pages open', rounds: 6, warmUp: 2, texts: 1000 };
const paced: Kind = { name: `arrivals at ${pace}/s with three pages open`, rounds: 4, warmUp: 0, texts: 500 };
/** The time after the last arrival in which work for the pages still counts, because pages delay their requests. In milliseconds. */
const settleMs = 1_500;
const shownMs = 30_000;

type Page = Dashboard['page'];

const sessionOf = async ({ address }: GatewayClient, token: string): Promise<string> => {
  const { body } = await request(`${address}/instance/status`, { headers: { token } });
  return ((await body.json()) as { readonly instance: { readonly id: string } }).instance.id;
};

/** The pages: the list of sessions, the page of the busy session, and its chats. Each open page holds one stream of the gateway. */
class Pages {
  readonly #dashboard: Dashboard;
  readonly #places: readonly { readonly path: string; readonly shown: string }[];
  #open: readonly Page[] = [];

  private constructor(dashboard: Dashboard, session: string) {
    this.#dashboard = dashboard;
    this.#places = [
      { path: '/admin', shown: '.grid .row:not([hidden]) .name' },
      { path: `/admin/sessions/${session}`, shown: '.chart .state.lit' },
      { path: `/admin/sessions/${session}/chats`, shown: '.chat-rows a' },
    ];
  }

  static async signedIn({ workshop }: Setting, { address }: GatewayClient, session: string): Promise<Pages> {
    const dashboard = await Dashboard.open(address);
    workshop.atEnd(() => dashboard.close());
    await dashboard.goto('/admin');
    await dashboard.signIn(adminToken);
    // The tab that signed in holds no stream.
    await dashboard.page.goto('about:blank');
    return new Pages(dashboard, session);
  }

  /** Opens the pages. Waits until each page shows its content and holds its stream. */
  async open(): Promise<void> {
    const context = this.#dashboard.page.context();
    const open: Page[] = [];
    this.#open = open;
    for (const { path, shown } of this.#places) {
      const page = await context.newPage();
      open.push(page);
      const streaming = page.waitForResponse((answer) => answer.headers()['content-type']?.startsWith('text/event-stream') ?? false);
      await page.goto(this.#dashboard.address + path);
      await Promise.all([streaming, page.locator(shown).first().waitFor({ timeout: shownMs })]);
    }
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = [];
    await Promise.all(open.map((page) => page.close()));
  }

  /** Returns the texts of the chats as their page shows them. */
  async chats(): Promise<string> {
    return (await this.#open[2]?.locator('.chat-rows').innerText()) ?? '';
  }
}

interface Sides {
  readonly open: readonly Spent[];
  readonly closed: readonly Spent[];
}

/** Measures the gateway without the processes of the browser. Rejects if the page of chats did not update, because such a page causes no work. */
const compare = async (kind: Kind, setting: Setting, pages: Pages, round: () => Promise<Spent>): Promise<Sides> => {
  const sides = { open: [] as Spent[], closed: [] as Spent[] };
  for (let n = -kind.warmUp; n < kind.rounds; n += 1) {
    for (const side of n % 2 === 0 ? (['open', 'closed'] as const) : (['closed', 'open'] as const)) {
      if (side === 'open') await pages.open();
      const before = await pages.chats();
      const one = await round();
      if (side === 'open') await eventually(async () => (await pages.chats()) !== before || null, 'the page of chats to follow', shownMs);
      await pages.close();
      if (n >= 0) sides[side].push(one);
    }
    const [open, closed] = [sides.open.at(-1)?.cpu ?? 0, sides.closed.at(-1)?.cpu ?? 0];
    if (n >= 0) setting.say(`${kind.name}: ${n + 1} of ${kind.rounds}: ${open.toFixed(2)} ms a text, ${closed.toFixed(2)} without`);
  }
  return sides;
};

const figure = (name: string, field: keyof Spent, { open, closed }: Sides): Pick<Figure, 'name' | 'ours' | 'baseline' | 'details'> => ({
  name,
  ours: median(open.map((one) => one[field])),
  baseline: median(closed.map((one) => one[field])),
  details: { ratios: open.map((one, n) => one[field] / (closed[n]?.[field] ?? NaN)) },
});

const processor = ({ name }: Kind, sides: Sides): Figure => ({
  ...figure(`${name}: processor`, 'cpu', sides),
  unit: 'ms/message',
  judged: 'ratio',
  bound: { most: 1.1 },
});

export const pages: Bench = {
  name: 'pages',
  about: 'texts that arrive while three pages of the dashboard are open in a browser, against no open page; some five minutes',
  async run(setting) {
    if (findBrowser() === null) {
      setting.say('left out: this machine has no Chromium; CHROMIUM_PATH names one');
      return [];
    }
    const { stage, sandbox } = await openStage(setting);
    const gateway = await openGateway(setting, sandbox);
    const { client, database } = gateway;
    const shown = await Pages.signedIn(setting, client, await sessionOf(client, gateway.token));
    /** `work` resolves with the milliseconds that count for the rate. */
    const settled = (count: number, work: () => Promise<number>): Promise<Spent> =>
      spent(client, database, count, async () => {
        const ms = await work();
        await pause(settleMs);
        return ms;
      });
    const bursts = scaled(burst.texts, setting);
    const inBurst = () => settled(bursts, async () => (bursts * 1000) / (await stage.burst(gateway, bursts)).perSecond);
    const fast = await compare(burst, setting, shown, inBurst);
    const slowly = scaled(paced.texts, setting);
    const atPace = () => settled(slowly, () => stage.paced(gateway, slowly).then(() => (slowly * 1000) / pace));
    const slow = await compare(paced, setting, shown, atPace);
    await shown.open();
    await profiled(setting, client, 'pages-gateway', atPace);
    await shown.close();
    return [
      processor(burst, fast),
      { ...figure(`${burst.name}: rate`, 'perSecond', fast), unit: 'messages/s', judged: 'nothing' },
      { ...figure(`${burst.name}: database`, 'database', fast), unit: 'ms/message', judged: 'nothing' },
      processor(paced, slow),
      { ...figure(`${paced.name}: database`, 'database', slow), unit: 'ms/message', judged: 'nothing' },
    ];
  },
};
