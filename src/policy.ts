/** Settings, as the actors want to read them. */
import type { Policy } from '#actors/policy/policy.ts';
import type { Settings } from '#config/load.ts';

const day = 86_400_000;

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

const retention = (settings: Settings): Policy['retention'] => ({
  messages: settings.messagesKeepDays * day,
  files: settings.filesKeepDays * day,
  fileBytes: settings.filesMaxBytes,
});

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
  handshakes: {
    atOnce: settings.handshakesAtOnce,
    perSecond: settings.handshakesPerSecond,
    pause: { min: settings.canaryMinMs, max: settings.canaryMaxMs },
  },
  maxConnected: settings.maxConnectedInstances,
  pairing: { qr: settings.pairingQrMs, code: settings.pairingCodeMs },
  connectAnswer: settings.connectAnswerMs,
  numbersEvery: settings.numbersLogEveryMs,
  stopGrace: settings.stopGraceMs,
  wakeTimeout: settings.wakeTimeoutMs,
  operationTimeout: settings.sendTimeoutMs,
  unlinkTimeout: settings.unlinkTimeoutMs,
  hibernation: { after: settings.hibernateAfterMs, wakeEvery: settings.hibernateWakeEveryMs, drain: settings.hibernateDrainMs },
  outage: { window: settings.outageWindowMs, least: settings.outageLeast },
  proxies: { direct: settings.allowDirectConnections, primaryEvery: settings.proxyRetryMs },
  queue: { items: settings.asyncQueueItems, age: settings.asyncQueueAgeMs },
  lookups: lookupsOf(settings),
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
  retention: retention(settings),
  autoDownload: { kinds: settings.autoDownload, most: settings.autoDownloadMaxBytes, wait: settings.autoDownloadWaitMs },
  webhooksPerInstance: settings.webhooksPerInstance,
  definitionsPerInstance: settings.definitionsPerInstance,
  adminRotateCooldown: settings.adminRotateCooldownMs,
});
