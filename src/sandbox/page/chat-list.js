/** The list of conversations: each contact with each account or group that it has messages with. */
import { post, put } from './api.js';
import { ask, attempt, byId, el, isNews, timeOf, toast } from './dom.js';
import { contacts, isGroup, keyOf, loadInbox, nameOf, openChat, peerOf, phones, state } from './state.js';

const numbersOf = (people) => people.map(({ number, name }) => [number, name && name !== number ? `${name} (${number})` : number]);
const targets = () => [...numbersOf(phones()), ...[...state.groups.values()].map(({ jid, subject }) => [jid, `Group: ${subject}`])];

/** Asks for the two sides of a conversation, creates a new contact if necessary, and opens the conversation. */
export const startChat = async (peer) => {
  const others = [...(peer === undefined ? targets() : [[peer, nameOf(peer)]])];
  if (others.length === 0) return toast('link a phone first, then a contact can write to it', true);
  const values = await ask(
    'New chat',
    [
      { name: 'me', label: 'Write as', type: 'select', options: [...numbersOf(contacts()), ['', 'a new contact']] },
      { name: 'number', label: 'Number, to write as a new contact', inputMode: 'numeric', placeholder: '5511988880003' },
      { name: 'name', label: 'Its name', maxLength: 100 },
      { name: 'peer', label: 'To', type: 'select', options: others },
    ],
    'Open',
  );
  if (!values) return undefined;
  const { number, name } = values;
  // A number in the form means a new contact and takes precedence over the list.
  const me = number === undefined ? values.me : (await attempt(() => put(`/phones/${number}`, name === undefined ? {} : { name })))?.number;
  if (me === undefined && number === undefined) return toast('a new contact needs a number', true);
  if (me !== undefined) await open(me, values.peer);
  return undefined;
};

const open = async (me, peer) => {
  openChat(me, peer);
  if (!state.inboxes.has(me)) await attempt(() => loadInbox(me));
};

const startGroup = async () => {
  const everybody = numbersOf([...contacts(), ...phones()]);
  if (everybody.length < 2) return toast('a group needs two people: link a phone and start a chat first', true);
  const values = await ask(
    'New group',
    [
      { name: 'subject', label: 'Subject', required: true, maxLength: 100 },
      { name: 'kind', label: 'It is', type: 'select', options: [['groups', 'a group'], ['communities', 'a community, whose groups are put into it later']] },
      { name: 'creator', label: 'Made by', type: 'select', options: everybody },
      { name: 'participants', label: 'Participants', type: 'checkboxes', options: everybody },
    ],
    'Make',
  );
  if (!values) return undefined;
  const { kind, subject, creator } = values;
  const participants = values.participants.filter((number) => number !== creator);
  const body = kind === 'groups' ? { subject, creator, participants } : { subject, creator };
  const group = await attempt(() => post(`/${kind}`, body), kind === 'groups' ? 'the group is made' : 'the community is made');
  if (group && state.people.get(values.creator)?.devices.length === 0) await open(values.creator, group.jid);
  return group;
};

export const startChatList = () => {
  byId('new-chat').addEventListener('click', () => startChat());
  byId('new-group').addEventListener('click', startGroup);
};

/**
 * Returns the conversations of a contact, each with its last message. They include groups without messages. A contact without conversations is shown
 * with the first phone.
 */
const chatsOf = (me) => {
  const { received = [], sent = [] } = state.inboxes.get(me) ?? {};
  const last = new Map();
  for (const [peer, message] of [...received.map((m) => [peerOf(m), m]), ...sent.map((m) => [m.to, m])]) {
    if (message.at >= (last.get(peer)?.at ?? 0)) last.set(peer, message);
  }
  for (const { jid, participants } of state.groups.values()) {
    if (!last.has(jid) && participants.some(({ number }) => number === me)) last.set(jid, undefined);
  }
  const first = phones()[0];
  if (last.size === 0 && first) last.set(first.number, undefined);
  return [...last].map(([peer, message]) => ({
    me,
    peer,
    message,
    writer: nameOf(me),
    other: nameOf(peer),
    unread: state.unread.get(keyOf(me, peer)) ?? 0,
    selected: state.open?.me === me && state.open.peer === peer,
  }));
};

const previewOf = (message) => {
  if (message === undefined) return 'no messages yet';
  if (message.error) return 'could not be decrypted';
  return message.text || message.kind;
};

const chatItem = ({ me, peer, message, writer, other, unread, selected }) => {
  return el(
    'li',
    {},
    el(
      'button',
      { type: 'button', class: 'chat', 'aria-current': selected ? 'true' : 'false', onclick: () => open(me, peer) },
      el('span', { class: 'avatar', 'aria-hidden': 'true' }, [...(isGroup(peer) ? other : writer)][0]?.toUpperCase() ?? '?'),
      el('strong', { class: 'names' }, writer),
      el('small', { class: 'time' }, message && timeOf(message.at)),
      el('small', { class: 'with' }, `${isGroup(peer) ? 'in' : 'with'} ${other}`),
      el('span', { class: 'preview dim' }, previewOf(message)),
      unread > 0 && el('span', { class: 'badge', 'aria-label': `${unread} new` }, String(unread)),
    ),
  );
};

export const drawChatList = () => {
  const chats = contacts().flatMap(({ number }) => chatsOf(number));
  chats.sort((a, b) => (b.message?.at ?? 0) - (a.message?.at ?? 0));
  if (!isNews(byId('chat-list'), chats)) return;
  const focused = document.activeElement?.closest?.('#chat-list') && [...byId('chat-list').children].indexOf(document.activeElement.parentElement);
  const items = chats.map(chatItem);
  byId('chat-list').replaceChildren(...(items.length > 0 ? items : [el('li', { class: 'empty' }, 'Nobody has written yet.')]));
  if (typeof focused === 'number') items[focused]?.firstChild.focus();
};
