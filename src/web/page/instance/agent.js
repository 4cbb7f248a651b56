/** The page of an agent: its form, and a conversation to try it. */
import { html } from 'htm/preact';
import { get, post } from '../core/api.js';
import { go } from '../core/router.js';
import { t } from '../texts.js';
import { ask, attempt, toast } from '../ui/asking.js';
import { Button, Empty } from '../ui/parts.js';
import { agentAddress, AgentForm, newAgent } from './agent-form.js';
import { Trial } from './agent-trial.js';
import { useAnswer } from './load.js';

/** @import { Agent } from './agent-form.js' */
/** @import { Live } from './live.js' */

/** `id`: the id of an agent, or `new`. @param {{ live: Live, id: string }} props */
export const AgentPage = ({ live, id }) => {
  const options = { instance: live.id };
  const { answer, load, instead } = useAnswer(() => /** @type {Promise<readonly Agent[]>} */ (get('/agent/list', options)), [live.id]);
  if (answer.value === null) return instead;
  const isNew = id === 'new';
  const agent = isNew ? newAgent : answer.value.find((one) => one.id === id);
  const back = html`<a href=${agentAddress(live.id)}>${t('agentsAll')}</a>`;
  if (agent === undefined) return html`<${Empty} title=${t('agentGone')}>${back}<//>`;
  /** @param {object} fields */
  const save = async (fields) => {
    /** @type {Agent} */
    const saved = await post('/agent/edit', { ...(isNew ? {} : { id }), agent: fields }, options);
    toast(t('agentSaved'));
    if (isNew) go(agentAddress(live.id, saved.id), { replace: true });
    else await load();
  };
  const remove = async () => {
    const question = { title: t('agentDeleteTitle', { name: agent.name }), text: t('agentDeleteText'), yes: t('act_delete'), danger: true };
    if (!(await ask(question))) return;
    const gone = await attempt(() => post('/agent/edit', { id, delete: true }, options), t('agentDeleted'));
    if (gone !== undefined) go(agentAddress(live.id), { replace: true });
  };
  return html`
    <div class="daily">
      <p>${back}</p>
      <div class="beside">
        <${AgentForm} agent=${agent} title=${isNew ? t('agentNew') : agent.name} onSave=${save}>
          ${!isNew && html`<${Button} kind="danger" onClick=${remove}>${t('act_delete')}<//>`}
        <//>
        ${!isNew && html`<${Trial} live=${live} agentId=${id} name=${agent.name} />`}
      </div>
    </div>
  `;
};
