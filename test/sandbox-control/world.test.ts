/** Tests the control interface with the real world: simulated people among themselves, without a client. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { GroupView, PersonView, ReceivedMessage, Stats } from '#src/sandbox/interface.ts';
import { startSandbox } from '#src/sandbox/server.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'control-world-'));
const running = await startSandbox({ port: 0, dataDir, seed: 7 });
after(async () => {
  await running.stop();
  await rm(dataDir, { recursive: true });
});

const [ana, bruno, carla] = ['5511988880001', '5511988880002', '5511988880003'] as const;

const call = async <T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T & { error?: string } }> => {
  const json: RequestInit = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`http://127.0.0.1:${running.port}${path}`, { method, ...json });
  return { status: response.status, body: (await response.json()) as T & { error?: string } };
};
const write = async (from: string, to: string, content: object): Promise<string> => {
  const { status, body } = await call<{ id: string }>('POST', `/contacts/${from}/messages`, { to, ...content });
  assert.equal(status, 200, String(body.error));
  return body.id;
};
const inbox = async (number: string, query = '') => (await call<ReceivedMessage[]>('GET', `/contacts/${number}/messages${query}`)).body;

const first = await write(ana, bruno, { text: 'hello' });
const poll = await write(ana, bruno, { type: 'poll', name: 'Where to?', options: ['Beach', 'Hills'] });
const picture = 'data:image/png;base64,iVBORw0KGgo=';

/** The next messages of Bruno and Ana, with the kind and text that must arrive. */
const exchanges: readonly (readonly [string, object, RegExp, string])[] = [
  [bruno, { text: 'hi yourself', replyTo: first }, /^extendedTextMessage$/, 'hi yourself'],
  [bruno, { type: 'reaction', messageId: first, emoji: '👍' }, /^reactionMessage$/, '👍'],
  [bruno, { type: 'pollVote', messageId: poll, options: ['Hills'] }, /^pollUpdateMessage/, 'Hills'],
  [ana, { type: 'edit', messageId: first, text: 'hello!' }, /^(protocol|edited)Message$/, 'hello!'],
  [ana, { type: 'delete', messageId: first }, /^protocolMessage$/, ''],
  [ana, { type: 'image', data: picture, caption: 'look' }, /^imageMessage$/, 'look'],
  [ana, { type: 'document', data: picture, fileName: 'a.png', caption: 'file' }, /^document(WithCaption)?Message$/, 'file'],
  [ana, { type: 'ptt', data: 'AAEC', seconds: 1 }, /^audioMessage$/, ''],
  [ana, { type: 'sticker', data: 'AAEC' }, /^stickerMessage$/, ''],
  [ana, { type: 'contact', displayName: 'Zed', vcard: 'BEGIN:VCARD\nEND:VCARD' }, /^contactMessage$/, 'Zed'],
  [ana, { type: 'location', latitude: 1, longitude: 2, name: 'Here' }, /^locationMessage$/, 'Here'],
];

for (const [from, content, kind, text] of exchanges) {
  test(`world: ${JSON.stringify(content)} arrives`, async () => {
    const to = from === ana ? bruno : ana;
    const last = (await inbox(to)).at(-1)?.id;
    const id = await write(from, to, content);
    const arrived = await inbox(to, last === undefined ? '' : `?after=${last}`);
    assert.deepEqual(
      arrived.map((message) => [message.id, message.from, message.text, message.error]),
      [[id, from, text, undefined]],
    );
    assert.match(arrived[0]?.kind ?? '', kind);
  });
}

test('world: writing to a number creates a person, and the phone can be renamed', async () => {
  await call('PUT', `/phones/${ana}`, { name: 'Ana' });
  const { body } = await call<PersonView[]>('GET', '/contacts');
  const named = new Map(body.map(({ number, name }) => [number, name]));
  assert.equal(named.get(ana), 'Ana');
  assert.ok(named.has(bruno));
  assert.deepEqual((await call('GET', '/phones')).body, []);
});

test('world: a group is created, changed by its admin, and written to', async () => {
  const { body: group } = await call<GroupView>('POST', '/groups', { subject: 'Trip', creator: ana, participants: [bruno] });
  const change = (by: string, action: string, fields: object) => call<GroupView>('POST', `/groups/${group.jid}`, { by, action, ...fields });
  assert.deepEqual(
    (await change(ana, 'add', { participants: [carla] })).body.participants.map(({ number }) => number),
    [ana, bruno, carla],
  );
  assert.equal((await change(ana, 'promote', { participants: [bruno] })).body.participants[1]?.admin, 'admin');
  assert.equal((await change(bruno, 'subject', { text: 'Road trip' })).body.subject, 'Road trip');
  assert.equal((await change(ana, 'announce', { on: true })).body.announce, true);
  assert.equal((await change(carla, 'locked', { on: true })).status, 403);
  assert.equal((await change(ana, 'remove', { participants: [carla] })).body.participants.length, 2);
  const id = await write(ana, group.jid, { text: 'all aboard' });
  assert.equal((await inbox(bruno)).find((message) => message.id === id)?.chat, group.jid);
  assert.deepEqual(
    (await call<GroupView[]>('GET', '/groups')).body.map(({ subject }) => subject),
    ['Road trip'],
  );
});

/** Valid requests that fail in this world. */
const refusals: readonly (readonly [string, string, object, number])[] = [
  ['a QR code that no client shows', '/phones/scan', { qr: '2@a,b,c,d' }, 404],
  ['a pairing code that no client shows', '/phones/code', { number: ana, code: 'ABCD1234' }, 404],
  ['a phone that nobody has', '/phones/5511900009999/logout', {}, 404],
  ['a reaction to nothing', `/contacts/${ana}/messages`, { to: bruno, type: 'reaction', messageId: 'NOTHING', emoji: 'x' }, 404],
  ["another one's message is not edited", `/contacts/${bruno}/messages`, { to: ana, type: 'edit', messageId: poll, text: 'x' }, 400],
  ['a group that is not there', `/contacts/${ana}/messages`, { to: '120363000000000001@g.us', text: 'x' }, 404],
  ['typing to nobody', `/contacts/${ana}/presence`, { state: 'composing' }, 400],
  ['a fault of one phone before it can say who it is', '/faults', { kind: 'refuseUpgrade', number: ana }, 400],
];

for (const [title, path, body, status] of refusals) {
  test(`world: ${title}: refused with ${status}`, async () => {
    const answer = await call('POST', path, body);
    assert.equal(answer.status, status, String(answer.body.error));
    assert.ok(answer.body.error);
  });
}

test('world: a fault without a connection waits, and can be cleared', async () => {
  assert.deepEqual((await call('POST', '/faults', { kind: 'refuseUpgrade', code: 503 })).body, { hit: 0 });
  assert.deepEqual((await call('POST', '/faults', { kind: 'refuseUpgrade', times: 0 })).body, { hit: 1 });
});

test('world: the counters contain no unknown request', async () => {
  assert.deepEqual((await call<Stats>('GET', '/stats')).body.unknown, {});
  const { body } = await call<{ noiseRoot: string; mediaAuthority: string }>('GET', '/trust');
  assert.match(body.noiseRoot, /^[0-9a-f]{64}$/);
  assert.match(body.mediaAuthority, /^-----BEGIN CERTIFICATE-----/);
});
