/** Tests sends of every small kind, in every way of sending, as the phones of the receivers decrypt and show them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ReceivedMessage } from '#src/sandbox/interface.ts';
import type { Account } from '#test/support/account.ts';
import { type Json, picked } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
let group = '';
const host = '5511988880002';
/** The start of the event. In Unix seconds. */
const start = 1_900_000_000;

before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  const { sandbox } = scene.platform;
  group = (await sandbox.createGroup({ subject: 'Team', creator: host, participants: [account.number, contact] })).jid;
  const webhook = { url: scene.receiver.url, enabled: true, events: ['messages', 'messages_update'] };
  assert.equal((await account.call('POST', '/webhook', webhook)).status, 200);
  await sandbox.putPerson({ number: contact, name: 'Friend' });
  await scene.stored(account, [await scene.write(account, 'hello')]);
});
after(() => scene.close());

interface Kind {
  readonly call: string;
  readonly body: Json;
  readonly answer: Json;
  /** The name and the expected fields of the content that the phone decrypted. */
  readonly shown: readonly [kind: string, fields: Json];
  /** A further check of the content. */
  readonly also?: (content: Json) => void;
}

const lines = (content: Json): readonly string[] => String(content['vcard']).split('\r\n');

/** The kinds by title. Every text has a placeholder for the contact's name on the platform. */
const kinds: Readonly<Record<string, Kind>> = {
  'a contact card': {
    call: '/send/contact',
    body: {
      fullName: 'Ana; {{wa_name}}',
      phoneNumber: '+55 11 99999-9999,5511888888888',
      organization: 'Shop, {{wa_name}}',
      email: 'ana@example.com',
      url: 'https://example.com/ana',
    },
    answer: { messageType: 'ContactMessage' },
    shown: ['contactMessage', { displayName: 'Ana; NAME' }],
    also: (content) => {
      const all = lines(content);
      for (const line of [
        'BEGIN:VCARD',
        'VERSION:3.0',
        String.raw`FN:Ana\; NAME`,
        String.raw`N:;Ana\; NAME;;;`,
        String.raw`ORG:Shop\, NAME`,
        'TEL;type=CELL;type=VOICE;waid=5511999999999:+5511999999999',
        'TEL;type=CELL;type=VOICE;waid=5511888888888:+5511888888888',
        'EMAIL;TYPE=INTERNET:ana@example.com',
        'URL:https://example.com/ana',
        'END:VCARD',
      ])
        assert.ok(all.includes(line), `${line} in ${all.join(' | ')}`);
    },
  },
  'a location': {
    call: '/send/location',
    body: { latitude: -23.5616, longitude: -46.6562, name: 'MASP {{wa_name}}', address: 'Paulista {{wa_name}}' },
    answer: { messageType: 'LocationMessage' },
    shown: ['locationMessage', { degreesLatitude: -23.5616, degreesLongitude: -46.6562, name: 'MASP NAME', address: 'Paulista NAME' }],
  },
  'an event': {
    call: '/send/event',
    body: {
      name: 'Launch {{wa_name}}',
      description: 'With {{wa_name}}',
      startTime: start * 1000,
      endTime: start + 3600,
      location: { name: 'Here', latitude: 1.5, longitude: 2.5 },
      joinLink: 'https://example.com/join',
      extraGuestsAllowed: true,
      hasReminder: true,
      reminderOffsetSec: 600,
    },
    answer: { messageType: 'EventMessage' },
    shown: [
      'eventMessage',
      {
        name: 'Launch NAME',
        description: 'With NAME',
        startTime: String(start),
        endTime: String(start + 3600),
        joinLink: 'https://example.com/join',
        extraGuestsAllowed: true,
        isCanceled: false,
        hasReminder: true,
        reminderOffsetSec: '600',
        location: { degreesLatitude: 1.5, degreesLongitude: 2.5, name: 'Here' },
      },
    ],
  },
  'an event that is a call': {
    call: '/send/event',
    body: { name: 'Call {{wa_name}}', startTime: start, isScheduleCall: true },
    answer: { messageType: 'EventMessage' },
    shown: ['eventMessage', { name: 'Call NAME', isScheduleCall: true }],
    also: ({ joinLink }) => assert.match(String(joinLink), /^https:\/\/call\.whatsapp\.com\/video\/\w+/),
  },
  'a group invite': {
    call: '/send/group-invite',
    body: {
      groupjid: 'GROUP',
      code: 'https://chat.whatsapp.com/AbCdEfGhIjKlMnOp',
      expiration: new Date(start * 1000).toISOString(),
      text: 'Come {{wa_name}}',
    },
    answer: { messageType: 'GroupInviteMessage' },
    shown: [
      'groupInviteMessage',
      { groupJid: 'GROUP', inviteCode: 'AbCdEfGhIjKlMnOp', inviteExpiration: String(start), groupName: 'Team', caption: 'Come NAME' },
    ],
  },
};

interface Way {
  readonly number: () => string;
  /** The value of the placeholder. Groups have no name of their own on the platform. */
  readonly name: string;
  readonly more?: () => Promise<Json>;
  readonly status: string;
  /** The expected context of the content. */
  readonly context?: (more: Json) => Json;
}

const ways: Readonly<Record<string, Way>> = {
  'to a contact': { number: () => contact, name: 'Friend', status: 'Sent' },
  'to a group': { number: () => group, name: '', status: 'Sent' },
  asynchronously: { number: () => contact, name: 'Friend', more: async () => ({ async: true, track_id: 'order 7' }), status: 'Queued' },
  'as an answer that mentions somebody': {
    number: () => contact,
    name: 'Friend',
    more: async () => {
      const id = await scene.write(account, 'which one?');
      await scene.stored(account, [id]);
      return { replyid: id, mentions: host, forward: true };
    },
    status: 'Sent',
    context: ({ replyid }) => ({ stanzaId: replyid, mentionedJid: [`${host}@s.whatsapp.net`], isForwarded: true }),
  },
};

const filledIn = (value: Json, name: string): Json =>
  JSON.parse(JSON.stringify(value).replaceAll('NAME', name).replaceAll('GROUP', group)) as Json;

const arrival = (id: unknown, number = contact): Promise<ReceivedMessage> =>
  until(() => scene.platform.sandbox.received(number).find((one) => one.id === id), `the arrival of ${String(id)}`);

for (const [title, { call, body, answer, shown, also }] of Object.entries(kinds)) {
  for (const [how, { number, name, more, status, context }] of Object.entries(ways)) {
    test(`sends: ${title} ${how}`, async () => {
      const further = (await more?.()) ?? {};
      const sent = await account.call('POST', call, { number: number(), ...filledIn(body, name), ...further });
      assert.equal(sent.status, 200, JSON.stringify(sent.body));
      const wanted = { ...answer, status, fromMe: true, wasSentByApi: true };
      assert.deepEqual(picked(sent.body, wanted), wanted);
      const received = await arrival(sent.body['messageid']);
      assert.deepEqual([received.kind, received.hidden], [shown[0], undefined]);
      const content = (received.content as Readonly<Record<string, Json>>)[shown[0]] ?? {};
      const fields = filledIn(shown[1], name);
      assert.deepEqual(picked(content, fields), fields);
      if (how !== 'to a group') also?.(JSON.parse(JSON.stringify(content).replaceAll(name, 'NAME')) as Json);
      const said = context?.(further) ?? {};
      assert.deepEqual(picked(content['contextInfo'] as Json, said), said);
    });
  }
}

test('events: answers of people arrive as messages, and a cancelled event changes on their phones', async () => {
  const { sandbox } = scene.platform;
  for (const place of [contact, group]) {
    const sent = await account.call('POST', '/send/event', { number: place, name: 'Party', startTime: start });
    const id = String(sent.body['messageid']);
    await arrival(id);
    const to = place === contact ? account.number : group;
    const answered = await sandbox.send(contact, to, { kind: 'eventAnswer', messageId: id, answer: 'notGoing', extraGuests: 2 });
    const told = await until(
      () => scene.receiver.posted.map(({ body }) => body['message'] as Json | undefined).find((one) => one?.['messageid'] === answered.id),
      'the answer',
    );
    const { type, vote, quoted, content } = told;
    assert.deepEqual([type, vote, quoted], ['event', 'NOT_GOING', id]);
    assert.equal((content as Json)['extraGuestCount'], 2);

    const off = await account.call('POST', '/send/event', {
      number: place,
      name: 'Party',
      startTime: start,
      isCanceled: true,
      replyid: id,
    });
    assert.equal(off.status, 200, JSON.stringify(off.body));
    assert.deepEqual([off.body['messageType'], off.body['edited'], off.body['quoted']], ['EventMessage', id, '']);
    const { opened, hidden, kind } = await arrival(off.body['messageid']);
    assert.deepEqual([kind, hidden], ['secretEncryptedMessage', undefined]);
    const { isCanceled, name } = (opened as Readonly<Record<string, Json>>)['eventMessage'] ?? {};
    assert.deepEqual([isCanceled, name], [true, 'Party']);
  }
});

test('events: an event from another person arrives, and arrives again after a change', async () => {
  const { sandbox } = scene.platform;
  for (const addressing of ['pn', 'lid'] as const) {
    const { id } = await sandbox.send(contact, account.number, { kind: 'event', name: 'Dinner', startTime: start }, { addressing });
    await scene.stored(account, [id]);
    const edit = await sandbox.send(contact, account.number, { kind: 'eventEdit', messageId: id, isCanceled: true }, { addressing });
    await scene.stored(account, [edit.id]);
    const { body } = await account.call('POST', '/message/find', { id: edit.id });
    const [found] = body['messages'] as readonly Json[];
    assert.deepEqual([found?.['messageType'], found?.['edited'], found?.['text']], ['EventMessage', id, 'Dinner']);
    assert.equal((found?.['content'] as Json | undefined)?.['isCanceled'], true);
  }
});

const badInput: readonly (readonly [title: string, call: string, body: Json, error: RegExp])[] = [
  ['a contact without a name', '/send/contact', { phoneNumber: '5511999999999' }, /^Missing required fields$/],
  ['a contact with a word for a number', '/send/contact', { fullName: 'Ana', phoneNumber: 'call me' }, /phoneNumber/],
  ['a contact with a line break in it', '/send/contact', { fullName: 'Ana\r\nTEL:1', phoneNumber: '5511999999999' }, /one line/],
  ['a contact with a false address', '/send/contact', { fullName: 'Ana', phoneNumber: '5511999999999', email: 'ana' }, /email/],
  [
    'a contact with a script for a link',
    '/send/contact',
    { fullName: 'Ana', phoneNumber: '5511999999999', url: 'javascript:alert(1)' },
    /url/,
  ],
  ['a location without a longitude', '/send/location', { latitude: 1 }, /^Invalid coordinates or missing number$/],
  ['a location at zero degrees', '/send/location', { latitude: 0, longitude: 0 }, /^Invalid coordinates$/],
  ['a location beyond the pole', '/send/location', { latitude: 91, longitude: 0 }, /^Invalid coordinates$/],
  ['an event without a start', '/send/event', { name: 'Launch' }, /startTime is required/],
  ['an event that ends before it starts', '/send/event', { name: 'Launch', startTime: start, endTime: start - 1 }, /endTime/],
  ['an event with a long name', '/send/event', { name: 'x'.repeat(101), startTime: start }, /name has at most 100/],
  ['an event with a link over HTTP', '/send/event', { name: 'x', startTime: start, joinLink: 'http://example.com' }, /HTTPS/],
  ['an event with half a location', '/send/event', { name: 'x', startTime: start, location: { latitude: 1 } }, /latitude and longitude/],
  ['the end of an unknown event', '/send/event', { name: 'x', startTime: start, isCanceled: true, replyid: 'NOTHING' }, /unknown/],
  ['an invitation that is over', '/send/group-invite', { groupjid: '1@g.us', code: 'AbCdEfGhIjK', expiration: 1 }, /expired/],
  ['an invitation without a time', '/send/group-invite', { groupjid: '1@g.us', code: 'AbCdEfGhIjK', expiration: 'soon' }, /RFC 3339/],
  ['an invitation to a person', '/send/group-invite', { groupjid: '551@c.us', code: 'AbCdEfGhIjK', expiration: start }, /groupjid/],
];

for (const [title, call, body, error] of badInput) {
  test(`sends: ${title} is refused`, async () => {
    const answer = await account.call('POST', call, { number: contact, ...body });
    assert.equal(answer.status, 400, JSON.stringify(answer.body));
    assert.match(String(answer.body['error']), error);
  });
}

test('sends: a text that becomes too long by its placeholders is refused', async () => {
  await scene.platform.sandbox.putPerson({ number: contact, name: 'x'.repeat(60) });
  await scene.stored(account, [await scene.write(account, 'my new name')]);
  const name = '{{wa_name}} and {{wa_name}}';
  const answer = await account.call('POST', '/send/event', { number: contact, name, startTime: start });
  assert.deepEqual([answer.status, answer.body['error']], [400, 'name has at most 100 characters']);
});

test('sends: the gateway sends the platform no unknown request', () => assert.deepEqual(scene.platform.sandbox.stats().unknown, {}));
