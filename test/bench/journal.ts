/** Measures the time of the journal for arriving messages: single messages, as in a quiet session, and batches, as in a burst. */
import { scaled, type Measure } from './bench.ts';
import { profiled, spent, type Spent } from './cost.ts';
import { analyze } from './fill.ts';
import { databaseServerOf } from './workshop.ts';

const group = 20;
const perRound = { alone: 300, grouped: 2_000 };

export const journalRounds: Measure = {
  name: 'journal',
  about: 'commits of messages with a webhook, without a platform',
  rounds: 12,
  warmUp: 3,
  figures: {
    alone: { name: 'journal: a commit of one message', unit: 'ms', better: 'less' },
    aloneCpu: { name: 'journal: a commit of one message, processor', unit: 'ms', better: 'less' },
    aloneDatabase: { name: 'journal: a commit of one message, database', unit: 'ms', better: 'less' },
    grouped: { name: `journal: messages in commits of ${group}`, unit: 'messages/s', better: 'more' },
    groupedCpu: { name: `journal: messages in commits of ${group}, processor`, unit: 'ms/message', better: 'less' },
    groupedDatabase: { name: `journal: messages in commits of ${group}, database`, unit: 'ms/message', better: 'less' },
  },
  async open(setting) {
    const host = await setting.workshop.start('test/bench/journal-host.ts');
    await host.ask('open', setting.workshop.checkout);
    const client = { ...host, pair: async () => '', cpu: () => host.ask<number>('cpu') };
    const commit = (messages: number, each: number): Promise<Spent> =>
      spent(client, databaseServerOf(host.folder), messages, () => host.ask('commit', { commits: messages / each, each }));
    await host.ask('commit', { commits: 100, each: group });
    await analyze(host.folder);
    return () =>
      profiled(setting, host, 'journal', async () => {
        const alone = await commit(scaled(perRound.alone, setting), 1);
        const grouped = await commit(scaled(perRound.grouped / group, setting) * group, group);
        return {
          alone: 1000 / alone.perSecond,
          aloneCpu: alone.cpu,
          aloneDatabase: alone.database,
          grouped: grouped.perSecond,
          groupedCpu: grouped.cpu,
          groupedDatabase: grouped.database,
        };
      });
  },
};
