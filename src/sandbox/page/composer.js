/** The form for sending as a contact: text, files, polls, places, contact cards, and the presence. */
import { post } from './api.js';
import { ask, attempt, byId, el } from './dom.js';
import { shop } from './shop.js';
import { contentOfFile } from './files.js';
import { changed, state } from './state.js';
import { confirmAll, previews, reply } from './thread.js';

const send = (body) => attempt(() => post(`/contacts/${state.open.me}/messages`, { to: state.open.peer, ...body }));

const sendFile = (file, caption) =>
  attempt(async () => {
    const content = await contentOfFile(file, caption);
    const { me, peer } = state.open;
    const { id } = await post(`/contacts/${me}/messages`, { to: peer, ...content });
    if (content.type === 'image') previews.set(id, content.data);
    changed();
  });

/** Further kinds of content: their form fields, and the functions that make the request bodies. */
const extras = {
  poll: {
    label: 'Poll',
    fields: [
      { name: 'name', label: 'Question', required: true },
      { name: 'options', label: 'Answers, one a line', type: 'textarea', required: true },
    ],
    body: ({ name, options }) => ({ type: 'poll', name, options: options.split('\n').map((line) => line.trim()).filter(Boolean) }),
  },
  location: {
    label: 'Location',
    fields: [
      { name: 'latitude', label: 'Latitude', type: 'number', step: 'any', value: '-23.55', required: true },
      { name: 'longitude', label: 'Longitude', type: 'number', step: 'any', value: '-46.63', required: true },
      { name: 'name', label: 'Name of the place' },
    ],
    body: ({ latitude, longitude, ...rest }) => ({ type: 'location', latitude: Number(latitude), longitude: Number(longitude), ...rest }),
  },
  contact: {
    label: 'Contact card',
    fields: [
      { name: 'name', label: 'Name', required: true },
      { name: 'number', label: 'Number', required: true, inputMode: 'numeric' },
    ],
    body: ({ name, number }) => ({
      type: 'contact',
      displayName: name,
      vcard: `BEGIN:VCARD\nVERSION:3.0\nFN:${name}\nTEL;type=CELL;waid=${number}:+${number}\nEND:VCARD`,
    }),
  },
};

const sendExtra = async (name) => {
  if (name === 'catalog') return shop(state.open.peer, send);
  const { label, fields, body } = extras[name];
  const values = await ask(label, fields, 'Send');
  if (values) await send(body(values));
};

const presences = [['composing', 'typing'], ['recording', 'recording'], ['paused', 'stopped'], ['available', 'online'], ['unavailable', 'offline']];

const sendPresence = (value) =>
  attempt(() => post(`/contacts/${state.open.me}/presence`, { state: value, to: state.open.peer }), `told: ${new Map(presences).get(value)}`);

const receipts = [['delivered', 'as delivered'], ['read', 'as read'], ['played', 'as played']];

const submit = async (text, answering) => {
  const value = text.value.trim();
  if (value === '') return;
  const sent = await send({ text: value, ...(reply.to && { replyTo: reply.to.id }) });
  if (!sent) return;
  text.value = '';
  reply.to = undefined;
  answering();
};

/** Makes a select. After each choice, it shows its first option again and calls `choose` with the value. */
const picker = (label, first, options, choose) => {
  const onchange = ({ target }) => {
    const { value } = target;
    target.value = '';
    if (value) choose(value);
  };
  return el('select', { 'aria-label': label, onchange }, el('option', { value: '' }, first), options.map(([value, text]) => el('option', { value }, text)));
};

export const startComposer = () => {
  const form = byId('composer');
  const quoted = el('p', { class: 'quoted', hidden: true });
  const text = el('textarea', { name: 'text', rows: 1, placeholder: 'Message', 'aria-label': 'Message', maxLength: 65536 });
  const drawQuoted = () => {
    quoted.hidden = reply.to === undefined;
    const stop = () => {
      reply.to = undefined;
      drawQuoted();
    };
    quoted.replaceChildren(reply.to ? `Reply to: ${reply.to.text || reply.to.kind}` : '', el('button', { type: 'button', class: 'quiet', onclick: stop, 'aria-label': 'Do not reply' }, '✕'));
  };
  const attach = ({ target }) => {
    if (target.files[0]) sendFile(target.files[0], text.value.trim()).then(() => (text.value = ''));
    target.value = '';
  };
  form.append(
    quoted,
    el(
      'div',
      { class: 'bar write' },
      el('label', { class: 'button quiet' }, 'File', el('input', { type: 'file', class: 'hidden', onchange: attach })),
      text,
      el('button', { type: 'submit' }, 'Send'),
    ),
    el(
      'div',
      { class: 'bar' },
      picker('Send something else', 'More…', [...Object.entries(extras).map(([name, { label }]) => [name, label]), ['catalog', 'Catalog']], sendExtra),
      picker('Confirm what was received', 'Confirm…', receipts, confirmAll),
      picker('What the contact is doing', 'I am…', presences, sendPresence),
    ),
  );
  form.addEventListener('reply', drawQuoted);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit(text, drawQuoted);
  });
  text.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit(text, drawQuoted);
  });
  text.addEventListener('paste', ({ clipboardData }) => {
    if (clipboardData.files[0]) sendFile(clipboardData.files[0], '');
  });
};
