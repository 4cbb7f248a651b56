/** Measures the list of ten thousand sessions in a real browser: the first paint, scrolling, and a hundred changes per second. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { request } from 'undici';
import { findBrowser } from '#test/support/browser.ts';
import { Dashboard } from '#test/support/dashboard.ts';
import { scaled, type Bench, type Setting } from './bench.ts';
import { adminToken, startGateway, type GatewayClient } from './clients.ts';
import { median, percentile, type Figure } from './report.ts';
import { startSandbox } from './sandbox.ts';
import type * as seed from './seed.ts';
import { tokenOf } from './seed.ts';
import { eventually, pause } from './workshop.ts';

const instances = 10_000;
const paints = 5;
const scrollMs = 8_000;
const stormMs = 10_000;
const changesASecond = 100;
/** The number of sessions per second that wake and hibernate again. Each session takes about four steps: waiting for the gate, opening, closing, hibernated. */
const pairsASecond = 40;
const probes = 8;
/** The time-out for the row of a change. The bench fails after this time. In milliseconds. */
const shownMs = 30_000;
/** The shortest duration of a long task, as in the Long Tasks API of browsers. In milliseconds. */
const longTaskMs = 50;

/** A script for the page that records the times between frames until it is stopped. */
const watchFrames = `
  window.watched = { frames: [], over: false };
  const tick = (before) => requestAnimationFrame((now) => { if (watched.over) return; watched.frames.push(now - before); tick(now); });
  requestAnimationFrame(tick);
`;

interface Watched {
  /** The long tasks in the main thread of the page, with their wall time and processor time. In milliseconds. */
  readonly tasks: readonly { readonly wall: number; readonly cpu: number }[];
  readonly frames: readonly number[];
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** The wall time of the event. In microseconds. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Reads the long tasks from the trace of the browser. On a shared machine wall time alone is not reliable. */
const longTasks = (trace: Buffer): Watched['tasks'] => {
  const { traceEvents: events } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const place = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
  const pages = new Set(events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(place));
  return events
    .filter(
      (event) => event.ph === 'X' && event.name.endsWith('RunTask') && pages.has(place(event)) && (event.dur ?? 0) >= longTaskMs * 1000,
    )
    .map(({ dur = 0, tdur = dur }) => ({ wall: dur / 1000, cpu: tdur / 1000 }));
};

/** Measures the page's thread while the work runs. */
const watch = async ({ page }: Dashboard, work: () => Promise<unknown>): Promise<Watched> => {
  const browser = page.context().browser();
  await browser?.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline', 'devtools.timeline'] });
  await page.evaluate(watchFrames);
  await work();
  const frames = await page.evaluate<readonly number[]>('((watched.over = true), watched.frames)');
  const trace = await browser?.stopTracing();
  return { frames, tasks: trace === undefined ? [] : longTasks(trace) };
};

/** A script for the page that returns the time from the navigation until the first row is painted. In milliseconds. */
const firstRow = `new Promise((resolve) => {
  const look = () => document.querySelector('.grid .row:not([hidden]) .name')?.textContent
    ? requestAnimationFrame(() => resolve(performance.now())) : requestAnimationFrame(look);
  look();
})`;

/** A script for the page that scrolls down and up through all rows, one step per frame. */
const scroll = `new Promise((resolve) => {
  const grid = document.querySelector('.grid');
  const [begun, most] = [performance.now(), grid.scrollHeight - grid.clientHeight];
  const step = (now) => {
    const share = (now - begun) / ${scrollMs};
    if (share >= 1) return resolve();
    grid.scrollTop = most * Math.abs(Math.sin(share * Math.PI * 2));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;

const paint = async ({ page }: Dashboard): Promise<number> => {
  await page.reload();
  return page.evaluate<number>(firstRow);
};

const call = async ({ address }: GatewayClient, path: string, n: number): Promise<void> => {
  const { body } = await request(`${address}/instance/${path}`, {
    method: 'POST',
    headers: { token: tokenOf(n), 'content-type': 'application/json' },
    body: '{}',
  });
  await body.dump();
};

/** Wakes and hibernates sessions at a steady pace. A request does not wait for earlier requests. */
const storm = async (gateway: GatewayClient, sessions: readonly number[]): Promise<void> => {
  const begun = performance.now();
  const under: Promise<void>[] = [];
  for (let n = 0; performance.now() - begun < stormMs; n += 1) {
    const at = sessions[n % sessions.length] ?? 0;
    under.push(
      call(gateway, 'connect', at).catch(() => undefined),
      pause(300)
        .then(() => call(gateway, 'hibernate', at))
        .catch(() => undefined),
    );
    const wait = begun + ((n + 1) * 1000) / pairsASecond - performance.now();
    if (wait > 0) await pause(wait);
  }
  await Promise.all(under);
};

/** Returns the numbers of the inserted sessions in the first rows. The list sorts names in natural order, and the names have hexadecimal numbers. */
const firstRows = async ({ page }: Dashboard): Promise<readonly number[]> => {
  const ids = await page.evaluate<readonly string[]>(`Array.from({ length: ${probes} }, (_, n) =>
    document.querySelector('.grid .row[aria-rowindex="' + (n + 2) + '"] .name').href.split('/').at(-1))`);
  return ids.map((id) => parseInt(id.slice(1), 16));
};

/** Returns the time from the answer to a change until its row shows the change, for one row after the other. In milliseconds. */
const probeAll = async (gateway: GatewayClient, { page }: Dashboard, sessions: readonly number[]): Promise<readonly number[]> => {
  const delays: number[] = [];
  for (const [n, session] of sessions.entries()) {
    await pause(stormMs / probes / 2);
    const word = `document.querySelector('.grid .row[aria-rowindex="${n + 2}"] .c-state').textContent`;
    const before = await page.evaluate<string>(word);
    const changed = page.evaluate(`new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error('row ${n} shows no change')), ${shownMs});
      const look = () => (${word} === ${JSON.stringify(before)} ? requestAnimationFrame(look) : resolve());
      look();
    })`);
    const begun = performance.now();
    void call(gateway, 'connect', session).catch(() => undefined);
    await changed;
    delays.push(performance.now() - begun);
  }
  return delays;
};

const open = async (setting: Setting, count: number) => {
  const { workshop } = setting;
  const sandbox = await startSandbox(workshop);
  const { folder, ...first } = await startGateway(workshop, sandbox);
  await first.end();
  const { register } = (await import(pathToFileURL(join(workshop.checkout, 'test/bench/seed.ts')).href)) as typeof seed;
  await register(folder, count, 'hibernated');
  // No server listens at the address of the platform. A woken session fails, waits and hibernates again without a handshake.
  const gateway = await startGateway(workshop, sandbox, { folder, env: { PLATFORM_URL: 'ws://127.0.0.1:9/' } });
  const dashboard = await Dashboard.open(gateway.address);
  workshop.atEnd(() => dashboard.close());
  await dashboard.goto('/admin');
  await dashboard.signIn(adminToken);
  await dashboard.page.getByRole('button', { name: new RegExp(`${count.toLocaleString('en')} hibernated`) }).waitFor();
  return { gateway, dashboard };
};

/** Counts the changes in the stream of the list, independently of the page. */
const followChanges = async ({ address }: GatewayClient): Promise<{ stop(): number }> => {
  const stopper = new AbortController();
  const { body } = await request(`${address}/admin/actors/stream`, { headers: { admintoken: adminToken }, signal: stopper.signal });
  let [changes, text] = [0, ''];
  body.on('error', () => undefined);
  body.on('data', (chunk: Buffer) => {
    const lines = (text + chunk.toString()).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines)
      if (line.startsWith('data: ')) changes += (JSON.parse(line.slice(6)) as { readonly changes: readonly unknown[] }).changes.length;
  });
  return {
    stop() {
      stopper.abort();
      return changes;
    },
  };
};

interface Results {
  readonly painted: readonly number[];
  readonly scrolled: Watched;
  readonly stormed: Watched;
  readonly delays: readonly number[];
  readonly changes: number;
}

const figuresOf = (count: number, { painted, scrolled, stormed, delays, changes }: Results): readonly Figure[] => {
  const figure = (name: string, unit: string, ours: number, bound: Figure['bound'] | null, details: object = {}): Figure => ({
    name: `list of ${count}: ${name}`,
    unit,
    ours,
    baseline: null,
    judged: bound ? 'value' : 'nothing',
    ...(bound ? { bound } : {}),
    details: { ...details },
  });
  const longest = ({ tasks }: Watched, by: 'wall' | 'cpu'): number => Math.max(0, ...tasks.map((task) => task[by]));
  return [
    figure('first row painted', 'ms', median(painted), { most: 1_000 }, { rounds: painted }),
    figure('scrolling, longest task, work of the thread', 'ms', longest(scrolled, 'cpu'), { most: longTaskMs }, { tasks: scrolled.tasks }),
    figure('scrolling, longest task, by the clock', 'ms', longest(scrolled, 'wall'), null),
    figure('scrolling, 95th percentile of a frame', 'ms', percentile(scrolled.frames, 0.95), null, { frames: scrolled.frames.length }),
    figure('changes shown', '1/s', (changes * 1000) / stormMs, { least: changesASecond }),
    figure('a change until it is shown', 'ms', median(delays), { most: 1_000 }, { rounds: delays }),
    figure('changes, longest task, work of the thread', 'ms', longest(stormed, 'cpu'), { most: longTaskMs }, { tasks: stormed.tasks }),
    figure('changes, longest task, by the clock', 'ms', longest(stormed, 'wall'), null),
    figure('changes, 95th percentile of a frame', 'ms', percentile(stormed.frames, 0.95), null, { frames: stormed.frames.length }),
  ];
};

export const dashboard: Bench = {
  name: 'dashboard',
  about: `the list of the dashboard with ${instances} sessions in a browser: first paint, scrolling, ${changesASecond} changes a second; some two minutes`,
  async run(setting) {
    if (findBrowser() === null) {
      setting.say('left out: this machine has no Chromium; CHROMIUM_PATH names one');
      return [];
    }
    const count = scaled(instances, setting);
    const { gateway, dashboard: shown } = await open(setting, count);
    const { page } = shown;
    const painted: number[] = [];
    for (let round = 0; round < paints; round += 1) painted.push(await paint(shown));
    setting.say(`the first row is painted after ${median(painted).toFixed(0)} ms`);
    await eventually(
      async () => (await page.locator('.count.of-hibernated').textContent())?.includes(count.toLocaleString('en')) || null,
      'all rows',
    );

    const scrolled = await watch(shown, () => page.evaluate(scroll));
    setting.say(`${scrolled.frames.length} frames while scrolling, ${scrolled.tasks.length} long tasks`);

    await page.getByRole('button', { name: 'Session', exact: true }).click();
    await page.evaluate('document.querySelector(".grid").scrollTop = 0');
    const follower = await followChanges(gateway);
    const probed = await firstRows(shown);
    const others = Array.from({ length: count }, (_, n) => n).filter((n) => !probed.includes(n));
    let delays: readonly number[] = [];
    const stormed = await watch(shown, async () => {
      [delays] = await Promise.all([probeAll(gateway, shown, probed), storm(gateway, others)]);
    });
    const changes = follower.stop();
    setting.say(`${(changes / (stormMs / 1000)).toFixed(0)} changes a second; shown after ${median(delays).toFixed(0)} ms`);
    return figuresOf(count, { painted, scrolled, stormed, delays, changes });
  },
};
