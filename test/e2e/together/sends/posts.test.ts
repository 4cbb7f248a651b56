/** Tests posts of channels: sent by `/send/*`, listed, edited, viewed and reacted to, and posts that arrive in followed channels. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import sharp from 'sharp';
import type { PostView } from '#src/sandbox/interface.ts';
import { type Json, postBench } from '#test/support/post-bench.ts';
import { openReceiver } from '#test/support/receivers.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const bench = postBench();
const sandbox = () => bench.scene.platform.sandbox;

const picture = await sharp({ create: { width: 60, height: 40, channels: 3, background: '#3366aa' } })
  .jpeg()
  .toBuffer();
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const pdf = Buffer.from('%PDF-1.4\nsome text');

/** A send that channels accept, with the expected `messageType` and the expected post on the platform. */
interface Sent {
  readonly title: string;
  readonly path: `/send/${string}`;
  readonly body: Json;
  readonly messageType: string;
  readonly post: (post: PostView) => void;
}

const sends: readonly Sent[] = [
  {
    title: 'a text',
    path: '/send/text',
    body: { text: 'News of the day', delay: 1, readchat: true },
    messageType: 'ExtendedTextMessage',
    post: ({ kind, text, content }) => {
      assert.deepEqual([kind, text], ['extendedTextMessage', 'News of the day']);
      assert.equal((content as Json)['messageContextInfo'], undefined, 'no secret stands in what everybody reads');
    },
  },
  {
    title: 'a text that was forwarded',
    path: '/send/text',
    body: { text: 'heard elsewhere', forward: true },
    messageType: 'ExtendedTextMessage',
    post: ({ content }) => assert.partialDeepStrictEqual(content, { extendedTextMessage: { contextInfo: { isForwarded: true } } }),
  },
  {
    title: 'a picture',
    path: '/send/media',
    body: { type: 'image', file: picture.toString('base64'), text: 'look' },
    messageType: 'ImageMessage',
    post: ({ kind, text, file, content }) => {
      assert.deepEqual([kind, text, file?.sha256], ['imageMessage', 'look', hashOf(picture)]);
      assert.equal(((content as Json)['imageMessage'] as Json)['mediaKey'], undefined, 'the file is not encrypted');
    },
  },
  {
    title: 'a document',
    path: '/send/media',
    body: { type: 'document', file: pdf.toString('base64'), docName: 'a.pdf' },
    messageType: 'DocumentMessage',
    post: ({ kind, file }) => assert.deepEqual([kind, file?.sha256], ['documentMessage', hashOf(pdf)]),
  },
  {
    title: 'a sticker',
    path: '/send/media',
    body: { type: 'sticker', file: picture.toString('base64') },
    messageType: 'StickerMessage',
    post: ({ kind, file }) => assert.deepEqual([kind, (file?.bytes ?? 0) > 0], ['stickerMessage', true]),
  },
  {
    title: 'a poll',
    path: '/send/menu',
    body: { type: 'poll', text: 'Which?', choices: ['one', 'two'] },
    messageType: 'PollCreationMessageV3',
    post: ({ kind, text }) => assert.deepEqual([kind, text], ['pollCreationMessageV3', 'Which?']),
  },
];

for (const { title, path, body, messageType, post } of sends)
  for (const queued of [false, true])
    test(`posts: ${title} is posted${queued ? ' by the queue' : ''}`, async () => {
      const answer = await bench.call(path, { ...body, number: bench.led, async: queued, track_id: title });
      const { messageid: id } = answer;
      assert.deepEqual([answer['chatid'], answer['messageType'], answer['status']], [bench.led, messageType, queued ? 'Queued' : 'Sent']);
      await bench.storedAs(id, { status: 'Sent', fromMe: true, chatid: bench.led, track_id: title });
      const posted = await bench.onPlatform(bench.led, { id });
      post(posted);
      assert.equal((await bench.stored(id))?.['serverid'], posted.serverId);
      if (!queued) assert.equal(answer['serverid'], posted.serverId);
      await bench.event('newsletter_messages', { messageid: id, serverid: posted.serverId, fromMe: true, wasSentByApi: true });
      assert.equal(bench.told('messages', { messageid: id }).length, 0);
    });

test('posts: a large file is read from the disk, and goes to another host when one refuses it', async () => {
  const large = Buffer.concat([Buffer.from('%PDF-1.4\n'), randomBytes(6 * 1024 * 1024)]);
  for (const kind of ['uploadRefused', 'uploadCut'] as const) {
    await sandbox().fault({ kind, times: 1 });
    const file = Buffer.concat([large, Buffer.from(kind)]);
    const { messageid: id } = await bench.call('/send/media', {
      number: bench.led,
      type: 'document',
      file: file.toString('base64'),
      docName: `${kind}.pdf`,
    });
    assert.equal((await bench.onPlatform(bench.led, { id })).file?.sha256, hashOf(file));
  }
  await sandbox().fault({ kind: 'uploadRefused', times: 2 });
  const other = { type: 'document', file: Buffer.concat([pdf, randomBytes(9)]).toString('base64'), number: bench.led };
  assert.match(String((await bench.call('/send/media', other, 500))['error']), /^Failed to upload media/);
});

test('posts: the list of posts has the newest first, in pages', async () => {
  const { jid } = await sandbox().createChannel({ name: 'Many', owner: contact });
  for (let at = 0; at < 7; at += 1) await sandbox().post(jid, { content: { kind: 'text', text: `post ${at}` } });
  await sandbox().post(jid, { content: { kind: 'image', data: picture.toString('base64'), caption: 'look' } });
  await sandbox().changePost(jid, 106, { action: 'react', by: contact, emoji: '👍' });
  await sandbox().changePost(jid, 106, { action: 'view', by: contact });
  await sandbox().changePost(jid, 105, { action: 'delete' });
  const page = async (body: Json): Promise<readonly Json[]> =>
    (await bench.call('/newsletter/messages', { jid, ...body }))['response'] as readonly Json[];
  const [first, second, third] = await page({ count: 3 });
  const { id, at } = await bench.onPlatform(jid, { serverId: 106 });
  assert.deepEqual(second, {
    serverid: 106,
    messageid: id,
    type: 'text',
    timestamp: new Date(Math.floor(at / 1000) * 1000).toISOString(),
    viewsCount: 1,
    reactionCounts: { '👍': 1 },
    message: { conversation: 'post 6' },
  });
  assert.partialDeepStrictEqual(first, { serverid: 107, type: 'media', message: { imageMessage: { caption: 'look' } } });
  assert.match(JSON.stringify(first?.['message']), /"URL":"https:[^"]*\/m1\//);
  assert.deepEqual([third?.['serverid'], third?.['message']], [105, undefined]);
  assert.deepEqual(
    (await page({ count: 100, beforeid: 102, jid: jid.replace('@newsletter', '') })).map(({ serverid }) => serverid),
    [101, 100],
  );
  assert.deepEqual(
    ((await bench.call('/newsletter/messages', { id: jid, count: 1 }))['response'] as readonly Json[]).map(({ serverid }) => serverid),
    [107],
  );
});

test('posts: views and reactions are counted on the platform, and updates report them', async () => {
  const { serverId, id } = await bench.arrive({ kind: 'text', text: 'react to me' });
  const jid = bench.followed;
  assert.deepEqual(await bench.call('/newsletter/viewed', { jid, serverids: [serverId] }), { response: true });
  assert.deepEqual(await bench.call('/newsletter/reaction', { jid, serverid: serverId, reaction: '🎉' }), { response: true });
  assert.partialDeepStrictEqual(await bench.onPlatform(jid, { serverId }), { views: 1, reactions: { '🎉': 1 } });
  const { response } = await bench.call('/newsletter/updates', { jid, afterid: serverId - 1 });
  assert.partialDeepStrictEqual(response, [{ serverid: serverId, viewsCount: 1, reactionCounts: { '🎉': 1 } }]);
  await bench.storedAs(id, { viewsCount: 1, reactionCounts: { '🎉': 1 } });
  await bench.call('/newsletter/reaction', { jid, serverid: serverId, reaction: '' });
  assert.deepEqual((await bench.onPlatform(jid, { serverId })).reactions, {});
  const later = (await bench.call('/newsletter/updates', { jid, since: Math.floor(Date.now() / 1000) + 60 }))['response'];
  assert.deepEqual(later, []);
});

for (const [title, by] of [
  ['by its id', (post: { readonly id: string }) => ({ messageid: post.id })],
  ['by its number', (post: { readonly serverId: number }) => ({ serverid: post.serverId })],
] as const)
  test(`posts: a post that was written elsewhere is edited and deleted ${title}`, async () => {
    const jid = bench.led;
    const post = await sandbox().post(jid, { content: { kind: 'image', data: picture.toString('base64'), caption: 'typo' } });
    const named = { jid, ...by({ id: post.id, serverId: post.serverId }) };
    const edited = await bench.call('/newsletter/messages/edit', { ...named, text: 'type' });
    const names = { jid, targetmessageid: post.id, targetserverid: post.serverId, messageid: post.id, serverid: post.serverId };
    assert.deepEqual(edited, { response: names });
    const { text, file, edited: isEdited } = await bench.onPlatform(jid, { serverId: post.serverId });
    assert.deepEqual([text, file?.sha256, isEdited], ['type', hashOf(picture), true]);
    await bench.event('newsletter_messages', { messageid: post.id, edited: post.id, text: 'type' });
    await bench.storedAs(post.id, { text: 'type', edited: post.id, fromMe: true });
    assert.deepEqual(await bench.call('/newsletter/messages/delete', named), { response: names });
    assert.equal((await bench.onPlatform(jid, { serverId: post.serverId })).deleted, true);
    await bench.storedAs(post.id, { status: 'Deleted', text: '' });
    await bench.event('messages_update', { MessageIDs: [post.id], chatid: jid });
    await bench.call('/newsletter/messages/edit', { ...named, text: 'again' }, 400);
  });

test('posts: the search for a post reads as many pages as requested', async () => {
  const { jid } = await sandbox().createChannel({ name: 'Search', owner: bench.account.number });
  for (let at = 0; at < 6; at += 1) await sandbox().post(jid, { content: { kind: 'text', text: `post ${at}` } });
  const { id } = await bench.onPlatform(jid, { serverId: 101 });
  // The gateway stores these posts, because the phone wrote them. The id of a post is not found in another channel.
  const elsewhere = { jid: bench.led, messageid: id, text: 'x', count: 2, maxpages: 2 };
  const { error } = await bench.call('/newsletter/messages/edit', elsewhere, 404);
  assert.equal(error, 'newsletter message not found in recent history');
  await bench.call('/newsletter/messages/edit', { jid, messageid: 'NONE', text: 'x', count: 2, maxpages: 10 }, 404);
  await bench.call('/newsletter/messages/delete', { jid, serverid: 999 }, 404);
  await bench.call('/newsletter/messages/edit', { jid, serverid: 101, messageid: 'OTHER', text: 'x' }, 404);
});

test('posts: a subscription gets live updates, which change the stored post', async () => {
  const { serverId, id } = await bench.arrive({ kind: 'text', text: 'watch me' });
  assert.deepEqual(await bench.call('/newsletter/subscribe', { jid: bench.followed }), { response: '5m0s' });
  await sandbox().changePost(bench.followed, serverId, { action: 'react', by: contact, emoji: '🔥' });
  await sandbox().changePost(bench.followed, serverId, { action: 'view', by: contact });
  await bench.storedAs(id, { viewsCount: 1, reactionCounts: { '🔥': 1 } });
  assert.equal(bench.told('newsletter_messages', { messageid: id }).length, 1, 'counts are no events');
});

test('posts: the general calls react to, edit, delete and confirm posts', async () => {
  const jid = bench.led;
  const { messageid: id, serverid: serverId } = await bench.call('/send/text', { number: jid, text: 'mine' });
  const reaction = await bench.call('/message/react', { id, text: '👍' });
  assert.deepEqual([reaction['messageType'], reaction['reaction'], reaction['chatid']], ['ReactionMessage', id, jid]);
  assert.deepEqual((await bench.onPlatform(jid, { id })).reactions, { '👍': 1 });
  await bench.call('/message/react', { id, text: '' });
  assert.deepEqual((await bench.onPlatform(jid, { id })).reactions, {});
  const edited = await bench.call('/message/edit', { id, text: 'better' });
  assert.deepEqual([edited['messageid'], edited['edited'], edited['text'], edited['serverid']], [id, id, 'better', serverId]);
  assert.equal((await bench.onPlatform(jid, { id })).text, 'better');
  await bench.storedAs(id, { text: 'better', edited: id });
  await bench.event('newsletter_messages', { messageid: id, edited: id, text: 'better' });
  assert.match(String((await bench.call('/message/pin', { id }, 400))['error']), /not supported for newsletters/);
  assert.match(
    String((await bench.call('/message/star', { id, star: true }, 400))['error']),
    /only messages of chats with people and groups/,
  );
  await bench.call('/message/presence', { number: jid, presence: 'composing' }, 400);
  await bench.call('/message/delete', { id });
  assert.equal((await bench.onPlatform(jid, { id })).deleted, true);
  await bench.storedAs(id, { status: 'Deleted' });
  const theirs = await bench.arrive({ kind: 'text', text: 'theirs' });
  assert.equal((await bench.call('/message/edit', { id: theirs.id, text: 'x' }, 400))['error'], 'only own messages can be edited');
  const { results } = await bench.call('/message/markread', { id: [theirs.id] });
  assert.partialDeepStrictEqual(results, [{ status: 'success' }]);
  await bench.arrive({ kind: 'text', text: 'unread' });
  await bench.call('/chat/read', { number: bench.followed, read: true });
  const { chats } = await bench.call('/chat/find', { wa_chatid: `=${bench.followed}` });
  assert.partialDeepStrictEqual(chats, [{ wa_unreadCount: 0 }]);
  assert.equal((await bench.onPlatform(bench.followed, { id: theirs.id })).views, 0, 'read is not seen');
  assert.match(String((await bench.call('/message/history-sync', { number: bench.followed }, 400))['error']), /no past of channels/);
  assert.equal((await bench.call('/message/delete', { id: theirs.id }, 500))['provider_code'], 401);
});

test('posts: an arriving post is stored with its channel as the chat, and reported to receivers that name its event', async () => {
  const { id, serverId } = await bench.arrive({ kind: 'image', data: picture.toString('base64'), caption: 'look' });
  const fields = { chatid: bench.followed, fromMe: false, sender: bench.followed, text: 'look', messageType: 'ImageMessage' };
  await bench.storedAs(id, { ...fields, serverid: serverId, viewsCount: 0, reactionCounts: {} });
  await bench.event('newsletter_messages', { messageid: id, serverid: serverId, ...fields });
  const { fileURL } = await bench.call('/message/download', { id });
  const file = Buffer.from(await (await fetch(bench.scene.gateway.address + new URL(String(fileURL)).pathname)).arrayBuffer());
  assert.equal(hashOf(file), hashOf(picture));
  await sandbox().changePost(bench.followed, serverId, { action: 'edit', text: 'see' });
  await bench.event('newsletter_messages', { messageid: id, edited: id, text: 'see' });
  await bench.storedAs(id, { text: 'see', edited: id });
  await sandbox().changePost(bench.followed, serverId, { action: 'edit', text: 'look there' });
  await bench.storedAs(id, { text: 'look there' });
  await sandbox().changePost(bench.followed, serverId, { action: 'delete' });
  await bench.storedAs(id, { status: 'Deleted', text: '' });
  const { chats } = await bench.call('/chat/find', { wa_chatid: `=${bench.followed}` });
  assert.equal((chats as readonly Json[]).length, 1);
});

test('posts: a post that the account writes on its phone is its own', async () => {
  const { id } = await bench.arrive({ kind: 'text', text: 'from my phone' }, bench.led);
  await bench.storedAs(id, { fromMe: true, wasSentByApi: false, status: 'Sent' });
});

test('posts: the events of a webhook with All do not include posts', async (t) => {
  const all = await openReceiver();
  t.after(() => all.close());
  await bench.call('/webhook', { url: all.url, enabled: true, events: ['All'], action: 'add' });
  const { id } = await bench.arrive({ kind: 'text', text: 'who gets me' });
  await bench.event('newsletter_messages', { messageid: id });
  await bench.scene.works(bench.account);
  await until(() => all.posted.some(({ type }) => type === 'messages'), 'a message that All means');
  assert.equal(all.posted.filter(({ type }) => type === 'newsletter_messages').length, 0);
});

test('posts: the gateway sends the platform no unknown request', () => {
  assert.deepEqual(sandbox().stats().unknown, {});
});
