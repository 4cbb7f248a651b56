/** The options of the HTTP interface, from the settings. */
import type { RunningGateway } from '#actors/gateway.ts';
import type { Log } from '#actors/ports.ts';
import { baseUrlOf, type Settings } from '#config/load.ts';
import type { HttpOptions } from '#src/http/app.ts';
import type { ProcessMeter } from '#src/metrics/meter.ts';
import { createMetrics, listenForMetrics, type Metrics } from '#src/metrics/metrics.ts';
import type { Storage } from '#src/storage/open.ts';

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

// Metrics of the service: what counts, what answers, and the address of their own where a setting names one.

export interface MetricsParts {
  readonly settings: Settings;
  readonly meter: ProcessMeter;
  readonly gateway: Pick<RunningGateway, 'figures'>;
  readonly storage: Pick<Storage, 'usage'>;
  readonly log: Log;
  onOpen(name: string, close: () => Promise<void>): void;
}

export const openMetrics = async ({ settings, meter, gateway, storage, log, onOpen }: MetricsParts): Promise<Metrics> => {
  const metrics = createMetrics({ meter, figures: () => gateway.figures(), pools: () => storage.usage() });
  const { metricsHost: host, metricsPort } = settings;
  if (metricsPort === 0) return metrics;
  const listener = await listenForMetrics(metrics, host, metricsPort).catch((cause: unknown) => {
    throw new Error(`metrics cannot be offered at ${host}, port ${metricsPort}: set METRICS_PORT to a free one`, { cause });
  });
  onOpen('metrics', () => listener.close());
  log.info({ host, port: listener.port }, 'metrics.listening');
  return metrics;
};
