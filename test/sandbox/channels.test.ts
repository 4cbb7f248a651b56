/** Tests channels of clients and simulated people: queries of current and older clients, rights, notifications, the directory. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getBinaryNodeChild, type BinaryNode } from '@whiskeysockets/baileys';
import type { ChannelChange } from '#src/sandbox/interface.ts';
import { eventually, openSandbox, pair, type Client, type TestSandbox } from './client.ts';

const ana = '5511999990013';
const bia = '5511999990014';
const carl = '5511988880013';

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let first: Client;
let second: Client;
/** Notifications of the second client, each with the field of its data. */
const news: (readonly [string, unknown])[] = [];
let channel = '';

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  first = await pair(sandbox, { number: ana, name: 'Ana' });
  second = await pair(sandbox, { number: bia, name: 'Bia' });
  second.sock.ws.on('CB:notification,type:mex', (node: BinaryNode) => {
    const { data } = JSON.parse(String(getBinaryNodeChild(node, 'update')?.content)) as { data: Record<string, unknown> };
    news.push(...Object.entries(data));
  });
});
after(() => cleanUp());

interface Answer {
  readonly data: Record<string, Record<string, unknown> | null> | null;
  readonly errors?: readonly { readonly extensions: { readonly error_code: number } }[];
}

const mex = async ({ sock }: Client, id: string, variables: object): Promise<Answer> => {
  const content = [{ tag: 'query', attrs: { query_id: id }, content: Buffer.from(JSON.stringify({ variables })) }];
  const attrs = { id: sock.generateMessageTag(), type: 'get', to: 's.whatsapp.net', xmlns: 'w:mex' };
  const result = (await sock.query({ tag: 'iq', attrs, content })) as BinaryNode;
  return JSON.parse(String(getBinaryNodeChild(result, 'result')?.content)) as Answer;
};

const codeOf = ({ errors }: Answer): number | undefined => errors?.[0]?.extensions.error_code;

const accept = ({ sock }: Client, id: string): Promise<unknown> =>
  sock.query({
    tag: 'iq',
    attrs: { id: sock.generateMessageTag(), type: 'set', to: 's.whatsapp.net', xmlns: 'tos' },
    content: [{ tag: 'notice', attrs: { id, stage: '5' } }],
  });

const lidOf = (number: string): string => `${sandbox.sandbox.people().find((one) => one.number === number)?.lid}@lid`;

const next = (field: string): Promise<unknown> =>
  eventually(() => news.find(([name]) => name === field), field).then(([, value]) => {
    news.splice(0);
    return value;
  });

const create = '25149874324715067';
const join = '24404358912487870';

test('channels: a client creates a channel once it has accepted the terms', async () => {
  const input = { name: 'Offers', description: 'Every day', picture: null };
  assert.equal(codeOf(await mex(first, create, { input })), 403);
  await accept(first, '20601217');
  const { data } = await mex(first, create, { input });
  const made = data?.['xwa2_newsletter_create'] as { id: string; state: object; viewer_metadata: { role: string } };
  channel = made.id;
  assert.match(channel, /^\d+@newsletter$/);
  assert.deepEqual([made.state, made.viewer_metadata.role], [{ type: 'ACTIVE' }, 'OWNER']);
  const { name, description, followers } = sandbox.sandbox.channel(channel);
  assert.deepEqual([name, description, followers.map(({ number, role }) => [number, role])], ['Offers', 'Every day', [[ana, 'OWNER']]]);
});

test('channels: a client reads a channel by id and by link, and a missing one is reported as missing', async () => {
  const { invite } = sandbox.sandbox.channel(channel);
  const found = await second.sock.newsletterMetadata('invite', invite);
  assert.equal(found?.id, channel);
  const missing = await mex(second, '27456920720571478', { input: { key: '120363000000000009@newsletter', type: 'JID' } });
  assert.deepEqual(missing.data?.['xwa2_newsletter']?.['state'], { type: 'NON_EXISTING' });
  assert.equal(codeOf(await mex(second, '27456920720571478', { input: { key: channel, type: 'NAME' } })), 400);
});

test('channels: a client follows and mutes a channel, and its devices are told', async () => {
  assert.equal(codeOf(await mex(second, join, { newsletter_id: channel })), 403);
  await accept(second, '20601216');
  await second.sock.newsletterFollow(channel);
  const joined = (await next('xwa2_notify_newsletter_on_join')) as { id: string; thread_metadata: { name: { text: string } } };
  assert.deepEqual([joined.id, joined.thread_metadata.name.text], [channel, 'Offers']);
  await mex(second, '31938993655691868', { input: { newsletter_id: channel, type: 'MUTE_ADMIN_ACTIVITY', value: 'ON' } });
  const follower = () => sandbox.sandbox.channel(channel).followers.find(({ number }) => number === bia);
  assert.deepEqual([follower()?.muted, follower()?.followersMuted], [true, false]);
  await next('xwa2_notify_newsletter_on_user_setting_change');
  await second.sock.newsletterUnmute(channel);
  assert.equal(follower()?.muted, false);
});

test('channels: changes by the owner are reported to followers', async () => {
  await first.sock.newsletterUpdateName(channel, 'Better offers');
  const told = (await next('xwa2_notify_newsletter_on_metadata_update')) as { id: string; thread_metadata: object };
  assert.equal(told.id, channel);
  assert.deepEqual(Object.keys(told.thread_metadata), ['name']);
  assert.equal(sandbox.sandbox.channel(channel).name, 'Better offers');
  const updates = { settings: { reaction_codes: { value: 'NONE' } } };
  await mex(first, '24250201037901610', { newsletter_id: channel, updates });
  assert.equal(sandbox.sandbox.channel(channel).reactions, 'NONE');
});

const changes: readonly (readonly [string, string, object, number])[] = [
  ['a follower may not change the channel', '24250201037901610', { updates: { name: 'Mine' } }, 401],
  ['a follower may not delete it', '30062808666639665', {}, 401],
  ['nobody has this LID', '9387141988078609', { user_id: '100000000000000@lid' }, 404],
  ['nobody accepts an invitation that was never made', '9580828702035549', {}, 404],
  ['people are named by their LID', '9387141988078609', { user_id: `${carl}@s.whatsapp.net` }, 400],
];

for (const [title, id, variables, code] of changes) {
  test(`channels: ${title}`, async () => {
    await accept(second, '20610101');
    assert.equal(codeOf(await mex(second, id, { newsletter_id: channel, ...variables })), code);
  });
}

test('channels: an admin is invited, accepts, becomes the owner, and the old one is demoted', async () => {
  await accept(first, '20610101');
  const { data } = await mex(first, '9387141988078609', { newsletter_id: channel, user_id: lidOf(bia) });
  assert.match(String(data?.['xwa2_newsletter_admin_invite_create']?.['invite_expiration_time']), /^\d{10}$/);
  await mex(second, '9580828702035549', { newsletter_id: channel });
  const promoted = (await next('xwa2_notify_newsletter_admin_promote')) as { user_new_role: string };
  assert.equal(promoted.user_new_role, 'ADMIN');
  assert.equal(await second.sock.newsletterAdminCount(channel), 2);
  await mex(first, '9546742745432473', { newsletter_id: channel, user_id: lidOf(bia) });
  const roles = () => Object.fromEntries(sandbox.sandbox.channel(channel).followers.map(({ number, role }) => [number, role]));
  assert.deepEqual(roles(), { [ana]: 'ADMIN', [bia]: 'OWNER' });
  await mex(second, '9880997548630971', { newsletter_id: channel, user_id: lidOf(ana) });
  assert.deepEqual(roles(), { [ana]: 'SUBSCRIBER', [bia]: 'OWNER' });
});

test('channels: an invitation of a simulated owner reaches the person as a message, and expires', async () => {
  const { jid } = await sandbox.sandbox.createChannel({ name: 'Of Carl', owner: carl });
  const change = (by: string, what: ChannelChange) => sandbox.sandbox.changeChannel(jid, by, what);
  await change(carl, { action: 'inviteAdmin', who: ana });
  const invited = await first.wait('messages.upsert', ({ messages }) =>
    messages.find(({ message }) => message?.newsletterAdminInviteMessage),
  );
  assert.equal(invited.message?.newsletterAdminInviteMessage?.newsletterJid, jid);
  await sandbox.sandbox.setChannelFacts(jid, { expireInvitations: true });
  await assert.rejects(change(ana, { action: 'acceptAdmin' }), /gone/);
  await assert.rejects(change(carl, { action: 'unfollow' }), /forbidden/);
});

test('channels: the directory lists by view and country, and searches page by page', async () => {
  for (const name of ['Football one', 'Football two', 'Football three']) {
    const { jid } = await sandbox.sandbox.createChannel({ name, owner: carl });
    await sandbox.sandbox.setChannelFacts(jid, { country: 'PT' });
  }
  const list = { view: 'NEW', filters: { country_codes: ['PT'], categories: [] }, limit: 10 };
  const { data } = await mex(second, '26125047313831973', { input: list });
  assert.equal((data?.['xwa2_newsletters_directory_list']?.['result'] as unknown[] | undefined)?.length, 3);
  const names: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const input: object = { search_text: 'football', categories: [], limit: 2, ...(cursor ? { start_cursor: cursor } : {}) };
    const page = (await mex(second, '26301059626252132', { input })).data?.['xwa2_newsletters_directory_search'];
    const { page_info: info, result } = page as unknown as {
      page_info: { endCursor: string | null };
      result: { thread_metadata: { name: { text: string } } }[];
    };
    names.push(...result.map(({ thread_metadata: { name } }) => name.text));
    cursor = info.endCursor;
  }
  assert.deepEqual(names.toSorted(), ['Football one', 'Football three', 'Football two']);
  assert.equal(codeOf(await mex(second, '26301059626252132', { input: { search_text: 'x', limit: 2 } })), 400);
});

test('channels: a deleted channel is refused, its followers are told, and it survives a restart as deleted', async () => {
  news.splice(0);
  await mex(second, '30062808666639665', { newsletter_id: channel });
  assert.deepEqual(await next('xwa2_notify_newsletter_on_state_change'), { id: channel, state: { type: 'DELETED' }, is_requestor: true });
  assert.equal(codeOf(await mex(first, '27456920720571478', { input: { key: channel, type: 'JID' } })), 405);
  assert.equal(codeOf(await mex(first, join, { newsletter_id: channel })), 404);
  assert.deepEqual(sandbox.sandbox.stats().unknown, {});
  await sandbox.restart();
  assert.equal(sandbox.sandbox.channel(channel).state, 'DELETED');
});
