/** Measures pages of `/chat/find` and `/message/find` in an instance with a hundred thousand chats, beside the cost of counting the chats for each page. */
import { numberOf, scaled, type Bench, type Measure, type Readings, type Setting } from './bench.ts';
import { createInstance, startGateway, type GatewayClient } from './clients.ts';
import { spent } from './cost.ts';
import { fill, withDatabase } from './fill.ts';
import { median, percentile, type Figure } from './report.ts';
import { postJson, startSandbox } from './sandbox.ts';

const chats = 100_000;
const asks = 50;
const page = { limit: 50 };

/** The measured requests. The number `n` differs from call to call. */
const questions: Readonly<Record<string, { readonly path: string; readonly body: (n: number) => object }>> = {
  chats: { path: '/chat/find', body: (n) => ({ ...page, offset: (n % 20) * 50 }) },
  unread: { path: '/chat/find', body: () => ({ ...page, wa_unreadCount: '>0' }) },
  named: { path: '/chat/find', body: (n) => ({ ...page, wa_name: `~Person ${n * 7}` }) },
  messages: { path: '/message/find', body: (n) => ({ ...page, offset: (n % 20) * 50 }) },
  chat: { path: '/message/find', body: (n) => ({ ...page, chatid: `${numberOf(5, n * 7)}@s.whatsapp.net` }) },
};
const titles: Readonly<Record<string, string>> = {
  chats: '/chat/find: a page of all',
  unread: '/chat/find: a page of the unread',
  named: '/chat/find: by a part of the name',
  messages: '/message/find: a page of all',
  chat: '/message/find: those of a chat',
};

/** The SQL expression of the id of chat `n`. One chat in ten is unread, and each has one message. */
const jid = `'55119' || '5' || lpad(n::text, 7, '0') || '@s.whatsapp.net'`;
const chatColumns = {
  chat_id: jid,
  id: `'r' || lpad(to_hex(n), 14, '0')`,
  name: `'Person ' || n`,
  phone: `'55119' || '5' || lpad(n::text, 7, '0')`,
  unread_count: 'case when n % 10 = 0 then 1 else 0 end',
  last_message_timestamp: '1700000000000 + n * 1000::bigint',
};
const messageColumns = {
  message_id: `'3EB0' || lpad(upper(to_hex(n)), 18, '0')`,
  chat_id: jid,
  id: `'r' || lpad(to_hex(n), 7, '0')`,
  message_type: `'Conversation'`,
  type: `'text'`,
  timestamp: '1700000000000 + n * 1000::bigint',
  text: `'text number ' || n`,
};

const open = async (setting: Setting): Promise<{ readonly gateway: GatewayClient; readonly token: string; readonly id: string }> => {
  const sandbox = await startSandbox(setting.workshop);
  const first = await startGateway(setting.workshop, sandbox);
  const { token, id } = await createInstance(first.address, 'chats');
  await first.end();
  await withDatabase(first.folder, async (database) => {
    const instance = { instance_id: `'${id}'` };
    await fill(database, 'chat', scaled(chats, setting), { ...instance, ...chatColumns });
    await fill(database, 'message', scaled(chats, setting), { ...instance, ...messageColumns });
  });
  return { gateway: await startGateway(setting.workshop, sandbox, { folder: first.folder }), token, id };
};

/** Sends the requests one after the other. Returns the duration of each answer. In milliseconds. */
const timed = async (count: number, ask: (n: number) => Promise<unknown>): Promise<readonly number[]> => {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const begun = performance.now();
    await ask(n);
    times.push(performance.now() - begun);
  }
  return times;
};

const askAll = async ({ address }: GatewayClient, token: string): Promise<Readonly<Record<string, readonly number[]>>> => {
  const times: Record<string, readonly number[]> = {};
  for (const [name, { path, body }] of Object.entries(questions))
    times[name] = await timed(asks, (n) => postJson(`${address}${path}`, body(n), { token }));
  return times;
};

export const findRounds: Measure = {
  name: 'finds',
  about: `pages of an instance with ${chats} chats`,
  rounds: 10,
  warmUp: 2,
  figures: {
    ...Object.fromEntries(Object.entries(titles).map(([name, title]) => [name, { name: title, unit: 'ms', better: 'less' as const }])),
    cpu: { name: 'finds of all kinds: processor', unit: 'ms/answer', better: 'less' },
    database: { name: 'finds of all kinds: database', unit: 'ms/answer', better: 'less' },
  },
  async open(setting) {
    const { gateway, token } = await open(setting);
    return async () => {
      let times: Readonly<Record<string, readonly number[]>> = {};
      const { cpu, database } = await spent(gateway, gateway.database, asks * Object.keys(questions).length, async () => {
        times = await askAll(gateway, token);
      });
      return { cpu, database, ...Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)])) } satisfies Readings;
    };
  },
};

const countAll = { name: 'bench-count', text: 'select count(*) from chat where instance_id = $1' };

const figureOf = (name: string, times: readonly number[], counting: number): Figure => ({
  name: titles[name] ?? name,
  unit: 'ms',
  ours: median(times),
  baseline: counting,
  judged: name === 'chats' ? 'ratio' : 'nothing',
  bound: { most: 1 },
  details: { p99: percentile(times, 0.99), baselineIs: 'one count of all chats' },
});

export const finds: Bench = {
  name: 'finds',
  about: `pages of an instance with ${chats} chats, against counting the chats once`,
  async run(setting) {
    const { gateway, token, id } = await open(setting);
    const counting = await withDatabase(gateway.folder, (database) => timed(asks, () => database.rows(countAll, [id])));
    const all: Record<string, number[]> = {};
    for (let round = 1 - findRounds.warmUp; round <= findRounds.rounds; round += 1)
      for (const [name, times] of Object.entries(await askAll(gateway, token))) if (round > 0) (all[name] ??= []).push(...times);
    return Object.entries(all).map(([name, times]) => figureOf(name, times, median(counting)));
  },
};
