/** Tests the facts about an account and their visibility, refused calls, and the addresses of connections. */
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { after, before, test } from 'node:test';
import { getBinaryNodeChild, type BinaryNode } from '@whiskeysockets/baileys';
import sharp from 'sharp';
import { fetch } from 'undici';
import type { AccountView, PersonView } from '#src/sandbox/interface.ts';
import { connect, eventually, opened, openSandbox, pair, qrOf, closeCode, type Client, type TestSandbox } from './client.ts';

const ana = '5511999990061';
const bia = '5511999990062';
const friend = '5511988880061';
const jid = (number: string): string => `${number}@s.whatsapp.net`;

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let first: Client;
let second: Client;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  first = await pair(sandbox, { number: ana, name: 'Ana' });
  second = await pair(sandbox, { number: bia, name: 'Bia' });
});
after(() => cleanUp());

const account = (number = ana): AccountView => sandbox.sandbox.account(number);
const devicesOf = (number: string): PersonView['devices'] =>
  sandbox.sandbox.people().find((person) => person.number === number)?.devices ?? [];
const picture = (): Promise<Buffer> =>
  sharp({ create: { width: 640, height: 640, channels: 3, background: '#a06' } })
    .jpeg()
    .toBuffer();
const aboutOf = async (client: Client, number: string): Promise<unknown> => {
  const [found] = (await client.sock.fetchStatus(jid(number))) ?? [];
  return (found?.['status'] as { status?: unknown } | undefined)?.status;
};

test('account: privacy, blocked people, about, timer and presence subscriptions can be set and read', async () => {
  await first.sock.updateLastSeenPrivacy('contacts');
  await first.sock.updateProfilePicturePrivacy('none');
  await first.sock.onWhatsApp(friend);
  await first.sock.updateBlockStatus(jid(friend), 'block');
  await first.sock.updateProfileStatus('busy');
  await first.sock.updateDefaultDisappearingMode(86_400);
  await first.sock.presenceSubscribe(jid(bia));
  await eventually(() => account().subscriptions.length === 1, 'the subscription');
  const { privacy, blocked, about, disappearing, subscriptions } = account();
  assert.deepEqual([privacy['last'], privacy['profile'], blocked], ['contacts', 'none', [friend]]);
  assert.deepEqual([about, disappearing, subscriptions], ['busy', 86_400, [bia]]);
  assert.match(JSON.stringify(await second.sock.fetchDisappearingDuration(jid(ana))), /86400/);
});

test('a picture: it has an id and a small preview for people with access, and the others learn its id', async () => {
  const data = await picture();
  await sandbox.sandbox.send(friend, bia, { kind: 'text', text: 'hi' });
  await second.wait('messages.upsert', ({ messages }) => messages.some(({ key }) => key.remoteJid === jid(friend)));
  await sandbox.sandbox.changeAccount(friend, { picture: data.toString('base64') });
  assert.ok(account(friend).picture?.id);
  await second.wait('contacts.update', (updates) => updates.some(({ id, imgUrl }) => id === jid(friend) && imgUrl === 'changed'));
  const load = async (type: 'image' | 'preview'): Promise<{ width: number | undefined; bytes: number }> => {
    const url = (await second.sock.profilePictureUrl(jid(friend), type)) ?? '';
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      const chunks: Buffer[] = [];
      request(url, { ca: sandbox.sandbox.trust().mediaAuthority }, (answer) =>
        answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks))),
      )
        .on('error', reject)
        .end();
    });
    return { width: (await sharp(bytes).metadata()).width, bytes: bytes.length };
  };
  assert.deepEqual(await load('image'), { width: 640, bytes: data.length });
  assert.equal((await load('preview')).width, 96);
  await sandbox.sandbox.changeAccount(friend, { picture: '' });
  await second.wait('contacts.update', (updates) => updates.some(({ id, imgUrl }) => id === jid(friend) && imgUrl === 'removed'));
  await assert.rejects(second.sock.profilePictureUrl(jid(friend)), /item-not-found/);
});

test('privacy: hides picture, about and presence from those who may not see them', async () => {
  const data = (await picture()).toString('base64');
  const rows = [
    ['all', undefined, true],
    ['none', undefined, false],
    ['contacts', undefined, false],
    ['contacts', 'Ana', true],
  ] as const;
  for (const [wish, name, seen] of rows) {
    await sandbox.sandbox.change(friend, { kind: 'contact', number: bia, ...(name === undefined ? {} : { name }) });
    await sandbox.sandbox.changeAccount(friend, { picture: data, about: 'at sea', privacy: { profile: wish, status: wish } });
    if (seen) assert.match((await second.sock.profilePictureUrl(jid(friend))) ?? '', /^https:/);
    else await assert.rejects(second.sock.profilePictureUrl(jid(friend)), /not-authorized/);
    assert.equal(await aboutOf(second, friend), seen ? 'at sea' : '', `${wish} ${name}`);
  }
  await sandbox.sandbox.changeAccount(friend, { blocked: [bia], privacy: { profile: 'all' } });
  await assert.rejects(second.sock.profilePictureUrl(jid(friend)), /not-authorized/);
  await sandbox.sandbox.changeAccount(friend, { blocked: [], privacy: { last: 'none' } });
  await second.sock.presenceSubscribe(jid(friend));
  await eventually(() => account(bia).subscriptions.includes(friend), 'the subscription');
  await sandbox.sandbox.presence(friend, { state: 'unavailable' });
  const offline = await second.wait('presence.update', ({ id, presences }) => id === jid(friend) && presences[id]);
  assert.deepEqual([offline.lastKnownPresence, offline.lastSeen], ['unavailable', undefined]);
  await sandbox.sandbox.changeAccount(friend, { privacy: { online: 'match_last_seen' } });
  await sandbox.sandbox.presence(friend, { state: 'available' });
  await sandbox.sandbox.send(friend, bia, { kind: 'text', text: 'after' });
  await second.wait('messages.upsert', ({ messages }) => messages.some(({ message }) => message?.conversation === 'after'));
  assert.equal(
    second.seen('presence.update').some(({ presences }) => presences[jid(friend)]?.lastKnownPresence === 'available'),
    false,
  );
  await assert.rejects(sandbox.sandbox.changeAccount(friend, { privacy: { shoes: 'all' } }), /no category shoes/);
});

test('presence: an account is available while one of its devices is', async () => {
  const twin = await pair(sandbox, { number: ana, name: 'Ana' });
  for (const client of [first, twin]) {
    await client.sock.sendPresenceUpdate('available');
    // The answer shows that the presence, which has no answer, arrived.
    await client.sock.onWhatsApp(friend);
  }
  const isConnected = (): boolean[] => devicesOf(ana).map(({ connected }) => connected);
  await twin.end();
  await eventually(() => isConnected().join() === 'true,false', 'the end of the connection');
  assert.equal(account().online, true);
  await first.sock.sendPresenceUpdate('unavailable');
  await eventually(() => !account().online, 'the absence of both devices');
  const again = connect(sandbox, twin.auth);
  await opened(again);
  await again.sock.sendPresenceUpdate('available');
  await eventually(() => account().online, 'the presence of the other device');
  await again.sock.logout();
  await eventually(() => devicesOf(ana).length === 1, 'the logout');
  assert.equal(account().online, false);
});

test('calls: the client refuses one, the caller’s client hears it, and the other device stops ringing', async () => {
  const other = connect(sandbox);
  await sandbox.sandbox.scan({ qr: await qrOf(other), number: ana });
  assert.equal(await closeCode(other), 515);
  const twin = connect(sandbox, other.auth);
  await opened(twin);
  const { id } = await sandbox.sandbox.call(bia, ana, { step: 'offer', video: true });
  const offer = await first.wait('call', ([one]) => one?.id === id && one);
  await first.sock.rejectCall(id, offer.from);
  await second.wait('call', ([one]) => one?.id === id && one.status === 'reject');
  await twin.wait('call', ([one]) => one?.id === id && one.status === 'terminate');
  const call = sandbox.sandbox.callLog().find((one) => one.id === id);
  assert.deepEqual([call?.from, call?.to, call?.video], [bia, ana, true]);
  assert.deepEqual(
    call?.steps.map(({ step, by }) => [step, by]),
    [
      ['offer', bia],
      ['reject', ana],
    ],
  );
  await second.sock.rejectCall(id, offer.from);
  assert.match((await second.sock.createCallLink('audio')) ?? '', /./);
  assert.equal(sandbox.sandbox.callLog().find((one) => one.id === id)?.steps.length, 2);
  await twin.end();
});

const mex = async (client: Client, id: string, variables: object): Promise<unknown> => {
  const content = [{ tag: 'query', attrs: { query_id: id }, content: Buffer.from(JSON.stringify({ variables })) }];
  const answer = (await client.sock.query({
    tag: 'iq',
    attrs: { type: 'get', to: 's.whatsapp.net', xmlns: 'w:mex' },
    content,
  })) as BinaryNode;
  const { data, errors } = JSON.parse(String(getBinaryNodeChild(answer, 'result')?.content)) as { data: unknown; errors?: unknown };
  return errors ?? data;
};

test('queries in JSON: the about text is set and read, and hidden from those who may not see it', async () => {
  const set = (input: object) => mex(first, '9152604461510864', { input });
  const read = () => mex(second, '24535500086059408', { user: { user_id: jid(ana) } });
  await sandbox.sandbox.changeAccount(ana, { privacy: { status: 'all' } });
  const done = { xwa2_update_text_status: { result: 'SUCCESS' } };
  assert.deepEqual(await set({ text: 'at work', emoji: { content: '🚀' }, ephemeral_duration_sec: 3600 }), done);
  assert.deepEqual(await read(), { xwa2_users_updates_since: [{ updates: [{ text: 'at work' }] }] });
  assert.deepEqual(await set({ text: 7, ephemeral_duration_sec: 0 }), [{ message: 'bad-request', extensions: { error_code: 400 } }]);
  await sandbox.sandbox.changeAccount(ana, { privacy: { status: 'none' } });
  assert.deepEqual(await read(), { xwa2_users_updates_since: [{ updates: [] }] });
  assert.deepEqual(await set({ text: null, ephemeral_duration_sec: 0 }), done);
  assert.equal(account().about, '');
});

test('queries in JSON: usernames are read and looked up, reports of channels are none', async () => {
  const own = () => mex(first, '25347099718279209', {});
  const free = (client: Client, input: string) => mex(client, '26122779627399568', { input, session_id: 's', source: 'USER_INPUT' });
  assert.deepEqual(await own(), { xwa2_username_get: { username_info: null } });
  await sandbox.sandbox.changeAccount(ana, { username: 'ana.sea' });
  assert.deepEqual(await own(), { xwa2_username_get: { username_info: { username: 'ana.sea', state: 'SET' } } });
  assert.deepEqual(await free(second, 'ana.sea'), { xwa2_username_check: { suggestions: ['ana.sea.1'] } });
  assert.deepEqual(await free(second, 'bia.sea'), { xwa2_username_check: { result: 'SUCCESS', suggestions: [] } });
  await sandbox.sandbox.changeAccount(ana, { username: '' });
  assert.deepEqual(await own(), { xwa2_username_get: { username_info: null } });
  assert.deepEqual(await mex(first, '35936238352686172', { locale: 'en' }), { xwa2_channels_reports: { channels_reports: [] } });
});

test('about: a platform with the new forms answers the old request and changes nothing', async () => {
  await sandbox.sandbox.changeAccount(ana, { about: 'stays' });
  sandbox.sandbox.requireVersion({ newForms: true });
  await first.sock.updateProfileStatus('changes');
  assert.equal(account().about, 'stays');
  sandbox.sandbox.requireVersion({});
  await first.sock.updateProfileStatus('changes');
  assert.equal(account().about, 'changes');
});

test('addresses: the platform tells where a connection came from', async () => {
  const [device] = sandbox.sandbox.people().find(({ number }) => number === bia)?.devices ?? [];
  assert.match(device?.address ?? '', /^127\.0\.0\.1:\d+$/);
  const { addresses } = sandbox.sandbox.stats();
  assert.ok((addresses['127.0.0.1']?.sockets ?? 0) >= 4 && (addresses['127.0.0.1']?.files ?? 0) >= 2, JSON.stringify(addresses));
  const before = addresses['127.0.0.1']?.sockets ?? 0;
  await fetch(`http://127.0.0.1:${sandbox.port}/health`);
  assert.equal(sandbox.sandbox.stats().addresses['127.0.0.1']?.sockets, before);
});

test('counters: there was no unknown request', () => assert.deepEqual(sandbox.sandbox.stats().unknown, {}));
