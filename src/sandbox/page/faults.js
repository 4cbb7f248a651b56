/** The panel that injects faults and lists those that were injected. */
import { post } from './api.js';
import { attempt, byId, el, isNews, timeOf } from './dom.js';
import { faultKinds } from './fault-kinds.js';
import { nameOf, phones, watch } from './state.js';

const fieldLabels = { code: 'Code', ms: 'Milliseconds', times: 'Times' };

/** Texts for the number of connections that a fault hit at once. */
const outcomes = { 0: 'it waits for its moment', 1: 'it hit one connection' };

const remember = (fault, hit) => {
  const { kind, number, ...fields } = fault;
  const more = Object.entries(fields).map(([name, value]) => ` · ${fieldLabels[name].toLowerCase()} ${value}`);
  const clear = () => attempt(() => post('/faults', { kind, ...(number && { number }), times: 0 }), 'cleared');
  byId('fault-log').prepend(
    el(
      'li',
      {},
      el('span', {}, `${timeOf(Date.now())} ${faultKinds[kind].label}`),
      el('small', {}, `${number ? nameOf(number) : 'everybody'}${more.join('')} · ${outcomes[hit] ?? `it hit ${hit} connections`}`),
      'times' in faultKinds[kind].fields && el('button', { type: 'button', class: 'quiet', onclick: clear }, 'Clear'),
    ),
  );
  while (byId('fault-log').children.length > 20) byId('fault-log').lastChild.remove();
};

export const startFaults = () => {
  const form = byId('fault-form');
  const who = el('select', { name: 'number' });
  const kind = el('select', { name: 'kind' }, Object.entries(faultKinds).map(([value, { label }]) => el('option', { value }, label)));
  const help = el('p', { class: 'dim', id: 'fault-help' });
  const fields = el('div', { class: 'row' });
  kind.setAttribute('aria-describedby', 'fault-help');

  const drawFields = () => {
    const chosen = faultKinds[kind.value];
    help.textContent = chosen.help;
    who.disabled = chosen.anonymous === true;
    if (who.disabled) who.value = '';
    fields.replaceChildren(
      ...Object.entries(chosen.fields).map(([name, value]) => el('label', {}, fieldLabels[name], el('input', { name, type: 'number', min: '0', value: String(value) }))),
    );
  };
  const drawPhones = () => {
    if (!isNews(who, phones())) return;
    const { value } = who;
    who.replaceChildren(el('option', { value: '' }, 'every phone'), ...phones().map(({ number, name }) => el('option', { value: number }, name || number)));
    who.value = [...who.options].some((option) => option.value === value) ? value : '';
  };

  form.append(el('label', {}, 'Whose connection', who), el('label', {}, 'What happens', kind), help, fields, el('button', { type: 'submit' }, 'Break it'));
  kind.addEventListener('change', drawFields);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const numbers = [...fields.querySelectorAll('input')].filter(({ value }) => value !== '').map(({ name, value }) => [name, Number(value)]);
    const fault = { kind: kind.value, ...(who.value && { number: who.value }), ...Object.fromEntries(numbers) };
    const answer = await attempt(() => post('/faults', fault), ({ hit }) => outcomes[hit] ?? `it hit ${hit} connections`);
    if (answer) remember(fault, answer.hit);
  });
  watch(drawPhones);
  drawFields();
  drawPhones();
};
