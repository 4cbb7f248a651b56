/** The composition root. It opens the adapters, then the gateway, then HTTP, and closes them in reverse order. */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { isIP, type AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createGateway, type RunningGateway } from '#actors/gateway.ts';
import type { Chance, Log, Ports, Receiver } from '#actors/ports.ts';
import { within } from '#actors/waiting.ts';
import { baseUrlOf, type Settings, type SettingSources } from '#config/load.ts';
import { encryptionKey, openDataDir } from '#config/secrets.ts';
import { createOneTimeCodes, createPasswords } from '#src/users/credentials.ts';
import { checkNode, clusterOf, nodeNameOf } from '#src/wiring/cluster.ts';
import { checkAddress, databaseError, listenError } from '#src/start-errors.ts';
import { httpOptionsOf, openMetrics, policyOf, stopGraceOf } from '#src/settings.ts';
import { createChatwootApi } from '#src/chatwoot/api.ts';
import { Closers } from '#src/closers.ts';
import { buildApp } from '#src/http/app.ts';
import type { RequestRestart, SimulatedPhone } from '#src/http/options.ts';
import { openFileParts, openMediaParts } from '#src/wiring/media.ts';
import { createAttachments, createPortraits } from '#src/media/attachments.ts';
import { mediaFacts } from '#src/platform/outbound/media-stream.ts';
import { type RootLog, withInstanceLevels } from '#src/log.ts';
import { WaitingRoom } from '#src/http/waiting-room.ts';
import { ProcessMeter } from '#src/metrics/meter.ts';
import { createPlatform, type PlatformOptions } from '#src/platform/platform.ts';
import { createSources } from '#src/moving/sources.ts';
import { readCatalogue } from '#src/platform/proxy/check.ts';
import { openStorage, type Storage, type StorageOptions } from '#src/storage/open.ts';
import { DatabaseTimeWatch, DiskWatch, type DiskWatchInput, nodeTime, type NodeTime } from '#src/machine-watch.ts';
import { IdleMemory } from '#src/idle-memory.ts';
import { systemTime } from '#src/base/system-time.ts';
import { serverFactsOf } from '#src/wiring/facts.ts';
import { openClientVersions } from '#src/wiring/version.ts';
import { checkPlatformKind } from '#src/wiring/platform-kind.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';
import { createMailer } from '#src/mail/mailer.ts';
import { OpenAiModels } from '#src/chatbot/models.ts';
import { signer, WebhookReceiver } from '#src/webhooks/receiver.ts';
import { contractPorts } from '#src/contract/views.ts';
import type { Tracing } from '#src/tracing/traced.ts';

export interface Service {
  readonly gateway: RunningGateway;
  /** The address on which HTTP listens. */
  readonly address: string;
  /** The port that was bound, also if the setting is 0. */
  readonly port: number;
  /** Resolves when another process took over the database. This process then has to stop. */
  readonly taken: Promise<void>;
  /** Resolves when all parts are closed; idempotent. */
  stop(): Promise<void>;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const chance: Chance = {
  random: () => Math.random(),
  hex: (bytes) => randomBytes(bytes).toString('hex'),
  token: (length) => Array.from({ length }, () => letters[randomInt(letters.length)]).join(''),
};

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A watch of the delays of the event loop in the current and the previous minute. The owner must close the watch. */
class LoopWatch {
  readonly #delays = monitorEventLoopDelay({ resolution: 10 });
  readonly #timer: NodeJS.Timeout;
  /** The 99th percentile of the delays in the previous minute. In nanoseconds. */
  #before = 0;

  constructor() {
    this.#delays.enable();
    this.#timer = setInterval(() => {
      this.#before = this.#delays.percentile(99);
      this.#delays.reset();
    }, 60_000).unref();
  }

  lagMs(): number {
    return Math.round(Math.max(this.#before, this.#delays.percentile(99)) / 1e6);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#delays.disable();
  }
}

/** Opens the database with all settings that concern it. */
const openDatabase = (
  settings: Settings,
  given: Pick<StorageOptions, 'dataDir' | 'log' | 'onTaken' | 'now' | 'noteTime' | 'onMigrating' | 'onRecovering' | 'signal'>,
): Promise<Storage> =>
  openStorage({
    ...given,
    databaseUrl: settings.databaseUrl,
    encryptionKey: Buffer.from(encryptionKey(settings)),
    formerEncryptionKey: settings.encryptionKeyOld,
    connections: {
      keys: settings.databaseKeyConnections,
      journal: settings.databaseJournalConnections,
      queries: settings.databaseQueryConnections,
      sweeps: settings.databaseSweepConnections,
    },
    limits: { connection: settings.databaseConnectionMs, statement: settings.databaseStatementMs, query: settings.databaseQueryMs },
    shared: nodeNameOf(settings) !== null,
  }).catch((error: unknown) => {
    given.signal?.throwIfAborted();
    throw databaseError(error, settings);
  });

const deadlinesOf = (settings: Settings): PlatformOptions['deadlines'] => ({
  open: settings.openDeadlineMs,
  login: settings.loginDeadlineMs,
  close: settings.closeDeadlineMs,
  silence: settings.frameSilenceMs,
  send: settings.sendTimeoutMs,
  pairingQr: settings.pairingQrMs,
  pairingCode: settings.pairingCodeMs,
});

const proxyParts = (settings: Settings): PlatformOptions['proxies'] => ({
  timeoutMs: settings.proxyConnectMs,
  testMs: settings.proxyTestMs,
  guard: new AddressGuard({ allow: settings.allowPrivateProxies, setting: 'ALLOW_PRIVATE_PROXIES' }),
});

/** The time-out of one mail. A slow mail server may need this long for its checks. The claim of an alert lasts longer. In milliseconds. */
const mailMs = 45_000;

/** Opens the clients of services that users name: receivers of events, mail servers, Chatwoot, and models that agents ask. */
const openServices = (
  settings: Settings,
  means: { readonly guard: AddressGuard; readonly userAgent: string },
  closers: Closers,
): Pick<Ports, 'receiver' | 'mailer' | 'chatwoot' | 'chatModels'> => {
  const connections = settings.webhookPostsPerHost;
  const posts = new WebhookReceiver({ ...means, timeoutMs: settings.webhookTimeoutMs, connections });
  closers.add('receiver', () => posts.close());
  const chatwoot = createChatwootApi({ ...means, timeoutMs: settings.chatwootTimeoutMs, connections });
  closers.add('chatwoot', () => chatwoot.close());
  const receiver: Receiver = { post: (...args) => posts.post(...args), objection: (url) => means.guard.checkUrl(url) };
  const chatModels = new OpenAiModels({ ...means, timeoutMs: settings.chatbotTimeoutMs, connections: settings.chatbotCallsAtOnce });
  closers.add('chatModels', () => chatModels.close());
  const mailer = createMailer({ guard: means.guard, timeoutMs: mailMs });
  return { receiver, mailer, chatwoot, chatModels };
};

interface PortsInput {
  readonly settings: Settings;
  readonly log: Log;
  readonly version: string;
  readonly closers: Closers;
  readonly told: Pick<StorageOptions, 'onTaken' | 'onMigrating' | 'onRecovering'>;
  readonly signal: AbortSignal;
}

const platformRules = (settings: Settings) => ({
  url: settings.platformUrl,
  signatures: settings.platformSignatures,
  followsDeletions: settings.phoneDeletions === 'follow',
  inboundBytes: settings.inboundWaitingBytes,
});

/** Follows the clock of the database. Nodes of a cluster get its time with each renewal of their lease. */
const followTime = async (settings: Settings, time: NodeTime, storage: Storage, closers: Closers): Promise<void> => {
  closers.add('storage', () => storage.close());
  if (nodeNameOf(settings) !== null) return;
  const following = await DatabaseTimeWatch.open({ time, ask: () => storage.clock() });
  closers.add('databaseTime', () => following.close());
};

const openDisk = async (input: DiskWatchInput, closers: Closers): Promise<DiskWatch> => {
  const disk = new DiskWatch(input);
  closers.add('disk', async () => disk.close());
  await disk.look();
  return disk;
};

/** Returns the function that returns the delay of the event loop, in milliseconds. */
const openLoopWatch = (closers: Closers): (() => number) => {
  const loop = new LoopWatch();
  closers.add('loop', async () => loop.close());
  const memory = new IdleMemory();
  closers.add('idleMemory', async () => memory.close());
  return () => loop.lagMs();
};

/** Opens all parts below the gateway. */
async function openPorts({ settings, log, version, closers, told, signal }: PortsInput) {
  const dataDir = openDataDir(settings.dataDir);
  const userAgent = `Dormouse/${version}`;
  const catalogue = readCatalogue(settings.proxyCatalog);
  const time = nodeTime(systemTime, log);
  const storage = await openDatabase(settings, { dataDir, log, ...told, signal, now: time.now, noteTime: time.noteDatabaseTime });
  await followTime(settings, time, storage, closers);
  await checkPlatformKind(settings, storage);
  signal.throwIfAborted();
  const disk = await openDisk({ folder: dataDir, leastFree: settings.diskFreePercent, log }, closers);
  const guard = new AddressGuard({ allow: settings.allowPrivateReceivers });
  const onOpen = (name: string, close: () => Promise<void>): void => closers.add(name, close);
  const parts = { settings, dataDir, guard, userAgent, onOpen };
  const { media, previews, intake, workshop, sealing, folder } = await openMediaParts({ ...parts, disk, log });
  const { files, sounds, downloads, downloadsWaiting, removals } = await openFileParts({
    ...parts,
    folder,
    chance,
    now: time.now,
    rows: storage.fileRows,
    removals: storage.removals,
    workshop,
  });
  const versions = await openClientVersions(settings, { settings: storage.settings, time, log, onOpen });
  const services = openServices(settings, { guard, userAgent }, closers);
  const platform = createPlatform({
    ...platformRules(settings),
    versions,
    vault: storage.vault,
    preKeys: (count) => media.generatePreKeys(count),
    deadlines: deadlinesOf(settings),
    quoted: (instance, id) => storage.messages.byId(instance, id),
    timers: (instance) => storage.chats.timers(instance),
    groups: { ...storage.groups, maxAgeMs: settings.groupsMaxAgeMs },
    channels: { ...storage.definitions, maxAgeMs: settings.channelsMaxAgeMs },
    previews,
    uploads: {
      files,
      sealing,
      limits: { wholeMs: settings.mediaUploadMs, silenceMs: settings.mediaUploadSilenceMs },
      remembered: settings.mediaUploadsRemembered,
    },
    downloads,
    mediaLookup: guard.lookup,
    proxies: proxyParts(settings),
    smallPictureBytes: settings.smallPictureBytes,
    now: time.now,
    log,
  });
  closers.add('platform', () => platform.close());
  const usage = { loopLagMs: openLoopWatch(closers), memoryBytes: process.memoryUsage.rss };
  const sources = createSources({ newPath: folder.newPath, maxBytes: settings.importMaxBytes });
  const taking = { sources, attachments: createAttachments({ intake, workshop, files }), portraits: createPortraits({ intake, workshop }) };
  const made = { ...taking, proxies: { ...platform.proxies, catalogue }, files, sounds, mediaFacts, downloadsWaiting, removals };
  const secrets = { passwords: createPasswords(), oneTimeCodes: createOneTimeCodes() };
  const given = { platform, ...services, signer, media, chance, time, log, disk, digest, ...usage, ...secrets, ...made };
  return { ports: { ...storage, ...contractPorts, ...given }, storage };
}

/** Opens traces if a collector is set. The library of traces has 300 files, so it is not loaded without a collector. */
const openTracing = async ({ otlpEndpoint, traceSamplePercent }: Settings, version: string, closers: Closers): Promise<Tracing | null> => {
  if (otlpEndpoint === null) return null;
  const { createTracing } = await import('#src/tracing/traced.ts');
  const tracing = createTracing({ endpoint: otlpEndpoint, ratio: traceSamplePercent / 100, version });
  closers.add('tracing', () => tracing.close());
  return tracing;
};

interface ServiceOptions {
  /** Called with the admin token that this start made, as soon as the token is valid. */
  readonly onAdminToken?: (token: string) => void;
  /** Requests a restart of the service. The service does not restart itself. */
  readonly restart: RequestRestart;
  /** The sources of the settings, by name; a setting without one is shown as a default. */
  readonly sources?: SettingSources;
  /** The phone of the simulated platform, in sandbox mode. */
  readonly simulatedPhone?: SimulatedPhone | null;
  /** Ends a start that is under way. The start then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

const portOf = (bound: AddressInfo | string | null, { port }: Settings): number => (typeof bound === 'object' && bound ? bound.port : port);

const gatewayInputOf = (settings: Settings, { signIns }: Storage) => ({
  policy: policyOf(settings),
  baseUrl: settings.baseUrl,
  adminToken: settings.adminToken,
  signIns,
});

const listen = async (app: Awaited<ReturnType<typeof buildApp>>, settings: Settings): Promise<void> => {
  await app.listen({ host: settings.host, port: settings.port }).catch((error: Error) => {
    throw listenError(error, settings);
  });
};

/** Gathers the facts that the server's own pages show. */
const factsOf = (
  settings: Settings,
  {
    ports,
    storage,
    ...given
  }: {
    readonly sources: SettingSources;
    readonly version: string;
    readonly ports: Pick<Ports, 'time' | 'files' | 'disk'>;
    readonly storage: Storage;
  },
) =>
  serverFactsOf({
    ...given,
    settings,
    now: () => ports.time.now(),
    databaseUse: () => storage.databaseUse(),
    fileBytes: () => ports.files.bytes,
    disk: () => ({ free: ports.disk.freeBytes, size: ports.disk.sizeBytes }),
  });

/** Begins to restore the sessions. Returns the function that stops the service. */
const restoring = (gateway: RunningGateway, log: Log, closers: Closers): (() => Promise<void>) => {
  let isStopping = false;
  gateway.restore().catch((error: unknown) => {
    // A stop closes the database while a restore is still under way.
    if (!isStopping) log.error({ error }, 'service.notRestored');
  });
  return () => {
    isStopping = true;
    return closers.close();
  };
};

/** Closes HTTP. A request that still waits for a session or for the platform gets its answer when the sessions are closed. */
const closeHttp = async (app: Awaited<ReturnType<typeof buildApp>>, graceMs: number, stopGateway: () => Promise<void>): Promise<void> => {
  const answered = app.close();
  if ((await within(systemTime, graceMs, answered)) === 'late') await stopGateway();
  await answered;
};

/**
 * Starts the gateway. `onAdminToken` gets a token that this start made, as soon as it is valid. Resolves when HTTP listens; sessions are
 * restored afterwards. If the start fails, closes all parts and throws.
 */
export async function startService(settings: Settings, processLog: RootLog, version: string, options: ServiceOptions): Promise<Service> {
  const { onAdminToken, simulatedPhone = null, sources = new Map(), restart, signal = new AbortController().signal } = options;
  const { log, logLevels } = withInstanceLevels(processLog, systemTime.now);
  const closers = new Closers(log);
  const { promise: taken, resolve: onTaken } = Promise.withResolvers<void>();
  const room = new WaitingRoom(settings, version);
  closers.add('waitingRoom', () => room.close());
  const told: PortsInput['told'] = { onTaken, onMigrating: (progress) => room.tell(progress), onRecovering: () => room.tell('recovering') };
  try {
    checkNode(settings, log);
    await checkAddress(settings);
    const tracing = await openTracing(settings, version, closers);
    const { ports: opened, storage } = await openPorts({ settings, log, version, closers, signal, told });
    signal.throwIfAborted();
    const onOpen = (name: string, close: () => Promise<void>): void => closers.add(name, close);
    const meter = new ProcessMeter();
    const ports = { ...opened, logLevels, meter };
    const gateway = await createGateway({
      ports: tracing?.around(ports) ?? ports,
      ...gatewayInputOf(settings, storage),
      cluster: await clusterOf(settings, storage, { version, log, now: () => ports.time.now(), onOpen }),
    });
    storage.onHealth((up) => void (up && gateway.storageBack()));
    let stopped: Promise<void> | null = null;
    const stopGateway = (): Promise<void> => (stopped ??= gateway.stop());
    closers.add('gateway', stopGateway);
    // The operator gets a new admin token before any other step can fail, because only the hash of the token is stored.
    if (gateway.madeAdminToken !== null) onAdminToken?.(gateway.madeAdminToken);
    // Building the HTTP interface blocks the event loop for a tenth of a second. The wait lets pending work of the sessions run first.
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    const made = {
      metrics: await openMetrics({ settings, meter, gateway, storage, log, onOpen }),
      log,
      version,
      simulatedPhone,
      restart,
      storageTroubles: () => storage.troubles(),
      facts: factsOf(settings, { sources, version, ports: opened, storage }),
      ...(tracing === null ? {} : { tracing: tracing.requests }),
    };
    const app = await buildApp(gateway, httpOptionsOf(settings, made));
    closers.add('http', () => closeHttp(app, stopGraceOf(settings), stopGateway));
    await room.close();
    await listen(app, settings);
    const port = portOf(app.server.address(), settings);
    // The drain is the first step of a stop. Other nodes take the sessions over while this node still answers requests.
    onOpen('drain', () => gateway.drain(settings.drainMs));
    const stop = restoring(gateway, log, closers);
    const address = baseUrlOf(isIP(settings.host) === 0 ? '127.0.0.1' : settings.host, port);
    return { gateway, address, port, taken, stop };
  } catch (error) {
    await closers.close();
    throw error;
  }
}
