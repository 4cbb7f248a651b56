/** Alerts: their settings, what they told, and a test. */
import type { AlertSecrets } from '#actors/gateway.ts';
import { done, type Route, route } from '../route.ts';
import { AlertsAnswer, AlertsBody, AlertTestAnswer, AlertTestBody } from '../schemas/alerts.ts';

const common = { credential: 'admin', tag: 'admin' } as const;

export const alertRoutes: readonly Route[] = [
  route({
    on: ['GET /admin/alerts'],
    operationId: 'getAlerts',
    ...common,
    summary: 'Show the settings of alerts without their secrets, the troubles of now, and the last attempt of each channel',
    answer: AlertsAnswer,
    run: async ({ gateway }) => done(await gateway.alerts()),
  }),
  route({
    on: ['POST /admin/alerts'],
    operationId: 'saveAlerts',
    ...common,
    summary: 'Replace the settings of alerts: what is told by e-mail, Telegram, Slack or a webhook, and when',
    body: AlertsBody,
    answer: AlertsAnswer,
    examples: {
      body: {
        kinds: ['session', 'receiver', 'disk', 'node'],
        channels: ['email', 'telegram'],
        email: {
          host: 'mail.example.com',
          port: 587,
          security: 'startTls',
          user: 'gateway',
          from: 'gateway@example.com',
          to: ['ana@example.com'],
        },
        telegram: { url: 'https://api.telegram.org', chatId: '-1001234567890' },
        quiet: { from: 1_320, to: 420 },
        timeZone: 'America/Sao_Paulo',
        repeatHours: 24,
        receiverMinutes: 10,
        secrets: { emailPassword: 'the password', telegramToken: '123456:token' },
      },
    },
    refusals: {
      invalid: { example: 'webhookUrl: url must start with http:// or https://' },
      conflict: { example: 'the alerts are being changed by others: try again' },
    },
    run: ({ gateway, body: { secrets = {}, quiet = null, ...settings } }) =>
      gateway.saveAlerts({ ...settings, quiet }, secrets as Partial<AlertSecrets>),
  }),
  route({
    on: ['POST /admin/alerts/test'],
    operationId: 'testAlert',
    ...common,
    summary: 'Send a test over one channel, with the stored settings',
    body: AlertTestBody,
    answer: AlertTestAnswer,
    refusals: { invalid: { example: 'alerts are not set up: save them first' } },
    run: ({ gateway, body: { channel } }) => gateway.testAlert(channel),
  }),
];
