/** Sends one alert over one channel. Errors are sentences without addresses and secrets. */
import type { AlertChannel, AlertMessage } from '../model.ts';
import type { AlertRow, Ports } from '../ports.ts';
import { subjectOf, textOf } from '../policy/alert-text.ts';

export interface AlertSenderInput {
  readonly ports: Pick<Ports, 'receiver' | 'mailer' | 'signer'>;
  /** Public address of this server, for the links of a message. */
  readonly baseUrl: string;
}

type Send = (row: AlertRow, message: AlertMessage) => Promise<string>;

/** The longest text that Telegram takes is 4,096 characters. */
const telegramMost = 4_000;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const missing = (what: string): string => `${what} is missing: set it up on the page of the alerts`;

export const createAlertSender = ({ ports, baseUrl }: AlertSenderInput): Readonly<Record<AlertChannel, Send>> => {
  const post = async (url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
    const outcome = await ports.receiver.post(url, JSON.stringify(body), headers);
    return outcome.ok ? '' : outcome.error;
  };
  return {
    async email({ settings: { email }, secrets }, message) {
      const { from, to, ...server } = email;
      if (server.host === '' || from === '' || to.length === 0) return missing('the mail server, the sender or the recipient');
      const mail = { id: message.id, from, to, subject: subjectOf(message), text: textOf(message, baseUrl) };
      const sent = await ports.mailer.send({ ...server, password: secrets.emailPassword }, mail);
      return sent.ok ? '' : sent.error;
    },
    async telegram({ settings: { telegram }, secrets: { telegramToken } }, message) {
      if (telegramToken === '' || telegram.chatId === '') return missing('the token of the bot or the chat');
      const text = [...textOf(message, baseUrl)].slice(0, telegramMost).join('');
      const body = { chat_id: telegram.chatId, text, link_preview_options: { is_disabled: true } };
      return post(`${telegram.url.replace(/\/$/, '')}/bot${telegramToken}/sendMessage`, body);
    },
    async slack({ secrets: { slackUrl } }, message) {
      return slackUrl === '' ? missing('the address of the incoming webhook') : post(slackUrl, { text: escaped(textOf(message, baseUrl)) });
    },
    async webhook({ secrets: { webhookUrl, webhookSecret } }, message) {
      if (webhookUrl === '') return missing('the address of the webhook');
      const { id, at, troubles, well, counts } = message;
      const body = { type: 'alert', id, at, baseUrl, subject: subjectOf(message), text: textOf(message, baseUrl), troubles, well, counts };
      const seconds = Math.floor(at / 1_000);
      const signature =
        webhookSecret === '' ? {} : { 'webhook-signature': ports.signer.sign(webhookSecret, id, seconds, JSON.stringify(body)) };
      return post(webhookUrl, body, { 'webhook-id': id, 'webhook-timestamp': String(seconds), ...signature });
    },
  };
};
