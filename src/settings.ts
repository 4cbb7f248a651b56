/** Settings in the form that the actors and the HTTP interface read. */
import type { RunningGateway } from '#actors/gateway.ts';
import type { Policy } from '#actors/policy/policy.ts';
import type { Log } from '#actors/ports.ts';
import { baseUrlOf, type Settings } from '#config/load.ts';
import type { HttpOptions } from '#src/http/app.ts';
import type { ProcessMeter } from '#src/metrics/meter.ts';
import { listenForMetrics, Metrics } from '#src/metrics/metrics.ts';
import type { Storage } from '#src/storage/open.ts';
import { nodeNameOf } from './wiring/cluster.ts';

// Settings in the form of the actors.

const day = 86_400_000;

/** The default number of handshakes at once and per second, for a single gateway. For a node of a cluster the limit of the whole cluster is the default. */
const usualHandshakes = 5;

const handshakesOf = (settings: Settings): Policy['handshakes'] => {
  const usual = nodeNameOf(settings) === null ? usualHandshakes : settings.clusterHandshakesPerSecond;
  return {
    atOnce: settings.handshakesAtOnce ?? usual,
    perSecond: settings.handshakesPerSecond ?? usual,
    pause: { min: settings.canaryMinMs, max: settings.canaryMaxMs },
  };
};

const lookupsOf = (settings: Settings): Policy['lookups'] => ({
  pace: { burst: settings.lookupsAtOnce, every: settings.lookupEveryMs },
  knownFor: settings.lookupKeepMs,
  absentFor: settings.lookupKeepAbsentMs,
});

const pictures = (settings: Settings): Policy['pictures'] => ({
  pace: { burst: settings.picturesAtOnce, every: settings.pictureEveryMs },
  age: settings.pictureKeepMs,
  waiting: settings.picturesWaiting,
  remembered: settings.picturesRemembered,
});

const chatbot = (settings: Settings): Policy['chatbot'] => ({
  pause: settings.chatbotPauseMs,
  longestPause: settings.chatbotLongestPauseMs,
  burst: 50,
  fresh: settings.chatbotFreshMs,
  atOnce: { total: settings.chatbotCallsAtOnce, perInstance: settings.chatbotCallsPerInstance },
  timeout: settings.chatbotTimeoutMs,
  retries: settings.chatbotRetries,
  retry: { min: 1_000, max: 10_000 },
  circuit: { failures: settings.circuitFailures, min: settings.circuitMinMs, max: settings.circuitMaxMs },
  tokensPerDay: settings.chatbotTokensPerDay,
  answerTokens: settings.chatbotAnswerTokens,
  toolRounds: settings.chatbotToolRounds,
  toolCalls: settings.chatbotToolCalls,
  pieces: settings.chatbotPieces,
  answersPerMinute: settings.chatbotAnswersPerMinute,
  answersInARow: settings.chatbotAnswersInARow,
  answersPerDay: settings.chatbotAnswersPerDay,
  conversations: settings.chatbotConversations,
});

const campaigns = (settings: Settings): Policy['campaigns'] => ({
  recipients: settings.campaignRecipients,
  atOnce: settings.campaignsAtOnce,
  dailyCap: settings.campaignDailyCap,
  quiet: settings.campaignQuietHours,
  timeZone: settings.campaignTimeZone,
  refusals: settings.campaignRefusals,
  stopWords: settings.campaignStopWords,
  kept: settings.campaignsKeepDays * day,
  pausedKept: settings.campaignsPausedKeepDays * day,
});

const retention = (settings: Settings): Policy['retention'] => ({
  messages: settings.messagesKeepDays * day,
  receipts: settings.receiptsKeepDays * day,
  files: settings.filesKeepDays * day,
  fileBytes: settings.filesMaxBytes,
});

const chatwoot = (settings: Settings): Policy['chatwoot'] => ({
  fileBytes: settings.chatwootFileBytes,
  keep: settings.chatwootKeepDays * day,
  replyWait: settings.chatwootReplyWaitMs,
  waiting: settings.chatwootSendsWaiting,
  atOnce: settings.chatwootSendsAtOnce,
  atOncePerInstance: settings.chatwootSendsPerInstance,
});

/** Returns the time for which a stop waits for open work, in milliseconds. It is at most the time of the whole stop. */
export const stopGraceOf = ({ stopGraceMs, shutdownMs }: Settings): number => Math.min(stopGraceMs, shutdownMs);

export const policyOf = (settings: Settings): Policy => ({
  reconnect: {
    min: settings.reconnectMinMs,
    max: settings.reconnectMaxMs,
    stable: settings.reconnectStableMs,
    cutEvery: settings.reconnectCutEveryMs,
  },
  unknownCloseLimit: settings.unknownCloseLimit,
  restarts: { limit: settings.restartLimit, window: settings.restartWindowMs },
  replaced: { min: settings.replacedRetryMinMs, max: settings.replacedRetryMaxMs, window: settings.replacedWindowMs },
  crash: { limit: settings.crashLimit, window: settings.crashWindowMs, cooldown: settings.crashCooldownMs },
  handshakes: handshakesOf(settings),
  maxConnected: settings.maxConnectedInstances,
  connects: { burst: settings.connectsAtOnce, every: settings.connectEveryMs },
  pairing: { qr: settings.pairingQrMs, code: settings.pairingCodeMs },
  connectAnswer: settings.connectAnswerMs,
  numbersEvery: settings.numbersLogEveryMs,
  stopGrace: stopGraceOf(settings),
  postTimeout: settings.webhookTimeoutMs,
  wakeTimeout: settings.wakeTimeoutMs,
  operationTimeout: settings.sendTimeoutMs,
  unlinkTimeout: settings.unlinkTimeoutMs,
  hibernation: { after: settings.hibernateAfterMs, wakeEvery: settings.hibernateWakeEveryMs, drain: settings.hibernateDrainMs },
  outage: { window: settings.outageWindowMs, least: settings.outageLeast },
  proxies: { direct: settings.allowDirectConnections, primaryEvery: settings.proxyRetryMs },
  queue: { items: settings.asyncQueueItems, age: settings.asyncQueueAgeMs },
  lookups: lookupsOf(settings),
  campaigns: campaigns(settings),
  groups: { forceEvery: settings.groupsForceEveryMs },
  pictures: pictures(settings),
  typingAtOnce: settings.typingAtOnce,
  statusRecipients: settings.statusRecipients,
  sendKeyAge: settings.idempotencyKeyMs,
  recorder: { maxWait: settings.recorderMaxWaitMs, maxBatch: settings.recorderMaxBatch },
  delivery: {
    concurrency: settings.webhookConcurrency,
    quick: settings.webhookQuickRetriesMs,
    slow: settings.webhookSlowRetriesMs,
    circuit: { failures: settings.circuitFailures, min: settings.circuitMinMs, max: settings.circuitMaxMs },
    inMemory: settings.webhookInMemory,
    inMemoryBytes: settings.webhookInMemoryBytes,
    retryAfterMax: settings.webhookRetryAfterMaxMs,
    atOnce: { total: settings.webhookPostsAtOnce, perHost: settings.webhookPostsPerHost },
    bounds: { rows: settings.webhookQueueRows, bytes: settings.webhookQueueBytes, age: settings.webhookQueueAgeMs },
    kept: { rows: settings.webhookKeepRows, delivered: settings.webhookKeepDeliveredMs, dead: settings.webhookKeepDeadMs },
    sweepEvery: settings.webhookSweepMs,
  },
  chatbot: chatbot(settings),
  retention: retention(settings),
  audit: { age: settings.auditKeepDays * day, most: settings.auditMaxEntries },
  autoDownload: { kinds: settings.autoDownload, most: settings.autoDownloadMaxBytes, wait: settings.autoDownloadWaitMs },
  chatwoot: chatwoot(settings),
  webhooksPerInstance: settings.webhooksPerInstance,
  definitionsPerInstance: settings.definitionsPerInstance,
  adminRotateCooldown: settings.adminRotateCooldownMs,
});

// The options of the HTTP interface, from the settings.

export const httpOptionsOf = (
  settings: Settings,
  made: Pick<HttpOptions, 'log' | 'version' | 'metrics' | 'storageTroubles' | 'facts' | 'simulatedPhone' | 'restart' | 'tracing'>,
): HttpOptions => ({
  baseUrl: settings.baseUrl,
  serverUrl: settings.baseUrl === baseUrlOf(settings.host, settings.port) ? '/' : settings.baseUrl,
  demoServer: settings.demoServer,
  bodyLimit: settings.bodyLimit,
  mediaBytes: settings.mediaMaxBytes,
  answerBytes: settings.answerBytes,
  base64Bytes: settings.base64MaxBytes,
  requestsPerSecond: settings.requestsPerSecond,
  authFailuresPerMinute: settings.authFailuresPerMinute,
  adminSessionMs: settings.adminSessionMs,
  trustedProxies: settings.trustedProxies,
  allowQueryTokens: settings.allowQueryTokens,
  corsOrigins: settings.corsOrigins,
  mcpTools: settings.mcpTools,
  healthDetails: settings.healthDetails,
  overloadLagMs: settings.overloadLagMs,
  stream: { heartbeatMs: settings.streamHeartbeatMs, perToken: settings.streamsPerToken },
  ...made,
});

// Metrics of the service: the registry, the server that answers, and a separate address if a setting names one.

interface MetricsParts {
  readonly settings: Settings;
  readonly meter: ProcessMeter;
  readonly gateway: Pick<RunningGateway, 'figures'>;
  readonly storage: Pick<Storage, 'usage'>;
  readonly log: Log;
  onOpen(name: string, close: () => Promise<void>): void;
}

export const openMetrics = async ({ settings, meter, gateway, storage, log, onOpen }: MetricsParts): Promise<Metrics> => {
  const metrics = new Metrics({ meter, figures: () => gateway.figures(), pools: () => storage.usage() });
  const { metricsHost: host, metricsPort } = settings;
  if (metricsPort === 0) return metrics;
  const listener = await listenForMetrics(metrics, host, metricsPort).catch((cause: unknown) => {
    throw new Error(`metrics cannot be offered at ${host}, port ${metricsPort}: set METRICS_PORT to a free one`, { cause });
  });
  onOpen('metrics', () => listener.close());
  log.info({ host, port: listener.port }, 'metrics.listening');
  return metrics;
};
