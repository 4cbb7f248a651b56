/** The dialog with the posts of a channel: write a post as an admin; edit, delete, view and react to posts in the name of other people. */
import { get, post } from './api.js';
import { ask, attempt, el, timeOf } from './dom.js';
import { contentOfFile } from './files.js';
import { contacts, nameOf, phones, state } from './state.js';

/** The open dialog: its channel, its list, and the number of post events at the last load. */
let open;

const named = ({ number }) => [number, nameOf(number)];
const everybody = () => [...contacts(), ...phones()].map(named);
const adminsOf = ({ followers }) => followers.filter(({ role }) => role !== 'SUBSCRIBER').map(named);
const by = (options) => ({ name: 'by', label: 'As', type: 'select', options });

const contentOf = ({ text = '', file }) => (file?.size > 0 ? contentOfFile(file, text) : { type: 'text', text });

const write = async (channel) => {
  const fields = [by(adminsOf(channel)), { name: 'text', label: 'Text or caption', type: 'textarea' }, { name: 'file', label: 'Picture or file', type: 'file' }];
  const values = await ask(`Post in ${channel.name}`, fields, 'Post');
  if (values) await attempt(async () => post(`/channels/${channel.jid}/posts`, { by: values.by, ...(await contentOf(values)) }), 'posted');
};

/** Actions on a post: the label, the people that can act, and further fields. */
const changes = {
  view: ['See it', everybody, () => []],
  react: ['React', everybody, () => [{ name: 'emoji', label: 'Emoji; none takes the reaction back', maxLength: 8 }]],
  edit: ['Edit', adminsOf, ({ text }) => [{ name: 'text', label: 'Text', type: 'textarea', value: text }]],
  delete: ['Take it back', adminsOf, () => []],
};

const change = async (channel, one, action) => {
  const [title, people, fields] = changes[action];
  const values = await ask(title, [by(people(channel)), ...fields(one)], title);
  if (!values) return;
  const more = action === 'react' ? { emoji: '', ...values } : values;
  await attempt(() => post(`/channels/${channel.jid}/posts/${one.serverId}`, { action, ...more }), 'done');
};

const counts = ({ views, reactions }) =>
  [`seen by ${views}`, ...Object.entries(reactions).map(([code, count]) => `${code} ${count}`)].join(' · ');

const postItem = (channel, one) =>
  el(
    'li',
    { class: 'card' },
    el('p', { class: 'dim' }, `${one.serverId} · ${nameOf(one.author)} · ${timeOf(one.at)}${one.edited ? ' · edited' : ''}`),
    el('p', {}, one.deleted ? 'taken back' : one.text || one.kind),
    el('p', { class: 'dim' }, counts(one)),
    !one.deleted &&
      el(
        'div',
        { class: 'bar' },
        Object.entries(changes).map(([action, [label]]) =>
          el('button', { type: 'button', class: 'quiet', onclick: () => change(channel, one, action) }, label),
        ),
      ),
  );

const load = async () => {
  const { channel, list } = open;
  open.seen = state.postNews.get(channel.jid);
  const posts = await get(`/channels/${channel.jid}/posts?limit=50`);
  list.replaceChildren(...(posts.length > 0 ? posts.map((one) => postItem(channel, one)) : [el('li', { class: 'empty' }, 'Nothing was posted yet.')]));
};

/** Shows the newest fifty posts until the dialog is closed. */
export const showPosts = (channel) => {
  const list = el('ul', { class: 'plain' });
  const close = el('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, 'Close');
  const begin = el('button', { type: 'button', onclick: () => write(channel) }, 'Post');
  const title = `Posts of ${channel.name}`;
  const dialog = el('dialog', { 'aria-label': title }, el('h2', {}, title), list, el('div', { class: 'bar end' }, close, begin));
  open = { channel, list, seen: undefined };
  dialog.addEventListener('close', () => {
    dialog.remove();
    open = undefined;
  });
  document.body.append(dialog);
  dialog.showModal();
  void attempt(load);
};

/** Redraws the dialog if a post of its channel changed. */
export const drawPosts = () => {
  if (open && open.seen !== state.postNews.get(open.channel.jid)) void attempt(load);
};
