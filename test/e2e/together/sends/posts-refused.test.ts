/** Tests refused posts of channels: unsupported kinds, invalid requests, and missing rights. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, postBench } from '#test/support/post-bench.ts';
import { contact } from '#test/support/scene.ts';

const bench = postBench();
const sandbox = () => bench.scene.platform.sandbox;
const unknown = '120363000000000001@newsletter';
// A picture that is never read, because the sends with it are refused earlier.
const picture = Buffer.from('picture').toString('base64');

const sentence = /^channels take texts, polls and media \(image, video, /;
const coordinates = { latitude: -23.5, longitude: -46.6 };
const buttons = { type: 'button', text: 'Choose', choices: ['a', 'b'] };
const refused: readonly (readonly [title: string, path: string, body: Json, says: RegExp])[] = [
  ['a contact', '/send/contact', { fullName: 'Eva', phoneNumber: '5511977770001' }, sentence],
  ['a location', '/send/location', coordinates, sentence],
  ['buttons', '/send/menu', buttons, sentence],
  ['a round video', '/send/media', { type: 'ptv', file: picture }, sentence],
  ['a picture to be viewed once', '/send/media', { type: 'image', file: picture, viewOnce: true }, /^viewOnce is not possible/],
  ['a reply', '/send/text', { text: 'x', replyid: '3EB0' }, /^replyid is not possible/],
  ['mentions', '/send/text', { text: 'x', mentions: contact }, /^mentions are not possible/],
];
for (const [title, path, body, says] of refused)
  for (const queued of [false, true])
    test(`posts: ${title} is refused at once${queued ? ', queued too' : ''}`, async () => {
      const before = await bench.newest(bench.led);
      const { error } = await bench.call(path, { ...body, number: bench.led, async: queued }, 400);
      assert.match(String(error), says);
      assert.equal(await bench.newest(bench.led), before);
    });

test('posts: a channel in which the account may not post refuses it, and the message is Failed', async () => {
  const answer = await bench.call('/send/text', { number: bench.followed, text: 'me too', track_id: 'not mine' }, 403);
  assert.equal(answer['error'], 'the account is no admin of this channel');
  const { messages } = await bench.call('/message/find', { track_id: 'not mine' });
  assert.partialDeepStrictEqual(messages, [{ status: 'Failed' }]);
  assert.equal((await bench.call('/send/text', { number: unknown, text: 'x' }, 404))['error'], 'Channel not found');
});

const serverids = [100];
/** Path, body without the channel, and the text of the 400. */
const invalid: readonly (readonly [path: string, body: Json, says: RegExp])[] = [
  ['messages', { count: 0 }, /^count must be at least 1$/],
  ['messages', { count: 301 }, /^count must be at most 300$/],
  ['updates', { count: 301 }, /^count must be at most 300$/],
  ['messages', { beforeid: 'x' }, /^beforeid must be a whole number$/],
  ['messages/edit', { serverid: 100 }, /^text is required$/],
  ['messages/edit', { text: 'x' }, /^messageid or serverid is required$/],
  ['messages/edit', { text: 7, serverid: 100 }, /^text must be a text$/],
  ['messages/delete', {}, /^messageid or serverid is required$/],
  ['updates', { since: -1 }, /^since must be at least 0$/],
  ['viewed', {}, /^serverids is required$/],
  ['viewed', { serverids: [] }, /^serverids is required$/],
  ['viewed', { serverids: 'all' }, /^serverids/],
  ['reaction', {}, /^serverid is required$/],
  ['reaction', { serverid: 100, reaction: ['x'] }, /^reaction must be a text$/],
  ['reaction', { serverid: 100, reactionmessageid: 'a b' }, /^reactionmessageid is not valid$/],
];
for (const [path, body, says] of invalid)
  test(`posts: ${path} refuses ${JSON.stringify(body)}`, async () => {
    const { error } = await bench.call(`/newsletter/${path}`, { jid: bench.led, ...body }, 400);
    assert.match(String(error), says);
  });

/** Valid bodies, by path. */
const bodies: Readonly<Record<string, Json>> = {
  messages: {},
  'messages/edit': { serverid: 100, text: 'x' },
  'messages/delete': { serverid: 100 },
  updates: {},
  viewed: { serverids },
  reaction: { serverid: 100, reaction: '👍' },
  subscribe: {},
};
for (const [path, body] of Object.entries(bodies)) {
  test(`posts: ${path} needs a channel, a token and a connection`, async () => {
    for (const jid of [undefined, 'x', '1@g.us', '5511999999999@s.whatsapp.net'])
      assert.equal(
        (await bench.call(`/newsletter/${path}`, { ...body, ...(jid === undefined ? {} : { jid }) }, 400))['error'],
        'invalid newsletter id',
      );
    const strange = await bench.scene.gateway.call('POST', `/newsletter/${path}`, { token: 'wrong', body: { jid: bench.led, ...body } });
    assert.equal(strange.status, 401);
    const idle = await bench.scene.create();
    assert.equal((await idle.call('POST', `/newsletter/${path}`, { jid: bench.led, ...body })).status, 409);
  });
  test(`posts: ${path} is refused for a channel that does not exist`, async () => {
    const status = path === 'viewed' ? 200 : 404;
    await bench.call(`/newsletter/${path}`, { jid: unknown, ...body }, status);
  });
}

test('posts: a refusal of the platform is returned with its reason', async () => {
  const { serverId } = await bench.arrive({ kind: 'text', text: 'not yours' });
  const named = { jid: bench.followed, serverid: serverId };
  await bench.call('/newsletter/messages/edit', { ...named, text: 'x' }, 403);
  await bench.call('/newsletter/messages/delete', named, 403);
  await sandbox().changeChannel(bench.followed, contact, { action: 'reactions', value: 'NONE' });
  await bench.call('/newsletter/reaction', { ...named, reaction: '👍' }, 403);
  await sandbox().fault({ kind: 'refuseQuery', number: bench.account.number, query: 'newsletter/', code: 429, times: 1 });
  assert.equal((await bench.call('/newsletter/messages', { jid: bench.followed }, 500))['provider_code'], 429);
});

test('posts: the gateway sends the platform no unknown request', () => {
  assert.deepEqual(sandbox().stats().unknown, {});
});
