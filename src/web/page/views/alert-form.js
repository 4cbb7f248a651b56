/** The form of the alerts: its fields, and the settings that it sends. */
import { html } from 'htm/preact';
import { t } from '../texts.js';
import { Check } from '../ui/forms.js';
import { Button, Field } from '../ui/parts.js';

/** @typedef {'session' | 'receiver' | 'disk' | 'node'} Kind */
/** @typedef {'email' | 'telegram' | 'slack' | 'webhook'} Channel */
/** @typedef {'emailPassword' | 'telegramToken' | 'slackUrl' | 'webhookUrl' | 'webhookSecret'} Secret */

/**
 * @typedef {object} Settings
 * @property {readonly Kind[]} kinds
 * @property {readonly Channel[]} channels
 * @property {{ host: string, port: number, security: 'tls' | 'startTls' | 'none', user: string, from: string, to: readonly string[] }} email
 * @property {{ url: string, chatId: string }} telegram
 * @property {{ from: number, to: number } | null} quiet Minutes since midnight.
 * @property {string} timeZone
 * @property {number} repeatHours
 * @property {number} receiverMinutes
 */

export const kinds = /** @type {const} */ (['session', 'receiver', 'disk', 'node']);
export const channels = /** @type {const} */ (['email', 'telegram', 'slack', 'webhook']);
const securities = /** @type {const} */ (['startTls', 'tls', 'none']);

/** @type {Readonly<Record<Channel, readonly Secret[]>>} */
const secretsOf = {
  email: ['emailPassword'],
  telegram: ['telegramToken'],
  slack: ['slackUrl'],
  webhook: ['webhookUrl', 'webhookSecret'],
};

/** Formats minutes since midnight as a time such as `22:30`. @param {number} minutes */
const clockOf = (minutes) => `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

/** Returns the minutes since midnight; null for an empty field. @param {string} clock */
const minutesOf = (clock) => {
  const [hours = NaN, minutes = NaN] = clock.split(':').map(Number);
  return clock === '' ? null : hours * 60 + minutes;
};

/**
 * Returns the body of the request. An empty secret is left out, so that the server keeps the stored secret.
 * @param {FormData} form
 */
export const bodyOf = (form) => {
  const text = (/** @type {string} */ name) => String(form.get(name) ?? '').trim();
  const [from, to] = [minutesOf(text('quietFrom')), minutesOf(text('quietTo'))];
  /** @type {Partial<Record<Secret, string>>} */
  const secrets = {};
  for (const name of channels.flatMap((channel) => secretsOf[channel])) {
    if (form.get(`remove-${name}`) === 'on') secrets[name] = '';
    else if (text(name) !== '') secrets[name] = text(name);
  }
  return {
    kinds: kinds.filter((kind) => form.get(`kind-${kind}`) === 'on'),
    channels: channels.filter((channel) => form.get(`on-${channel}`) === 'on'),
    email: {
      host: text('host'),
      port: Number(text('port')),
      security: text('security'),
      user: text('user'),
      from: text('from'),
      to: text('to')
        .split(/[\s,;]+/)
        .filter(Boolean),
    },
    telegram: { url: text('telegramUrl'), chatId: text('chatId') },
    quiet: from === null || to === null ? null : { from, to },
    timeZone: text('timeZone'),
    repeatHours: Number(text('repeatHours')),
    receiverMinutes: Number(text('receiverMinutes')),
    secrets,
  };
};

/** @param {{ name: Secret, isSet: boolean }} props */
const SecretField = ({ name, isSet }) => {
  const label = t(`alertSecret_${name}`);
  const hint = isSet ? t('alertKept') : name === 'webhookSecret' ? t('alertSigning') : undefined;
  return html`
    <${Field} label=${label} hint=${hint} name=${name} type="password" class="input" autocomplete="off" maxlength="2000" />
    ${isSet && html`<${Check} name=${`remove-${name}`} label=${t('alertRemove', { name: label })} checked=${false} />`}
  `;
};

/** @param {{ email: Settings['email'] }} props */
const EmailFields = ({ email }) => html`
  <${Field} label=${t('alertHost')} name="host" class="input" defaultValue=${email.host} autocomplete="off" spellcheck=${false} />
  <${Field} label=${t('alertPort')} name="port" type="number" min="1" max="65535" required class="input" defaultValue=${email.port} />
  <${Field} as="select" label=${t('alertSecurity')} name="security" class="input">
    ${securities.map((one) => html`<option key=${one} value=${one} selected=${email.security === one}>${t(`alertSecurity_${one}`)}</option>`)}
  <//>
  <${Field}
    label=${t('alertUser')}
    hint=${t('alertUserHint')}
    name="user"
    class="input"
    defaultValue=${email.user}
    autocomplete="off"
    spellcheck=${false}
  />
  <${Field} label=${t('alertFrom')} name="from" type="email" class="input" defaultValue=${email.from} autocomplete="off" />
  <${Field} label=${t('alertTo')} hint=${t('alertToHint')} name="to" class="input" defaultValue=${email.to.join(', ')} autocomplete="off" />
`;

/** @param {{ telegram: Settings['telegram'] }} props */
const TelegramFields = ({ telegram }) => html`
  <${Field}
    label=${t('alertChat')}
    hint=${t('alertChatHint')}
    name="chatId"
    class="input"
    defaultValue=${telegram.chatId}
    autocomplete="off"
  />
  <${Field} label=${t('alertApi')} name="telegramUrl" type="url" required class="input" defaultValue=${telegram.url} autocomplete="off" />
`;

/**
 * One channel with its switch, its fields, its secrets and a test. `children`: the outcome of the last attempt.
 * @param {{ channel: Channel, settings: Settings, secrets: readonly Secret[], onTest: (channel: Channel) => void, children?: import('preact').ComponentChildren }} props
 */
export const ChannelFields = ({ channel, settings, secrets, onTest, children }) => {
  const name = t(`alertChannel_${channel}`);
  return html`
    <fieldset class="panel alert-part">
      <legend>${name}</legend>
      <${Check} name=${`on-${channel}`} label=${t('alertOn')} checked=${settings.channels.includes(channel)} />
      ${channel === 'email' && html`<${EmailFields} email=${settings.email} />`}
      ${channel === 'telegram' && html`<${TelegramFields} telegram=${settings.telegram} />`}
      ${secretsOf[channel].map((secret) => html`<${SecretField} key=${secret} name=${secret} isSet=${secrets.includes(secret)} />`)}
      ${children}
      <div><${Button} onClick=${() => onTest(channel)} aria-label=${t('alertTestOf', { channel: name })}>${t('alertTest')}<//></div>
    </fieldset>
  `;
};

/** The fields for the kinds of alerts and their times. @param {{ settings: Settings }} props */
export const RuleFields = ({ settings }) => {
  const { quiet } = settings;
  return html`
    <fieldset class="panel alert-part">
      <legend>${t('alertWhat')}</legend>
      ${kinds.map((kind) => html`<${Check} key=${kind} name=${`kind-${kind}`} label=${t(`alertTell_${kind}`)} checked=${settings.kinds.includes(kind)} />`)}
    </fieldset>
    <fieldset class="panel alert-part">
      <legend>${t('alertWhen')}</legend>
      <${Field}
        label=${t('alertReceiverMinutes')}
        name="receiverMinutes"
        type="number"
        min="1"
        max="1440"
        required
        class="input"
        defaultValue=${settings.receiverMinutes}
      />
      <${Field}
        label=${t('alertRepeat')}
        hint=${t('alertRepeatHint')}
        name="repeatHours"
        type="number"
        min="0"
        max="720"
        required
        class="input"
        defaultValue=${settings.repeatHours}
      />
      <div class="alert-quiet" role="group" aria-label=${t('alertQuiet')}>
        <span class="alert-title">${t('alertQuiet')}</span>
        <${Field}
          label=${t('alertQuietFrom')}
          name="quietFrom"
          type="time"
          class="input"
          defaultValue=${quiet === null ? '' : clockOf(quiet.from)}
        />
        <${Field}
          label=${t('alertQuietTo')}
          name="quietTo"
          type="time"
          class="input"
          defaultValue=${quiet === null ? '' : clockOf(quiet.to)}
        />
        <p class="note">${t('alertQuietHint')}</p>
      </div>
      <${Field}
        label=${t('alertZone')}
        hint=${t('alertZoneHint')}
        name="timeZone"
        class="input"
        defaultValue=${settings.timeZone}
        autocomplete="off"
      />
    </fieldset>
  `;
};
