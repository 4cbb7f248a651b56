/** A trial conversation with an agent. No contact sees the conversation, and it is lost when the reader leaves the page of the agent. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { post } from '../core/api.js';
import { count, t } from '../texts.js';
import { useForm } from '../ui/forms.js';
import { Button, Field } from '../ui/parts.js';

/** @import { Live } from './live.js' */

/** @typedef {{ name: string, arguments: string, result: string }} Tool */

/**
 * @typedef {object} Said
 * @property {'user' | 'assistant'} role
 * @property {string} text
 * @property {string} [error]
 * @property {number} [tokens]
 * @property {readonly Tool[]} [tools]
 */

/** The limits of the API: the number of messages in a request, and the length of a message in characters. */
const mostTurns = 100;
const longestTurn = 8_000;

/**
 * Returns the messages of the request. Failed answers have no text and are left out. Long texts are cut to the limit of the API.
 * @param {readonly Said[]} all
 */
const turnsOf = (all) =>
  all
    .filter(({ text }) => text.trim() !== '')
    .slice(-mostTurns)
    .map(({ role, text }) => ({ role, text: text.slice(0, longestTurn) }));

/** @param {{ tool: Tool }} props */
const ToolCall = ({ tool: { name, arguments: given, result } }) => html`
  <p class="note">${result.startsWith('not done') ? t('trialToolBad', { name, given, why: result }) : t('trialTool', { name, given })}</p>
`;

/** @param {{ said: Said, name: string }} props */
const Line = ({ said: { role, text, error, tokens = 0, tools = [] }, name }) => html`
  <li class=${role}>
    <p class="note">${role === 'user' ? t('trialYou') : name}${tokens > 0 && ` · ${t('trialTokens', { n: count(tokens) })}`}</p>
    ${tools.map((tool, at) => html`<${ToolCall} key=${at} tool=${tool} />`)} ${text !== '' && html`<p class="said">${text}</p>`}
    ${error !== undefined && html`<p class="bad">${t('trialFailed', { why: error })}</p>`}
  </li>
`;

/** @param {{ live: Live, agentId: string, name: string }} props */
export const Trial = ({ live, agentId, name }) => {
  const said = useSignal(/** @type {readonly Said[]} */ ([]));
  const list = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => list.current?.scrollTo({ top: list.current.scrollHeight }), [said.value]);
  const { busy, error, onSubmit } = useForm(async (form, element) => {
    const text = String(form.get('text') ?? '').trim();
    if (text === '') return false;
    const before = said.value;
    const asked = [...before, /** @type {Said} */ ({ role: 'user', text })];
    said.value = asked;
    try {
      const body = { agent_id: agentId, messages: turnsOf(asked) };
      /** @type {Omit<Said, 'role'>} */
      const answer = await post('/agent/try', body, { instance: live.id });
      // The reader may have restarted the conversation meanwhile.
      if (said.value === asked) said.value = [...asked, { role: 'assistant', ...answer }];
      element.reset();
      return undefined;
    } catch (problem) {
      if (said.value === asked) said.value = before;
      throw problem;
    }
  });
  return html`
    <section class="panel item trial" aria-labelledby="trial-title">
      <header>
        <h2 id="trial-title">${t('trialTitle')}</h2>
        ${said.value.length > 0 && html`<${Button} onClick=${() => (said.value = [])}>${t('trialAgain')}<//>`}
      </header>
      <p class="dim">${t('trialLead')}</p>
      ${
        said.value.length === 0
          ? html`<p class="dim">${t('trialEmpty')}</p>`
          : html`<div ref=${list} class="talk" role="log" tabindex="0" aria-label=${t('trialTalk')}>
              <ol>
                ${said.value.map((one, at) => html`<${Line} key=${at} said=${one} name=${name} />`)}
              </ol>
            </div>`
      }
      <form class="form" onSubmit=${onSubmit}>
        <${Field} label=${t('trialText')} error=${error} name="text" required maxlength=${longestTurn} autocomplete="off" />
        <div class="actions"><${Button} type="submit" kind="main" busy=${busy}>${t('trialSend')}<//></div>
      </form>
    </section>
  `;
};
