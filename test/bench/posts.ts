/** Reads a channel with ten thousand posts page by page. Compares the last pages with the first pages, and measures the memory. */
import { numberOf, scaled, type Bench } from './bench.ts';
import { startGateway } from './clients.ts';
import type { Memory } from './probe.ts';
import { median } from './report.ts';
import { postJson, startSandbox } from './sandbox.ts';

const [posts, pageSize, writers] = [10_000, 300, 20];
/** The number of reads before the measured reads. They fill caches and compile code. */
const warmUp = 1;
const MiB = 1024 * 1024;

interface Page {
  readonly response: readonly { readonly serverid: number }[];
}

export const channelPosts: Bench = {
  name: 'posts',
  about: `a channel with ${posts} posts, read page by page`,
  async run(setting) {
    const sandbox = await startSandbox(setting.workshop);
    const gateway = await startGateway(setting.workshop, sandbox);
    const token = await gateway.pair(numberOf(1, 0));
    const { jid } = await postJson<{ readonly jid: string }>(`${sandbox.control}/channels`, { name: 'News', owner: numberOf(8, 0) });
    const count = scaled(posts, setting);
    let next = 0;
    const write = async (): Promise<void> => {
      while (next < count) await postJson(`${sandbox.control}/channels/${jid}/posts`, { type: 'text', text: `post ${next++} `.repeat(40) });
    };
    await Promise.all(Array.from({ length: writers }, write));
    setting.say(`${count} posts are written`);

    /** Returns the time of each page, beginning with the newest posts. In milliseconds. */
    const readAll = async (): Promise<readonly number[]> => {
      const times: number[] = [];
      let seen = 0;
      for (let before: number | undefined; seen < count;) {
        const begun = performance.now();
        const body = { jid, count: pageSize, ...(before === undefined ? {} : { beforeid: before }) };
        const { response } = await postJson<Page>(`${gateway.address}/newsletter/messages`, body, { token });
        times.push(performance.now() - begun);
        seen += response.length;
        before = response.at(-1)?.serverid;
        if (before === undefined) throw new Error(`the channel ends after ${seen} posts`);
      }
      return times;
    };

    for (let turn = 0; turn < warmUp; turn += 1) await readAll();
    const start = await gateway.ask<Memory>('memory');
    await gateway.ask('peak.start');
    const times = await readAll();
    const peak = await gateway.ask<number>('peak.stop');
    const end = await gateway.ask<Memory>('memory');
    const [first, last] = [times.slice(0, 10), times.slice(-10)];
    return [
      {
        name: `a page of ${pageSize} posts: the last ten of ${count} posts against the first ten`,
        unit: 'ms',
        ours: median(last),
        baseline: median(first),
        judged: 'ratio',
        bound: { most: 1.5 },
      },
      {
        name: `${count} posts in pages: memory above idle`,
        unit: 'MiB',
        ours: (peak - start.rss) / MiB,
        baseline: null,
        judged: 'value',
        bound: { most: 48 },
        details: { keptHeap: (end.heap - start.heap) / MiB, pages: times.length },
      },
    ];
  },
};
