/** Tests the common fields of all sends, for every kind of content and of recipient: placeholders, replies, mentions, the mark, tracking. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import type { Json } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const other = '5511988880002';
const name = 'Ana';

let scene: Scene;
let account: Account;
let group = '';
let lid = '';
/** Messages of the contact in the direct chat and in the group, which the sends quote. */
let asked = { direct: '', group: '' };

const has = async (id: string): Promise<boolean> => {
  const { body } = await account.call('POST', '/message/find', { id });
  return (body['messages'] as readonly unknown[]).length === 1;
};

before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  const { sandbox } = scene.platform;
  ({ lid } = await sandbox.putPerson({ number: contact, name }));
  await sandbox.putPerson({ number: other });
  ({ jid: group } = await sandbox.createGroup({ subject: 'All', creator: contact, participants: [account.number, other] }));
  const [direct, inGroup] = await Promise.all(
    [account.number, group].map((to) => sandbox.send(contact, to, { kind: 'text', text: 'which one?' })),
  );
  asked = { direct: direct?.id ?? '', group: inGroup?.id ?? '' };
  for (const id of Object.values(asked)) await until(() => has(id), 'the question is stored');
});
after(() => scene.close());

const hello = 'Hello {{wa_name}}';
const start = Math.floor(Date.now() / 1000) + 86_400;

/** The bodies by operation. Each has a placeholder in one of its texts. */
const kinds: readonly (readonly [path: string, title: string, fields: Json])[] = [
  ['text', 'a text', { text: hello }],
  ['media', 'a document', { type: 'document', file: Buffer.from('%PDF-1.4 hello').toString('base64'), docName: 'a.pdf', text: hello }],
  ['contact', 'a contact', { fullName: hello, phoneNumber: '5511999999999' }],
  ['location', 'a place', { name: hello, latitude: -23.5616, longitude: -46.6562 }],
  ['menu', 'buttons', { type: 'button', text: hello, choices: ['Yes|y', 'No|n'] }],
  ['menu', 'a list', { type: 'list', text: hello, listButton: 'Open', choices: ['[All]', 'One|1|first'] }],
  ['menu', 'a poll', { type: 'poll', text: hello, choices: ['One', 'Two'], selectableCount: 1 }],
  ['carousel', 'a carousel', { text: hello, carousel: [{ text: 'One', buttons: [{ id: '1', text: 'Take', type: 'REPLY' }] }] }],
  ['location-button', 'a request for the place', { text: hello }],
  ['event', 'an event', { name: hello, startTime: start }],
];

/** The recipients. Only groups accept `all`. */
const recipients: readonly (readonly [what: string, number: () => string, more: Json])[] = [
  ['a contact', () => contact, { mentions: other }],
  ['a LID', () => `${lid}@lid`, { mentions: other }],
  ['a group', () => group, { mentions: 'all' }],
  ['a contact, by the queue', () => contact, { mentions: other, async: true }],
  ['a group, by the queue', () => group, { mentions: 'all', async: true }],
];

/** Returns the first context in a message that has a quote. */
const contextIn = (value: unknown): Json | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  const context = (value as Json)['contextInfo'] as Json | undefined;
  if (context?.['stanzaId'] !== undefined) return context;
  for (const one of Object.values(value)) {
    const found = contextIn(one);
    if (found) return found;
  }
  return undefined;
};

for (const [path, title, fields] of kinds)
  for (const [what, number, more] of recipients)
    test(`common fields: ${title} to ${what} carries all of them`, async () => {
      const inGroup = number() === group;
      const replyid = inGroup ? asked.group : asked.direct;
      const track = { track_source: 'crm', track_id: `${path} ${what}` };
      const body = { number: number(), ...fields, ...more, ...track, replyid, ...(path === 'event' ? {} : { forward: true }) };
      const sent = await account.call('POST', `/send/${path}`, body);
      assert.equal(sent.status, 200, JSON.stringify(sent.body));
      const { messageid, track_source, track_id, quoted } = sent.body;
      assert.deepEqual({ track_source, track_id }, track);
      if (more['async'] === undefined) assert.equal(quoted, replyid);
      const received = await until(() => scene.platform.sandbox.received(contact).find(({ id }) => id === messageid), `${title} arrives`);
      assert.equal(received.hidden, undefined);
      const text = JSON.stringify(received.content);
      assert.ok(!text.includes('{{') && (inGroup || text.includes(`Hello ${name}`)), text);
      const context = contextIn(received.content);
      assert.equal(context?.['stanzaId'], replyid, text);
      if (path !== 'event') assert.equal(context['isForwarded'], true);
      const mentioned = context['mentionedJid'] as readonly string[] | undefined;
      if (inGroup) assert.equal(mentioned?.length, 3, JSON.stringify(mentioned));
      else assert.deepEqual(mentioned, [`${other}@s.whatsapp.net`]);
    });

test('common fields: the gateway sends the platform no unknown request', () =>
  assert.deepEqual(scene.platform.sandbox.stats().unknown, {}));
