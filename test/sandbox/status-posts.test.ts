/** Tests status posts on the simulated platform: the accepted lists of receivers, and the time for which phones show a post. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statusRefusalOf } from '#src/sandbox/status-posts.ts';
import { type Client, eventually, openSandbox, pair, type TestSandbox } from './client.ts';

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;
const own = '5511900000961';
const friend = '5511900000962';

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  client = await pair(sandbox, { number: own });
});
after(() => cleanUp());

const stanza = (jids: readonly string[], attrs: Readonly<Record<string, string>> = {}) => ({
  tag: 'message',
  attrs: { to: 'status@broadcast', ...attrs },
  content: [{ tag: 'participants', attrs: {}, content: jids.map((jid) => ({ tag: 'to', attrs: { jid } })) }],
});

for (const [title, given, refusal] of [
  ['LIDs', stanza(['1@lid', '2:3@lid']), undefined],
  ['a number among LIDs', stanza(['1@lid', '551@s.whatsapp.net']), '479'],
  ['an addressing mode', stanza(['1@lid'], { addressing_mode: 'lid' }), '479'],
  ['a hash of participants', stanza(['1@lid'], { phash: '2:x' }), '479'],
  ['numbers of a group', stanza(['551@s.whatsapp.net'], { to: '1@g.us' }), undefined],
] as const) {
  test(`status posts: a list with ${title} is ${refusal === undefined ? 'taken' : 'refused'}`, () =>
    assert.equal(statusRefusalOf(given), refusal));
}

test('status posts: phones show one for a day', async (t) => {
  const lid = await client.sock.signalRepository.lidMapping.getLIDForPN(`${friend}@s.whatsapp.net`);
  const sent = await client.sock.sendMessage('status@broadcast', { text: 'news' }, { statusJidList: [lid ?? ''] });
  const seen = () => sandbox.sandbox.received(friend).find(({ id }) => id === sent?.key.id);
  const post = await eventually(seen, 'the post');
  assert.equal(post.hidden, undefined);
  t.mock.timers.enable({ apis: ['Date'], now: post.at + 86_400_000 - 1 });
  assert.equal(seen()?.hidden, undefined);
  t.mock.timers.tick(1);
  assert.match(seen()?.hidden ?? '', /a day/);
});
