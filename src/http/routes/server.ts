/** Routes of the pages about the server: settings in force, versions, storage, proxies, alerts, and figures of the last day. */
import { Type } from 'typebox';
import { type AlertSecrets, type Gateway, naturalKey } from '#actors/gateway.ts';
import { proxyView } from '#src/contract/views.ts';
import type { ServerFacts } from '../options.ts';
import { pageSize } from '../answers.ts';
import { done, type Route, route } from '../route.ts';
import { AlertsAnswer, AlertsBody, AlertTestAnswer, AlertTestBody } from '../schemas/alerts.ts';
import { Count, optional } from '../schemas/common.ts';
import * as shape from '../schemas/facts.ts';

// Routes of the server's own pages: settings in force, versions, storage, and the proxies of all instances.

const common = { credential: 'admin', tag: 'admin' } as const;

/** Settings that remove rows and files, as docs/disk.md explains them. */
const keepingRules = [
  'MESSAGES_KEEP_DAYS',
  'RECEIPTS_KEEP_DAYS',
  'FILES_KEEP_DAYS',
  'FILES_MAX_BYTES',
  'WEBHOOK_KEEP_DELIVERED_MS',
  'WEBHOOK_KEEP_DEAD_MS',
  'CAMPAIGNS_KEEP_DAYS',
  'CAMPAIGNS_PAUSED_KEEP_DAYS',
  'AUDIT_KEEP_DAYS',
  'AUDIT_MAX_ENTRIES',
];

const storageOf = async (facts: ServerFacts, gateway: Gateway) => {
  const { bytes, version, tables, messages, files } = await facts.databaseUse();
  const named = ({ instances, ...use }: typeof messages) => ({
    ...use,
    instances: instances.map(({ instanceId, ...one }) => ({ id: instanceId, name: gateway.view(instanceId)?.record.name ?? '', ...one })),
  });
  const fileBytes = facts.fileBytes();
  return {
    database: { bytes, version, tables: tables.map(({ rows, ...table }) => ({ ...table, ...(rows === null ? {} : { rows }) })) },
    messages: named(messages),
    files: named(files),
    ...(fileBytes === null ? {} : { fileBytes }),
    disk: facts.disk(),
    rules: facts.settings.filter(({ name }) => keepingRules.includes(name)).map(({ name, value, about }) => ({ name, value, about })),
  };
};

const factRows = (facts: ServerFacts, version: string): readonly Route[] => [
  route({
    on: ['GET /admin/settings'],
    operationId: 'listSettings',
    ...common,
    summary: 'List the settings in force: the value of each, its source and its default. Secrets are shown only as set or not set',
    answer: shape.SettingsAnswer,
    run: () => done({ settings: facts.settings }),
  }),
  route({
    on: ['GET /admin/version'],
    operationId: 'getVersion',
    ...common,
    summary:
      'Show the versions of the gateway, of Baileys, of the web client and of Node, and whether there is a newer release. Another server is asked only if UPDATE_CHECK_URL names one',
    answer: shape.VersionAnswer,
    run: async ({ gateway }) => {
      const { baileys, node, startedAt } = facts;
      return done({ version, baileys, node, startedAt, clientVersion: gateway.clientVersion(), update: await facts.update() });
    },
  }),
  route({
    on: ['GET /admin/storage'],
    operationId: 'getStorage',
    ...common,
    summary:
      'Show the space that the database and the files use, the largest instances, and the rules of expiry. The figures of large tables are scaled from a sample',
    answer: shape.StorageAnswer,
    run: async ({ gateway }) => done(await storageOf(facts, gateway)),
  }),
];

// The proxies of all instances.

const usualRows = { usual: 100, most: 500 };

type ProxyOf = Awaited<ReturnType<Gateway['proxies']>>[number];

const isInTrouble = ({ settings }: ProxyOf): boolean => settings.lastTestError !== '' || settings.fallbackSince !== null;

const rowOf = (one: ProxyOf) => {
  const { id, name, lastDisconnectReason } = one.view.record;
  const { status } = one.view;
  const reason = status === 'connected' || status === 'hibernated' ? '' : lastDisconnectReason;
  return { id, name, status, reason, proxy: proxyView(one) };
};

const fits = ({ id, name, reason, proxy }: ReturnType<typeof rowOf>, text: string): boolean =>
  [id, name, reason, proxy.proxy_url, proxy.last_test_error, proxy.proxy_managed_country, proxy.proxy_managed_city].some((field) =>
    field.toLowerCase().includes(text),
  );

/** Sorts proxies: those with problems first, then by name. */
const ordered = (all: readonly ProxyOf[]): readonly ProxyOf[] => {
  const keyOf = (one: ProxyOf): string => `${isInTrouble(one) ? 0 : 1} ${naturalKey(one.view.record.name)}`;
  const keyed = all.map((one) => ({ one, key: keyOf(one) }));
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ one }) => one);
};

const countOf = (all: readonly ProxyOf[], mode: ProxyOf['settings']['mode']): number =>
  all.filter(({ settings }) => settings.mode === mode).length;

const proxiesRow: Route = route({
  on: ['GET /admin/proxies'],
  operationId: 'listProxies',
  ...common,
  tag: 'proxy',
  summary: 'List the proxies of all instances, those in trouble first. Addresses are shown without credentials',
  query: shape.ProxiesQuery,
  answer: shape.ProxiesAnswer,
  run: async ({ gateway, query: { q = '', show = 'all', limit = 0, offset = 0 } }) => {
    const all = ordered(await gateway.proxies());
    const text = q.trim().toLowerCase();
    const chosen = all
      .filter((one) => show === 'all' || (show === 'trouble' ? isInTrouble(one) : one.settings.mode === show))
      .map(rowOf)
      .filter((row) => text === '' || fits(row, text));
    const counts = { custom: countOf(all, 'custom'), internal: countOf(all, 'internal'), none: countOf(all, 'none') };
    return done({
      total: chosen.length,
      counts: { all: all.length, trouble: all.filter(isInTrouble).length, ...counts },
      catalogue: gateway.proxyCatalogue().ok,
      rows: chosen.slice(offset, offset + pageSize(limit, usualRows)),
    });
  },
});

export const factRoutes = ({ facts, version }: { readonly facts: ServerFacts; readonly version: string }): readonly Route[] => [
  ...factRows(facts, version),
  proxiesRow,
];

// Alerts: their settings, the sent alerts, and a test.

export const alertRoutes: readonly Route[] = [
  route({
    on: ['GET /admin/alerts'],
    operationId: 'getAlerts',
    ...common,
    summary: 'Show the settings of alerts without their secrets, the present troubles, and the last attempt of each channel',
    answer: AlertsAnswer,
    run: async ({ gateway }) => done(await gateway.alerts()),
  }),
  route({
    on: ['POST /admin/alerts'],
    operationId: 'saveAlerts',
    ...common,
    summary: 'Replace the settings of alerts: their causes, their times, and their channels (e-mail, Telegram, Slack, webhook)',
    body: AlertsBody,
    answer: AlertsAnswer,
    examples: {
      body: {
        kinds: ['session', 'receiver', 'disk', 'node'],
        channels: ['email', 'telegram'],
        email: {
          host: 'mail.example.com',
          port: 587,
          security: 'startTls',
          user: 'gateway',
          from: 'gateway@example.com',
          to: ['ana@example.com'],
        },
        telegram: { url: 'https://api.telegram.org', chatId: '-1001234567890' },
        quiet: { from: 1_320, to: 420 },
        timeZone: 'America/Sao_Paulo',
        repeatHours: 24,
        receiverMinutes: 10,
        secrets: { emailPassword: 'the password', telegramToken: '123456:token' },
      },
    },
    refusals: {
      invalid: { example: 'webhookUrl: url must start with http:// or https://' },
      conflict: { example: 'the alerts are being changed by others: try again' },
    },
    run: ({ gateway, body: { secrets = {}, quiet = null, ...settings } }) =>
      gateway.saveAlerts({ ...settings, quiet }, secrets as Partial<AlertSecrets>),
  }),
  route({
    on: ['POST /admin/alerts/test'],
    operationId: 'testAlert',
    ...common,
    summary: 'Send a test over one channel, with the stored settings',
    body: AlertTestBody,
    answer: AlertTestAnswer,
    refusals: { invalid: { example: 'alerts are not set up: save them first' } },
    run: ({ gateway, body: { channel } }) => gateway.testAlert(channel),
  }),
];

// The figures of the last day, for graphs.

const usualHours = 24;

const FiguresQuery = Type.Object({ hours: optional(Count(1, 24, 'The hours up to now, by default 24')) });

const values = (description: string) =>
  Type.Array(Type.Unsafe<number | null>({ type: ['number', 'null'] }), { description: `${description}; null for a step without figures` });

const FiguresAnswer = Type.Object({
  from: Type.Number({ description: 'The beginning of the first step, in Unix milliseconds' }),
  step: Type.Integer({ description: 'The length of a step in minutes: 1 for up to 6 hours, else 5' }),
  steps: Type.Integer({ description: 'The length of every list below. The last step is under way' }),
  nodes: Type.Array(
    Type.Object({
      name: Type.String({ description: 'The name of the node; empty for a gateway without a cluster' }),
      seconds: values('The time that the counters of the step cover'),
      received: values('Messages from others'),
      sent: values('Messages of the accounts, from the API and from phones'),
      delivered: values('Posts to receivers that were answered with a 2xx'),
      failed: values('Posts to receivers that were not'),
      reconnects: values('Lost sessions that came back'),
      memoryBytes: values('The highest memory of the process (resident set size)'),
      loopMs: values('The highest 99th percentile of the delay of the event loop, in milliseconds'),
    }),
  ),
});

export const figureRoutes: readonly Route[] = [
  route({
    on: ['GET /admin/figures'],
    operationId: 'listFigures',
    credential: 'admin',
    tag: 'admin',
    summary: 'List messages, deliveries, reconnects, memory and loop delay of each node over the last hours, at most a day, in steps',
    query: FiguresQuery,
    answer: FiguresAnswer,
    run: async ({ gateway, query: { hours = usualHours } }) => done(await gateway.figureHistory(hours)),
  }),
];
