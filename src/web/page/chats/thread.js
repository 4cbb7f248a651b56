/** The messages of a chat on the page. At most 150 messages have HTML elements, however many are loaded. */
import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { textOfFailure } from '../core/api.js';
import { t } from '../texts.js';
import { Button, Empty, Failed, Loading } from '../ui/parts.js';
import { dayOf } from './names.js';
import { MessageView } from './message.js';
import { usePart } from './part.js';

/** @import { Conversation } from './conversation.js' */
/** @import { MessageActs } from './message.js' */
/** @import { Item } from './types.ts' */

/** The area above the first message, with a button that loads older messages. @param {{ conversation: Conversation, isWhole: boolean }} props */
const Beginning = ({ conversation, isWhole }) => {
  const { failure, hasMore, isLoading } = conversation;
  const load = () => conversation.loadOlder();
  if (failure.value !== null)
    return html`
      <p class="beginning" role="alert">
        ${textOfFailure(failure.value)}
        <${Button} onClick=${() => conversation.refresh()}>${t('retry')}<//>
      </p>
    `;
  if (!hasMore.value && isWhole) return html`<p class="beginning note">${t('chatBeginning')}</p>`;
  return html`<p class="beginning"><${Button} kind="quiet" busy=${isLoading.value} onClick=${load}>${t('chatOlder')}<//></p>`;
};

/**
 * Handles keys that move the focus between messages, and the key that opens the actions of a message.
 * @param {readonly Item[]} part
 * @param {(id: string) => HTMLElement | null} elementOf
 */
const useKeys = (part, elementOf) => {
  const [activeId, setActiveId] = useState('');
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
    const focused = event.target.closest('[data-message]');
    const at = part.findIndex(({ message }) => message.messageid === focused?.getAttribute('data-message'));
    const from = at === -1 ? part.length : at;
    /** @type {Readonly<Record<string, number>>} */
    const moves = { ArrowUp: from - 1, ArrowDown: from + 1, End: part.length - 1 };
    const target = moves[event.key];
    const id = part[Math.max(0, Math.min(target ?? 0, part.length - 1))]?.message.messageid ?? '';
    if (target !== undefined) {
      setActiveId(id);
      elementOf(id)?.focus();
    } else if (event.key === '.' && focused !== null)
      /** @type {HTMLElement | null} */ (focused.querySelector('button[aria-haspopup]'))?.click();
    else return;
    event.preventDefault();
  };
  return { activeId, setActiveId, onKey };
};

/** @param {{ conversation: Conversation, name: string, acts: MessageActs }} props */
export const Thread = ({ conversation, name, acts }) => {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [marked, setMarked] = useState('');
  const { items, part, isWhole, isFar, onScroll, toNewest, goTo, elementOf } = usePart(conversation, box);
  const { activeId, setActiveId, onKey } = useKeys(part, elementOf);
  /** @param {string} id */
  const onQuote = async (id) => {
    setMarked(id);
    setActiveId(id);
    await goTo(id);
  };
  if (items.length === 0 && conversation.failure.value !== null)
    return html`<${Failed} error=${conversation.failure.value} onRetry=${() => conversation.refresh()} />`;
  if (items.length === 0) return conversation.isLoading.value ? html`<${Loading} />` : html`<${Empty} title=${t('chatEmpty')} />`;
  const byId = new Map(items.map((item) => [item.message.messageid, item]));
  const days = part.map(({ message }) => dayOf(message.messageTimestamp));
  return html`
    <div
      class="messages"
      ref=${box}
      tabindex="0"
      role="region"
      aria-label=${t('chatMessages', { name })}
      aria-description=${t('chatMessageKeys')}
      onScroll=${onScroll}
      onKeyDown=${onKey}
    >
      <${Beginning} conversation=${conversation} isWhole=${isWhole} />
      <ol>
        ${part.map((item, at) => {
          const { messageid: id, quoted } = item.message;
          return [
            days[at] !== days[at - 1] && html`<li key=${`day ${days[at]}`} class="day"><span>${days[at]}</span></li>`,
            html`<${MessageView}
              key=${id}
              item=${item}
              quoted=${byId.get(quoted)}
              instance=${conversation.instance}
              isActive=${id === activeId}
              isMarked=${id === marked}
              acts=${acts}
              onQuote=${onQuote}
            />`,
          ];
        })}
      </ol>
    </div>
    ${isFar && html`<div class="newest"><${Button} icon="down" onClick=${toNewest}>${t('chatNewest')}<//></div>`}
  `;
};
