/** Tests operations on channels: answers, the state of the platform, list, chat and event, changes on phones, the directory, and refusals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import type { ChannelChange, ChannelView } from '#src/sandbox/interface.ts';
import { channelBench } from '#test/support/channel-bench.ts';
import { isPart, type Json } from '#test/support/group-bench.ts';
import { picked } from '#test/support/operation-rows.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const bench = channelBench();
const unknown = '120363000000000001@newsletter';
const picture = await sharp({ create: { width: 900, height: 600, channels: 3, background: '#c86432' } })
  .png()
  .toBuffer();

test('channels: the list has the own channel and the one that was followed on the phone, and both are chats', async () => {
  const { platform } = bench.scene;
  const asked = platform.sandbox.stats().channels.lists;
  const own = await bench.listed(bench.owned);
  const other = await bench.listed(bench.followed);
  assert.ok(isPart(own, { state: { type: 'active' }, thread_metadata: { name: { text: 'Owned' } }, viewer_metadata: { role: 'owner' } }));
  assert.ok(
    isPart(other, { thread_metadata: { name: { text: 'Followed' }, verification: 'unverified' }, viewer_metadata: { mute: 'off' } }),
  );
  assert.ok(isPart(await bench.chatOf(bench.owned), { wa_isGroup: false, name: 'Owned', wa_muteEndTime: 0 }));
  assert.ok(isPart(await bench.chatOf(bench.followed), { name: 'Followed' }));
  assert.deepEqual([asked, platform.sandbox.stats().channels.lists], [1, 1]);
});

test('channels: a created channel has an owner, a link and an event', async () => {
  const { name, description, followers } = bench.stateOf(bench.owned);
  assert.deepEqual([name, description], ['Owned', 'Of the account']);
  assert.deepEqual(
    followers.map(({ number, role }) => [number, role]),
    [[bench.account.number, 'OWNER']],
  );
  await bench.told(bench.owned, { name: 'Owned' });
});

test('channel create: the picture is cropped to a square and created with the channel', async () => {
  const made = await bench.done('create', { name: 'Pictured', picture: `data:image/png;base64,${picture.toString('base64')}` });
  const id = String(made['id']);
  assert.notEqual(bench.stateOf(id).picture, undefined);
  assert.match(String((await bench.chatOf(id))?.['image']), /^https:\/\/pps\.whatsapp\.net\//);
  await bench.call('delete', { jid: id });
  assert.equal(bench.stateOf(id).state, 'DELETED');
  assert.deepEqual([await bench.listed(id), await bench.chatOf(id)], [undefined, undefined]);
});

test('channel info and link: a channel without a subscription is shown, by id, digits, code and link', async () => {
  const { sandbox } = bench.scene.platform;
  const { jid, invite } = await sandbox.createChannel({ name: 'Far away', owner: contact });
  const wanted = {
    id: jid,
    thread_metadata: { name: { text: 'Far away' }, invite, subscribers_count: '1' },
    viewer_metadata: { role: 'guest' },
  };
  for (const body of [{ jid }, { jid: jid.replace('@newsletter', '') }, { id: jid }])
    assert.ok(isPart(await bench.done('info', body), wanted), JSON.stringify(body));
  for (const key of [invite, `https://whatsapp.com/channel/${invite}`]) assert.ok(isPart(await bench.done('link', { key }), wanted), key);
  assert.equal(await bench.listed(jid), undefined);
});

interface ChangeRow {
  readonly path: string;
  readonly body: Json;
  readonly state: Partial<ChannelView>;
  readonly listed: Json;
  readonly chat?: Json;
}

const changes: readonly ChangeRow[] = [
  {
    path: 'name',
    body: { name: ' New name ' },
    state: { name: 'New name' },
    listed: { thread_metadata: { name: { text: 'New name' } } },
    chat: { name: 'New name' },
  },
  {
    path: 'description',
    body: { description: 'About' },
    state: { description: 'About' },
    listed: { thread_metadata: { description: { text: 'About' } } },
  },
  {
    path: 'description',
    body: { description: '' },
    state: { description: '' },
    listed: { thread_metadata: { description: { text: '' } } },
  },
  {
    path: 'settings',
    body: { reactionCodes: 'Basic' },
    state: { reactions: 'BASIC' },
    listed: { thread_metadata: { settings: { reaction_codes: { value: 'basic' } } } },
  },
  {
    path: 'settings',
    body: { reactionCodes: 'none' },
    state: { reactions: 'NONE' },
    listed: { thread_metadata: { settings: { reaction_codes: { value: 'none' } } } },
  },
];
for (const { path, body, state, listed, chat } of changes)
  test(`channel ${path}: ${JSON.stringify(body)}`, async () => {
    assert.deepEqual(await bench.call(path, { jid: bench.owned, ...body }), { response: true });
    assert.deepEqual(picked(bench.stateOf(bench.owned), state), state);
    assert.ok(isPart(await bench.listed(bench.owned), listed));
    if (chat) {
      assert.ok(isPart(await bench.chatOf(bench.owned), chat));
      await bench.told(bench.owned, chat);
    }
  });

test('channel picture: it is set and removed', async () => {
  await bench.call('picture', { jid: bench.owned, picture: picture.toString('base64') });
  const set = bench.stateOf(bench.owned).picture;
  assert.notEqual(set, undefined);
  assert.ok(isPart(await bench.listed(bench.owned), { thread_metadata: { picture: { id: set, type: 'image' } } }));
  await bench.call('picture', { jid: bench.owned, picture: 'remove' });
  assert.equal(bench.stateOf(bench.owned).picture, undefined);
  assert.equal((await bench.chatOf(bench.owned))?.['image'], '');
});

test('channel follow, mute, unmute, unfollow: on the platform, in the list and in the chat', async () => {
  const { jid } = await bench.scene.platform.sandbox.createChannel({ name: 'Followed later', owner: contact });
  const follower = () => bench.stateOf(jid).followers.find(({ number }) => number === bench.account.number);
  assert.deepEqual(await bench.call('follow', { jid }), { response: true });
  assert.deepEqual([follower()?.role, follower()?.muted], ['SUBSCRIBER', false]);
  assert.ok(
    isPart(await bench.listed(jid), { thread_metadata: { name: { text: 'Followed later' } }, viewer_metadata: { role: 'subscriber' } }),
  );
  await bench.told(jid, { name: 'Followed later' });
  await bench.call('mute', { jid });
  assert.equal(follower()?.muted, true);
  assert.ok(isPart(await bench.listed(jid), { viewer_metadata: { mute: 'on' } }));
  await bench.told(jid, { wa_muteEndTime: -1 });
  await bench.call('unmute', { jid });
  assert.equal(follower()?.muted, false);
  assert.ok(isPart(await bench.chatOf(jid), { wa_muteEndTime: 0 }));
  await bench.call('unfollow', { jid });
  assert.deepEqual([follower(), await bench.listed(jid), await bench.chatOf(jid)], [undefined, undefined, undefined]);
});

test('chat mute: a channel is muted by its own setting, which has no end', async () => {
  const mute = (muteEndTime: number) => bench.account.call('POST', '/chat/mute', { number: bench.followed, muteEndTime });
  const isMuted = () => bench.stateOf(bench.followed).followers.find(({ number }) => number === bench.account.number)?.muted;
  assert.equal((await mute(-1)).status, 200);
  assert.equal(isMuted(), true);
  const timed = await mute(8);
  assert.deepEqual([timed.status, timed.body['error']], [400, 'channels are muted for ever (-1) or not at all (0)']);
  assert.equal((await mute(0)).status, 200);
  assert.equal(isMuted(), false);
});

const onPhones: readonly (readonly [by: 'contact' | 'account', change: ChannelChange, chat: Json | null, listed: Json])[] = [
  ['contact', { action: 'name', text: 'By phone' }, { name: 'By phone' }, { thread_metadata: { name: { text: 'By phone' } } }],
  ['contact', { action: 'description', text: 'Told' }, null, { thread_metadata: { description: { text: 'Told' } } }],
  ['contact', { action: 'reactions', value: 'BASIC' }, null, { thread_metadata: { settings: { reaction_codes: { value: 'basic' } } } }],
  ['account', { action: 'mute' }, { wa_muteEndTime: -1 }, { viewer_metadata: { mute: 'on' } }],
  ['account', { action: 'unmute' }, { wa_muteEndTime: 0 }, { viewer_metadata: { mute: 'off' } }],
];
for (const [by, change, chat, listed] of onPhones)
  test(`channel on a phone: ${JSON.stringify(change)} of the ${by} arrives in list and chat`, async () => {
    await bench.onPhone(bench.followed, by === 'contact' ? contact : bench.account.number, change);
    await until(async () => isPart(await bench.listed(bench.followed), listed), 'the list has it');
    if (chat) await bench.told(bench.followed, chat);
  });

test('channel on a phone: a channel is created, suspended, restored and deleted', async () => {
  const { sandbox } = bench.scene.platform;
  const { jid } = await sandbox.createChannel({ name: 'Made on the phone', owner: bench.account.number });
  await until(async () => isPart(await bench.listed(jid), { viewer_metadata: { role: 'owner' } }), 'the list has it');
  await bench.told(jid, { name: 'Made on the phone' });
  for (const state of ['SUSPENDED', 'ACTIVE'] as const) {
    await sandbox.setChannelFacts(jid, { state });
    await until(async () => isPart(await bench.listed(jid), { state: { type: state.toLowerCase() } }), state);
  }
  await bench.onPhone(jid, bench.account.number, { action: 'delete' });
  await until(async () => (await bench.chatOf(jid)) === undefined && (await bench.listed(jid)) === undefined, 'it is gone');
});

test('channel admins: a person is invited by a message, accepts, and loses the right', async () => {
  const { sandbox } = bench.scene.platform;
  await bench.call('admin/invite', { jid: bench.owned, phone: contact });
  assert.deepEqual(
    bench.stateOf(bench.owned).invitations.map(({ number }) => number),
    [contact],
  );
  const invitation = await until(
    () => sandbox.received(contact).find(({ kind }) => kind === 'newsletterAdminInviteMessage'),
    'the message of the invitation',
  );
  const { newsletterAdminInviteMessage: told } = invitation.content as { newsletterAdminInviteMessage: Json };
  assert.ok(isPart(told, { newsletterJid: bench.owned, newsletterName: 'New name' }));
  assert.ok(Number(told['inviteExpiration']) > Date.now() / 1000);
  await bench.onPhone(bench.owned, contact, { action: 'acceptAdmin' });
  assert.equal(bench.roleOf(bench.owned, contact), 'ADMIN');
  assert.match(String((await bench.call('admin/invite', { jid: bench.owned, phone: contact }, 409))['error']), /admin already/);
  await bench.call('admin/remove', { jid: bench.owned, phone: contact });
  assert.equal(bench.roleOf(bench.owned, contact), 'SUBSCRIBER');
});

test('channel admins: an invitation is revoked', async () => {
  await bench.call('admin/invite', { jid: bench.owned, phone: Number(contact) });
  await bench.call('admin/revoke', { jid: bench.owned, phone: contact });
  assert.deepEqual(bench.stateOf(bench.owned).invitations, []);
  assert.match(String((await bench.call('admin/revoke', { jid: bench.owned, phone: contact }, 404))['error']), /not invited/);
});

test('channel admins: the account accepts an invitation, and an expired invitation is refused', async () => {
  const { sandbox } = bench.scene.platform;
  const { number } = bench.account;
  await bench.call('admin/accept', { jid: bench.followed }, 404);
  await bench.onPhone(bench.followed, contact, { action: 'inviteAdmin', who: number });
  await sandbox.setChannelFacts(bench.followed, { expireInvitations: true });
  assert.equal((await bench.call('admin/accept', { jid: bench.followed }, 409))['error'], 'the invitation has run out');
  await bench.onPhone(bench.followed, contact, { action: 'inviteAdmin', who: number });
  await bench.call('admin/accept', { jid: bench.followed });
  assert.equal(bench.roleOf(bench.followed, number), 'ADMIN');
  assert.ok(isPart(await bench.listed(bench.followed), { viewer_metadata: { role: 'admin' } }));
  await bench.onPhone(bench.followed, contact, { action: 'removeAdmin', who: number });
  await until(async () => isPart(await bench.listed(bench.followed), { viewer_metadata: { role: 'subscriber' } }), 'the right is gone');
});

test('channel owner: the channel is transferred, and the account quits', async () => {
  const { number } = bench.account;
  const id = String((await bench.done('create', { name: 'Handed over' }))['id']);
  assert.match(String((await bench.call('owner/transfer', { jid: id, phone: contact }, 409))['error']), /only an admin/);
  await bench.call('admin/invite', { jid: id, phone: contact });
  await bench.onPhone(id, contact, { action: 'acceptAdmin' });
  await bench.call('owner/transfer', { jid: id, phone: contact, quitAdmin: true });
  assert.deepEqual([bench.roleOf(id, contact), bench.roleOf(id, number)], ['OWNER', 'SUBSCRIBER']);
  assert.ok(isPart(await bench.listed(id), { viewer_metadata: { role: 'subscriber' } }));
});

test('channel search: by words and by the directory, page by page', async () => {
  const { sandbox } = bench.scene.platform;
  for (const name of ['Football one', 'Football two', 'Football three']) {
    const { jid } = await sandbox.createChannel({ name, owner: contact });
    await sandbox.setChannelFacts(jid, { country: 'PT' });
  }
  const namesOf = ({ data }: Json): readonly unknown[] =>
    (data as readonly { thread_metadata: { name: { text: string } } }[]).map((one) => one.thread_metadata.name.text);
  const first = await bench.done('search', { searchText: 'football', limit: 2 });
  const second = await bench.done('search', { searchText: 'football', limit: 2, start_cursor: first['after'] });
  assert.equal(second['after'], null);
  assert.deepEqual([...namesOf(first), ...namesOf(second)].toSorted(), ['Football one', 'Football three', 'Football two']);
  const listed = await bench.done('search', { view: 'new', countryCodes: ['pt'], limit: 10 });
  assert.deepEqual(namesOf(listed).toSorted(), ['Football one', 'Football three', 'Football two']);
  assert.deepEqual(await bench.done('search', { searchText: 'nothing has this name' }), { after: null, data: [] });
});

const refusals: readonly (readonly [path: string, body: () => Json, status: number, error: string | RegExp])[] = [
  ['create', () => ({}), 400, 'name is required'],
  ['create', () => ({ name: ' ' }), 400, 'name is required'],
  ['create', () => ({ name: 7 }), 400, 'name must be a text'],
  ['create', () => ({ name: '🙂'.repeat(60) }), 400, /it may be too long/],
  ['create', () => ({ name: 'x', description: '🙂'.repeat(1_500) }), 400, /it may be too long/],
  ['name', () => ({ jid: bench.owned, name: '🙂'.repeat(60) }), 400, /it may be too long/],
  ['create', () => ({ name: 'x', picture: 'ftp://example.com/picture.png' }), 400, /./],
  ['create', () => ({ name: 'x', picture: Buffer.from('no picture').toString('base64') }), 415, /./],
  ['info', () => ({}), 400, 'invalid newsletter id'],
  ['info', () => ({ jid: '120363000000000001@g.us' }), 400, 'invalid newsletter id'],
  ['info', () => ({ jid: 120_363 }), 400, 'invalid newsletter id'],
  ['info', () => ({ jid: {} }), 400, 'invalid newsletter id'],
  ['info', () => ({ jid: unknown }), 404, 'Channel not found'],
  ['link', () => ({}), 400, 'key is required'],
  ['link', () => ({ key: 'https://example.com/' }), 400, 'key is no link of a channel'],
  ['link', () => ({ key: '0029VaNobodyHasThisCode' }), 404, 'Channel not found'],
  ['follow', () => ({ jid: unknown }), 404, 'Channel not found'],
  ['unfollow', () => ({ jid: bench.owned }), 403, /the owner cannot leave/],
  ['mute', () => ({ jid: unknown }), 404, 'Channel not found'],
  ['delete', () => ({ jid: bench.followed }), 403, 'the account is not the owner of this channel'],
  ['name', () => ({ jid: bench.owned }), 400, 'name is required'],
  ['name', () => ({ name: 'x' }), 400, 'invalid newsletter id'],
  ['name', () => ({ jid: bench.followed, name: 'Mine' }), 403, 'the account is no admin of this channel'],
  ['description', () => ({ jid: bench.followed, description: 'Mine' }), 403, 'the account is no admin of this channel'],
  ['description', () => ({ jid: bench.owned }), 400, 'description is required'],
  ['description', () => ({ jid: bench.owned, description: ['a', 'b'] }), 400, 'description must be a text'],
  ['settings', () => ({ jid: bench.owned }), 400, 'invalid reactionCodes'],
  ['settings', () => ({ jid: bench.owned, reactionCodes: 'some' }), 400, 'invalid reactionCodes'],
  ['picture', () => ({ jid: bench.owned, picture: '' }), 400, 'empty image source'],
  ['picture', () => ({ jid: bench.owned }), 400, 'empty image source'],
  ['search', () => ({ searchText: 'x', limit: 0 }), 400, 'invalid payload'],
  ['search', () => ({ searchText: 'x', after: 'nonsense' }), 400, 'after is not a cursor of this search'],
  ['search', () => ({ view: 'OLDEST' }), 400, /^view must be one of RECOMMENDED/],
  ['search', () => ({ countryCodes: ['Brazil'] }), 400, 'countryCodes must be countries of two letters each'],
  ['admin/invite', () => ({ jid: bench.owned }), 400, 'phone is required'],
  ['admin/invite', () => ({ jid: bench.owned, phone: 'nobody' }), 400, 'phone is no valid number'],
  ['admin/invite', () => ({ jid: bench.owned, phone: '9995550000001' }), 404, 'there is no account for this number'],
  ['admin/invite', () => ({ jid: bench.followed, phone: contact }), 403, 'the account is not the owner of this channel'],
  ['admin/remove', () => ({ jid: bench.owned, phone: contact }), 404, 'this person is no admin of the channel'],
  ['admin/remove', () => ({ jid: bench.owned, phone: '5511988880077' }), 404, 'this person is no admin of the channel'],
  ['admin/remove', () => ({ jid: bench.followed, phone: '5511988880077' }), 403, 'the account is not the owner of this channel'],
  ['owner/transfer', () => ({ jid: bench.followed, phone: contact }), 403, 'the account is not the owner of this channel'],
];
for (const [path, body, status, error] of refusals)
  test(`channel ${path}: refused with ${status}, ${String(error)}`, async () => {
    const text = String((await bench.call(path, body(), status))['error']);
    if (typeof error === 'string') assert.equal(text, error);
    else assert.match(text, error);
  });

const paths =
  'create info link follow unfollow mute unmute delete picture name description settings search admin/invite admin/accept admin/remove admin/revoke owner/transfer';

test('channels: every call refuses a wrong token, and sends no request for a session that is not connected', async () => {
  const idle = await bench.scene.create();
  const whole = { jid: unknown, name: 'x', description: 'y', key: '0029VaNobodyHasThisCode', reactionCodes: 'all', phone: contact };
  for (const path of paths.split(' ')) {
    const address = `/newsletter/${path}`;
    const wrong = await bench.scene.gateway.call('POST', address, { token: 'wrong', body: whole });
    assert.equal(wrong.status, 401, path);
    const down = await idle.call('POST', address, path === 'picture' ? { ...whole, picture: 'remove' } : whole);
    assert.equal(down.status, 409, `${path}: ${JSON.stringify(down.body)}`);
  }
  assert.equal((await idle.call('GET', '/newsletter/list')).status, 409);
});

test('channels: a query that the platform refuses is answered with its text and code', async () => {
  const { sandbox } = bench.scene.platform;
  await sandbox.fault({ kind: 'refuseQuery', number: bench.account.number, query: 'w:mex', code: 429, times: 1 });
  const body = await bench.call('info', { jid: bench.followed }, 500);
  assert.deepEqual([body['provider_code'], typeof body['error']], [429, 'string']);
});

test('channels: a new login requests no list, and delivers the changes in between', async () => {
  const { sandbox } = bench.scene.platform;
  const asked = sandbox.stats().channels.lists;
  const logins = bench.scene.logins(bench.account);
  assert.equal((await bench.account.call('POST', '/instance/reset', {})).status, 200);
  await bench.onPhone(bench.followed, contact, { action: 'name', text: 'Meanwhile' });
  await until(() => bench.scene.logins(bench.account) > logins, 'the next login');
  await until(async () => isPart(await bench.listed(bench.followed), { thread_metadata: { name: { text: 'Meanwhile' } } }), 'the new name');
  assert.equal(sandbox.stats().channels.lists, asked);
});

test('channels: the platform got no unknown request', () => assert.deepEqual(bench.scene.platform.sandbox.stats().unknown, {}));
