/** The view of the phones. Links a phone by picture, text or code. Shows the devices of a phone, writes to an account, renames and unlinks it. */
import { post, put } from './api.js';
import { ask, attempt, byId, el, isNews, timeOf, valuesOf } from './dom.js';
import { startChat } from './chat-list.js';
import { editPasskey, newPasskey } from './passkey.js';
import { review } from './shop.js';
import { phones } from './state.js';

/** The longest side of a picture for the camera, in pixels. Larger pictures are scaled down to this size. */
const longestSide = 1600;

const toPng = async (file) => {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error('this file is not a picture');
  });
  const scale = Math.min(1, longestSide / Math.max(bitmap.width, bitmap.height));
  const canvas = el('canvas', { width: Math.ceil(bitmap.width * scale), height: Math.ceil(bitmap.height * scale) });
  canvas.getContext('2d').drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/png');
};

/** Returns the request body for a form. The field `history` has the form `chats messages`. */
const bodyOf = (form) => {
  const { history, ...fields } = valuesOf(form);
  const [chats, messages] = (history ?? '').split(' ').map(Number);
  return messages === undefined ? fields : { ...fields, history: { chats, messages } };
};

const owner = () => {
  const { qr: _qr, ...fields } = bodyOf(byId('qr-form'));
  return fields;
};

const linked = ({ name, number }) => {
  byId('qr-form').reset();
  byId('code-form').reset();
  return `${name || number} is linked`;
};

const scanFile = (file) => attempt(async () => post('/phones/scan', { qrcode: await toPng(file), ...owner() }), linked);

const pictureIn = (transfer) => [...(transfer?.files ?? [])].find(({ type }) => type.startsWith('image/'));

const startDrop = () => {
  const drop = byId('drop');
  byId('qr-file').addEventListener('change', ({ target }) => {
    if (target.files[0]) scanFile(target.files[0]);
    target.value = '';
  });
  for (const type of ['dragenter', 'dragover']) {
    document.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.add('over');
    });
  }
  for (const type of ['dragleave', 'drop']) document.addEventListener(type, () => drop.classList.remove('over'));
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    const picture = pictureIn(event.dataTransfer);
    if (picture) scanFile(picture);
  });
  document.addEventListener('paste', (event) => {
    const picture = pictureIn(event.clipboardData);
    if (!picture || event.target.closest('#composer')) return;
    event.preventDefault();
    scanFile(picture);
  });
};

export const startPhones = () => {
  startDrop();
  byId('passkey').addEventListener('click', newPasskey);
  byId('qr-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const { qr = '', ...rest } = bodyOf(event.target);
    const text = qr.trim();
    attempt(() => post('/phones/scan', { ...(text.startsWith('data:') ? { qrcode: text } : { qr: text }), ...rest }), linked);
  });
  byId('code-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const values = bodyOf(event.target);
    attempt(() => post('/phones/code', { ...values, code: values.code.trim() }), linked);
  });
};

const deviceLine = ({ device, connected, pushName, queued, linkedAt }) =>
  el(
    'li',
    {},
    el('span', { class: connected ? 'dot good' : 'dot' }),
    el('span', {}, `Device ${device}`, pushName && ` · ${pushName}`),
    el('small', {}, connected ? 'connected' : 'offline', queued > 0 && ` · ${queued} waiting`, ` · since ${timeOf(linkedAt)}`),
  );

const settings = async ({ number, name }) => {
  const values = await ask(
    number,
    [
      { name: 'name', label: 'Name', value: name, maxLength: 100 },
      { name: 'autoDeliver', label: 'Confirms what it receives', type: 'select', options: [['', 'as it is'], ['true', 'by itself'], ['false', 'only when told']] },
    ],
    'Save',
  );
  if (values) await attempt(() => put(`/phones/${number}`, { ...values, ...(values.autoDeliver && { autoDeliver: values.autoDeliver === 'true' }) }), 'saved');
};

export const editPerson = settings;

const logOut = async (person) => {
  const sure = await ask(`Log ${person.name || person.number} out?`, [], 'Log out');
  if (sure) await attempt(() => post(`/phones/${person.number}/logout`), 'logged out on the phone');
};

const phoneCard = (person) =>
  el(
    'li',
    { class: 'card phone' },
    el('div', { class: 'bar' }, el('h3', {}, person.name || person.number), el('small', {}, person.number)),
    el('ul', { class: 'plain devices', 'aria-label': 'Linked devices' }, person.devices.map(deviceLine)),
    el(
      'div',
      { class: 'bar' },
      el('button', { type: 'button', onclick: () => startChat(person.number) }, 'Write to it'),
      el('button', { type: 'button', class: 'quiet', onclick: () => settings(person) }, 'Settings'),
      el('button', { type: 'button', class: 'quiet', onclick: () => editPasskey(person.number) }, 'Passkey'),
      el('button', { type: 'button', class: 'quiet', onclick: () => review(person.number) }, 'Catalog'),
      el('button', { type: 'button', class: 'quiet danger', onclick: () => logOut(person) }, 'Log out'),
    ),
  );

export const drawPhones = () => {
  if (!isNews(byId('phone-list'), phones())) return;
  const cards = phones().map(phoneCard);
  byId('phone-list').replaceChildren(...(cards.length > 0 ? cards : [el('li', { class: 'empty' }, 'No phone is linked yet.')]));
};
