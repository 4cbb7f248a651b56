/**
 * Runs a gateway without a platform in a separate process. Storage, couriers, HTTP and streams are real, and the bench creates the events. This measures
 * deliveries and streams without the cost of a session.
 */
import { quietMeter } from '#test/fakes/meter.ts';
import { createHash, randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { createGateway, type RunningGateway } from '#actors/gateway.ts';
import type { Entry } from '#actors/model.ts';
import type { LinkHost, Platform, Ports } from '#actors/ports.ts';
import { loadSettings } from '#config/load.ts';
import { createOneTimeCodes, createPasswords } from '#src/users/credentials.ts';
import { buildApp } from '#src/http/app.ts';
import { policyOf } from '#src/settings.ts';
import { openStorage, type Storage } from '#src/storage/open.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';
import { signer, WebhookReceiver } from '#src/webhooks/receiver.ts';
import { noChatwoot } from '#test/fakes/chatwoot.ts';
import { createFakeFiles } from '#test/fakes/files.ts';
import { contractPorts } from '#src/contract/views.ts';
import { instance as sample, webhook as sampleHook } from '#test/fakes/records.ts';
import { sampleFacts } from '#test/contract/samples.ts';
import { answer } from './probe.ts';

// The gateway's entry (src/main.cjs) sets the same flag.
setFlagsFromString('--heap-growing-percent=100');
const settings = loadSettings({ file: '' });
const tell = (fields: object, event: string): void => void process.stderr.write(`${event} ${JSON.stringify(fields)}\n`);
const quiet = { debug: () => undefined, info: tell, warn: tell, error: tell };
const hosts = new Map<string, LinkHost>();
let storage: Storage;
let gateway: RunningGateway | undefined;

const refuse = (): never => {
  throw new Error('there is no platform here');
};
const platform: Platform = {
  picture: () => null,
  clientVersion: () => ({ version: '2.3000.1', source: 'builtIn', checkedAt: 0, error: '' }),
  heardTime: () => null,
  link(host) {
    hosts.set(host.id, host);
    return {
      open: () => undefined,
      close: async () => undefined,
      pair: () => undefined,
      passkey: () => undefined,
      passkeyProblem: () => null,
      logout: async () => true,
      paired: async () => false,
      discard: async () => undefined,
      forgetKeys: async () => undefined,
      perform: refuse,
      chatOf: refuse,
      draft: refuse,
      lastFrameAt: () => 0,
      timeLock: () => null,
    };
  },
};

const portsOf = (stores: Storage): Ports => {
  const guard = new AddressGuard({ allow: ['loopback'] });
  const posts = new WebhookReceiver({
    guard,
    timeoutMs: settings.webhookTimeoutMs,
    userAgent: 'Dormouse/bench',
    connections: settings.webhookPostsPerHost,
  });
  return {
    ...stores,
    platform,
    attachments: { take: refuse },
    sources: { receive: refuse, archive: refuse },
    portraits: { take: refuse },
    receiver: posts,
    chatwoot: noChatwoot,
    signer,
    ...contractPorts,
    disk: { freeBytes: 0, sizeBytes: 0, warning: '' },
    loopLagMs: () => 0,
    memoryBytes: () => 0,
    mailer: { send: async () => ({ sent: true, error: '' }) },
    media: { qrPng: async () => '' },
    files: createFakeFiles({ baseUrl: '', hex: (bytes) => randomBytes(bytes).toString('hex'), now: () => Date.now() }).files,
    mediaFacts: () => null,
    downloadsWaiting: () => 0,
    chatModels: { objection: () => null, originOf: () => '', ask: refuse, toolCall: refuse },
    proxies: { catalogue: null, objection: () => null, test: async () => '' },
    sounds: { toMp3: refuse, transcribe: refuse },
    chance: { random: () => Math.random(), hex: (bytes) => randomBytes(bytes).toString('hex'), token: (length) => 'x'.repeat(length) },
    time: {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      correction: () => 0,
      turn: () => new Promise((resolve) => setImmediate(resolve)),
      setTimeout: (fn, ms) => setTimeout(fn, ms),
      clearTimeout: (id) => clearTimeout(id as NodeJS.Timeout),
    },
    log: quiet,
    meter: quietMeter,
    logLevels: { set: () => undefined, of: () => null },
    passwords: createPasswords(),
    oneTimeCodes: createOneTimeCodes(),
    digest: (text) => createHash('sha256').update(text).digest('hex'),
  };
};

/** Returns an entry of the given size in one of 20 chats. */
const entryOf = (n: number, bytes: number): Entry => ({
  kind: 'event',
  type: 'messages',
  lane: `chat ${n % 20}`,
  payload: { n, at: performance.timeOrigin + performance.now(), text: 'x'.repeat(Math.max(0, bytes - 250)) },
});

interface Setup {
  readonly instances: number;
  /** The address of the webhook of each instance; empty for no webhooks. */
  readonly urls: readonly string[];
}

answer('open', async ({ instances, urls }: Setup) => {
  storage = await openStorage({ databaseUrl: null, dataDir: 'data', encryptionKey: randomBytes(32), log: quiet });
  for (let n = 0; n < instances; n += 1) {
    await storage.instances.insert({ ...sample, id: `r${n}`, token: `token-${n}` });
    const url = urls[n];
    if (url !== undefined) await storage.webhooks.save({ ...sampleHook, id: `w${n}`, instanceId: `r${n}`, url }, 1);
  }
});
/** Adds events of every instance to the outbox before the start. */
answer('fill', async ({ instances, each, bytes }: { instances: number; each: number; bytes: number }) => {
  for (let n = 0; n < instances; n += 1)
    for (let at = 0; at < each; at += 100) {
      const entries = Array.from({ length: Math.min(100, each - at) }, (_, k) => entryOf(at + k, bytes));
      await storage.journal.commit({ id: `r${n}`, owner: '', epoch: sample.epoch }, entries, () => [`w${n}`]);
    }
});
/** Starts the gateway. The first call creates it. Each start reads the outbox. */
answer('start', async () => {
  gateway ??= await createGateway({
    ports: portsOf(storage),
    policy: policyOf(settings),
    baseUrl: 'http://bench.test',
    adminToken: 'bench',
  });
  await gateway.restore();
  // A resting instance gets a link when its queue is read.
  for (const { record } of gateway.all()) await gateway.queue(record.id);
});
answer('listen', async () => {
  if (!gateway) throw new Error('the gateway is not started');
  const http = {
    baseUrl: '',
    demoServer: false,
    bodyLimit: 1e6,
    mediaBytes: 1e6,
    base64Bytes: 1e6,
    allowQueryTokens: false,
    corsOrigins: [],
    mcpTools: [],
    version: 'bench',
    healthDetails: 'all' as const,
    overloadLagMs: 0,
    restart: () => 'begins' as const,
    storageTroubles: () => [],
    facts: sampleFacts,
  };
  const limits = {
    answerBytes: 8_388_608,
    requestsPerSecond: 0,
    authFailuresPerMinute: 0,
    adminSessionMs: 60_000,
    simulatedPhone: null,
    serverUrl: '/',
    trustedProxies: [],
  };
  // The bench measures more streams of one instance than an operator allows.
  const app = await buildApp(gateway, { ...http, ...limits, log: quiet, stream: { perToken: Infinity } });
  return app.listen({ host: '127.0.0.1', port: 0 });
});
/** Records one event of each of these instances. */
answer('tell', ({ instances, bytes, n }: { instances: readonly number[]; bytes: number; n: number }) => {
  for (const at of instances) hosts.get(`r${at}`)?.record([entryOf(n, bytes)]);
});
/** Records events at a steady pace, for one instance after the other. Waits until all are recorded. */
answer('pace', async ({ instances, count, perSecond, bytes }: { instances: number; count: number; perSecond: number; bytes: number }) => {
  const begun = performance.now();
  for (let n = 0; n < count; n += 1) {
    const wait = begun + (n * 1000) / perSecond - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    hosts.get(`r${n % instances}`)?.record([entryOf(n, bytes)]);
  }
});
answer('waiting', async () => (await storage.deliveries.tally(null)).reduce((sum, { waiting, parked }) => sum + waiting + parked, 0));

process.once('SIGTERM', () => {
  void (async () => {
    await gateway?.stop();
    await storage?.close();
    process.exit(0);
  })();
});
