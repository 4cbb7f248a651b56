/** The triggers of a session. A trigger chooses the messages that an agent or a quick reply answers. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { get, post } from '../core/api.js';
import { t, textOf } from '../texts.js';
import { ask, attempt, toast } from '../ui/asking.js';
import { Button, StateBadge } from '../ui/parts.js';
import { useAnswer } from './load.js';
import { TriggerForm } from './trigger-form.js';

/** @import { Agent } from './agent-form.js' */
/** @import { Live } from './live.js' */
/** @import { QuickReply, Trigger } from './trigger-form.js' */

/** @param {Trigger} trigger */
const wordsOf = ({ wordsToStart: words }) => (words.trim() === '' ? t('triggerEvery') : words.split('|').join(', '));

/** @param {{ live: Live, trigger: Trigger, answers: string, onEdit: () => void, onRemoved: () => Promise<void> }} props */
const Row = ({ live, trigger, answers, onEdit, onRemoved }) => {
  const words = wordsOf(trigger);
  const remove = async () => {
    const question = { title: t('triggerDeleteTitle'), text: t('triggerDeleteText', { words }), yes: t('act_delete'), danger: true };
    if (!(await ask(question))) return;
    await attempt(() => post('/trigger/edit', { id: trigger.id, delete: true }, { instance: live.id }), t('triggerDeleted'));
    await onRemoved();
  };
  const { active, priority, lead_field: field, lead_value: value, responseDelay_seconds: delay } = trigger;
  const operator = textOf(`operator_${trigger.lead_operator}`);
  const notes = [
    t('triggerAnswersBy', { name: answers }),
    priority === 0 ? '' : t('triggerPriorityIs', { n: priority }),
    delay === 0 ? '' : t('triggerDelayIs', { n: delay }),
    field === '' ? '' : t('triggerLeadIs', { field, operator, value }),
  ];
  return html`
    <li>
      <div>
        <h3>${words}</h3>
        <p class="dim">${notes.filter(Boolean).join(' · ')}</p>
      </div>
      <div class="actions">
        <${StateBadge} state=${active ? 'connected' : 'disconnected'} word=${t(active ? 'trigger_on' : 'trigger_off')} />
        <${Button} onClick=${onEdit} aria-label=${t('triggerEditOf', { words })}>${t('edit')}<//>
        <${Button} kind="danger" onClick=${remove} aria-label=${t('triggerDeleteOf', { words })}>${t('act_delete')}<//>
      </div>
    </li>
  `;
};

/** @param {{ live: Live, agents: readonly Agent[] }} props */
export const Triggers = ({ live, agents }) => {
  const options = { instance: live.id };
  const { answer, load, instead } = useAnswer(
    () =>
      /** @type {Promise<[readonly Trigger[], readonly QuickReply[]]>} */ (
        Promise.all([get('/trigger/list', options), get('/quickreply/showall', options)])
      ),
    [live.id],
  );
  /** The trigger in the open form; `{}` for a new trigger; null if no form is open. */
  const edited = useSignal(/** @type {Partial<Trigger> | null} */ (null));
  const [triggers, replies] = answer.value ?? [[], []];
  /** @param {Trigger} trigger */
  const answersOf = ({ type, agent_id: agentId, quickReply_id: replyId }) =>
    (type === 'agent' ? agents.find(({ id }) => id === agentId)?.name : replies.find(({ id }) => id === replyId)?.shortCut) ??
    t('triggerGone');
  const saved = async () => {
    edited.value = null;
    toast(t('triggerSaved'));
    await load();
  };
  const canAdd = agents.length > 0 || replies.length > 0;
  return html`
    <section class="panel item" aria-labelledby="triggers-title">
      <header>
        <h2 id="triggers-title">${t('triggers')}</h2>
        ${canAdd && html`<${Button} onClick=${() => (edited.value = {})}>${t('triggerNew')}<//>`}
      </header>
      ${
        instead ??
        (triggers.length === 0
          ? html`<p class="dim">${t('triggersNone')}</p>`
          : html`<ul class="rows">
              ${triggers.map(
                (trigger) =>
                  html`<${Row}
                    key=${trigger.id}
                    live=${live}
                    trigger=${trigger}
                    answers=${answersOf(trigger)}
                    onEdit=${() => (edited.value = trigger)}
                    onRemoved=${load}
                  />`,
              )}
            </ul>`)
      }
      ${
        edited.value !== null &&
        html`<${TriggerForm}
          live=${live}
          trigger=${edited.value}
          agents=${agents}
          replies=${replies}
          onClose=${() => (edited.value = null)}
          onSaved=${saved}
        />`
      }
    </section>
  `;
};
