/** Small helpers for the document. Data enters the document as text or as a checked attribute, never as HTML. */

/**
 * Makes an element. In `props`, names with `on…` are listeners. `class`, `role`, `for`, `list` and names with a hyphen are attributes. All others are
 * properties.
 */
export const el = (tag, props = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'class' || name === 'role' || name === 'for' || name === 'list' || name.includes('-')) node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== false && child !== ''));
  return node;
};

export const byId = (id) => document.getElementById(id);

const shown = new WeakMap();

/** Returns true if `data` differs from the data of the last call for `node`. Views are redrawn only in this case, to keep the focus and the open menus. */
export const isNews = (node, data) => {
  const text = JSON.stringify(data);
  if (shown.get(node) === text) return false;
  shown.set(node, text);
  return true;
};

/** Shows a short notice. Errors are shown for longer. */
export const toast = (text, bad = false) => {
  const node = el('p', { class: bad ? 'toast bad' : 'toast' }, text);
  byId('toasts').append(node);
  setTimeout(() => node.remove(), bad ? 8000 : 3000);
};

/** Runs a task and returns its value. If the task fails, shows the error and returns undefined. */
export const attempt = async (work, success) => {
  try {
    const value = await work();
    if (success) toast(typeof success === 'function' ? success(value) : success);
    return value;
  } catch (error) {
    toast(error.message, true);
    return undefined;
  }
};

/** Returns the values of a form as an object. Empty values are left out. */
export const valuesOf = (form) => Object.fromEntries([...new FormData(form)].filter(([, value]) => typeof value !== 'string' || value.trim() !== ''));

const fieldOf = ({ name, label, type = 'text', options, ...rest }) => {
  if (type === 'select') return el('label', {}, label, el('select', { name, ...rest }, options.map(([value, text]) => el('option', { value }, text))));
  if (type === 'textarea') return el('label', {}, label, el('textarea', { name, rows: 4, ...rest }));
  if (type === 'checkboxes') {
    const boxes = options.map(([value, text]) => el('label', { class: 'check' }, el('input', { type: 'checkbox', name, value }), text));
    return el('fieldset', {}, el('legend', {}, label), boxes.length > 0 ? boxes : el('p', { class: 'dim' }, 'nobody is there yet'));
  }
  return el('label', {}, label, el('input', { name, type, autocomplete: 'off', ...rest }));
};

/** Shows a dialog with a form. Resolves with the values of the form (lists for check boxes), or with undefined if the user cancelled the dialog. */
export const ask = (title, fields, submit = 'OK') =>
  new Promise((resolve) => {
    const form = el('form', { method: 'dialog' }, el('h2', {}, title), fields.map(fieldOf));
    const leave = el('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, 'Cancel');
    form.append(el('div', { class: 'bar end' }, leave, el('button', { type: 'submit' }, submit)));
    const dialog = el('dialog', { 'aria-label': title }, form);
    let values;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      values = valuesOf(form);
      for (const { name, type } of fields) if (type === 'checkboxes') values[name] = new FormData(form).getAll(name);
      dialog.close();
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(values);
    });
    document.body.append(dialog);
    dialog.showModal();
  });

/** Formats a time, with the date if it is not today. */
export const timeOf = (at) => {
  const time = new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return isToday ? time : `${new Date(at).toLocaleDateString([], { month: 'short', day: 'numeric' })}, ${time}`;
};

export const sizeOf = (bytes) => (bytes < 1024 ? `${bytes} B` : bytes < 1048576 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1048576).toFixed(1)} MB`);
