/** The channels: create, view, follow, change and transfer them in the name of simulated people. */
import { post } from './api.js';
import { ask, attempt, byId, el, isNews, timeOf } from './dom.js';
import { showPosts } from './posts.js';
import { contacts, nameOf, phones, state } from './state.js';

const everybody = () => [...contacts(), ...phones()].map(({ number, name }) => [number, name && name !== number ? `${name} (${number})` : number]);

const startChannel = async () => {
  const values = await ask(
    'New channel',
    [
      { name: 'name', label: 'Name', required: true, maxLength: 100 },
      { name: 'description', label: 'Description', type: 'textarea' },
      { name: 'owner', label: 'Made by', type: 'select', options: everybody() },
    ],
    'Make',
  );
  if (values) await attempt(() => post('/channels', values), 'the channel is made');
};

export const startChannels = () => byId('new-channel').addEventListener('click', startChannel);

const who = () => ({ name: 'who', label: 'Who', type: 'select', options: everybody() });

/** The changes of a channel: the label, and for some changes the function that makes the form field. */
const changes = {
  follow: ['Follow'],
  unfollow: ['Stop following'],
  mute: ['Mute'],
  unmute: ['Take the muting back'],
  name: ['Change the name', ({ name }) => ({ name: 'text', label: 'Name', value: name, maxLength: 100 })],
  description: ['Change the description', ({ description }) => ({ name: 'text', label: 'Description', type: 'textarea', value: description })],
  reactions: ['Which reactions', () => ({ name: 'value', label: 'Reactions', type: 'select', options: ['ALL', 'BASIC', 'NONE'].map((code) => [code, code]) })],
  inviteAdmin: ['Invite an admin', who],
  acceptAdmin: ['Accept the invitation to be an admin'],
  revokeAdmin: ['Take an invitation back', who],
  removeAdmin: ['Remove an admin', who],
  transfer: ['Make somebody the owner', who],
  delete: ['Delete the channel'],
};

const changeChannel = async (channel) => {
  const chosen = await ask(
    channel.name,
    [
      { name: 'by', label: 'As', type: 'select', options: everybody() },
      { name: 'action', label: 'What to do', type: 'select', options: Object.entries(changes).map(([action, [label]]) => [action, label]) },
    ],
    'Next',
  );
  if (!chosen) return;
  const [title, field] = changes[chosen.action];
  const values = field ? await ask(title, [field(channel)], 'Do it') : {};
  if (!values) return;
  const more = chosen.action === 'description' ? { text: '', ...values } : values;
  await attempt(() => post(`/channels/${channel.jid}`, { ...chosen, ...more }), 'done');
};

const follower = ({ number, role, muted }) => `${nameOf(number)}${role === 'SUBSCRIBER' ? '' : ` (${role.toLowerCase()})`}${muted ? ', muted' : ''}`;

const line = (label, text) => text !== '' && el('p', {}, el('span', { class: 'dim' }, `${label}: `), text);

const channelItem = (channel) =>
  el(
    'li',
    { class: 'card' },
    el('h3', {}, channel.name),
    line('About', channel.description),
    line('Id', channel.jid),
    line('Code of the link', channel.invite),
    line('State', `${channel.state.toLowerCase()}${channel.verified ? ', verified' : ''}, reactions: ${channel.reactions.toLowerCase()}`),
    line('Followers', channel.followers.map(follower).join('; ')),
    line('Invited as admins', channel.invitations.map(({ number, expiresAt }) => `${nameOf(number)} until ${timeOf(expiresAt)}`).join('; ')),
    channel.state !== 'DELETED' && el('button', { type: 'button', class: 'quiet', onclick: () => showPosts(channel) }, 'Posts'),
    channel.state !== 'DELETED' && el('button', { type: 'button', class: 'quiet', onclick: () => changeChannel(channel) }, 'Do something'),
  );

export const drawChannels = () => {
  const list = [...state.channels.values()].sort((a, b) => b.createdAt - a.createdAt);
  if (!isNews(byId('channel-list'), list)) return;
  byId('channel-list').replaceChildren(...(list.length > 0 ? list.map(channelItem) : [el('li', { class: 'empty' }, 'There is no channel yet.')]));
};
