/**
 * The alerts of this process. Each node reports its troubles to the database. The node on duty decides which alerts to send, and sends
 * them.
 */
import {
  type AlertAttempt,
  type AlertChannel,
  alertChannels,
  type AlertMessage,
  alertSecretNames,
  type AlertSecrets,
  type AlertSettings,
  done,
  noAlertSecrets,
  refuse,
  type Trouble,
  usualAlertSettings,
} from '../model.ts';
import {
  type AlertState,
  alertStateIn,
  nextAlerts,
  noAlertState,
  type PendingAlert,
  reserveDueAlerts,
  settled,
  subjectOf,
  textOf,
} from '../policy/alert-policy.ts';
import { PeriodicWorker, type SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { AlertRow, KnownNode, Ports } from '../ports.ts';
import type { AlertMethods, AlertView } from '../views/operators.ts';

// Sends one alert over one channel. Errors are sentences without addresses and secrets.

interface AlertSenderInput {
  readonly ports: Pick<Ports, 'receiver' | 'mailer' | 'signer'>;
  /** Public address of this server, for the links of a message. */
  readonly baseUrl: string;
}

type Send = (row: AlertRow, message: AlertMessage) => Promise<AlertAttempt>;

/** The largest length of a text for Telegram, which accepts 4,096. In characters. */
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
const gapOf = (channel: AlertChannel, row: Pick<AlertRow, 'settings' | 'secrets'>): string => {
  const what = missing[channel](row);
  return what === '' ? '' : `${channel}: ${what} is missing`;
};

/** Returns the function that sends a message over a channel. */
const createAlertSender = ({ ports, baseUrl }: AlertSenderInput) => {
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

// The alerts of this process. Each node reports its troubles to the database. The node on duty decides and sends. Every message is claimed in the database
// before it is sent. Two nodes that both consider themselves on duty therefore do not send the same message. State and claims outlive the process.

/** The pause between two checks. In milliseconds. */
const everyMs = 15_000;
/** The time after which an unchanged report is written again. In milliseconds. */
const heartbeatMs = 60_000;
/** The time for which a report counts. A node that is lost reports nothing. In milliseconds. */
const reportMs = 3 * heartbeatMs;
/** The largest number of attempts to save settings. An attempt fails if another request stored secrets meanwhile. */
const mostSavings = 20;
const failedUnexpectedly = { sent: false, error: 'the channel failed unexpectedly' };
/** The largest number of troubles that the page lists. */
const mostShown = 100;

interface AlertsInput {
  readonly ports: Pick<Ports, 'alertRows' | 'receiver' | 'mailer' | 'signer' | 'chance' | 'time' | 'log'>;
  readonly workers: SupervisedWorkers;
  readonly baseUrl: string;
  /** The name of this node; '' without a cluster. */
  readonly node: string;
  /** Returns true if this process does the work that only one node of the cluster does. */
  onDuty(): boolean;
  /** Finds the troubles of this node. */
  find(): Promise<readonly Trouble[]>;
  /** Returns the known nodes; none without a cluster. */
  nodes(): Promise<readonly KnownNode[]>;
}

const lost = ({ name, leftMs }: KnownNode, now: number): Trouble => ({
  kind: 'node',
  key: name,
  name,
  reason: 'its lease ended without a sign-off, so other nodes take its sessions',
  since: now + Math.min(0, leftMs),
});

export class Alerts {
  readonly #input: AlertsInput;
  readonly #send: ReturnType<typeof createAlertSender>;
  readonly #worker: PeriodicWorker;
  readonly #startedAt: number;
  #reported = { text: '', at: -Infinity };

  constructor(input: AlertsInput) {
    const { time, log } = input.ports;
    this.#input = input;
    this.#send = createAlertSender(input);
    this.#startedAt = time.now();
    const { workers } = input;
    this.#worker = new PeriodicWorker({
      time,
      log,
      workers,
      name: 'alerts',
      everyMs,
      unanswered: 'alerts.unanswered',
      run: () => this.#look(),
    });
  }

  start(): void {
    this.#worker.start();
  }

  stop(): void {
    this.#worker.stop();
  }

  async #look(): Promise<void> {
    const row = await this.#input.ports.alertRows.read();
    // Alerts that are not set up cost one small query.
    if (row === null || row.settings.channels.length === 0) return;
    await this.#report();
    if (this.#input.onDuty()) await this.#decide(row);
  }

  async #report(): Promise<void> {
    const { ports, node, find } = this.#input;
    const troubles = await find();
    const [text, at] = [JSON.stringify(troubles.map(({ since: _since, ...rest }) => rest)), ports.time.monotonic()];
    if (text === this.#reported.text && at - this.#reported.at < heartbeatMs) return;
    await ports.alertRows.report({ node, at: ports.time.now(), startedAt: this.#startedAt, troubles });
    this.#reported = { text, at };
  }

  async #decide(row: AlertRow): Promise<void> {
    const { ports, nodes } = this.#input;
    const { alertRows, time, chance } = ports;
    const now = time.now();
    const [reports, known] = await Promise.all([alertRows.reports(now - reportMs), nodes()]);
    const seen = {
      troubles: [...reports.flatMap(({ troubles }) => troubles), ...known.filter(({ ended }) => ended).map((node) => lost(node, now))],
      liveNodes: known.filter(({ ended }) => !ended).map(({ name }) => name),
      steadySince: Math.max(0, ...reports.map(({ startedAt }) => startedAt)),
    };
    const before = alertStateIn(row.state);
    const { state, taken } = reserveDueAlerts(nextAlerts(before, seen, row.settings, now, chance.hex(16)), row.settings, now);
    if (JSON.stringify(state) === JSON.stringify(row.state)) return;
    // If another node was first, it has claimed the due messages.
    if (!(await alertRows.saveState(state, row.version))) return;
    if (taken.length > 0) await this.#sendAll(row, state, taken);
  }

  async #sendAll(row: AlertRow, state: AlertState, taken: readonly PendingAlert[]): Promise<void> {
    const { log, time, alertRows } = this.#input.ports;
    const outcomes = await Promise.all(
      taken.map(async (of) => ({
        of,
        ...(await this.#send(of.channel, row, of.message).catch(() => failedUnexpectedly)),
      })),
    );
    for (const { of, sent, error } of outcomes) {
      const fields = { channel: of.channel, troubles: of.message.counts.troubles, well: of.message.counts.well, attempt: of.attempts };
      if (sent) log.info({ ...fields, ...(error === '' ? {} : { error }) }, 'alert.sent');
      else log.warn({ ...fields, error }, 'alert.notSent');
    }
    // If this write fails, the claim ends after a minute, and the message is sent again.
    if (!(await alertRows.saveState(settled(state, outcomes, time.now()), row.version + 1))) log.warn({}, 'alert.notSettled');
  }

  get commands(): AlertMethods {
    return alertCommands(this.#input, this.#send);
  }
}

const viewOf = (row: AlertRow | null): AlertView => {
  const { known, pending, outcomes } = row === null ? noAlertState : alertStateIn(row.state);
  const present = known.filter(({ missingSince }) => missingSince === null);
  return {
    settings: row?.settings ?? usualAlertSettings,
    secrets: alertSecretNames.filter((name) => (row?.secrets[name] ?? '') !== ''),
    troubles: present.slice(0, mostShown).map(({ kind, key, name, reason, since, toldAt }) => ({ kind, key, name, reason, since, toldAt })),
    total: present.length,
    outcomes: alertChannels.flatMap((channel) => {
      const waiting = pending.filter((one) => one.channel === channel).length;
      const last = outcomes[channel];
      return last === undefined && waiting === 0 ? [] : [{ channel, at: last?.at ?? 0, error: last?.error ?? '', waiting }];
    }),
  };
};

const isZone = (timeZone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', timeZone === '' ? {} : { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

type Change = readonly [settings: AlertSettings, given: Partial<AlertSecrets>];

/** Returns the reason why these settings cannot replace the stored settings; '' if they can. */
const objectionTo = ({ receiver, signer }: Pick<Ports, 'receiver' | 'signer'>, row: AlertRow | null, [settings, given]: Change): string => {
  const secrets = { ...(row?.secrets ?? noAlertSecrets), ...given };
  const urls = { slackUrl: secrets.slackUrl, webhookUrl: secrets.webhookUrl, 'telegram.url': settings.telegram.url };
  for (const [name, url] of Object.entries(urls)) {
    const objection = url === '' ? null : receiver.objection(url);
    if (objection !== null) return `${name}: ${objection}`;
  }
  const objection = secrets.webhookSecret === '' ? null : signer.objection(secrets.webhookSecret);
  if (objection !== null) return `webhookSecret: ${objection}`;
  // The operator would not notice a channel that is switched on but cannot send.
  const gap = settings.channels.map((channel) => gapOf(channel, { settings, secrets })).find((one) => one !== '');
  if (gap !== undefined) return gap;
  if (!isZone(settings.timeZone)) return 'timeZone is no time zone, such as America/Sao_Paulo';
  // A stored password must not be sent to another server or bot API.
  return row === null ? '' : movedSecret(row, settings, given);
};

const alertCommands = ({ ports }: AlertsInput, send: ReturnType<typeof createAlertSender>): AlertMethods => {
  const { alertRows, chance, time } = ports;
  return {
    alerts: async () => viewOf(await alertRows.read()),
    async saveAlerts(settings, given) {
      for (let saving = 0; saving < mostSavings; saving += 1) {
        const row = await alertRows.read();
        const objection = objectionTo(ports, row, [settings, given]);
        if (objection !== '') return refuse('invalid', objection);
        const secrets = { ...(row?.secrets ?? noAlertSecrets), ...given };
        // The save fails if another person stored a secret since the read. Otherwise that secret would be lost.
        if (await alertRows.save(settings, secrets, row?.revision ?? '')) return done(viewOf(await alertRows.read()));
      }
      return refuse('conflict', 'the alerts are being changed by others: try again');
    },
    async testAlert(channel) {
      const row = await alertRows.read();
      if (row === null) return refuse('invalid', 'alerts are not set up: save them first');
      const message: AlertMessage = { id: chance.hex(16), at: time.now(), troubles: [], well: [], counts: { troubles: 0, well: 0 } };
      return done(await send(channel, row, message));
    },
  };
};

/** Returns the refusal of a change after which a stored secret would go to another server than before; '' if there is no such secret. */
const movedSecret = (
  row: AlertRow,
  { email, telegram }: AlertRow['settings'],
  given: { readonly emailPassword?: string; readonly telegramToken?: string },
): string => {
  const before = row.settings;
  const isNewHost = email.host !== before.email.host || (email.security === 'none' && before.email.security !== 'none');
  if (isNewHost && row.secrets.emailPassword !== '' && given.emailPassword === undefined)
    return 'emailPassword is needed again for another mail server';
  const isNewApi = telegram.url !== before.telegram.url;
  return isNewApi && row.secrets.telegramToken !== '' && given.telegramToken === undefined
    ? 'telegramToken is needed again for another server'
    : '';
};
