/**
 * Measures pages of `/chat/find` and `/message/find` with common filters in one of many instances: the time of the slowest of a hundred answers, and its growth
 * with the rows of the other instances.
 */
import { scaled, type Bench, type Setting } from './bench.ts';
import { createInstance, startGateway, type GatewayClient } from './clients.ts';
import { spent } from './cost.ts';
import { fill, settle, withDatabase } from './fill.ts';
import { median, percentile, type Figure } from './report.ts';
import { postJson, startSandbox, type BenchSandbox } from './sandbox.ts';
import type { Database } from '#src/storage/postgres/database.ts';

/** The number of rows of each instance. A hundred instances have 100,000 chats and a million messages. */
const perInstance = { chats: 1_000, messages: 10_000 };
const others = { few: 99, many: 999 };
/** The number of rounds, and of requests per round on each side. */
const [rounds, perRound] = [8, 40];
const page = { limit: 100 };
const most = { milliseconds: 20, growth: 1.3 };

/** Returns the id of one of the chats 0 to 999 of an instance. */
const chatId = (n: number): string => `551199000${String(n % perInstance.chats).padStart(4, '0')}@s.whatsapp.net`;

interface Question {
  readonly path: '/chat/find' | '/message/find';
  readonly body: (n: number) => object;
}

const chats = (body: Question['body']): Question => ({ path: '/chat/find', body: (n) => ({ ...page, ...body(n) }) });
const messages = (body: Question['body']): Question => ({ path: '/message/find', body: (n) => ({ ...page, ...body(n) }) });

const questions: Readonly<Record<string, Question>> = {
  'chats: the newest': chats((n) => ({ sort: '-wa_lastMsgTimestamp', offset: (n % 10) * 100 })),
  'chats: compact': chats((n) => ({ compact: true, offset: (n % 10) * 100 })),
  'chats: unread': chats(() => ({ wa_unreadCount: '>0' })),
  'chats: archived': chats(() => ({ wa_archived: true })),
  'chats: with a label': chats(() => ({ wa_label: '7' })),
  'chats: by the state of the lead': chats(() => ({ lead_status: '=won' })),
  'chats: by a tag': chats(() => ({ lead_tag: 'vip' })),
  'chats: by a part of the name': chats((n) => ({ name: `Person ${n}` })),
  'chats: by name or number': chats((n) => ({ operator: 'OR', name: `~${n}`, phone: `~${n}`, wa_contactName: `~${n}` })),
  'chats: one': chats((n) => ({ wa_chatid: chatId(n * 7) })),
  'messages: the newest': messages((n) => ({ offset: (n % 20) * 100 })),
  'messages: of a chat': messages((n) => ({ chatid: chatId(n * 7) })),
  'messages: texts': messages(() => ({ messageType: 'Conversation' })),
  'messages: pictures of a chat': messages((n) => ({ chatid: chatId(n * 7), messageType: 'ImageMessage' })),
  'messages: by track_id': messages((n) => ({ track_id: `order ${n * 7}` })),
  'messages: by track_source': messages(() => ({ track_source: 'crm' })),
  'messages: one': messages((n) => ({ id: `3EB0${(n * 7).toString(16).toUpperCase().padStart(18, '0')}` })),
};

const numbered = (count: number, sql: string): string => `'551199000' || lpad((${sql} % ${count})::text, 4, '0') || '@s.whatsapp.net'`;

/** Returns the SQL values of the rows of chats. `n` counts the rows of all instances, and `own` is the number within one instance. */
const chatColumns = (own: string): Readonly<Record<string, string>> => ({
  chat_id: numbered(perInstance.chats, own),
  id: `'r' || lpad(to_hex(n), 14, '0')`,
  name: `'Person ' || ${own}`,
  phone: `'+55 11 99000-' || lpad((${own})::text, 4, '0')`,
  unread_count: `case when ${own} % 10 = 0 then 1 else 0 end`,
  archived: `${own} % 20 = 0`,
  labels: `case when ${own} % 10 = 0 then array['5511999999999:7'] else '{}' end`,
  extra: `case when ${own} % 5 = 0 then '{"lead_status": "won", "lead_tags": ["vip"]}' else '{}' end::jsonb`,
  last_message_timestamp: `1700000000000 + (${own} * 7919 % 1000) * 1000::bigint`,
});
const messageColumns = (own: string): Readonly<Record<string, string>> => ({
  message_id: `'3EB0' || lpad(upper(to_hex(${own})), 18, '0')`,
  chat_id: numbered(perInstance.chats, own),
  id: `'r' || lpad(to_hex(${own}), 7, '0')`,
  message_type: `case when ${own} % 5 = 0 then 'ImageMessage' else 'Conversation' end`,
  type: `'text'`,
  timestamp: `1700000000000 + ${own} * 1000::bigint`,
  text: `'text number ' || n`,
  track_id: `case when ${own} % 7 = 0 then 'order ' || ${own} else '' end`,
  track_source: `case when ${own} % 7 = 0 then 'crm' else '' end`,
});

/** Inserts the rows of the other instances, which are not registered. */
const crowd = async (database: Database, instances: number): Promise<void> => {
  for (const [table, count, columns] of [
    ['chat', perInstance.chats, chatColumns],
    ['message', perInstance.messages, messageColumns],
  ] as const) {
    const own = `(n % ${count})`;
    await fill(database, table, instances * count, { instance_id: `'other ' || n / ${count}`, ...columns(own) });
  }
};

/** A gateway with its database, in which one instance is queried among many others. */
interface FilledGateway {
  readonly gateway: GatewayClient;
  readonly token: string;
}

interface Measured {
  /** The duration of each answer. In milliseconds. */
  readonly times: number[];
  /** The processor time of the gateway and its database per answer, in each round. In milliseconds. */
  readonly costs: number[];
}

const askRound = async (
  { gateway, token }: FilledGateway,
  { path, body }: Question,
  from: number,
  into: Measured | null,
): Promise<void> => {
  const { cpu, database } = await spent(gateway, gateway.database, perRound, async () => {
    for (let n = from; n < from + perRound; n += 1) {
      const begun = performance.now();
      await postJson(`${gateway.address}${path}`, body(n), { token });
      into?.times.push(performance.now() - begun);
    }
  });
  into?.costs.push(cpu + database);
};

/** Measures both gateways round by round in turn, so that other load on the machine affects both. */
const measureBoth = async (few: FilledGateway, many: FilledGateway): Promise<ReadonlyMap<string, readonly [Measured, Measured]>> => {
  const all = new Map<string, readonly [Measured, Measured]>();
  for (const question of Object.values(questions)) for (const one of [few, many, few, many]) await askRound(one, question, 0, null);
  for (const [name, question] of Object.entries(questions)) {
    const both = [
      { times: [], costs: [] },
      { times: [], costs: [] },
    ] as const satisfies readonly [Measured, Measured];
    for (let round = 1; round <= rounds; round += 1) {
      await askRound(few, question, round * perRound, both[0]);
      await askRound(many, question, round * perRound, both[1]);
    }
    all.set(name, both);
  }
  return all;
};

const figuresOf = (name: string, few: Measured, many: Measured): readonly Figure[] => [
  {
    name: `${name}: 99th percentile`,
    unit: 'ms',
    ours: percentile(few.times, 0.99),
    baseline: null,
    judged: 'value',
    bound: { most: most.milliseconds },
    details: { median: median(few.times), medianAmongMany: median(many.times), p99AmongMany: percentile(many.times, 0.99) },
  },
  {
    name: `${name}: processor, among ten times as much`,
    unit: 'ms/answer',
    ours: median(many.costs),
    baseline: median(few.costs),
    judged: 'ratio',
    bound: { most: most.growth },
    details: { baselineIs: 'the same among a tenth', rounds },
  },
];

/** Starts a gateway with one registered instance, and fills its database with the rows of other instances. */
const gatewayAmong = async (setting: Setting, sandbox: BenchSandbox, count: number): Promise<FilledGateway> => {
  const first = await startGateway(setting.workshop, sandbox);
  const { token, id } = await createInstance(first.address, 'finds');
  await first.end();
  await withDatabase(first.folder, async (database) => {
    const instance = { instance_id: `'${id}'` };
    await fill(database, 'chat', perInstance.chats, { ...chatColumns('n'), ...instance });
    await fill(database, 'message', perInstance.messages, { ...messageColumns('n'), ...instance });
    await crowd(database, count);
    await settle(database);
  });
  setting.say(`${count} others are there`);
  return { gateway: await startGateway(setting.workshop, sandbox, { folder: first.folder }), token };
};

export const crowdedFinds: Bench = {
  name: 'crowded-finds',
  about: 'pages of one instance among 99 others, and among 999',
  async run(setting: Setting) {
    const sandbox = await startSandbox(setting.workshop);
    const few = await gatewayAmong(setting, sandbox, scaled(others.few, setting));
    const many = await gatewayAmong(setting, sandbox, scaled(others.many, setting));
    const all = await measureBoth(few, many);
    return [...all].flatMap(([name, both]) => figuresOf(name, ...both));
  },
};
