/** The door to storage: a PostgreSQL server, ours or a given one, brought up to date, behind the ports of the gateway. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { ChangeStore, FileRows, LeaseStore, Log, SettingStore, SignInStore, Stores } from '#actors/ports.ts';
import type { Vault } from '#src/platform/vault.ts';
import { makeChatbotStore } from './stores/chatbots.ts';
import { createChatCounts } from './journal/chat-counts.ts';
import { makeChatwootStore } from './stores/chatwoot.ts';
import { makeCampaignStore } from './stores/campaigns.ts';
import { makeOptOutStore } from './stores/opt-outs.ts';
import { makeChangeStore } from './stores/changes.ts';
import { makeChatStore } from './stores/chats.ts';
import { isInUse, usualLimits, type Limits } from './postgres/database.ts';
import { makeContactStore } from './stores/contacts.ts';
import { makeDefinitionStore } from './stores/definitions.ts';
import { makeDeliveryStore } from './stores/deliveries.ts';
import { startEmbedded, type EmbeddedServer } from './postgres/embedded.ts';
import { makeFileRows } from './stores/files.ts';
import { makeGroupStore } from './stores/groups.ts';
import { makeLeaseStore } from './stores/leases.ts';
import { makeInstanceStore } from './stores/instances.ts';
import { makeJournal } from './journal/journal.ts';
import { makeMessageExpiry } from './stores/message-expiry.ts';
import { makeMessageStore } from './stores/messages.ts';
import { migrate } from './postgres/orm.ts';
import { openPools, usualSizes, type Pools, type PoolSizes } from './postgres/pools.ts';
import { makeOutboxStore } from './stores/outbox.ts';
import { makeRemovalStore } from './stores/removals.ts';
import { makePictureStore } from './stores/pictures.ts';
import { makeRecipientStore } from './stores/recipients.ts';
import { makeSignInStore } from './stores/sign-ins.ts';
import { makeSendKeyStore } from './stores/send-keys.ts';
import { startResealing } from './vault/resealing.ts';
import { makeSealer, placeOf, type Sealer } from './vault/sealing.ts';
import { takeTenancy, type Tenancy } from './postgres/tenancy.ts';
import { makeVault } from './vault/vault.ts';
import { makeSettingStore, makeWebhookStore } from './stores/webhooks.ts';

export { migrate } from './postgres/orm.ts';
export { startEmbedded, type EmbeddedServer } from './postgres/embedded.ts';

export interface StorageOptions {
  /** Null: an embedded server in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** 32 bytes. */
  readonly encryptionKey: Uint8Array;
  /** The key before that one: everything is sealed anew, in the background. */
  readonly formerEncryptionKey?: Uint8Array | null;
  readonly log: Log;
  /** Milliseconds. */
  readonly now?: () => number;
  /** Of one node among several: gets the database's clock, in Unix milliseconds, and how long the answer took. */
  readonly noteTime?: (now: number, tripMs: number) => void;
  /** Settings of the embedded server, such as `fsync: 'off'` for tests. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Connections of each pool. */
  readonly connections?: Partial<PoolSizes>;
  readonly limits?: Partial<Limits>;
  /** With it the database is for this process alone: opening rejects when another has it, and this is called when another took it later. */
  readonly onTaken?: () => void;
  /** The process is one node of several, which share the database. */
  readonly shared?: boolean;
}

export interface Storage extends Stores {
  readonly vault: Vault;
  readonly fileRows: FileRows;
  /** Null for a single gateway. */
  readonly leases: LeaseStore | null;
  readonly changes: ChangeStore;
  readonly signIns: SignInStore;
  /** Whether this process is the one that does the work which one does for all. */
  onDuty(): boolean;
  /** Resolves when nothing is sealed under the former key any more, or when the storage was closed before. */
  readonly resealed: Promise<void>;
  /** Whether the database answered last time; while it does not, it is asked again and again. */
  healthy(): boolean;
  /** Connections by pool. */
  usage(): ReturnType<Pools['usage']>;
  /** Idempotent. The embedded server is stopped unless another program uses it. */
  close(): Promise<void>;
}

const checkName = 'encryption.check';
const checkPlace = placeOf('setting', '', 'check', checkName);

const sealedCheck = (sealer: Sealer): string => sealer.seal(checkPlace, 'dormouse').toString('base64');

/** A key that is not the one which the data was sealed with must end the start, not every session after it. */
const checkKey = async (settings: SettingStore, sealer: Sealer): Promise<void> => {
  await settings.swap(checkName, null, sealedCheck(sealer));
  const stored = (await settings.get(checkName)) ?? '';
  try {
    sealer.open(checkPlace, Buffer.from(stored, 'base64'));
  } catch {
    throw new Error(
      'The encryption key is not the one that this database was written with: restore ENCRYPTION_KEY, or the key file of the data folder.',
    );
  }
};

/** What is open beneath the stores. */
interface Base {
  readonly pools: Pools;
  readonly server: EmbeddedServer | null;
  readonly tenancy: Tenancy | null;
}

const campaignsOf = ({ journal, queries, sweeps }: Pools): Storage['campaigns'] => {
  const { list, recipients } = makeCampaignStore(queries);
  const { create, removeAll, expire, settle } = makeCampaignStore(sweeps);
  return { ...makeCampaignStore(journal), list, recipients, create, removeAll, expire, settle };
};

const storageOf = ({ pools, server, tenancy }: Base, sealer: Sealer, { log, now = Date.now, noteTime }: StorageOptions): Storage => {
  const chance = { chatId: () => `r${randomBytes(7).toString('hex')}`, eventId: () => randomUUID() };
  const counts = createChatCounts(now);
  let closing: Promise<void> | null = null;
  const { keys, journal, queries, sweeps } = pools;
  const close = async (): Promise<void> => {
    await pools.close();
    await tenancy?.close();
    await server?.close(!(await isInUse(server.url, log)));
  };
  return {
    instances: makeInstanceStore(journal, sealer, now),
    webhooks: makeWebhookStore(journal, sealer),
    journal: makeJournal(journal, chance, now, counts),
    // What sessions ask for by key does not wait behind lists and searches.
    messages: { ...makeMessageStore(journal), find: makeMessageStore(queries).find },
    chats: { ...makeChatStore(queries, counts), get: makeChatStore(journal, counts).get, timers: makeChatStore(journal, counts).timers },
    outbox: makeOutboxStore(journal),
    deliveries: { ...makeDeliveryStore(sweeps), list: makeDeliveryStore(queries).list },
    settings: makeSettingStore(journal),
    removals: makeRemovalStore(sweeps),
    messageExpiry: makeMessageExpiry(sweeps),
    fileRows: makeFileRows(journal, sweeps),
    pictures: { ...makePictureStore(journal), expire: makePictureStore(sweeps).expire },
    recipients: { ...makeRecipientStore(journal), expire: makeRecipientStore(sweeps).expire },
    // Sessions ask for single groups; pages of them wait behind nothing but questions.
    definitions: makeDefinitionStore(queries),
    chatbots: makeChatbotStore(journal, sealer),
    contacts: { ...makeContactStore(queries), saved: makeContactStore(journal).saved },
    groups: { ...makeGroupStore(journal), find: makeGroupStore(queries).find, common: makeGroupStore(queries).common },
    chatwootRows: { ...makeChatwootStore(journal), expire: makeChatwootStore(sweeps).expire },
    sendKeys: { ...makeSendKeyStore(journal), expire: makeSendKeyStore(sweeps).expire },
    // The pacing of a campaign does not wait behind lists; making one holds a connection for a second.
    campaigns: campaignsOf(pools),
    optOuts: { ...makeOptOutStore(journal), list: makeOptOutStore(queries).list },
    vault: makeVault(keys, sealer, now),
    changes: makeChangeStore(queries),
    signIns: makeSignInStore(queries),
    leases: pools.leases && makeLeaseStore(pools.leases, noteTime),
    onDuty: () => tenancy?.onDuty ?? true,
    resealed: Promise.resolve(),
    healthy: () => pools.healthy(),
    usage: () => pools.usage(),
    close: () => (closing ??= close()),
  };
};

/** The same storage, in which everything is sealed anew meanwhile. */
const resealing = (storage: Storage, { sweeps }: Pools, sealer: Sealer, log: Log): Storage => {
  const work = startResealing({ database: sweeps, sealer, log, finish: () => storage.settings.set(checkName, sealedCheck(sealer)) });
  const close = async (): Promise<void> => {
    await work.stop();
    await storage.close();
  };
  return { ...storage, resealed: work.ended, close };
};

/** Rejects with a sentence for the operator when there is no database, or one that this key does not open. */
export const openStorage = async (options: StorageOptions): Promise<Storage> => {
  const { formerEncryptionKey: former = null } = options;
  const sealer = makeSealer(options.encryptionKey, former);
  const server = options.databaseUrl === null ? await startEmbedded(options) : null;
  const url = options.databaseUrl ?? server!.url;
  let pools: Pools | null = null;
  let tenancy: Tenancy | null = null;
  try {
    const { log, onTaken, shared = false } = options;
    const fence = { lost: false };
    const lose = (): void => {
      fence.lost = true;
      onTaken?.();
    };
    if (onTaken) tenancy = await takeTenancy({ url, log, onTaken: lose, shared });
    await migrate(url, options.log);
    await tenancy?.raise();
    pools = await openPools({
      url,
      log,
      fence,
      shared,
      sizes: { ...usualSizes, ...options.connections },
      limits: { ...usualLimits, ...options.limits },
    });
    const storage = storageOf({ pools, server, tenancy }, sealer, options);
    await checkKey(storage.settings, sealer);
    return former === null ? storage : resealing(storage, pools, sealer, log);
  } catch (error) {
    await pools?.close();
    await tenancy?.close();
    await server?.close(!server.adopted);
    throw error;
  }
};
