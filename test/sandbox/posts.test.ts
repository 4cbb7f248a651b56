/** Tests posts of channels: stanzas of clients, refusals, lists of posts, live updates, and the stanzas for followers. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, proto } from '@whiskeysockets/baileys';
import { Agent, fetch } from 'undici';
import { eventually, openSandbox, pair, type Client, type TestSandbox } from './client.ts';

const ana = '5511999990015';
const bia = '5511999990016';
const carl = '5511988880015';

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let owner: Client;
let follower: Client;
let dispatcher: Agent;
let channel = '';
/** Stanzas of the channel that the follower received. */
const got: BinaryNode[] = [];

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  owner = await pair(sandbox, { number: ana, name: 'Ana' });
  follower = await pair(sandbox, { number: bia, name: 'Bia' });
  channel = (await sandbox.sandbox.createChannel({ name: 'News', owner: ana })).jid;
  await sandbox.sandbox.changeChannel(channel, bia, { action: 'follow' });
  for (const event of ['CB:message', 'CB:notification,type:newsletter'])
    follower.sock.ws.on(event, (node: BinaryNode) => void (node.attrs['from'] === channel && got.push(node)));
  dispatcher = new Agent({ connect: { ca: sandbox.sandbox.trust().mediaAuthority } });
});
after(async () => {
  await dispatcher.close();
  await cleanUp();
});

const plaintext = (message: proto.IMessage, attrs: BinaryNode['attrs'] = {}): BinaryNode => ({
  tag: 'plaintext',
  attrs,
  content: proto.Message.encode(message).finish(),
});

/** Sends a message stanza. Returns the attributes of the ack. */
const send = async ({ sock }: Client, attrs: BinaryNode['attrs'], content: BinaryNode[], to = channel): Promise<BinaryNode['attrs']> => {
  const ack = (await sock.query({
    tag: 'message',
    attrs: { to, id: sock.generateMessageTag(), type: 'text', ...attrs },
    content,
  })) as BinaryNode;
  return ack.attrs;
};

const text = (words: string): BinaryNode[] => [plaintext({ conversation: words })];

const ask = async ({ sock }: Client, to: string, type: string, tag: string, attrs: BinaryNode['attrs'] = {}): Promise<BinaryNode> =>
  (await sock.query({ tag: 'iq', attrs: { to, type, xmlns: 'newsletter' }, content: [{ tag, attrs }] })) as BinaryNode;

const listIn = (parent: BinaryNode | undefined): BinaryNode[] => getBinaryNodeChildren(getBinaryNodeChild(parent, 'messages'), 'message');

const stanza = (what: string, isIt: (node: BinaryNode) => boolean): Promise<BinaryNode> => eventually(() => got.find(isIt), what);

const shownPost = async (serverId: number) => (await sandbox.sandbox.posts(channel)).find((post) => post.serverId === serverId);

test('posts: a post is numbered in its ack, and reaches followers without encryption', async () => {
  const ack = await send(owner, { id: 'POST1' }, text('first'));
  assert.deepEqual([ack['error'], ack['server_id']], [undefined, '100']);
  assert.equal((await send(owner, { id: 'POST2' }, text('second')))['server_id'], '101');
  const node = await stanza('the second post', ({ attrs }) => attrs['id'] === 'POST2');
  assert.deepEqual([node.attrs['server_id'], node.attrs['type'], node.attrs['is_sender']], ['101', 'text', undefined]);
  const content = getBinaryNodeChild(node, 'plaintext')?.content;
  assert.equal(proto.Message.decode(content as Uint8Array).conversation, 'second');
  assert.partialDeepStrictEqual(await shownPost(101), { id: 'POST2', author: ana, text: 'second', views: 0, reactions: {}, edited: false });
});

test('posts: a repeated message id is the same post', async () => {
  assert.equal((await send(owner, { id: 'POST1' }, text('first')))['server_id'], '100');
  assert.equal((await sandbox.sandbox.posts(channel)).filter(({ id }) => id === 'POST1').length, 1);
});

test('posts: an edit and a deletion keep the id of the post', async () => {
  const { serverId, id } = await sandbox.sandbox.post(channel, { content: { kind: 'text', text: 'typo' } });
  assert.equal((await send(owner, { id, edit: '3' }, text('type')))['server_id'], String(serverId));
  const edited = await stanza('the edit', ({ attrs }) => attrs['id'] === id && attrs['edit'] === '3');
  assert.ok(Number(getBinaryNodeChild(edited, 'meta')?.attrs['msg_edit_t']) > 0);
  assert.partialDeepStrictEqual(await shownPost(serverId), { text: 'type', edited: true });
  assert.equal((await send(owner, { id, edit: '8' }, [{ tag: 'plaintext', attrs: {} }]))['error'], undefined);
  await stanza('the deletion', ({ attrs }) => attrs['id'] === id && attrs['edit'] === '8');
  assert.partialDeepStrictEqual(await shownPost(serverId), { text: '', kind: 'empty', deleted: true });
  assert.equal((await send(owner, { id, edit: '3' }, text('again')))['error'], '404');
});

const poll = [
  plaintext({ pollCreationMessageV3: { name: 'Which?', options: [{ optionName: 'a' }, { optionName: 'b' }] } }),
  { tag: 'meta', attrs: { polltype: 'creation' } },
];
const secret = { messageContextInfo: { messageSecret: new Uint8Array(32) } };
const refusals: readonly (readonly [
  title: string,
  code: string,
  who: 'owner' | 'follower',
  attrs: BinaryNode['attrs'],
  content: BinaryNode[],
])[] = [
  ['a post of somebody who may not post', '401', 'follower', {}, text('me too')],
  ['an edit as in chats', '479', 'owner', { id: 'POST1', edit: '1' }, text('x')],
  ['a deletion as in chats', '479', 'owner', { id: 'POST1', edit: '7' }, text('x')],
  ['a deletion with a content', '479', 'owner', { id: 'POST1', edit: '8' }, text('x')],
  ['an edit of a post that does not exist', '404', 'owner', { id: 'NONE', edit: '3' }, text('x')],
  ['an edit into another kind', '400', 'owner', { id: 'POST1', edit: '3', type: 'poll' }, poll],
  ['an encrypted message', '479', 'owner', {}, [{ tag: 'enc', attrs: { type: 'msg' }, content: new Uint8Array(9) }]],
  ['a secret', '479', 'owner', {}, [plaintext({ conversation: 'x', ...secret })]],
  ['a kind that channels do not take', '479', 'owner', { type: 'media' }, [plaintext({ locationMessage: {} }, { mediatype: 'location' })]],
  [
    'a file without the handle of its upload',
    '479',
    'owner',
    { type: 'media' },
    [plaintext({ imageMessage: { directPath: '/m1/v/x.enc' } }, { mediatype: 'image' })],
  ],
  ['an unknown number to react to', '404', 'owner', { type: 'reaction', server_id: '999' }, [{ tag: 'reaction', attrs: { code: '👍' } }]],
  [
    'a reaction that is taken back without saying so',
    '479',
    'owner',
    { type: 'reaction', server_id: '100' },
    [{ tag: 'reaction', attrs: {} }],
  ],
  ['a poll that does not say so', '479', 'owner', { type: 'poll' }, [plaintext({ pollCreationMessageV3: { name: 'q', options: [] } })]],
];
for (const [title, code, who, attrs, content] of refusals)
  test(`posts: ${title} is refused with ${code}`, async () => {
    assert.equal((await send(who === 'owner' ? owner : follower, attrs, content))['error'], code);
  });

test('posts: a channel that does not exist is 404', async () => {
  assert.equal((await send(owner, {}, text('x'), '120363000000000009@newsletter'))['error'], '404');
});

test('posts: a poll is accepted', async () => {
  assert.equal((await send(owner, { type: 'poll' }, poll))['error'], undefined);
});

test('posts: reactions and views are counted once per person, and only allowed emojis', async () => {
  const react = (client: Client, code: string): Promise<BinaryNode['attrs']> =>
    send(client, { type: 'reaction', server_id: '100', ...(code === '' ? { edit: '7' } : {}) }, [
      { tag: 'reaction', attrs: code === '' ? {} : { code } },
    ]);
  await react(follower, '👍');
  await react(follower, '❤️');
  await react(owner, '👍');
  const see = (client: Client): Promise<unknown> =>
    client.sock.query({
      tag: 'receipt',
      attrs: { to: channel, type: 'view', id: client.sock.generateMessageTag() },
      content: [{ tag: 'list', attrs: {}, content: ['100', '101', '9999'].map((id) => ({ tag: 'item', attrs: { server_id: id } })) }],
    });
  await see(follower);
  await see(follower);
  assert.partialDeepStrictEqual(await shownPost(100), { views: 1, reactions: { '👍': 1, '❤️': 1 } });
  await react(follower, '');
  assert.deepEqual((await shownPost(100))?.reactions, { '👍': 1 });
  await sandbox.sandbox.changeChannel(channel, ana, { action: 'reactions', value: 'BASIC' });
  assert.deepEqual([(await react(follower, '🦫'))['error'], (await react(follower, '🙏'))['error']], ['405', undefined]);
  await sandbox.sandbox.changeChannel(channel, ana, { action: 'reactions', value: 'NONE' });
  assert.equal((await react(follower, '👍'))['error'], '405');
  await sandbox.sandbox.changeChannel(channel, ana, { action: 'reactions', value: 'ALL' });
});

test('posts: pages go back from the newest post, and updates forward', async () => {
  const other = (await sandbox.sandbox.createChannel({ name: 'Many', owner: ana })).jid;
  for (let at = 0; at < 305; at += 1) await sandbox.sandbox.post(other, { content: { kind: 'text', text: `post ${at}` } });
  const numbers = (nodes: readonly BinaryNode[]): number[] => nodes.map(({ attrs }) => Number(attrs['server_id']));
  const page = async (attrs: BinaryNode['attrs']): Promise<number[]> =>
    numbers(listIn(await ask(follower, 's.whatsapp.net', 'get', 'messages', { type: 'jid', jid: other, ...attrs })));
  assert.deepEqual(await page({ count: '3' }), [404, 403, 402]);
  assert.deepEqual(await page({ count: '2', before: '402' }), [401, 400]);
  assert.deepEqual(await page({ count: '2', after: '100' }), [101, 102]);
  assert.equal((await page({ count: '1000' })).length, 300);
  await sandbox.sandbox.changePost(other, 102, { action: 'view', by: carl });
  const updates = await ask(follower, other, 'get', 'message_updates', { count: '2', after: '101' });
  const [first, ...more] = listIn(getBinaryNodeChild(updates, 'message_updates'));
  assert.deepEqual([numbers(more), getBinaryNodeChild(first, 'views_count')?.attrs['count']], [[103], '1']);
  assert.equal(getBinaryNodeChild(first, 'plaintext'), undefined);
  await assert.rejects(ask(follower, other, 'get', 'message_updates', { after: 'x' }), /bad-request/);
  await assert.rejects(
    ask(follower, 's.whatsapp.net', 'get', 'messages', { type: 'jid', jid: '1@newsletter' }),
    /bad-request|item-not-found/,
  );
});

test('posts: live updates are sent to subscribers, for some minutes', async () => {
  const answer = await ask(follower, channel, 'set', 'live_updates');
  assert.equal(getBinaryNodeChild(answer, 'live_updates')?.attrs['duration'], '300');
  await sandbox.sandbox.changePost(channel, 101, { action: 'react', by: carl, emoji: '🎉' });
  const node = await stanza('the live update', ({ attrs }) => attrs['type'] === 'newsletter');
  const [post] = listIn(getBinaryNodeChild(node, 'live_updates'));
  const reactions = getBinaryNodeChildren(getBinaryNodeChild(post, 'reactions'), 'reaction');
  assert.deepEqual([post?.attrs['server_id'], reactions.map(({ attrs }) => attrs)], ['101', [{ code: '🎉', count: '1' }]]);
});

test('posts: a file is uploaded unencrypted, named by the handle of its upload, and read by followers', async () => {
  const file = randomBytes(5000);
  const hash = createHash('sha256').update(file).digest();
  const token = hash.toString('base64url');
  const { auth, hosts } = await owner.sock.refreshMediaConn(false);
  const query = new URLSearchParams({ auth, token }).toString();
  const url = `https://${hosts[0]?.hostname}/newsletter/newsletter-image/${token}?${query}`;
  const kept = (await (await fetch(url, { method: 'POST', body: file, dispatcher })).json()) as { handle: string; direct_path: string };
  assert.match(kept.direct_path, /^\/m1\/v\//);
  const content = [
    plaintext({ imageMessage: { directPath: kept.direct_path, fileSha256: hash, mimetype: 'image/jpeg' } }, { mediatype: 'image' }),
  ];
  assert.equal((await send(owner, { id: 'WRONG', type: 'media', media_id: 'other' }, content))['error'], '479');
  assert.equal((await send(owner, { id: 'IMAGE', type: 'media', media_id: kept.handle }, content))['error'], undefined);
  const post = (await sandbox.sandbox.posts(channel)).find(({ id }) => id === 'IMAGE');
  assert.deepEqual(post?.file, { bytes: 5000, sha256: hash.toString('hex') });
  const picture = await sandbox.sandbox.post(channel, { content: { kind: 'image', data: file.toString('base64'), caption: 'look' } });
  assert.partialDeepStrictEqual(await shownPost(picture.serverId), { text: 'look', file: { bytes: 5000 } });
});

test('posts: only admins can post and delete, and only authors can edit', async () => {
  const content = { kind: 'text', text: 'x' } as const;
  await assert.rejects(sandbox.sandbox.post(channel, { content, by: carl }), /not-authorized/);
  await assert.rejects(sandbox.sandbox.post('120363000000000009@newsletter', { content }), /item-not-found/);
  await assert.rejects(sandbox.sandbox.post(channel, { content: { kind: 'location', latitude: 1, longitude: 1 } }), /do not take location/);
  await assert.rejects(sandbox.sandbox.changePost(channel, 101, { action: 'edit', text: 'y', by: bia }), /not-authorized/);
  await assert.rejects(sandbox.sandbox.changePost(channel, 9999, { action: 'delete' }), /has no post 9999/);
});

test('posts: a restart of the platform keeps all posts', async () => {
  const before = await sandbox.sandbox.posts(channel);
  await sandbox.restart();
  assert.deepEqual(await sandbox.sandbox.posts(channel), before);
  assert.deepEqual(sandbox.sandbox.stats().unknown, {});
});
