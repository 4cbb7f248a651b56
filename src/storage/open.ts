/** Opens the storage: connects to a given PostgreSQL server or starts an embedded one, migrates its tables, and makes the stores. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { ChangeStore, FileRows, LeaseStore, LeftWorkStore, Log, SignInStore, Stores } from '#actors/ports.ts';
import type { Vault } from '#src/platform/wire/vault-port.ts';
import { createChatbotStore, createChatwootStore } from './stores/chatbots.ts';
import { ChatCounts } from './journal/chat-counts.ts';
import { createCampaignStore, createOptOutStore } from './stores/campaigns.ts';
import { createChangeStore, createLeaseStore, createLeftWorkStore } from './stores/leases.ts';
import { createChatStore } from './stores/chats.ts';
import { isInUse, type Database } from './postgres/database.ts';
import { createContactStore, createDefinitionStore, createGroupStore, createPictureStore, createRecipientStore } from './stores/people.ts';
import { createDeliveryStore } from './stores/deliveries.ts';
import { EmbeddedServer } from './postgres/embedded.ts';
import { isConnectTimeout } from './postgres/failures.ts';
import { createFileRows } from './stores/files.ts';
import { createInstanceStore, createSessionStore, createStepStore, hasLinked } from './stores/instances.ts';
import { createJournal } from './journal/journal.ts';
import { MessageExpiryScan, ReceiptExpiryScan } from './stores/expiry.ts';
import { createMessageStore, createSendKeyStore } from './stores/messages.ts';
import { migrate, type MigrationProgress } from './postgres/migrate.ts';
import { shownAddress } from './postgres/shown-address.ts';
import { FairQueue, openPools, type PoolLimits, type Pools, type PoolSizes, usualPoolLimits, usualSizes } from './postgres/pools.ts';
import { createOutboxStore } from './stores/outbox.ts';
import { createRemovalStore } from './stores/removals.ts';
import { createAuditStore, createPasskeyCodeStore, createSignInStore, createUserStore } from './stores/users.ts';
import { createRefusedStore } from './stores/refused-entries.ts';
import { type DatabaseUse, createAlertStore, createFigureStore, readUsage } from './stores/monitoring.ts';
import { Opener } from './vault/sealing.ts';
import { SealedUpkeep, type UpkeepPace } from './vault/sealed-upkeep.ts';
import { Tenancy } from './postgres/tenancy.ts';
import { DatabaseVault } from './vault/vault.ts';
import { createSettingStore, createWebhookStore } from './stores/webhooks.ts';

export { migrate, type MigrationProgress } from './postgres/migrate.ts';
export { EmbeddedServer } from './postgres/embedded.ts';

export interface StorageOptions {
  /** The URL of the database. Null for an embedded server in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** The encryption key of 32 bytes. */
  readonly encryptionKey: Uint8Array;
  /** The previous key. Values that it sealed are resealed under the new key in the background. */
  readonly formerEncryptionKey?: Uint8Array | null;
  readonly log: Log;
  /** Returns Unix milliseconds. */
  readonly now?: () => number;
  /** Called on a node of a cluster with the database's clock (Unix milliseconds) and the round-trip time of its query (milliseconds). */
  readonly noteTime?: (now: number, tripMs: number) => void;
  /** Settings of the embedded server, such as `fsync: 'off'` for tests. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The largest number of connections of each pool. */
  readonly connections?: Partial<PoolSizes>;
  readonly limits?: Partial<PoolLimits>;
  /** If set, opening reserves the database, and rejects while another process has the database. Called if another process takes the database later. */
  readonly onTaken?: () => void;
  /** Called while this process or another one migrates the tables. */
  readonly onMigrating?: (progress: MigrationProgress) => void;
  /** See `EmbeddedOptions`. */
  readonly onRecovering?: () => void;
  /** See `EmbeddedOptions`. */
  readonly signal?: AbortSignal | undefined;
  /** True if the process is a node of a cluster, whose nodes share the database. */
  readonly shared?: boolean;
  /** The pace of the move to derived keys, in a cluster. */
  readonly sealingPace?: UpkeepPace | undefined;
}

export interface Storage extends Stores {
  readonly vault: Vault;
  readonly fileRows: FileRows;
  /** Null for a single gateway. */
  readonly leases: LeaseStore | null;
  /** The pending work of instances that a node takes over. */
  readonly leftWork: LeftWorkStore;
  readonly changes: ChangeStore;
  readonly signIns: SignInStore;
  /** Returns true if an instance has a linked session. */
  hasLinked(): Promise<boolean>;
  /** Returns true if this process is the duty node, which runs the sweeps for the whole cluster. */
  onDuty(): boolean;
  /** Resolves when no value is sealed under the former key or in the former form any more, when resealing fails, or when the storage is closed. */
  readonly resealed: Promise<void>;
  /** Returns false during an outage of the database. During an outage the database is probed repeatedly. */
  healthy(): boolean;
  /** Returns the reasons why the database does not work, for readiness; empty if the database works. */
  troubles(): readonly string[];
  /** Calls the function at the beginning of an outage of the database with false, and at its end with true. The function must not throw. */
  onHealth(listener: (up: boolean) => void): void;
  /** Returns the time of the database's clock. In Unix milliseconds. */
  clock(): Promise<number>;
  /** Returns the space that the database uses. The query is cheap: it reads the sizes of files and samples of tables. */
  databaseUse(): Promise<DatabaseUse>;
  /** Returns the numbers of connections by pool. */
  usage(): ReturnType<Pools['usage']>;
  /** Idempotent. The embedded server is stopped unless another program uses it. */
  close(): Promise<void>;
}

/** The resources beneath the stores. */
interface Base {
  readonly pools: Pools;
  readonly server: EmbeddedServer | null;
  readonly tenancy: Tenancy | null;
}

const clockStatement = { name: 'clock', text: 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now' };

const clockOf = async (queries: Database): Promise<number> => {
  const [row] = await queries.rows<{ readonly now: number }>(clockStatement, []);
  return row?.now ?? Date.now();
};

/**
 * The limits for client transactions that wait for a connection of the sweeps' pool. A new campaign takes about a second, so some fifteen instances can create
 * campaigns within the time limit.
 */
const clientWaits = { waiting: 4, waitMs: 15_000 };

/** Builds the delivery store. Replays take turns, so that a connection of their pool is left to the sweeps. */
const deliveriesOf = ({ queries, sweeps }: Pools, fairQueue: FairQueue): Storage['deliveries'] => {
  const store = createDeliveryStore(sweeps, queries);
  return { ...store, replay: (query) => fairQueue.run(query.owner ?? '', 'deliveries-replay', () => store.replay(query)) };
};

const campaignsOf = ({ journal, queries, sweeps }: Pools, fairQueue: FairQueue): Storage['campaigns'] => {
  const { list, recipients } = createCampaignStore(queries);
  const { create, removeAll, expire, expirePaused, settle } = createCampaignStore(sweeps);
  return {
    ...createCampaignStore(journal),
    list,
    recipients,
    create: (owner, ...campaign) => fairQueue.run(owner.instanceId, 'campaigns-create', () => create(owner, ...campaign)),
    removeAll,
    expire,
    expirePaused,
    settle,
  };
};

/** Builds the outbox. The bookkeeping of deliveries has its own pool. Couriers read through the pool of the journal. */
const outboxOf = ({ journal, deliveries }: Pools): Storage['outbox'] => {
  const { archive, remove, hold, postpone } = createOutboxStore(deliveries);
  return { ...createOutboxStore(journal), archive, remove, hold, postpone };
};

/** Builds the lease store. Renewals have their own pool, so that they do not wait behind other queries of leases. */
const leasesOf = ({ leases, renewals }: Pools, noteTime: StorageOptions['noteTime']): LeaseStore | null => {
  if (leases === null || renewals === null) return null;
  const { join, renew, leave } = createLeaseStore(renewals, noteTime);
  return { ...createLeaseStore(leases, noteTime), join, renew, leave };
};

/** Builds the chat store. Queries of sessions use the pool of the journal, so that they do not wait behind lists. */
const chatsOf = ({ journal, queries }: Pools, counts: ChatCounts): Storage['chats'] => {
  const { get, timers } = createChatStore(journal, counts);
  return { ...createChatStore(queries, counts), get, timers };
};

const journalOf = (pools: Pools, counts: ChatCounts, now: () => number): Storage['journal'] => {
  const messageId = (): string => `r${randomBytes(4).toString('hex').slice(0, 7)}`;
  const chance = { chatId: () => `r${randomBytes(7).toString('hex')}`, eventId: () => randomUUID(), messageId };
  const journal = createJournal(pools.journal, chance, now, counts);
  // After a failover the database may lack the last commits. A cached chat would then be updated without a row.
  pools.onHealth(() => journal.forget(null));
  return journal;
};

const operatorsOf = (
  { queries, sweeps }: Pools,
  opener: Opener,
): Pick<Storage, 'signIns' | 'users' | 'auditLog' | 'figureRows' | 'alertRows'> => ({
  signIns: createSignInStore(queries),
  users: createUserStore(queries, opener),
  auditLog: { ...createAuditStore(queries), expire: createAuditStore(sweeps).expire },
  figureRows: { ...createFigureStore(queries), expire: createFigureStore(sweeps).expire },
  alertRows: createAlertStore(queries, opener),
});

const questionsOf = (queries: Database): Pick<Storage, 'clock' | 'databaseUse' | 'hasLinked'> => ({
  clock: () => clockOf(queries),
  databaseUse: () => readUsage(queries),
  hasLinked: () => hasLinked(queries),
});

const storageOf = ({ pools, server, tenancy }: Base, upkeep: SealedUpkeep, { log, now = Date.now, noteTime }: StorageOptions): Storage => {
  const counts = new ChatCounts(now);
  const fairQueue = new FairQueue(clientWaits);
  let closing: Promise<void> | null = null;
  const { keys, journal, queries, sweeps, sharedCommits } = pools;
  const { sealer } = upkeep;
  const opener = new Opener(sealer, log);
  const vault = new DatabaseVault(keys, sealer, { now, log, noteWriter: (instance) => sharedCommits.note(instance) });
  const close = async (): Promise<void> => {
    await upkeep.stop();
    await pools.close();
    await tenancy?.close();
    await server?.close(!(await isInUse(server.url, log)));
  };
  return {
    instances: createInstanceStore(journal, opener, now),
    webhooks: createWebhookStore(journal, opener),
    journal: journalOf(pools, counts, now),
    // Queries of sessions by key use the pool of the journal, so that they do not wait behind lists and searches.
    messages: { ...createMessageStore(journal), find: createMessageStore(queries).find },
    chats: chatsOf(pools, counts),
    outbox: outboxOf(pools),
    deliveries: deliveriesOf(pools, fairQueue),
    settings: createSettingStore(journal),
    removals: createRemovalStore(sweeps),
    messageExpiry: new MessageExpiryScan(sweeps),
    receiptExpiry: new ReceiptExpiryScan(sweeps),
    fileRows: createFileRows(journal, sweeps),
    pictures: { ...createPictureStore(journal), expire: createPictureStore(sweeps).expire },
    passkeyCodes: createPasskeyCodeStore(queries),
    recipients: { ...createRecipientStore(journal), expire: createRecipientStore(sweeps).expire },
    definitions: createDefinitionStore(queries, opener),
    chatbots: createChatbotStore(journal, opener),
    contacts: { ...createContactStore(queries), saved: createContactStore(journal).saved },
    // Queries of sessions for single groups use the pool of the journal, so that they do not wait behind pages of groups.
    groups: { ...createGroupStore(journal), find: createGroupStore(queries).find, common: createGroupStore(queries).common },
    chatwootRows: { ...createChatwootStore(journal), expire: createChatwootStore(sweeps).expire },
    stepLog: createStepStore(sweeps),
    refused: createRefusedStore(journal, sealer, { now, newId: () => `${now().toString(36)}${randomBytes(8).toString('hex')}` }),
    sendKeys: { ...createSendKeyStore(journal), expire: createSendKeyStore(sweeps).expire },
    // Campaigns are paced over the pool of the journal, not behind lists. A creation uses the sweeps' pool, because it takes about a second.
    campaigns: campaignsOf(pools, fairQueue),
    optOuts: { ...createOptOutStore(journal), list: createOptOutStore(queries).list },
    vault,
    sessions: createSessionStore(journal, sealer, vault, now),
    changes: createChangeStore(queries),
    ...operatorsOf(pools, opener),
    leases: leasesOf(pools, noteTime),
    leftWork: createLeftWorkStore(journal),
    onDuty: () => tenancy?.onDuty ?? true,
    resealed: upkeep.ended,
    healthy: () => pools.healthy(),
    troubles: () => pools.troubles(),
    onHealth: (listener) => pools.onHealth(listener),
    ...questionsOf(queries),
    usage: () => pools.usage(),
    close: () => (closing ??= close()),
  };
};

const openOnce = async (options: StorageOptions): Promise<Storage> => {
  const { formerEncryptionKey: former = null } = options;
  const server = options.databaseUrl === null ? await EmbeddedServer.start(options) : null;
  const url = options.databaseUrl ?? server!.url;
  let pools: Pools | null = null;
  let tenancy: Tenancy | null = null;
  try {
    options.signal?.throwIfAborted();
    const { log, onTaken, shared = false } = options;
    const fence = { lost: false };
    const lose = (): void => {
      fence.lost = true;
      onTaken?.();
    };
    if (onTaken) tenancy = await Tenancy.take({ url, log, onTaken: lose, shared });
    await migrate(url, log, { onProgress: options.onMigrating ?? (() => undefined) });
    await tenancy?.raise();
    pools = await openPools({
      url,
      label: options.databaseUrl === null ? {} : { address: shownAddress(url), setting: 'DATABASE_URL' },
      log,
      fence,
      shared,
      sizes: { ...usualSizes, ...options.connections },
      limits: { ...usualPoolLimits, ...options.limits },
    });
    const upkeep = new SealedUpkeep({
      database: pools.sweeps,
      settings: createSettingStore(pools.journal),
      key: options.encryptionKey,
      former,
      log,
      shared,
      onDuty: () => tenancy?.onDuty ?? true,
      pace: options.sealingPace,
    });
    await upkeep.begin();
    return storageOf({ pools, server, tenancy }, upkeep, options);
  } catch (error) {
    await pools?.close();
    await tenancy?.close();
    await server?.close(!server.adopted);
    throw error;
  }
};

/** The largest number of attempts to open the storage if connections time out. A machine that starts all its services at once is busy for some seconds. */
const mostAttempts = 5;

/** Opens the storage. Rejects with a text for the operator if there is no database, or if the key does not fit it. */
export const openStorage = async (options: StorageOptions): Promise<Storage> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openOnce(options);
    } catch (error) {
      if (attempt === mostAttempts || !isConnectTimeout(error) || options.signal?.aborted) throw error;
      options.log.warn({ attempt, of: mostAttempts }, 'storage.connectsAgain');
    }
  }
};
