/** The state of the page and its updates. Views subscribe with `watch` and draw from `state`. */
import { follow, get } from './api.js';

export const state = {
  live: false,
  people: new Map(),
  groups: new Map(),
  /** Channels by jid, including deleted ones. */
  channels: new Map(),
  /** The number of events about posts, by the jid of the channel. */
  postNews: new Map(),
  /** `{ received, sent }` by number, for contacts whose messages were loaded. */
  inboxes: new Map(),
  /** The presence state, by the person (`of`) and the chat, separated by a space. */
  presence: new Map(),
  /** The number of unread messages, by the contact (`me`) and the peer, separated by a space. */
  unread: new Map(),
  /** The open conversation. `me` is the sender, and `peer` is a number or a group's jid. */
  open: undefined,
};

/** Contacts whose messages are loaded at the start. Messages of other contacts are loaded when the contact is opened. */
const eager = 60;
/** The time between reloads of people, in milliseconds. Connections and queued stanzas change without an event. */
const peopleMs = 2000;
const listeners = new Set();
let scheduled = false;

export const watch = (listener) => listeners.add(listener);

/** Redraws at most once per frame, however many events arrived. */
export const changed = () => {
  if (scheduled) return;
  scheduled = true;
  setTimeout(() => {
    scheduled = false;
    for (const listener of listeners) listener();
  }, 16);
};

const byName = (a, b) => a.name.localeCompare(b.name);
export const phones = () => [...state.people.values()].filter(({ devices }) => devices.length > 0).sort(byName);
export const contacts = () => [...state.people.values()].filter(({ devices }) => devices.length === 0).sort(byName);

export const nameOf = (who) => state.people.get(who)?.name || state.groups.get(who)?.subject || state.channels.get(who)?.name || who;
export const isGroup = (peer) => peer.endsWith('@g.us');
/** Returns the peer of a received message: the account, or the group. */
export const peerOf = ({ chat, from }) => (chat.endsWith('@s.whatsapp.net') || chat.endsWith('@lid') ? from : chat);
export const keyOf = (me, peer) => `${me} ${peer}`;

export const loadInbox = async (number) => {
  const [received, sent] = await Promise.all([get(`/contacts/${number}/messages`), get(`/contacts/${number}/sent`)]);
  state.inboxes.set(number, { received, sent });
  changed();
};

const loadPeople = async () => {
  const [linked, others, groups, channels] = await Promise.all([get('/phones'), get('/contacts'), get('/groups'), get('/channels')]);
  state.people = new Map([...linked, ...others].map((person) => [person.number, person]));
  state.groups = new Map(groups.map((group) => [group.jid, group]));
  state.channels = new Map(channels.map((channel) => [channel.jid, channel]));
  changed();
};

const loadAll = async () => {
  await loadPeople();
  state.inboxes.clear();
  const others = contacts();
  const first = state.open === undefined ? others : [{ number: state.open.me }, ...others];
  for (const { number } of first.slice(0, eager)) await loadInbox(number);
};

/** Adds a message to an inbox once. An event may repeat a message that was just loaded. */
const append = async (number, list, message) => {
  if (!state.inboxes.has(number)) return loadInbox(number);
  const messages = state.inboxes.get(number)[list];
  if (!messages.some(({ id, kind }) => id === message.id && kind === message.kind)) messages.push(message);
};

const handlers = {
  person: ({ person }) => state.people.set(person.number, person),
  group: ({ group }) => state.groups.set(group.jid, group),
  channel: ({ channel }) => state.channels.set(channel.jid, channel),
  post: ({ channel }) => state.postNews.set(channel, (state.postNews.get(channel) ?? 0) + 1),
  message({ to, message }) {
    const key = keyOf(to, peerOf(message));
    if (state.open === undefined || keyOf(state.open.me, state.open.peer) !== key) state.unread.set(key, (state.unread.get(key) ?? 0) + 1);
    return append(to, 'received', message);
  },
  sent: ({ message }) => append(message.from, 'sent', message),
  receipt({ to, id, kind }) {
    const message = state.inboxes.get(to)?.sent.find((sent) => sent.id === id);
    const order = ['sent', 'delivered', 'read', 'played'];
    if (message && order.indexOf(kind) > order.indexOf(message.status)) message.status = kind;
  },
  presence: ({ of, chat, state: word }) => state.presence.set(keyOf(of, chat), word),
};

const setLive = (live) => {
  state.live = live;
  changed();
};

/** Starts the updates. `onError` is called if the state cannot be loaded. */
export const start = (onError) => {
  const wrapped = Object.entries(handlers).map(([type, handle]) => [
    type,
    (event) => {
      Promise.resolve(handle(event)).catch(onError);
      changed();
    },
  ]);
  follow(
    Object.fromEntries(wrapped),
    () => {
      setLive(true);
      loadAll().catch(onError);
    },
    () => setLive(false),
  );
  setInterval(() => {
    if (state.live && !document.hidden) loadPeople().catch(onError);
  }, peopleMs);
};

export const openChat = (me, peer) => {
  state.open = { me, peer };
  state.unread.delete(keyOf(me, peer));
  document.body.dataset.view = 'chats';
  changed();
};

export const closeChat = () => {
  state.open = undefined;
  changed();
};
