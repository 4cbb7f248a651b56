/** Sends one alert over one channel. Errors are sentences without addresses and secrets. */
import type { AlertAttempt, AlertChannel, AlertMessage } from '../model.ts';
import type { AlertRow, Ports } from '../ports.ts';
import { subjectOf, textOf } from '../policy/alert-policy.ts';

export interface AlertSenderInput {
  readonly ports: Pick<Ports, 'receiver' | 'mailer' | 'signer'>;
  /** Public address of this server, for the links of a message. */
  readonly baseUrl: string;
}

type Send = (row: AlertRow, message: AlertMessage) => Promise<AlertAttempt>;

/** The longest text that Telegram takes is 4,096 characters. */
const telegramMost = 4_000;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const missing: Readonly<Record<AlertChannel, (row: Pick<AlertRow, 'settings' | 'secrets'>) => string>> = {
  email: ({ settings: { email } }) =>
    email.host === '' || email.from === '' || email.to.length === 0 ? 'the mail server, the sender or the recipient' : '',
  telegram: ({ settings: { telegram }, secrets: { telegramToken } }) =>
    telegramToken === '' || telegram.chatId === '' ? 'the token of the bot or the chat' : '',
  slack: ({ secrets: { slackUrl } }) => (slackUrl === '' ? 'the address of the incoming webhook' : ''),
  webhook: ({ secrets: { webhookUrl } }) => (webhookUrl === '' ? 'the address of the webhook' : ''),
};

/** Returns the reason why a channel cannot be used; '' if it can. */
export const gapOf = (channel: AlertChannel, row: Pick<AlertRow, 'settings' | 'secrets'>): string => {
  const what = missing[channel](row);
  return what === '' ? '' : `${channel}: ${what} is missing`;
};

/** Returns the function that sends a message over a channel. */
export const createAlertSender = ({ ports, baseUrl }: AlertSenderInput) => {
  const post = async (url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<AlertAttempt> => {
    const outcome = await ports.receiver.post(url, JSON.stringify(body), headers);
    return outcome.ok ? { sent: true, error: '' } : { sent: false, error: outcome.error };
  };
  const sends: Readonly<Record<AlertChannel, Send>> = {
    async email({ settings: { email }, secrets }, message) {
      const { from, to, ...server } = email;
      const mail = { id: message.id, from, to, subject: subjectOf(message), text: textOf(message, baseUrl) };
      return ports.mailer.send({ ...server, password: secrets.emailPassword }, mail);
    },
    async telegram({ settings: { telegram }, secrets: { telegramToken } }, message) {
      const text = [...textOf(message, baseUrl)].slice(0, telegramMost).join('');
      const body = { chat_id: telegram.chatId, text, link_preview_options: { is_disabled: true } };
      return post(`${telegram.url.replace(/\/$/, '')}/bot${telegramToken}/sendMessage`, body);
    },
    slack: ({ secrets: { slackUrl } }, message) => post(slackUrl, { text: escaped(textOf(message, baseUrl)) }),
    async webhook({ secrets: { webhookUrl, webhookSecret } }, message) {
      const { id, at, troubles, well, counts } = message;
      const body = { type: 'alert', id, at, baseUrl, subject: subjectOf(message), text: textOf(message, baseUrl), troubles, well, counts };
      const seconds = Math.floor(at / 1_000);
      const signature =
        webhookSecret === '' ? {} : { 'webhook-signature': ports.signer.sign(webhookSecret, id, seconds, JSON.stringify(body)) };
      return post(webhookUrl, body, { 'webhook-id': id, 'webhook-timestamp': String(seconds), ...signature });
    },
  };
  return async (channel: AlertChannel, row: AlertRow, message: AlertMessage): Promise<AlertAttempt> => {
    const gap = gapOf(channel, row);
    return gap === '' ? sends[channel](row, message) : { sent: false, error: gap };
  };
};
