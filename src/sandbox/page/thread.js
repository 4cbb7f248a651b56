/** The open conversation as the contact sees it: sent and received messages, with their encryption. */
import { post } from './api.js';
import { ask, attempt, byId, el, isNews, sizeOf, timeOf } from './dom.js';
import { changeGroup } from './group.js';
import { editPerson } from './phones.js';
import { closeChat, isGroup, keyOf, nameOf, peerOf, state } from './state.js';

const emojis = ['👍', '❤️', '😂', '😮', '😢', '🙏'];
const ticks = { sent: '✓', delivered: '✓✓', read: '✓✓', played: '✓✓' };
/** Pictures that were sent from this page, by message id. The platform does not return them. */
export const previews = new Map();
/** The message that the next text quotes. */
export const reply = { to: undefined };

/** Returns the id of the message that a received reaction, edit or deletion changes. */
const targetOf = ({ content }) => {
  const protocol = content?.protocolMessage ?? content?.editedMessage?.message?.protocolMessage;
  return content?.reactionMessage?.key?.id ?? protocol?.key?.id;
};

const changeKinds = { reaction: 'reaction', edit: 'edit', delete: 'delete', reactionMessage: 'reaction' };

const changeOf = (message) => {
  const about = message.about ?? targetOf(message);
  if (about === undefined) return undefined;
  if (changeKinds[message.kind]) return { about, what: changeKinds[message.kind] };
  if (!['protocolMessage', 'editedMessage'].includes(message.kind)) return undefined;
  return { about, what: message.text === '' ? 'delete' : 'edit' };
};

/** Returns the messages of the conversation in order, with the effects of reactions, edits and deletions. */
const itemsOf = ({ me, peer }) => {
  const { received = [], sent = [] } = state.inboxes.get(me) ?? {};
  const all = [
    ...received.filter((message) => peerOf(message) === peer).map((message) => ({ ...message, own: false })),
    ...sent.filter(({ to }) => to === peer).map((message) => ({ ...message, own: true })),
  ].sort((a, b) => a.at - b.at);
  const items = new Map();
  for (const message of all) {
    const change = changeOf(message);
    const target = change && items.get(change.about);
    if (!target) items.set(`${message.id}${items.has(message.id) ? ` ${message.kind}` : ''}`, { ...message, reactions: new Map() });
    else if (change.what === 'reaction') target.reactions.set(message.from, message.text);
    else if (change.what === 'edit') Object.assign(target, { text: message.text, edited: true });
    else Object.assign(target, { deleted: true });
  }
  return [...items.values()];
};

const send = (body) => attempt(() => post(`/contacts/${state.open.me}/messages`, { to: state.open.peer, ...body }));

const thumbnailOf = (content) => {
  const bytes = content?.imageMessage?.jpegThumbnail ?? content?.videoMessage?.jpegThumbnail;
  return typeof bytes === 'string' && /^[A-Za-z0-9+/]+=*$/.test(bytes) ? `data:image/jpeg;base64,${bytes}` : undefined;
};

const pictureOf = ({ id, content, text }) => {
  const src = previews.get(id) ?? thumbnailOf(content);
  return src && el('img', { src, alt: text || 'picture', class: 'picture' });
};

const pollOf = ({ id, own, content }) => {
  const poll = ['pollCreationMessage', 'pollCreationMessageV2', 'pollCreationMessageV3'].map((field) => content?.[field]).find(Boolean);
  if (!poll || own) return undefined;
  const vote = (option) => () => send({ type: 'pollVote', messageId: id, options: [option] });
  return el(
    'div',
    { class: 'bar' },
    (poll.options ?? []).map(({ optionName }) => el('button', { type: 'button', class: 'quiet', onclick: vote(optionName) }, optionName)),
  );
};

/** Makes buttons and rows as the phone shows them. A tap sends the answer. */
const tapsOf = ({ id, own, interactive }) => {
  if (!interactive || own) return undefined;
  const tap = (option) => () => send({ type: 'tap', messageId: id, option });
  const button = (label, option, title) => el('button', { type: 'button', class: 'quiet', title, onclick: tap(option) }, label);
  const buttonsOf = (buttons) =>
    buttons.flatMap((one) => (one.rows ? one.rows.map((row) => button(row.title, row.id, row.section)) : [button(one.text, one.id ?? one.text, one.name)]));
  return [interactive, ...interactive.cards].map((card) =>
    el('div', { class: 'bar' }, card !== interactive && card.text && el('span', {}, card.text), buttonsOf(card.buttons), card.footer && el('small', {}, card.footer)),
  );
};

const edit = async ({ id, text }) => {
  const values = await ask('Edit the message', [{ name: 'text', label: 'Text', type: 'textarea', value: text, required: true }], 'Save');
  if (values) await send({ type: 'edit', messageId: id, text: values.text });
};

const answer = (message) => {
  reply.to = message;
  byId('composer').querySelector('textarea').focus();
  byId('composer').dispatchEvent(new Event('reply'));
};

const menuOf = (message) => {
  const action = (label, run) => el('button', { type: 'button', class: 'quiet', onclick: run }, label);
  const own = [action('Edit', () => edit(message)), action('Delete', () => send({ type: 'delete', messageId: message.id }))];
  return el(
    'details',
    { class: 'menu', 'data-key': message.id },
    el('summary', { 'aria-label': 'What to do with this message' }, '⋯'),
    el(
      'div',
      { class: 'bar' },
      emojis.map((emoji) => action(emoji, () => send({ type: 'reaction', messageId: message.id, emoji }))),
      message.reactions.has(state.open.me) && action('No reaction', () => send({ type: 'reaction', messageId: message.id, emoji: '' })),
      action('Reply', () => answer(message)),
      message.own && own,
    ),
    !message.own && el('pre', { tabIndex: 0, 'aria-label': 'Decrypted content' }, JSON.stringify(message.content, null, 2)),
  );
};

const footOf = ({ own, at, status, envelope, kind, edited, media }) =>
  el(
    'small',
    { class: 'foot' },
    edited && 'edited · ',
    media && `${sizeOf(media.bytes)}, checked · `,
    !own && el('span', { class: 'tag', title: 'How it was encrypted' }, envelope),
    el('span', { class: 'tag', title: 'What it is' }, kind),
    ` ${timeOf(at)} `,
    own && el('span', { class: `ticks ${status}`, title: status, role: 'img', 'aria-label': status }, ticks[status]),
  );

/** Makes the view of the quoted message. Returns undefined if the conversation does not contain that message. */
const quoteOf = ({ about, content }, items) => {
  const id = about ?? content?.extendedTextMessage?.contextInfo?.stanzaId ?? content?.pollUpdateMessage?.pollCreationMessageKey?.id;
  const quoted = items.find((item) => item.id === id);
  return quoted && el('p', { class: 'quoted' }, quoted.deleted ? 'deleted' : quoted.text || quoted.kind);
};

const reactionsOf = ({ reactions }) => {
  const shown = [...reactions].filter(([, emoji]) => emoji);
  return shown.length > 0 && el('p', { class: 'reactions' }, shown.map(([who, emoji]) => el('span', { title: nameOf(who) }, emoji)));
};

const bubble = (message, items) => {
  const body = message.deleted ? 'deleted' : message.error ? `could not be decrypted: ${message.error}` : message.text;
  const dim = message.deleted || message.error;
  return el(
    'li',
    { class: `bubble ${message.own ? 'own' : ''} ${message.error ? 'bad' : ''}` },
    isGroup(state.open.peer) && !message.own && el('strong', {}, nameOf(message.from)),
    quoteOf(message, items),
    !message.deleted && pictureOf(message),
    body && el('p', { class: dim ? 'dim' : '' }, body),
    pollOf(message),
    tapsOf(message),
    reactionsOf(message),
    footOf(message),
    menuOf(message),
  );
};

/** Confirms the received messages of the open conversation, except those that could not be decrypted. `type` is delivered, read or played. */
export const confirmAll = async (type) => {
  const { me, peer } = state.open;
  const ids = (state.inboxes.get(me)?.received ?? []).filter((message) => peerOf(message) === peer && !message.error).map(({ id }) => id);
  if (ids.length === 0) return;
  await attempt(() => post(`/contacts/${me}/receipts`, { type, ids: [...new Set(ids)] }), `confirmed as ${type}`);
};

const presenceOf = ({ me, peer }) => {
  const person = state.people.get(me);
  const chats = isGroup(peer) ? [peer] : [me, `${me}@s.whatsapp.net`, `${person?.lid}@lid`, ''];
  const word = chats.map((chat) => state.presence.get(keyOf(peer, chat))).find(Boolean);
  return { composing: 'is typing…', recording: 'is recording…', available: 'online', unavailable: 'offline' }[word] ?? '';
};

const drawBar = ({ me, peer }) => {
  const person = state.people.get(me) ?? { number: me, name: '' };
  byId('thread-bar').replaceChildren(
    el('button', { type: 'button', class: 'quiet back', onclick: closeChat, 'aria-label': 'Back to the chats' }, '←'),
    el('h2', {}, nameOf(peer), el('small', {}, `you are ${nameOf(me)} ${presenceOf(state.open) && `· ${nameOf(peer)} ${presenceOf(state.open)}`}`)),
    el('button', { type: 'button', class: 'quiet', onclick: () => confirmAll('read') }, 'Mark read'),
    el('button', { type: 'button', class: 'quiet', onclick: () => editPerson(person) }, 'Contact'),
    ...(isGroup(peer) ? [el('button', { type: 'button', class: 'quiet', onclick: () => changeGroup(me, peer) }, 'Group')] : []),
  );
};

export const drawThread = () => {
  document.body.classList.toggle('chatting', state.open !== undefined);
  byId('thread').hidden = state.open === undefined;
  byId('thread-empty').hidden = state.open !== undefined;
  if (state.open === undefined) return;
  const items = itemsOf(state.open);
  const names = [nameOf(state.open.me), nameOf(state.open.peer), presenceOf(state.open)];
  const list = byId('messages');
  if (!isNews(list, [state.open, names, items.map((item) => ({ ...item, reactions: [...item.reactions], preview: previews.has(item.id) }))])) return;
  drawBar(state.open);
  const other = list.dataset.chat !== keyOf(state.open.me, state.open.peer);
  const atEnd = other || list.scrollHeight - list.scrollTop - list.clientHeight < 80;
  list.dataset.chat = keyOf(state.open.me, state.open.peer);
  const opened = new Set([...list.querySelectorAll('details[open]')].map((node) => node.dataset.key));
  list.replaceChildren(...items.map((item) => bubble(item, items)));
  for (const node of list.querySelectorAll('details')) node.open = opened.has(node.dataset.key);
  // The view scrolls down only if the reader is already at the end.
  if (atEnd) list.scrollTop = list.scrollHeight;
};
