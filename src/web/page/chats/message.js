/** One message of a conversation: its sender, the message that it answers, its file and text, its reactions, and its delivery state. */
import { html } from 'htm/preact';
import { Component } from 'preact';
import { count, minuteOfDay, t, textOf } from '../texts.js';
import { Icon } from '../ui/parts.js';
import { mediaKindOf, placeOf, quotedTextOf } from './content.js';
import { Media } from './media.js';
import { kindOf, senderOf } from './names.js';
import { MessageText } from './text.js';

/** @import { Item, Message, Reaction } from './types.ts' */

/** @typedef {{ onActs: (item: Item, near: DOMRect) => void }} MessageActs */

/** @type {Readonly<Record<string, string>>} */
const signs = {
  Queued: 'clock',
  Sent: 'check',
  Delivered: 'checks',
  Read: 'checks',
  Played: 'checks',
  Failed: 'person',
  Canceled: 'close',
};

/** The delivery state of an own message. @param {{ message: Message }} props */
const Status = ({ message: { status } }) => {
  const label = textOf(`chatStatus_${status}`);
  if (label === '') return null;
  return html`<span class=${`status ${status}`} title=${label}><${Icon} name=${signs[status] ?? 'check'} label=${label} /></span>`;
};

/** Returns a short text of a message, for one line. @param {Item} item */
export const glanceOf = ({ message, text }) => (text === '' ? kindOf(message.messageType) : text.slice(0, 200));

/** @param {{ item: Item, quoted: Item | undefined, onQuote: (id: string) => void }} props */
const Quote = ({ item: { message }, quoted, onQuote }) => {
  const text = quoted === undefined ? quotedTextOf(message).slice(0, 200) || t('chatQuoteMissing') : glanceOf(quoted);
  return html`
    <button type="button" class="quote" tabindex="-1" aria-label=${t('chatQuoteOf', { text })} onClick=${() => onQuote(message.quoted)}>
      ${quoted !== undefined && html`<bdi class="from">${quoted.message.fromMe ? t('chatYou') : senderOf(quoted.message)}</bdi>`}
      <span dir="auto">${text}</span>
    </button>
  `;
};

/** @param {{ reactions: readonly Reaction[] }} props */
const Reactions = ({ reactions }) => html`
  <ul class="reactions">
    ${reactions.map(
      ({ emoji, count: n, isOwn }) => html`
        <li key=${emoji} class=${isOwn ? 'own' : ''}>
          <span class="hidden-text">${t(isOwn ? 'chatReactionOwn' : 'chatReaction', { emoji, n })}</span>
          <span aria-hidden="true"><bdi>${[...emoji].slice(0, 12).join('')}</bdi>${n > 1 && ` ${count(n)}`}</span>
        </li>
      `,
    )}
  </ul>
`;

/** @param {{ item: Item, instance: string }} props */
const Body = ({ item: { message, text }, instance }) => {
  if (message.status === 'Deleted') return html`<p class="dim">${t('chatDeleted')}</p>`;
  const isMedia = mediaKindOf(message) !== null;
  const place = placeOf(message);
  return html`
    ${isMedia && html`<${Media} message=${message} instance=${instance} />`}
    ${place !== '' && html`<p><strong>${kindOf(message.messageType)}</strong> ${place}</p>`}
    ${text !== '' && html`<${MessageText} text=${text} />`}
    ${message.vote !== '' && html`<p class="text" dir="auto">${t('chatVote', { text: message.vote })}</p>`}
    ${text === '' && message.vote === '' && !isMedia && place === '' && html`<p class="dim">${kindOf(message.messageType)}</p>`}
    ${message.error !== '' && html`<p class="error">${message.error}</p>`}
  `;
};

/**
 * `isActive`: the arrow keys start from this message. `isMarked`: the reader came to this message from a quote of it.
 * @typedef {{ item: Item, quoted: Item | undefined, instance: string, isActive: boolean, isMarked: boolean, acts: MessageActs, onQuote: (id: string) => void }} MessageProps
 */

/** @param {MessageProps} props */
const Whole = ({ item, quoted, instance, isActive, isMarked, acts, onQuote }) => {
  const { message, isEdited, reactions } = item;
  const { messageid: id, fromMe, isGroup, messageTimestamp: at } = message;
  return html`
    <li
      class=${`message ${fromMe ? 'own' : ''} ${isMarked ? 'marked' : ''}`}
      data-message=${id}
      tabindex=${isActive ? 0 : -1}
      aria-label=${`${fromMe ? t('chatYou') : senderOf(message)}, ${minuteOfDay(at)}: ${glanceOf(item)}`}
    >
      <div class="bubble">
        ${isGroup && !fromMe && html`<p class="from"><bdi>${senderOf(message)}</bdi></p>`}
        ${message.quoted !== '' && html`<${Quote} item=${item} quoted=${quoted} onQuote=${onQuote} />`}
        <${Body} item=${item} instance=${instance} />
        <p class="foot">
          ${isEdited && html`<span>${t('chatEdited')}</span>`}
          <time>${minuteOfDay(at)}</time>
          ${fromMe && html`<${Status} message=${message} />`}
        </p>
        ${reactions.length > 0 && html`<${Reactions} reactions=${reactions} />`}
      </div>
      ${
        message.status !== 'Deleted' &&
        html`
          <button
            type="button"
            class="button quiet square"
            tabindex=${isActive ? 0 : -1}
            aria-haspopup="menu"
            aria-label=${t('messageActions')}
            onClick=${(/** @type {MouseEvent} */ event) =>
              acts.onActs(item, /** @type {Element} */ (event.currentTarget).getBoundingClientRect())}
          >
            <${Icon} name="more" />
          </button>
        `
      }
    </li>
  `;
};

/** @param {Item | undefined} a @param {Item | undefined} b */
const isSame = (a, b) =>
  a === b ||
  (a?.message === b?.message &&
    a?.text === b?.text &&
    a?.isEdited === b?.isEdited &&
    JSON.stringify(a?.reactions) === JSON.stringify(b?.reactions));

/**
 * Draws a message again only if it has changed. A loaded page of older messages changes none of the messages that are shown. Properties that are functions are
 * not compared, because a function from an earlier render has the same effect.
 * @extends {Component<MessageProps>}
 */
export class MessageView extends Component {
  /** @override @param {MessageProps} next */
  shouldComponentUpdate(next) {
    const { item, quoted, isActive, isMarked } = this.props;
    const isUnchanged = isActive === next.isActive && isMarked === next.isMarked;
    return !isUnchanged || !isSame(item, next.item) || !isSame(quoted, next.quoted);
  }

  /** @override @param {MessageProps} props */
  render(props) {
    return html`<${Whole} ...${props} />`;
  }
}
