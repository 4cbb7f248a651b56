/** Measures the small searches of one token, with and without forty large searches of another token at the same time. */
import type { Setting } from './bench.ts';
import { createInstance, startGateway } from './clients.ts';
import { fill, settle, withDatabase } from './fill.ts';
import { percentile, type Figure } from './report.ts';
import { postJson, startSandbox } from './sandbox.ts';

/** Chats of the busy instance, its simultaneous searches, and the number of measured small searches. */
const [chats, greedyAtOnce, asked] = [60_000, 40, 200];
/** The largest number of filters that a search accepts. No chat matches them. */
const filters = Object.fromEntries(
  [
    'name',
    'phone',
    'wa_name',
    'wa_contactName',
    'lead_name',
    'lead_fullName',
    'lead_email',
    'lead_status',
    'lead_notes',
    'lead_personalid',
  ].map((field) => [field, '~nobody']),
);

export const greedyFinds = async (setting: Setting): Promise<Figure> => {
  const sandbox = await startSandbox(setting.workshop);
  const first = await startGateway(setting.workshop, sandbox);
  const [greedy, modest] = [await createInstance(first.address, 'greedy'), await createInstance(first.address, 'modest')];
  await first.end();
  await withDatabase(first.folder, async (database) => {
    const own = {
      instance_id: `'${greedy.id}'`,
      chat_id: `n || '@s.whatsapp.net'`,
      id: `'r' || lpad(to_hex(n), 14, '0')`,
      name: `'Person ' || n`,
    };
    await fill(database, 'chat', chats, own);
    await settle(database);
  });
  const gateway = await startGateway(setting.workshop, sandbox, { folder: first.folder });

  const measure = async (): Promise<number> => {
    const times: number[] = [];
    for (let n = 0; n < asked; n += 1) {
      const begun = performance.now();
      await postJson(`${gateway.address}/message/find`, { limit: 10 }, { token: modest.token });
      times.push(performance.now() - begun);
    }
    return percentile(times, 0.99);
  };

  await measure();
  const alone = await measure();
  const over = new AbortController();
  const ask = async (): Promise<void> => {
    // Refusals (503) are expected, because searches beyond the fair share wait or are refused.
    while (!over.signal.aborted)
      await fetch(`${gateway.address}/chat/find`, {
        method: 'POST',
        headers: { token: greedy.token, 'content-type': 'application/json' },
        body: JSON.stringify({ ...filters, operator: 'OR' }),
      }).then((answer) => answer.arrayBuffer());
  };
  const asking = Array.from({ length: greedyAtOnce }, ask);
  const beside = await measure();
  over.abort();
  await Promise.all(asking);
  await gateway.end();
  setting.say(`${beside.toFixed(1)} ms beside ${greedyAtOnce} searches of another token, ${alone.toFixed(1)} ms alone`);
  return {
    name: `searches of another token, ${greedyAtOnce} at once: p99 of small ones`,
    unit: 'ms',
    ours: beside,
    baseline: null,
    judged: 'value',
    // The bound is for two cores that database and gateway share. Without fair shares the small searches are refused (503).
    bound: { most: 300 },
    details: { alone, chats, filters: Object.keys(filters).length },
  };
};
