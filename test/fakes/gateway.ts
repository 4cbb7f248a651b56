/** A gateway in memory: one server, a few instances, and controls with which tests make calls fail. */
import { nodeCalls, reads } from './nodes.ts';
import { movingCalls } from './moving.ts';
import { refusedCalls } from './refused.ts';
import { deliveryCalls } from './delivery-details.ts';
import { areaCommands } from './areas.ts';
import { createHash } from 'node:crypto';
import { countChats } from '#src/storage/journal/chat-counts.ts';
import { inspectorCalls, type InspectorLevers } from './inspector.ts';
import { type Attempt, definitionCommands } from './definitions.ts';
import { postAnswers } from './posts.ts';
import { wordsOf } from './words.ts';
import { businessAnswers, product } from './business.ts';
import { channelAnswers, channelCommands } from './channels.ts';
import { groupAnswers } from './groups.ts';
import { chat, group, instance as sample, message, now } from '#test/contract/samples.ts';
import {
  type AnswerOf,
  type ByteRange,
  type ChatQuery,
  type Download,
  type DownloadWish,
  type Gateway,
  type GatewayEvent,
  type HistoryAsk,
  type InstanceId,
  type InputOf,
  type InstanceView,
  type KeptFile,
  type MessageQuery,
  type OperationName,
  type Refusal,
  type ReplayFilter,
  type Result,
  type SendOptions,
  StorageUnavailable,
  type Send,
  type Webhook,
  type WebhookInput,
} from '#actors/gateway.ts';
import { noProxy, unknownInstance } from '#actors/model.ts';
import { streamCalls, type Listener, type StreamLevers } from './streams.ts';

export const adminToken = 'the-admin-token';

/** Controls of the fake gateway for tests. */
export interface FakeGateway extends Gateway, StreamLevers {
  readonly inspector: InspectorLevers;
  accepting: boolean;
  /** The state of the phone's list of devices, as a disconnect reports it. */
  stillLinked: string;
  /** The refusal that the next call that can fail returns. */
  refuseNext: Refusal | null;
  /** The error with which the next call that can fail rejects. */
  throwNext: Error | null;
  /** Arguments of the calls, newest last. */
  readonly sends: { readonly send: Send; readonly options: SendOptions }[];
  readonly operations: { readonly name: OperationName; readonly input: unknown }[];
  /** Returns the answer of an operation. */
  performed: (name: OperationName) => unknown;
  readonly messageQueries: MessageQuery[];
  readonly chatQueries: ChatQuery[];
  readonly webhookInputs: WebhookInput[];
  readonly replays: ReplayFilter[];
  readonly downloads: DownloadWish[];
  /** The answer of a download. */
  downloaded: Download;
  /** Kept files by their names. */
  readonly kept: Map<string, ReturnType<typeof keptFile>>;
  /** Splits the bytes of a file into chunks, at a pace that a test may set. */
  paced: (bytes: Buffer) => AsyncIterable<Uint8Array>;
  readonly connects: Parameters<Gateway['connect']>[1][];
}

const done = <T>(value: T): Result<T> => ({ ok: true, value });

export const storageAway = (): Error => new StorageUnavailable('away');

const createState = () => ({
  instances: new Map<InstanceId, InstanceView>([[sample.record.id, sample]]),
  webhooks: [] as Webhook[],
  global: null as Webhook | null,
  listeners: new Map<InstanceId, Set<Listener>>(),
});

type State = ReturnType<typeof createState>;

const instanceCommands = ({ instances, listeners }: State, attempt: Attempt, fake: () => FakeGateway) => {
  const change = (id: InstanceId, patch: (view: InstanceView) => InstanceView): Promise<Result<InstanceView>> =>
    attempt(() => {
      const view = instances.get(id);
      if (view === undefined) return unknownInstance;
      instances.set(id, patch(view));
      return done(patch(view));
    });
  const withRecord = (patch: Partial<InstanceView['record']>) => (view: InstanceView) => ({
    ...view,
    record: { ...view.record, ...patch },
  });

  return {
    create: (input: Parameters<Gateway['create']>[0]) =>
      attempt(() => {
        const id = `r${String(instances.size).padStart(14, '0')}`;
        const view: InstanceView = {
          ...sample,
          record: { ...sample.record, ...input, id, token: `token-of-${id}`, jid: '', owner: '' },
          status: 'disconnected',
          connected: false,
          loggedIn: false,
        };
        instances.set(id, view);
        return done(view);
      }),
    connect(id: InstanceId, options: Parameters<Gateway['connect']>[1]) {
      fake().connects.push(options);
      return change(id, (view) => ({ ...view, qrcode: 'data:image/png;base64,AAAA' }));
    },
    async disconnect(id: InstanceId): ReturnType<Gateway['disconnect']> {
      const result = await change(id, (view) => ({ ...withRecord({ jid: '' })(view), connected: false, status: 'disconnected' }));
      return result.ok ? done({ ...result.value, stillLinked: fake().stillLinked }) : result;
    },
    reset: (id: InstanceId) => change(id, (view) => view),
    hibernate: (id: InstanceId) => change(id, (view) => ({ ...view, status: 'hibernated', connected: false })),
    passkey: () => attempt(() => done(passkey)),
    answerPasskey: () => attempt(() => done({ ...passkey, stage: 'phone' as const, options: null })),
    confirmPasskey: () => attempt(() => done({ ...passkey, stage: 'phone' as const, options: null })),
    cancelPasskey: () => attempt(() => done(null)),
    linkPasskey: () => attempt(() => done({ code: passkeyCode, expiresAt: now + 600_000 })),
    passkeyLink: async (code: string) => (code === passkeyCode ? { id: sample.record.id, used: false } : null),
    usePasskeyLink: () => attempt(() => done('T'.repeat(43))),
    update: (id: InstanceId, patch: Parameters<Gateway['update']>[1]) => change(id, withRecord(patch)),
    nameLeadFields: (id: InstanceId, names: Readonly<Record<string, string>>) => change(id, withRecord({ fieldsMap: names })),
    remove: (id: InstanceId) => attempt(() => (instances.delete(id) ? done({ stillLinked: '' }) : unknownInstance)),
    rotateToken: (id: InstanceId) => {
      for (const { onEnd } of listeners.get(id) ?? []) onEnd();
      return change(id, withRecord({ token: 'rotated-token' }));
    },
    rotateAdminToken: () => attempt(() => done('A'.repeat(50))),
    presence: () => attempt(() => done(null)),
  };
};

/** The only valid passkey code. */
export const passkeyCode = 'ABCD-2345';

const passkey = {
  stage: 'assertion',
  code: '',
  expiresAt: now + 600_000,
  options: { challenge: 'AAAA', rpId: 'whatsapp.com' },
} as const;

const proxyCommands = (attempt: Attempt) => ({
  proxy: () => done({ settings: noProxy, effective: 'direct' as const }),
  proxies: async () => [{ view: sample, settings: noProxy, effective: 'direct' as const }],
  changeProxy: (_id: InstanceId, { mode = 'none', rotate = false }: Parameters<Gateway['changeProxy']>[1]) =>
    attempt(() => done({ settings: { ...noProxy, mode }, effective: 'direct' as const, restarted: true, rotated: rotate })),
  proxyCatalogue: () => done([{ value: 'br', label: 'Brazil', proxies: [], cities: [] }]),
});

const contact = { contactId: chat.chatId, lid: chat.chatLid, name: chat.contactName, pushName: chat.pushName };

const chatCommands = (attempt: Attempt) => ({
  chat: () => attempt(() => done(chat)),
  changeChat: () => attempt(() => done(chat)),
  setChatTimer: () => attempt(() => done(chat)),
  block: () => attempt(() => done([chat.chatId])),
  reloadNotes: () => attempt(() => done(chat)),
  contacts: async () => {
    await attempt(() => done(null));
    return { contacts: [contact], total: 1, saved: 1 };
  },
  saveContact: () => attempt(() => done(contact)),
  removeContact: () => attempt(() => done(contact)),
  removeChat: () => attempt(() => done([{ of: 'chat', error: '' } as const])),
});

const messageCommands = (attempt: Attempt, fake: () => FakeGateway) => ({
  ...definitionCommands(attempt),
  ...chatCommands(attempt),
  send(_id: InstanceId, send: Send, options: SendOptions) {
    fake().sends.push({ send, options });
    return attempt(() => done({ ...message, text: wordsOf(send.content), fromMe: true, sendPayload: options.payload }));
  },
  perform<N extends OperationName>(_id: InstanceId, name: N, input: InputOf<N>): Promise<Result<AnswerOf<N>>> {
    fake().operations.push({ name, input });
    return attempt(() => done(fake().performed(name) as AnswerOf<N>));
  },
  markRead: (_id: InstanceId, ids: readonly string[]) => attempt(() => done(ids.map((id) => ({ id, error: '' })))),
  showTyping: () => attempt(() => done(null)),
  requestHistory: (_id: InstanceId, ask: HistoryAsk) =>
    attempt(() => done({ id: ask.requestId || 'q1', chatId: message.chatId, at: now, state: 'pending' as const, answer: null })),
  histories: async () => ({ initial: { messages: 0, progress: null }, requests: [] }),
  receipts: () => {
    const receipt = { messageId: message.messageId, member: '1000000001@lid', memberPn: '', deliveredAt: now, readAt: 0, playedAt: 0 };
    return attempt(() => done({ message, receipts: [receipt], more: false, counts: { delivered: 0, read: 0, played: 0 } }));
  },
  async findMessages(_id: InstanceId, query: MessageQuery) {
    fake().messageQueries.push(query);
    await attempt(() => done(null));
    return { messages: [message], more: true };
  },
  async findChats(_id: InstanceId, query: ChatQuery) {
    fake().chatQueries.push(query);
    await attempt(() => done(null));
    return { chats: [chat], total: 1, stats: countChats([chat]) };
  },
  listGroups: () => attempt(() => done({ groups: [group], total: 1 })),
  setOwnPicture: () => attempt(() => done(null)),
  setGroupPicture: () => attempt(() => done(group)),
  saveProduct: () => attempt(() => done(product)),
  ...channelCommands(attempt),
  chatStats: async () => {
    await attempt(() => done(null));
    return countChats([chat]);
  },
  editLead: (_id: InstanceId, _name: string, fields: Readonly<Record<string, unknown>>) =>
    attempt(() => done({ ...chat, extra: { ...chat.extra, ...fields } })),
  async queue() {
    await attempt(() => done(null));
    return { status: 'idle', pending: 0, processingNow: false, acceptingNewMessages: true, sessionReady: true, resetting: false } as const;
  },
  deleteMessage: (_id: string, messageId: string) => attempt(() => done({ messageId, at: Date.parse('2026-08-19T17:36:34Z') })),
  clearQueue: () => attempt(() => done(3)),
});

const fileCommands = (attempt: Attempt, fake: () => FakeGateway) => ({
  download(_id: InstanceId, wish: DownloadWish) {
    fake().downloads.push(wish);
    return attempt(() => done(fake().downloaded));
  },
  async file(name: string) {
    await attempt(() => done(null));
    return fake().kept.get(name)?.file ?? null;
  },
  async readFile({ name }: KeptFile, range?: ByteRange) {
    const bytes = fake().kept.get(name)?.bytes;
    const part = range ? bytes?.subarray(range.start, range.end + 1) : bytes;
    return part === undefined ? null : fake().paced(part);
  },
});

/** Returns a stored file with its bytes. */
export const keptFile = (bytes: Buffer, change: Partial<KeptFile> = {}): { readonly file: KeptFile; readonly bytes: Buffer } => {
  const name = `${'0123456789abcdef'.repeat(2)}.png`;
  const hash = createHash('sha256').update(bytes).digest('hex');
  const file = { name, url: `https://gateway.example/files/${name}`, hash, size: bytes.length, mimetype: 'image/png', filename: '' };
  return { file: { ...file, ...change }, bytes };
};

const webhookCommands = (state: State, attempt: Attempt, fake: () => FakeGateway) => {
  const made = (input: WebhookInput, instanceId: InstanceId | null): Webhook => ({
    id: input.id || `w${state.webhooks.length + 1}`,
    instanceId,
    enabled: input.enabled ?? false,
    url: input.url,
    events: input.events ?? [],
    excludeMessages: input.excludeMessages ?? [],
    addUrlEvents: input.addUrlEvents ?? false,
    addUrlTypesMessages: input.addUrlTypesMessages ?? false,
    managed: input.action === '',
    secret: input.secret === true ? 'whsec_made' : (input.secret ?? ''),
    headers: input.headers ?? {},
    created: now,
  });
  return {
    webhooks: (id: InstanceId) => state.webhooks.filter((webhook) => webhook.instanceId === id),
    saveWebhook(id: InstanceId, input: WebhookInput) {
      fake().webhookInputs.push(input);
      return attempt(() => {
        state.webhooks = state.webhooks.filter((webhook) => webhook.id !== input.id && webhook.url !== input.url);
        if (input.action !== 'delete') state.webhooks.push(made(input, id));
        return done({ webhooks: state.webhooks, revealed: '' });
      });
    },
    webhookErrors: async () => ({ since: now, errors: [] }),
    globalWebhook: () => state.global,
    saveGlobalWebhook(input: WebhookInput) {
      fake().webhookInputs.push(input);
      return attempt(() => done({ webhooks: [(state.global = made(input, null))], revealed: '' }));
    },
    globalWebhookErrors: async () => ({ since: now, errors: [] }),
    ...deliveryCalls(attempt),
    replay(_owner: InstanceId | null, filter: ReplayFilter) {
      fake().replays.push(filter);
      return attempt(() => done(2));
    },
  };
};

/** Answers of operations. Operations without a row answer with a message. */
const performed: Readonly<Partial<{ [N in OperationName]: AnswerOf<N> }>> = {
  ...groupAnswers,
  ...businessAnswers,
  ...postAnswers,
  ...channelAnswers,
  'message.delete': { messageId: message.messageId, at: now },
  'account.limits': {
    timeLock: { ok: true, value: { active: true, until: now, kind: 'BIZ_QUALITY' } },
    cap: {
      ok: true,
      value: {
        status: 'CAPPED',
        used: 10,
        total: 10,
        cycleStart: now,
        cycleEnd: now,
        sentAt: now,
        oteStatus: 'EXHAUSTED',
        mvStatus: 'ACTIVE',
      },
    },
  },
  'account.privacy': { last: 'contacts', readreceipts: 'all' },
  'account.changePrivacy': { last: 'contacts', readreceipts: 'all' },
  'chat.blocked': [chat.chatId],
  'message.pin': { pin: message, messageId: message.messageId },
};

/** An event with every field, which tests change with a spread. */
export const sampleEvent: GatewayEvent = {
  id: 'event-1',
  instanceId: sample.record.id,
  type: 'messages',
  messageType: 'text',
  lane: message.chatId,
  message: { fromMe: false, isGroup: false, wasSentByApi: false },
  at: now,
  payload: { chatSource: 'updated', chat: { id: chat.id }, message: { id: 'm1', chatid: message.chatId, type: 'text' } },
};

const sampleNumbers: ReturnType<Gateway['numbers']> = {
  registered: 1,
  disconnected: 0,
  connecting: 0,
  connected: 1,
  hibernated: 0,
  failed: 0,
  handshakesWaiting: 0,
  clock: '',
  barrier: '',
  clientVersion: { version: '2.3000.1', source: 'builtIn', checkedAt: 0, error: '' },
  loopLagMs: 1,
  outbox: { waiting: 0, parked: 0 },
  workerCrashes: {},
  instances: [],
};

export const createFakeGateway = (): FakeGateway => {
  const state = createState();
  const attempt: Attempt = async (run) => {
    const { refuseNext, throwNext } = fake;
    fake.refuseNext = null;
    fake.throwNext = null;
    if (throwNext !== null) throw throwNext;
    return refuseNext === null ? run() : { ok: false, refusal: refuseNext };
  };

  const fake: FakeGateway = {
    accepting: true,
    stillLinked: '',
    refuseNext: null,
    throwNext: null,
    sends: [],
    operations: [],
    performed: (name) => performed[name] ?? message,
    messageQueries: [],
    chatQueries: [],
    webhookInputs: [],
    replays: [],
    connects: [],
    downloads: [],
    downloaded: { file: keptFile(Buffer.from('bytes')).file, cached: false },
    kept: new Map([keptFile(Buffer.from('bytes'))].map((kept) => [kept.file.name, kept])),
    async *paced(bytes) {
      yield bytes;
    },
    authenticate: (token) => [...state.instances.values()].find(({ record }) => record.token === token)?.record.id ?? null,
    lookUp: async () => null,
    isAdmin: (token) => token === adminToken,
    ...reads(state),
    ...instanceCommands(state, attempt, () => fake),
    ...proxyCommands(attempt),
    ...messageCommands(attempt, () => fake),
    ...areaCommands(attempt),
    ...fileCommands(attempt, () => fake),
    ...webhookCommands(state, attempt, () => fake),
    ...inspectorCalls(attempt),
    ...streamCalls(state.listeners, sampleEvent),
    ...nodeCalls,
    ...refusedCalls,
    ...movingCalls,
    clientVersion: () => sampleNumbers.clientVersion,
    numbers: () => sampleNumbers,
    counts: () => ({ total: 1, connected: 1, connecting: 0, reconnecting: 0, disconnected: 0 }),
  };
  return fake;
};
