/** The form of an agent, with all fields of the API. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useRef } from 'preact/hooks';
import { sessionAddress } from '../core/router.js';
import { t } from '../texts.js';
import { Check, useForm } from '../ui/forms.js';
import { Button, Field } from '../ui/parts.js';
import { forgetKey, KeyField, keyIn } from './key-field.js';

/**
 * @typedef {object} AgentMedia
 * @property {string} name
 * @property {string} description
 * @property {string} type
 * @property {string} file
 */

/**
 * @typedef {object} Agent One of `GET /agent/list`.
 * @property {string} id
 * @property {string} name
 * @property {'openai' | 'anthropic' | 'gemini' | 'deepseek' | 'custom'} provider
 * @property {string} baseUrl
 * @property {string} model
 * @property {string} apikey Masked; '' for none.
 * @property {string} basePrompt
 * @property {number} maxTokens
 * @property {number | null} temperature
 * @property {number | null} diversityLevel
 * @property {number | null} frequencyPenalty
 * @property {number | null} presencePenalty
 * @property {boolean} signMessages
 * @property {boolean} readMessages
 * @property {number} maxMessageLength
 * @property {number} typingDelay_seconds
 * @property {number} contextTimeWindow_hours
 * @property {number} contextMaxMessages
 * @property {number} contextMinMessages
 * @property {readonly ('setLeadField' | 'addLabel' | 'handOver' | 'sendMedia')[]} tools
 * @property {readonly AgentMedia[]} media
 * @property {number} handOver_minutes
 */

/** The providers, tools and kinds of files, as the API spells them. */
const providers = /** @type {const} */ (['openai', 'anthropic', 'gemini', 'deepseek', 'custom']);
const tools = /** @type {const} */ (['setLeadField', 'addLabel', 'handOver', 'sendMedia']);
const mediaKinds = /** @type {const} */ (['image', 'video', 'videoplay', 'document', 'audio', 'myaudio', 'ptt', 'ptv', 'sticker']);

/** An agent with the default values of the API. @type {Agent} */
export const newAgent = {
  id: '',
  name: '',
  provider: 'openai',
  baseUrl: '',
  model: '',
  apikey: '',
  basePrompt: '',
  maxTokens: 0,
  temperature: null,
  diversityLevel: null,
  frequencyPenalty: null,
  presencePenalty: null,
  signMessages: false,
  readMessages: false,
  maxMessageLength: 0,
  typingDelay_seconds: 0,
  contextTimeWindow_hours: 24,
  contextMaxMessages: 20,
  contextMinMessages: 0,
  tools: [],
  media: [],
  handOver_minutes: 60,
};

/** @param {string} session @param {string} [item] Id of an agent, or `new`. */
export const agentAddress = (session, item) => sessionAddress(session, 'chatbot', item);

/** Fields of whole numbers, with their bounds and labels. */
const numbers = /** @type {const} */ ({
  maxTokens: [0, 1_000_000, 'agentTokens'],
  maxMessageLength: [0, 65_536, 'agentLength'],
  typingDelay_seconds: [0, 60, 'agentTyping'],
  contextTimeWindow_hours: [1, 8_760, 'agentHours'],
  contextMaxMessages: [1, 200, 'agentMost'],
  contextMinMessages: [0, 200, 'agentLeast'],
  handOver_minutes: [1, 525_600, 'agentHandOver'],
});

/** Fields in percent. An empty field means null. */
const shares = /** @type {const} */ ({
  temperature: 'agentTemperature',
  diversityLevel: 'agentDiversity',
  frequencyPenalty: 'agentFrequency',
  presencePenalty: 'agentPresence',
});

/** @param {FormData} form */
const mediaIn = (form) => {
  const [names, abouts, types, files] = ['mediaName', 'mediaAbout', 'mediaKind', 'mediaFile'].map((name) => form.getAll(name).map(String));
  return (names ?? []).map((name, at) => ({ name, description: abouts?.[at] ?? '', type: types?.[at], file: files?.[at] ?? '' }));
};

/** Returns the agent in the form that the API accepts. @param {FormData} form */
const agentIn = (form) => ({
  ...Object.fromEntries(['name', 'provider', 'baseUrl', 'model', 'basePrompt'].map((name) => [name, String(form.get(name) ?? '')])),
  ...Object.fromEntries(Object.keys(numbers).map((name) => [name, Number(form.get(name))])),
  ...Object.fromEntries(Object.keys(shares).map((name) => [name, form.get(name) === '' ? null : Number(form.get(name))])),
  signMessages: form.has('signMessages'),
  readMessages: form.has('readMessages'),
  tools: form.getAll('tools'),
  media: mediaIn(form),
  ...keyIn(form, 'apikey'),
});

/** @param {{ agent: Agent, name: keyof typeof numbers, hint?: string }} props */
const Whole = ({ agent, name, hint }) => {
  const [min, max, label] = numbers[name];
  return html`<${Field}
    label=${t(label)}
    hint=${hint}
    name=${name}
    type="number"
    min=${min}
    max=${max}
    required
    defaultValue=${agent[name]}
  />`;
};

/** @param {{ files: readonly AgentMedia[] }} props */
const Files = ({ files }) => {
  const last = useRef(files.length);
  const rows = useSignal(files.map((file, key) => ({ key, file })));
  const add = () => {
    last.current += 1;
    rows.value = [...rows.value, { key: last.current, file: { name: '', description: '', type: 'image', file: '' } }];
  };
  return html`
    <fieldset class="part">
      <legend>${t('agentMedia')}</legend>
      ${rows.value.map(
        ({ key, file }, at) => html`
          <div key=${key} class="part-row">
            <div class="pair">
              <${Field} label=${t('mediaName')} name="mediaName" required maxlength="100" defaultValue=${file.name} />
              <${Field} as="select" label=${t('mediaKind')} name="mediaKind">
                ${mediaKinds.map((kind) => html`<option key=${kind} value=${kind} selected=${kind === file.type}>${t(`kind_${kind}`)}</option>`)}
              <//>
            </div>
            <${Field} label=${t('mediaFile')} name="mediaFile" type="url" required maxlength="2000" defaultValue=${file.file} />
            <${Field} label=${t('mediaAbout')} name="mediaAbout" maxlength="500" defaultValue=${file.description} />
            <div class="actions">
              <${Button} onClick=${() => (rows.value = rows.value.filter((row) => row.key !== key))}
                >${t('agentMediaRemove', { n: at + 1 })}<//
              >
            </div>
          </div>
        `,
      )}
      <div><${Button} onClick=${add}>${t('agentMediaAdd')}<//></div>
    </fieldset>
  `;
};

/** @param {{ agent: Agent }} props */
const Service = ({ agent }) => html`
  <${Field} label=${t('agentName')} name="name" required maxlength="200" defaultValue=${agent.name} />
  <div class="pair">
    <${Field} as="select" label=${t('agentProvider')} name="provider">
      ${providers.map((one) => html`<option key=${one} value=${one} selected=${one === agent.provider}>${t(`provider_${one}`)}</option>`)}
    <//>
    <${Field} label=${t('agentModel')} name="model" required maxlength="200" spellcheck=${false} defaultValue=${agent.model} />
  </div>
  <${Field} label=${t('agentBase')} hint=${t('agentBaseHint')} name="baseUrl" type="url" maxlength="2000" defaultValue=${agent.baseUrl} />
  <${KeyField} label=${t('agentKey')} hint=${t('agentKeyHint')} name="apikey" hasKey=${agent.apikey !== ''} />
  <${Field}
    as="textarea"
    rows="8"
    label=${t('agentPrompt')}
    hint=${t('agentPromptHint', { example: '{{name}}' })}
    name="basePrompt"
    maxlength="50000"
    defaultValue=${agent.basePrompt}
  />
`;

/** @param {{ agent: Agent }} props */
const Behaviour = ({ agent }) => html`
  <fieldset class="part">
    <legend>${t('agentAnswers')}</legend>
    <${Check} name="signMessages" label=${t('agentSign')} checked=${agent.signMessages} />
    <${Check} name="readMessages" label=${t('agentReads')} checked=${agent.readMessages} />
    <div class="pair">
      <${Whole} agent=${agent} name="maxTokens" hint=${t('agentTokensHint')} />
      <${Whole} agent=${agent} name="maxMessageLength" hint=${t('agentLengthHint')} />
    </div>
    <${Whole} agent=${agent} name="typingDelay_seconds" />
  </fieldset>
  <fieldset class="part">
    <legend>${t('agentMemory')}</legend>
    <${Whole} agent=${agent} name="contextTimeWindow_hours" />
    <div class="pair">
      <${Whole} agent=${agent} name="contextMaxMessages" />
      <${Whole} agent=${agent} name="contextMinMessages" />
    </div>
  </fieldset>
  <fieldset class="part">
    <legend>${t('agentModelMore')}</legend>
    <p class="note">${t('agentModelHint')}</p>
    <div class="pair">
      ${Object.entries(shares).map(
        ([name, label]) => html`
          <${Field}
            key=${name}
            label=${t(label)}
            name=${name}
            type="number"
            min="0"
            max="100"
            defaultValue=${agent[/** @type {keyof typeof shares} */ (name)] ?? ''}
          />
        `,
      )}
    </div>
  </fieldset>
  <fieldset class="part">
    <legend>${t('agentMay')}</legend>
    ${tools.map((tool) => html`<${Check} key=${tool} name="tools" value=${tool} label=${t(`tool_${tool}`)} checked=${agent.tools.includes(tool)} />`)}
    <${Whole} agent=${agent} name="handOver_minutes" />
  </fieldset>
`;

/**
 * The form of an agent. `onSave` gets the agent in the form that the API accepts. The form shows an error that `onSave` throws. `children`: further buttons.
 * @param {{ agent: Agent, title: string, onSave: (agent: object) => Promise<void>, children?: unknown }} props
 */
export const AgentForm = ({ agent, title, onSave, children }) => {
  const { busy, error, onSubmit } = useForm(async (form, element) => {
    await onSave(agentIn(form));
    forgetKey(element, 'apikey');
  });
  return html`
    <form class="panel form" aria-labelledby="agent-title" onSubmit=${onSubmit}>
      <h2 id="agent-title" tabindex="-1">${title}</h2>
      <${Service} agent=${agent} />
      <${Behaviour} agent=${agent} />
      <${Files} files=${agent.media} />
      ${error !== '' && html`<p class="error" role="alert">${error}</p>`}
      <div class="actions">
        ${children}
        <${Button} type="submit" kind="main" busy=${busy}>${t('save')}<//>
      </div>
    </form>
  `;
};
