/** The chatbot of a session: its settings, its agents, its triggers, and the tokens that it used. */
import { html } from 'htm/preact';
import { get, post } from '../core/api.js';
import { count, t } from '../texts.js';
import { toast } from '../ui/asking.js';
import { Check, useForm } from '../ui/forms.js';
import { Button, Empty, Field, Table } from '../ui/parts.js';
import { AgentPage } from './agent.js';
import { agentAddress } from './agent-form.js';
import { forgetKey, KeyField, keyIn } from './key-field.js';
import { useAnswer } from './load.js';
import { Triggers } from './triggers.js';

/** @import { Agent } from './agent-form.js' */
/** @import { Live } from './live.js' */

/**
 * @typedef {object} ChatbotSettings Fields of an instance.
 * @property {string} ai_apikey Masked; '' for none.
 * @property {boolean} chatbot_enabled
 * @property {boolean} chatbot_ignoreGroups
 * @property {string} chatbot_stopConversation
 * @property {number} chatbot_stopMinutes
 * @property {number} chatbot_stopWhenYouSendMsg Minutes.
 */

/** @typedef {{ limit: number, days: readonly { day: string, tokens: number }[] }} Usage */

/** @param {{ live: Live, settings: ChatbotSettings, onSaved: () => Promise<void> }} props */
const SettingsForm = ({ live, settings, onSaved }) => {
  const hasKey = settings.ai_apikey !== '';
  const { busy, error, onSubmit } = useForm(async (form, element) => {
    const body = {
      chatbot_enabled: form.has('enabled'),
      chatbot_ignoreGroups: form.has('ignoreGroups'),
      chatbot_stopConversation: String(form.get('stop') ?? ''),
      chatbot_stopMinutes: Number(form.get('stopMinutes')),
      chatbot_stopWhenYouSendMsg: Number(form.get('ownMinutes')),
      ...keyIn(form, 'ai_apikey'),
    };
    await post('/instance/updatechatbotsettings', body, { instance: live.id });
    toast(t('saved'));
    forgetKey(element, 'ai_apikey');
    await onSaved();
  });
  return html`
    <form class="panel form" aria-labelledby="chatbot-title" onSubmit=${onSubmit}>
      <h2 id="chatbot-title">${t('chatbotTitle')}</h2>
      <p class="dim">${t('chatbotLead')}</p>
      <${Check} name="enabled" label=${t('chatbotOn')} checked=${settings.chatbot_enabled} />
      <${Check} name="ignoreGroups" label=${t('chatbotGroups')} checked=${settings.chatbot_ignoreGroups} />
      <${Field}
        label=${t('chatbotStop')}
        hint=${t('chatbotStopHint')}
        name="stop"
        maxlength="100"
        defaultValue=${settings.chatbot_stopConversation}
      />
      <div class="pair">
        <${Field}
          label=${t('chatbotStopMinutes')}
          name="stopMinutes"
          type="number"
          min="0"
          max="525600"
          required
          defaultValue=${settings.chatbot_stopMinutes}
        />
        <${Field}
          label=${t('chatbotOwnMinutes')}
          name="ownMinutes"
          type="number"
          min="0"
          max="525600"
          required
          defaultValue=${settings.chatbot_stopWhenYouSendMsg}
        />
      </div>
      <${KeyField} key=${hasKey} label=${t('chatbotKey')} hint=${t('chatbotKeyHint')} name="ai_apikey" hasKey=${hasKey} />
      ${error !== '' && html`<p class="error" role="alert">${error}</p>`}
      <div class="actions"><${Button} type="submit" busy=${busy}>${t('save')}<//></div>
    </form>
  `;
};

/** @param {{ usage: Usage }} props */
const Tokens = ({ usage: { limit, days } }) => {
  const today = new Date().toISOString().slice(0, 10);
  const used = days.find(({ day }) => day === today)?.tokens ?? 0;
  const largest = Math.max(1, ...days.map(({ tokens }) => tokens));
  return html`
    <section class="panel item" aria-labelledby="tokens-title">
      <h2 id="tokens-title">${t('tokensTitle')}</h2>
      <p>${t(limit > 0 ? 'tokensToday' : 'tokensTodayFree', { used: count(used), limit: count(limit) })}</p>
      ${
        days.length === 0
          ? html`<p class="dim">${t('tokensNone')}</p>`
          : html`<${Table} label=${t('tokensTitle')} heads=${[t('tokensDay'), t('tokens'), t('tokensShare')]}>
              ${days.map(
                ({ day, tokens }) => html`
                  <tr key=${day}>
                    <th scope="row">${day}</th>
                    <td>${count(tokens)}</td>
                    <td><meter min="0" max=${largest} value=${tokens} aria-label=${t('tokensShareOf', { day })}></meter></td>
                  </tr>
                `,
              )}
            <//>`
      }
    </section>
  `;
};

/** @param {{ live: Live, agents: readonly Agent[] }} props */
const Agents = ({ live, agents }) => {
  const add = html`<a class="button main" href=${agentAddress(live.id, 'new')}>${t('agentNew')}</a>`;
  return html`
    <section class="panel item" aria-labelledby="agents-title">
      <header>
        <h2 id="agents-title">${t('agents')}</h2>
        ${agents.length > 0 && add}
      </header>
      ${
        agents.length === 0
          ? html`<${Empty} title=${t('agentsNone')} text=${t('agentsNoneText')}>${add}<//>`
          : html`<ul class="rows">
              ${agents.map(
                (agent) => html`
                  <li key=${agent.id}>
                    <div>
                      <h3><a href=${agentAddress(live.id, agent.id)}>${agent.name}</a></h3>
                      <p class="dim">
                        ${t('agentOf', { model: agent.model, provider: t(`provider_${agent.provider}`) })}
                        ${agent.apikey === '' && ` · ${t('agentNoKey')}`}
                        ${agent.tools.length > 0 && ` · ${t('agentTools', { tools: agent.tools.map((tool) => t(`toolName_${tool}`)).join(', ') })}`}
                      </p>
                    </div>
                    <a class="button" href=${agentAddress(live.id, agent.id)}>${t('agentOpen')}</a>
                  </li>
                `,
              )}
            </ul>`
      }
    </section>
  `;
};

/** @param {{ live: Live }} props */
const Overview = ({ live }) => {
  const options = { instance: live.id };
  const { answer, load, instead } = useAnswer(
    () =>
      /** @type {Promise<[{ instance: ChatbotSettings }, readonly Agent[], Usage]>} */ (
        Promise.all([get('/instance/status', options), get('/agent/list', options), get('/agent/usage', options)])
      ),
    [live.id],
  );
  if (answer.value === null) return instead;
  const [{ instance }, agents, usage] = answer.value;
  return html`
    <div class="daily">
      <${Agents} live=${live} agents=${agents} />
      <${Triggers} live=${live} agents=${agents} />
      <div class="beside">
        <${SettingsForm} live=${live} settings=${instance} onSaved=${load} />
        <${Tokens} usage=${usage} />
      </div>
    </div>
  `;
};

/** `item`: the id of an agent, or `new`. @param {{ live: Live, item?: string }} props */
export const Chatbot = ({ live, item }) =>
  item === undefined ? html`<${Overview} live=${live} />` : html`<${AgentPage} key=${item} live=${live} id=${item} />`;
