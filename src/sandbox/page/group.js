/** Changes a group as one of its participants. */
import { post } from './api.js';
import { ask, attempt, toast } from './dom.js';
import { nameOf, state } from './state.js';

const people = (numbers) => numbers.map((number) => [number, nameOf(number)]);

/** The changes of a group: the label, and the function that makes the form field. */
const changes = {
  add: ['Add people', (outside) => ({ name: 'participants', label: 'Who', type: 'checkboxes', options: people(outside) })],
  remove: ['Remove people', (_outside, inside) => ({ name: 'participants', label: 'Who', type: 'checkboxes', options: people(inside) })],
  promote: ['Make admins', (_outside, inside) => ({ name: 'participants', label: 'Who', type: 'checkboxes', options: people(inside) })],
  demote: ['Take admin rights', (_outside, inside) => ({ name: 'participants', label: 'Who', type: 'checkboxes', options: people(inside) })],
  subject: ['Change the subject', (_o, _i, group) => ({ name: 'text', label: 'Subject', value: group.subject, maxLength: 100 })],
  description: ['Change the description', (_o, _i, group) => ({ name: 'text', label: 'Description', type: 'textarea', value: group.description })],
  announce: ['Who may write', () => ({ name: 'on', label: 'Who may write', type: 'select', options: [['false', 'everybody'], ['true', 'only admins']] })],
  locked: ['Who may change the group', () => ({ name: 'on', label: 'Who', type: 'select', options: [['false', 'everybody'], ['true', 'only admins']] })],
};

/** Asks for groups to add to the community or to remove from it, and changes the community. Shows the groups that were refused. */
const communityChange = async (by, community, action) => {
  const fits = action === 'link' ? ({ parent, isCommunity }) => parent === undefined && !isCommunity : ({ parent, role }) => parent === community.jid && role === undefined;
  const options = [...state.groups.values()].filter(fits).map(({ jid, subject }) => [jid, subject]);
  const values = await ask(community.subject, [{ name: 'groups', label: 'Groups', type: 'checkboxes', options }], 'Change');
  if (!values || values.groups.length === 0) return;
  const refused = (await attempt(() => post(`/communities/${community.jid}`, { by, action, groups: values.groups })))?.filter(({ error }) => error);
  if (refused?.length > 0) toast(`refused: ${refused.map(({ jid, error }) => `${nameOf(jid)} (${error})`).join(', ')}`, true);
};

export const changeGroup = async (by, jid) => {
  const group = state.groups.get(jid);
  const more = group.isCommunity ? [['link', 'Put groups into it'], ['unlink', 'Take groups out of it']] : [];
  const options = [...Object.entries(changes).map(([action, [label]]) => [action, label]), ...more];
  const chosen = await ask(group.subject, [{ name: 'action', label: 'What to change', type: 'select', options }], 'Next');
  if (!chosen) return;
  if (chosen.action === 'link' || chosen.action === 'unlink') return communityChange(by, group, chosen.action);
  const [title, field] = changes[chosen.action];
  const inside = group.participants.map(({ number }) => number);
  const outside = [...state.people.keys()].filter((number) => !inside.includes(number));
  const values = await ask(title, [field(outside, inside, group)], 'Change');
  if (!values) return;
  const body = 'on' in values ? { on: values.on === 'true' } : 'participants' in values ? values : { text: values.text ?? '' };
  await attempt(() => post(`/groups/${jid}`, { by, action: chosen.action, ...body }), 'the group is changed');
};
