/** A simulated world for the actors: every port, with controls for tests. */
import { watchPorts } from './alerts.ts';
import { quietMeter } from '#test/fakes/meter.ts';
import { FakePictures, FakeRecipients } from './lookups.ts';
import { createHash } from 'node:crypto';
import assert from 'node:assert/strict';
import { done, refuse, type InstanceRecord, type ProxyCatalogue, type Webhook } from '#actors/model.ts';
import { contractPorts } from '#src/contract/views.ts';
import { withInstanceLevels } from '#src/log.ts';
import { signer } from '#src/webhooks/receiver.ts';
import { createGateway, type RunningGateway } from '#actors/gateway.ts';
import type { Policy } from '#actors/policy/policy.ts';
import type { Attempt, Cuts, Ports, Receiver } from '#actors/ports.ts';
import { instance as sampleInstance, webhook as sampleWebhook } from './records.ts';
import { FakeAttachments } from './attachments.ts';
import { createFakeFiles, type FakeFiles } from './files.ts';
import { FakeJournal } from './journal.ts';
import { FakeChatwootRows, noChatwoot } from './chatwoot.ts';
import { FakeChatbots, FakeChatModels } from './chatbot.ts';
import { FakeCampaigns, FakeOptOuts } from './campaigns.ts';
import { FakeContacts } from './contacts.ts';
import { FakePlatform } from './platform.ts';
import { FakeDeliveries } from './deliveries.ts';
import { FakeChats, FakeMessages } from './conversations.ts';
import {
  FakeDatabase,
  FakeDefinitions,
  FakeGroups,
  FakeInstances,
  FakeOutbox,
  FakeRemovals,
  FakeSendKeys,
  FakeSettings,
  FakeWebhooks,
} from './storage.ts';
import { FakeSessions, FakeSources } from './moving.ts';
import { FakeRefused } from './refused.ts';
import { FakePasskeyCodes } from './passkey-codes.ts';
import { userPorts } from './users.ts';
import { FakeSteps } from './steps.ts';
import { FakeChance, FakeLog, FakeTime, settle } from './time.ts';

export interface Post {
  readonly at: number;
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

export class FakeReceiver implements Receiver {
  readonly posts: Post[] = [];
  /** Returns the answer of the receiver. A promise delays the answer. */
  answer: (post: Post) => Attempt | Promise<Attempt> = () => ({ ok: true, status: 200 });
  readonly #time: FakeTime;

  constructor(time: FakeTime) {
    this.#time = time;
  }

  async post(url: string, body: string, headers: Readonly<Record<string, string>>, cuts?: Cuts): Promise<Attempt> {
    const post = { at: this.#time.now(), url, headers, body: JSON.parse(body) as Record<string, unknown> };
    this.posts.push(post);
    const { promise, resolve } = Promise.withResolvers<Attempt>();
    const cut = (): void => resolve({ ok: false, error: 'cut' });
    cuts?.add(cut);
    return Promise.race([promise, this.answer(post)]).finally(() => cuts?.delete(cut));
  }

  objection(url: string): string | null {
    return url.startsWith('http') ? null : 'the address must begin with http:// or https://';
  }
}

export const testPolicy: Policy = {
  reconnect: { min: 1000, max: 300_000, stable: 300_000, cutEvery: 30_000 },
  unknownCloseLimit: 5,
  restarts: { limit: 2, window: 60_000 },
  replaced: { min: 60_000, max: 120_000, window: 600_000 },
  crash: { limit: 3, window: 60_000, cooldown: 900_000 },
  handshakes: { atOnce: 5, perSecond: 5 },
  maxConnected: 100,
  connects: { burst: 10, every: 60_000 },
  pairing: { qr: 120_000, code: 300_000 },
  connectAnswer: 5000,
  wakeTimeout: 20_000,
  operationTimeout: 15_000,
  unlinkTimeout: 8_000,
  hibernation: { after: 0, wakeEvery: 604_800_000, drain: 10_000 },
  outage: { window: 10_000, least: 4 },
  proxies: { direct: true, primaryEvery: 600_000 },
  queue: { items: 5_000, age: 1e14 },
  pictures: { pace: { burst: 20, every: 3_000 }, age: 172_800_000, waiting: 500, remembered: 500 },
  lookups: { pace: { burst: 100, every: 2_000 }, knownFor: 604_800_000, absentFor: 21_600_000 },
  groups: { forceEvery: 20_000 },
  campaigns: {
    recipients: 1_000,
    atOnce: 5,
    dailyCap: 0,
    quiet: null,
    timeZone: 'UTC',
    refusals: 3,
    stopWords: ['stop'],
    kept: 0,
    pausedKept: 0,
  },
  typingAtOnce: 3,
  statusRecipients: 500,
  sendKeyAge: 86_400_000,
  chatbot: {
    pause: 3_000,
    longestPause: 12_000,
    burst: 20,
    fresh: 300_000,
    atOnce: { total: 4, perInstance: 2 },
    timeout: 30_000,
    retries: 2,
    retry: { min: 1_000, max: 10_000 },
    circuit: { failures: 3, min: 30_000, max: 600_000 },
    tokensPerDay: 10_000,
    answerTokens: 500,
    toolRounds: 3,
    toolCalls: 5,
    pieces: 4,
    answersPerMinute: 3,
    answersInARow: 20,
    answersPerDay: 200,
    conversations: 5,
  },
  recorder: { maxWait: 5, maxBatch: 64 },
  delivery: {
    concurrency: 4,
    quick: [0, 1500, 5000],
    slow: [5000, 30_000, 120_000],
    circuit: { failures: 10, min: 30_000, max: 600_000 },
    inMemory: 100,
    inMemoryBytes: 1_000_000,
    retryAfterMax: 60_000,
    atOnce: { total: 1000, perHost: 100 },
    bounds: { rows: 100_000, bytes: 1_000_000_000, age: 604_800_000 },
    kept: { rows: 1000, delivered: 86_400_000, dead: 604_800_000 },
    sweepEvery: 10_000,
  },
  retention: { messages: 0, receipts: 0, files: 0, fileBytes: 0 },
  autoDownload: { kinds: [], most: 1_000_000, wait: 10_000 },
  chatwoot: { fileBytes: 1_000_000, keep: 2_592_000_000, replyWait: 600_000, waiting: 100, atOnce: 8, atOncePerInstance: 2 },
  webhooksPerInstance: 5,
  definitionsPerInstance: 3,
  adminRotateCooldown: 3_600_000,
  audit: { age: 0, most: 1_000 },
};

export class World {
  readonly time = new FakeTime();
  readonly log = new FakeLog();
  readonly db = new FakeDatabase();
  readonly chance: FakeChance;
  readonly platform: FakePlatform;
  readonly attachments = new FakeAttachments();
  readonly moving = { sources: new FakeSources(), sessions: new FakeSessions(this.db) };
  readonly receiver: FakeReceiver;
  readonly journal: FakeJournal;
  readonly files: FakeFiles;
  readonly chatbots: FakeChatbots;
  readonly chatModels: FakeChatModels;
  /** Returns the facts of the file of a message, or null for a message without a file. */
  mediaFacts: Ports['mediaFacts'] = () => null;
  readonly sounds: { -readonly [K in keyof Ports['sounds']]: Ports['sounds'][K] } = {
    toMp3: async () => refuse('notConvertible', 'there is no ffmpeg'),
    transcribe: async () => done('spoken'),
  };
  /** The catalogue of proxies, and the error of each tested proxy. An empty error means that the proxy works. */
  readonly proxies: { catalogue: ProxyCatalogue | null; verdicts: Record<string, string | Promise<string>>; tested: string[] } = {
    catalogue: null,
    verdicts: {},
    tested: [],
  };
  readonly ports: Ports;

  constructor(seed = 1) {
    const { db, time, log } = this;
    const chance = (this.chance = new FakeChance(seed));
    this.platform = new FakePlatform(time);
    this.platform.credentials = (id) => (db.instances.get(id)?.jid ?? '') !== '';
    this.receiver = new FakeReceiver(time);
    this.journal = new FakeJournal(db, time, chance);
    this.files = createFakeFiles({ baseUrl: 'http://gateway.test', hex: (bytes) => chance.hex(bytes), now: () => time.now() });
    this.chatbots = new FakeChatbots(db);
    this.chatModels = new FakeChatModels(time);
    this.ports = {
      ...watchPorts(),
      digest: (text) => createHash('sha256').update(text).digest('hex'),
      platform: this.platform,
      instances: new FakeInstances(db, () => time.now()),
      webhooks: new FakeWebhooks(db),
      journal: this.journal,
      messages: new FakeMessages(db),
      receiptExpiry: { expire: async () => ({ removed: 0, more: false }) },
      disk: { freeBytes: 0, sizeBytes: 0, warning: '' },
      messageExpiry: { expire: async (before, limit) => db.expireMessages(before, limit) },
      chats: new FakeChats(db),
      outbox: new FakeOutbox(db),
      deliveries: new FakeDeliveries(db),
      settings: new FakeSettings(db),
      removals: new FakeRemovals(db),
      sendKeys: new FakeSendKeys(db),
      refused: new FakeRefused(db),
      stepLog: new FakeSteps(db),
      ...userPorts(),
      attachments: this.attachments,
      ...this.moving,
      portraits: { take: async (_, source) => (source === 'broken' ? refuse('invalid', 'no picture') : done(Buffer.from(source))) },
      passkeyCodes: new FakePasskeyCodes(db),
      pictures: new FakePictures(db),
      recipients: new FakeRecipients(db),
      contacts: new FakeContacts(db),
      chatbots: this.chatbots,
      campaigns: new FakeCampaigns(db),
      optOuts: new FakeOptOuts(db),
      definitions: new FakeDefinitions(db),
      groups: new FakeGroups(db),
      receiver: this.receiver,
      chatwoot: noChatwoot,
      chatwootRows: new FakeChatwootRows(),
      signer,
      ...contractPorts,
      chatModels: this.chatModels,
      media: { qrPng: async (text) => `data:image/png;base64,${text}` },
      ...this.#fileParts(),
      proxies: this.#proxies(),
      chance,
      time,
      log,
      meter: quietMeter,
      logLevels: withInstanceLevels(log, () => time.now()).logLevels,
    };
  }

  #fileParts(): Pick<Ports, 'downloadsWaiting' | 'files' | 'mediaFacts' | 'sounds'> {
    return {
      files: this.files.files,
      mediaFacts: (message, quoted) => this.mediaFacts(message, quoted),
      downloadsWaiting: () => 0,
      sounds: { toMp3: (id, path) => this.sounds.toMp3(id, path), transcribe: (sound, key) => this.sounds.transcribe(sound, key) },
    };
  }

  #proxies(): Ports['proxies'] {
    const { proxies } = this;
    return {
      get catalogue() {
        return proxies.catalogue;
      },
      objection: () => null,
      test: async (url) => {
        proxies.tested.push(url);
        return proxies.verdicts[url] ?? '';
      },
    };
  }

  /** Stores a registered instance before the gateway starts. */
  register(change: Partial<InstanceRecord> & { readonly id: string }): InstanceRecord {
    const record = { ...sampleInstance, token: `token-${change.id}`, ...change };
    this.db.instances.set(record.id, record);
    return record;
  }

  hook(change: Partial<Webhook> & { readonly id: string }): Webhook {
    const webhook = { ...sampleWebhook, ...change };
    this.db.webhooks.set(webhook.id, webhook);
    return webhook;
  }

  start(policy: Partial<Policy> = {}, adminToken: string | null = 'admin'): Promise<RunningGateway> {
    return createGateway({ ports: this.ports, policy: { ...testPolicy, ...policy }, baseUrl: 'http://gateway.test', adminToken });
  }

  /** Advances the simulated time in steps of 100 ms until a command answers. Fails after `limit` milliseconds. */
  async answerOf<T>(promise: Promise<T>, limit = 60_000): Promise<T> {
    const state = { over: false };
    const finish = (): void => void (state.over = true);
    promise.then(finish, finish);
    await settle();
    for (let waited = 0; !state.over && waited < limit; waited += 100) await this.time.pass(100);
    assert.ok(state.over, `no answer within ${limit} ms of simulated time`);
    return promise;
  }

  /** Asserts that every port was used according to its obligations. */
  assertKept(): void {
    assert.deepEqual(this.platform.violations, []);
  }
}

export { settle };
