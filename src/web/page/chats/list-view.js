/** The list of chats: a search, a filter, and rows. Only the rows in view have HTML elements, however many chats are loaded. */
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { count, t } from '../texts.js';
import { Button, Empty, Failed, Icon, Loading } from '../ui/parts.js';
import { addressOf, lastOf, lettersOf, nameOf, shortTimeOf } from './names.js';

/** @import { ChatList, Kind } from './chat-list.js' */
/** @import { Chat } from './types.ts' */

/** The height of a row in pixels, as in `style/9-chats.css`. */
const rowHeight = 64;
/** The number of extra rows above and below the rows in view. */
const spare = 6;

/** @type {readonly Kind[]} */
const kinds = ['all', 'unread', 'groups'];

/** @param {{ list: ChatList }} props */
const Head = ({ list }) => {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const onKey = (event) => {
      const isWriting = event.target instanceof Element && event.target.matches('input, textarea, select');
      if (event.key !== '/' || isWriting || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const isSearching = list.search.value.trim() !== '';
  return html`
    <div class="chat-find">
      <input
        ref=${field}
        class="input"
        type="search"
        aria-label=${t('chatSearch')}
        placeholder=${t('chatSearch')}
        maxlength="200"
        value=${list.search.value}
        onInput=${(/** @type {Event} */ event) => list.find(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
      />
      <div class="kinds" role="group" aria-label=${t('chatKinds')}>
        ${kinds.map(
          (kind) => html`
            <button
              key=${kind}
              type="button"
              aria-pressed=${!isSearching && list.kind.value === kind}
              disabled=${isSearching}
              onClick=${() => list.show(kind)}
            >
              ${t(/** @type {'chatKind_all'} */ (`chatKind_${kind}`))}
            </button>
          `,
        )}
        <span class="note" role="status">${list.total.value !== null && t('chatTotal', { n: count(list.total.value) })}</span>
      </div>
    </div>
  `;
};

/** @param {{ chat: Chat, at: number, size: number, instance: string, isCurrent: boolean, isFirst: boolean }} props */
const Row = ({ chat, at, size, instance, isCurrent, isFirst }) => {
  const { id, wa_unreadCount: unread, wa_lastMsgTimestamp: last, wa_isPinned: isPinned, wa_archived: isArchived } = chat;
  const marks = [isPinned ? t('chatPinned') : '', isArchived ? t('chatArchived') : ''].filter(Boolean).join(', ');
  return html`
    <li aria-setsize=${size} aria-posinset=${at + 1} style=${{ top: `${at * rowHeight}px` }}>
      <a href=${addressOf(instance, id)} data-at=${at} tabindex=${isFirst ? 0 : -1} aria-current=${isCurrent ? 'page' : undefined}>
        <span class="letters" aria-hidden="true">${lettersOf(chat)}</span>
        <bdi class="name">${nameOf(chat)}</bdi>
        <time class="note">${shortTimeOf(last)}</time>
        <span class="last dim" dir="auto">${marks !== '' && html`<span class="note">${marks} · </span>`}${lastOf(chat)}</span>
        ${unread > 0 && html`<span class="unread" aria-label=${t('chatUnread', { n: unread })}>${count(unread)}</span>`}
      </a>
    </li>
  `;
};

/**
 * Returns the rows that have HTML elements, by the scroll position of the box. Loads more chats near the end.
 * @param {{ current: HTMLElement | null }} box
 * @param {ChatList} list
 */
const useRows = (box, list) => {
  const [view, setView] = useState({ first: 0, rows: 30 });
  const size = list.chats.value.length;
  const look = () => {
    const element = box.current;
    if (element === null) return;
    const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - spare);
    const rows = Math.ceil(element.clientHeight / rowHeight) + 2 * spare;
    setView((now) => (now.first === first && now.rows === rows ? now : { first, rows }));
    if (element.clientHeight > 0 && first + rows >= list.chats.peek().length) list.more();
  };
  useEffect(() => {
    const resized = new ResizeObserver(look);
    if (box.current !== null) resized.observe(box.current);
    return () => resized.disconnect();
  }, [size === 0]);
  return { ...view, look };
};

/** @param {HTMLElement} box @param {number} at */
const focusRow = (box, at) => {
  const [top, bottom] = [at * rowHeight, (at + 1) * rowHeight];
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  // The row may get its HTML element only in the next frame.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => /** @type {HTMLElement | null} */ (box.querySelector(`[data-at="${at}"]`))?.focus()),
  );
};

/** @param {{ list: ChatList, current: string }} props `current`: id of the chat that is open. */
const Rows = ({ list, current }) => {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const { first, rows, look } = useRows(box, list);
  const chats = list.chats.value;
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    const row = event.target instanceof Element ? event.target.closest('[data-at]') : null;
    if (row === null || box.current === null) return;
    const at = Number(row.getAttribute('data-at'));
    /** @type {Readonly<Record<string, number>>} */
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 8, PageUp: at - 8, Home: 0, End: chats.length - 1 };
    const target = moves[event.key];
    if (target === undefined) return;
    event.preventDefault();
    focusRow(box.current, Math.max(0, Math.min(target, chats.length - 1)));
  };
  const shown = chats.slice(first, first + rows);
  const tabbed = Math.max(
    0,
    shown.findIndex(({ id }) => id === current),
  );
  return html`
    <div class="chat-rows" ref=${box} onScroll=${look} onKeyDown=${onKey}>
      <ul style=${{ height: `${chats.length * rowHeight}px` }}>
        ${shown.map(
          (chat, at) => html`
            <${Row}
              key=${chat.id}
              chat=${chat}
              at=${first + at}
              size=${list.total.value ?? chats.length}
              instance=${list.instance}
              isCurrent=${chat.id === current}
              isFirst=${at === tabbed}
            />
          `,
        )}
      </ul>
      ${list.isLoading.value && html`<p class="note more"><${Icon} name="connecting" class="turning" />${t('loading')}</p>`}
      ${list.failure.value !== null && html`<p class="more"><${Button} onClick=${list.load}>${t('retry')}<//></p>`}
    </div>
  `;
};

/** @param {{ list: ChatList }} props */
const Instead = ({ list }) => {
  if (list.failure.value !== null) return html`<${Failed} error=${list.failure.value} onRetry=${list.load} />`;
  if (list.isLoading.value || list.total.value === null) return html`<${Loading} />`;
  if (list.search.value.trim() === '' && list.kind.value === 'all')
    return html`<${Empty} title=${t('chatNone')} text=${t('chatNoneText')} />`;
  const onAll = () => {
    list.find('');
    list.show('all');
  };
  return html`<${Empty} title=${t('chatNothingFits')}><${Button} onClick=${onAll}>${t('chatClearSearch')}<//><//>`;
};

/** @param {{ list: ChatList, current: string }} props */
export const ChatListView = ({ list, current }) => html`
  <nav class="chat-list" aria-label=${t('chatList')}>
    <${Head} list=${list} />
    ${list.chats.value.length === 0 ? html`<${Instead} list=${list} />` : html`<${Rows} list=${list} current=${current} />`}
  </nav>
`;
