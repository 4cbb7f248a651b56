/** The chats of one session: the list, and the conversation that the address names. On a phone one of the two is shown. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { post } from '../core/api.js';
import { sessionAddress } from '../core/router.js';
import { useAnswer } from '../instance/load.js';
import { t } from '../texts.js';
import { attempt } from '../ui/asking.js';
import { Menu } from '../ui/menu.js';
import { Button, Empty, Icon } from '../ui/parts.js';
import { ChatList, findChat } from './chat-list.js';
import { Composer } from './composer.js';
import { Conversation } from './conversation.js';
import { ChatFeed } from './feed.js';
import { ChatListView } from './list-view.js';
import { nameOf } from './names.js';
import { Thread } from './thread.js';

/** @import { Live } from '../instance/live.js' */
/** @import { Chat, Item, Message } from './types.ts' */

/** The emojis that the platform's own clients offer first. */
const emojis = ['👍', '❤️', '😂', '😮', '😢', '🙏'];

/**
 * The head of a conversation. `opened`: the chat as it was when it was opened. If the list has loaded the chat, it has the current state of the chat.
 * @param {{ opened: Chat, list: ChatList }} props
 */
const Head = ({ opened, list }) => {
  const { instance } = list;
  const chat = list.chats.value.find(({ id }) => id === opened.id) ?? opened;
  const busy = useSignal(false);
  const markRead = async () => {
    busy.value = true;
    await attempt(() => post('/chat/read', { number: chat.wa_chatid, read: true }, { instance }), t('chatMarkReadDone'));
    busy.value = false;
  };
  const name = nameOf(chat);
  return html`
    <header>
      <a class="button square back" href=${sessionAddress(instance, 'chats')} aria-label=${t('chatBack')}>
        <${Icon} name="back" />
      </a>
      <div>
        <h2><bdi>${name}</bdi></h2>
        ${chat.phone !== '' && chat.phone !== name && html`<p class="note">${chat.phone}</p>`}
      </div>
      ${chat.wa_unreadCount > 0 && html`<${Button} icon="check" busy=${busy.value} onClick=${markRead}>${t('chatMarkRead')}<//>`}
    </header>
  `;
};

/**
 * The actions of a message.
 * @param {Conversation} conversation
 * @param {(item: Item) => void} onReply
 */
const useActs = (conversation, onReply) => {
  const [opened, setOpened] = useState(/** @type {{ item: Item, near: DOMRect } | null} */ (null));
  /** @param {Item} item @param {string} text '' removes the reaction. */
  const react = async ({ message }, text) => {
    const { instance } = conversation;
    /** @type {Message | undefined} */
    const sent = await attempt(() => post('/message/react', { id: message.id, text }, { instance }));
    if (sent !== undefined) conversation.take(sent);
  };
  /** @param {Item} item */
  const itemsOf = (item) => [
    { label: t('chatReply'), onChoose: () => onReply(item) },
    ...emojis.map((emoji) => ({ label: t('chatReact', { emoji }), onChoose: () => void react(item, emoji) })),
    ...(item.reactions.some(({ isOwn }) => isOwn) ? [{ label: t('chatUnreact'), onChoose: () => void react(item, '') }] : []),
  ];
  const menu =
    opened !== null &&
    html`<${Menu} label=${t('messageActions')} items=${itemsOf(opened.item)} near=${opened.near} onClose=${() => setOpened(null)} />`;
  const acts = { onActs: (/** @type {Item} */ item, /** @type {DOMRect} */ near) => setOpened({ item, near }) };
  return { menu, acts };
};

/** The names of the texts about a stream that is not open. */
const feedNotes = /** @type {const} */ ({ lost: 'chatNotLive', paused: 'liveTitle_paused', refused: 'chatRefused' });

/** @param {{ feed: ChatFeed }} props */
const FeedNote = ({ feed: { state } }) => {
  if (state.value === 'open' || state.value === 'opening') return null;
  return html`<p class="note offline" role="status">${t(feedNotes[state.value])}</p>`;
};

/** @param {{ chat: Chat, list: ChatList, feed: ChatFeed }} props */
const Open = ({ chat: opened, list, feed }) => {
  const { instance } = list;
  const conversation = useMemo(() => new Conversation(instance, opened), [opened.id]);
  const [answered, setAnswered] = useState(/** @type {Item | null} */ (null));
  const { menu, acts } = useActs(conversation, setAnswered);
  useEffect(() => {
    feed.show(conversation);
    void conversation.refresh();
    return () => {
      feed.show(null);
      conversation.close();
    };
  }, [conversation]);
  return html`
    <${Head} opened=${opened} list=${list} />
    <${FeedNote} feed=${feed} />
    <${Thread} conversation=${conversation} name=${nameOf(opened)} acts=${acts} />
    <${Composer}
      instance=${instance}
      chat=${opened}
      answered=${answered}
      onAnswered=${setAnswered}
      onSent=${(/** @type {Message} */ message) => conversation.take(message)}
    />
    ${menu}
  `;
};

/** Loads and shows the chat that the address names. @param {{ id: string, list: ChatList, feed: ChatFeed }} props */
const Named = ({ id, list, feed }) => {
  const { answer, instead } = useAnswer(
    async () => ({ chat: list.chats.peek().find((one) => one.id === id) ?? (await findChat(list.instance, id)) }),
    [id],
  );
  if (instead !== null) return instead;
  const chat = answer.value?.chat ?? null;
  if (chat === null) return html`<${Empty} title=${t('chatGone')} text=${t('chatGoneText')} />`;
  return html`<${Open} key=${chat.id} chat=${chat} list=${list} feed=${feed} />`;
};

/** @param {{ live: Live, item?: string }} props `item`: the short id of a chat in the address; absent for the list alone. */
export const Chats = ({ live, item: chat = '' }) => {
  const list = useMemo(() => new ChatList(live.id), [live.id]);
  const feed = useMemo(() => new ChatFeed(list), [list]);
  useEffect(() => {
    const stop = feed.start();
    return () => {
      stop();
      list.close();
    };
  }, [feed]);
  return html`
    <div class=${chat === '' ? 'chats' : 'chats opened'}>
      <${ChatListView} list=${list} current=${chat} />
      <section class="conversation" aria-label=${t('tab_chats')}>
        ${
          chat === ''
            ? html`<${Empty} title=${t('chatChoose')} text=${t('chatChooseText')} />`
            : html`<${Named} key=${chat} id=${chat} list=${list} feed=${feed} />`
        }
      </section>
    </div>
  `;
};
