/** The options of the HTTP interface, from the settings. */
import { baseUrlOf, type Settings } from '#config/load.ts';
import type { HttpOptions } from '#src/http/app.ts';

export const httpOptionsOf = (
  settings: Settings,
  made: Pick<HttpOptions, 'log' | 'version' | 'metrics' | 'storageTroubles' | 'simulatedPhone' | 'restart' | 'tracing'>,
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
  healthDetails: settings.healthDetails,
  overloadLagMs: settings.overloadLagMs,
  stream: { heartbeatMs: settings.streamHeartbeatMs, perToken: settings.streamsPerToken },
  ...made,
});
