/** Tests every route with correct input: its answer, and its call to the simulated world. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import QRCode from 'qrcode';
import { serve } from './serve.ts';

const { sandbox, call } = await serve({ after });
const account = '5511900000001';
const ana = '5511988880001';
const bruno = '5511988880002';
const qr = '2@AbC+/=,dGVzdA==,dGVzdA==,dGVzdA==';
await call('POST', '/phones/scan', { qr, number: account, name: 'Support' });
const { body: group } = (await call('POST', '/groups', { subject: 'Trip', creator: ana, participants: [account] })) as {
  body: { jid: string };
};

const { body: channel } = (await call('POST', '/channels', { name: 'News', owner: ana })) as { body: { jid: string } };

/** Title, method, path, body, and the expected call to the world (undefined: none). */
const routes: readonly (readonly [string, string, string, unknown, readonly unknown[] | undefined])[] = [
  ['a QR text is scanned', 'POST', '/phones/scan', { qr, number: account, name: 'S' }, ['scan', { qr, number: account, name: 'S' }]],
  [
    'a phone has a past',
    'POST',
    '/phones/scan',
    { qr, history: { chats: 2, messages: 3 } },
    ['scan', { qr, history: { chats: 2, messages: 3 } }],
  ],
  ['a QR text is enough', 'POST', '/phones/scan', { qr }, ['scan', { qr }]],
  ['a QR picture is scanned', 'POST', '/phones/scan', { qrcode: await QRCode.toDataURL(qr) }, ['scan', { qr }]],
  [
    'a pairing code is typed',
    'POST',
    '/phones/code',
    { number: ana, code: 'abcd-1234' },
    ['enterCode', { number: ana, code: 'abcd-1234' }],
  ],
  ['a phone is logged out', 'POST', `/phones/${account}/logout`, undefined, ['logout', account]],
  ['a person is named', 'PUT', `/phones/${ana}`, { name: 'Ana' }, ['putPerson', { number: ana, name: 'Ana' }]],
  ['a person stops confirming', 'PUT', `/phones/${ana}`, { autoDeliver: false }, ['putPerson', { number: ana, autoDeliver: false }]],
  ['a person is made without a body', 'PUT', `/phones/${bruno}`, undefined, ['putPerson', { number: bruno }]],
  [
    'an account is restricted',
    'PUT',
    `/phones/${account}/restrictions`,
    { timeLock: { active: true, until: 5 } },
    ['restrict', account, { timeLock: { active: true, until: 5 } }],
  ],
  ['old clients are refused', 'PUT', '/versions', { connect: '2.3000.1' }, ['requireVersion', { connect: '2.3000.1' }]],
  ['phones are listed', 'GET', '/phones', undefined, undefined],
  ['contacts are listed', 'GET', '/contacts', undefined, undefined],
  ['groups are listed', 'GET', '/groups', undefined, undefined],
  ['channels are listed', 'GET', '/channels', undefined, undefined],
  ['a channel is looked at', 'GET', `/channels/${channel.jid}`, undefined, undefined],
  ['messages are listed', 'GET', `/contacts/${ana}/messages?limit=5`, undefined, undefined],
  ['sent messages are listed', 'GET', `/contacts/${ana}/sent`, undefined, undefined],
  ['a chat is shown', 'GET', `/contacts/${ana}/shown?chat=5511900000009`, undefined, undefined],
  [
    'all of a chat is confirmed',
    'POST',
    `/contacts/${ana}/receipts`,
    { type: 'read', chat: 'c' },
    ['receipt', ana, { type: 'read', chat: 'c' }],
  ],
  [
    'one message is confirmed',
    'POST',
    `/contacts/${ana}/receipts`,
    { type: 'played', ids: ['A'] },
    ['receipt', ana, { type: 'played', ids: ['A'] }],
  ],
  [
    'a phone asks for a message again',
    'POST',
    `/contacts/${ana}/retries`,
    { of: account, messageId: 'A' },
    ['askAgain', ana, account, 'A', undefined],
  ],
  ['an account gets a passkey', 'POST', `/phones/${account}/passkey`, {}, ['givePasskey', account, {}]],
  ['a passkey is shown', 'GET', `/phones/${account}/passkey`, undefined, undefined],
  ['a passkey is taken away', 'DELETE', `/phones/${account}/passkey`, undefined, ['takePasskey', account]],
  ['a real authenticator asks what to make', 'POST', `/phones/${account}/passkey/registration`, {}, undefined],
  [
    'the browser of the owner signs',
    'POST',
    `/phones/${account}/passkey/assertion`,
    { options: { challenge: 'AAAA' } },
    ['signWithPasskey', account, { challenge: 'AAAA' }, undefined],
  ],
  [
    'a person types',
    'POST',
    `/contacts/${ana}/presence`,
    { state: 'composing', to: account },
    ['presence', ana, { state: 'composing', to: account }],
  ],
  [
    'a phone has calls and status posts behind it',
    'POST',
    '/phones/scan',
    { qr, history: { chats: 0, messages: 0, calls: 1, statuses: 2 } },
    ['scan', { qr, history: { chats: 0, messages: 0, calls: 1, statuses: 2 } }],
  ],
  [
    'a chat is labelled',
    'POST',
    `/phones/${account}/settings`,
    { kind: 'chatLabel', labelId: '7', chat: ana, on: true },
    ['change', account, { kind: 'chatLabel', labelId: '7', chat: ana, on: true }],
  ],
  [
    'a contact is taken out of the address book',
    'POST',
    `/phones/${account}/settings`,
    { kind: 'contact', number: ana },
    ['change', account, { kind: 'contact', number: ana }],
  ],
  [
    'a person calls',
    'POST',
    `/contacts/${ana}/calls`,
    { to: account, step: 'offer', video: true },
    ['call', ana, account, { step: 'offer', video: true }],
  ],
  [
    'a channel posts',
    'POST',
    '/channels/120363000000000001@newsletter/posts',
    { type: 'text', text: 'News', by: ana },
    ['post', '120363000000000001@newsletter', { by: ana, content: { kind: 'text', text: 'News' } }],
  ],
  ['posts are listed', 'GET', '/channels/120363000000000001@newsletter/posts?before=120&limit=5', undefined, undefined],
  [
    'somebody reacts to a post',
    'POST',
    '/channels/120363000000000001@newsletter/posts/100',
    { action: 'react', by: ana, emoji: '👍' },
    ['changePost', '120363000000000001@newsletter', 100, { action: 'react', by: ana, emoji: '👍' }],
  ],
  [
    'a post is edited by the owner',
    'POST',
    '/channels/120363000000000001@newsletter/posts/100',
    { action: 'edit', text: 'new' },
    ['changePost', '120363000000000001@newsletter', 100, { action: 'edit', text: 'new' }],
  ],
  [
    'any message of the protocol is sent',
    'POST',
    `/contacts/${ana}/messages`,
    { type: 'message', to: account, message: { conversation: 'Hi' } },
    ['send', ana, account, { kind: 'message', message: { conversation: 'Hi' } }, {}],
  ],
  [
    'messages of a group disappear',
    'POST',
    `/groups/${group.jid}`,
    { action: 'ephemeral', by: ana, seconds: 60 },
    ['updateGroup', group.jid, ana, { action: 'ephemeral', seconds: 60 }],
  ],
  [
    'a group is made',
    'POST',
    '/groups',
    { subject: 'T', creator: ana, participants: [bruno] },
    ['createGroup', { subject: 'T', creator: ana, participants: [bruno] }],
  ],
  [
    'one participant needs no list',
    'POST',
    `/groups/${group.jid}`,
    { by: ana, action: 'add', participants: bruno },
    ['updateGroup', group.jid, ana, { action: 'add', participants: [bruno] }],
  ],
  [
    'a description may be empty',
    'POST',
    `/groups/${group.jid}`,
    { by: ana, action: 'description', text: '' },
    ['updateGroup', group.jid, ana, { action: 'description', text: '' }],
  ],
  [
    'a group is locked',
    'POST',
    `/groups/${group.jid}`,
    { by: ana, action: 'locked', on: true },
    ['updateGroup', group.jid, ana, { action: 'locked', on: true }],
  ],
  [
    'a channel is made',
    'POST',
    '/channels',
    { name: 'N', owner: ana, description: 'about' },
    ['createChannel', { name: 'N', owner: ana, description: 'about' }],
  ],
  [
    'a person follows a channel',
    'POST',
    `/channels/${channel.jid}`,
    { by: bruno, action: 'follow' },
    ['changeChannel', channel.jid, bruno, { action: 'follow' }],
  ],
  [
    'a channel gets a picture',
    'POST',
    `/channels/${channel.jid}`,
    { by: ana, action: 'picture', data: 'data:image/png;base64,AAEC' },
    ['changeChannel', channel.jid, ana, { action: 'picture', data: 'AAEC' }],
  ],
  [
    'an owner invites an admin',
    'POST',
    `/channels/${channel.jid}`,
    { by: ana, action: 'inviteAdmin', who: bruno },
    ['changeChannel', channel.jid, ana, { action: 'inviteAdmin', who: bruno }],
  ],
  [
    'the platform suspends a channel',
    'POST',
    `/channels/${channel.jid}/facts`,
    { state: 'SUSPENDED', handle: null },
    ['setChannelFacts', channel.jid, { state: 'SUSPENDED', handle: null }],
  ],
  ['a fault hits everybody', 'POST', '/faults', { kind: 'close' }, ['fault', { kind: 'close' }]],
  [
    'a fault has its fields',
    'POST',
    '/faults',
    { kind: 'loginFailure', number: account, code: 403, times: 2 },
    ['fault', { kind: 'loginFailure', number: account, code: 403, times: 2 }],
  ],
  [
    'a person follows the link of a group',
    'POST',
    `/contacts/${ana}/groups`,
    { code: 'AbCdEfGhIjKlMnOp' },
    ['joinGroup', ana, 'AbCdEfGhIjKlMnOp'],
  ],
  [
    'an account is changed',
    'PUT',
    `/phones/${account}/account`,
    { about: 'busy', privacy: { last: 'none' }, blocked: [ana], picture: '' },
    ['changeAccount', account, { about: 'busy', privacy: { last: 'none' }, blocked: [ana], picture: '' }],
  ],
  ['an account is read', 'GET', `/phones/${account}/account`, undefined, undefined],
  ['calls are read', 'GET', '/calls', undefined, undefined],
  ['shared settings are read', 'GET', `/phones/${account}/settings`, undefined, undefined],
  ['counters are read', 'GET', '/stats', undefined, undefined],
  ['trust is read', 'GET', '/trust', undefined, undefined],
  ['health is read', 'GET', '/health', undefined, undefined],
];

for (const [title, method, path, body, expected] of routes) {
  test(`control: ${title}`, async () => {
    const before = sandbox.calls.length;
    const answer = await call(method, path, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual(sandbox.calls.slice(before), expected === undefined ? [] : [expected]);
  });
}

const media = { data: 'AAEC', mimetype: 'image/png', caption: 'c', fileName: 'f.png', seconds: 3 };
/** Bodies of a message, and the content that the world receives. */
const contents: readonly (readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>])[] = [
  [{ text: 'hi' }, { kind: 'text', text: 'hi' }],
  [
    { type: 'text', text: 'hi', replyTo: 'A', mentions: [bruno], forwarded: true },
    { kind: 'text', text: 'hi', replyTo: 'A', mentions: [bruno], forwarded: true },
  ],
  ...['image', 'video', 'gif', 'audio', 'ptt', 'document', 'sticker'].map(
    (type) =>
      [
        { type, ...media },
        { kind: type, ...media },
      ] as const,
  ),
  [
    { type: 'image', data: 'data:image/webp;base64,AAEC' },
    { kind: 'image', data: 'AAEC', mimetype: 'image/webp' },
  ],
  [
    { type: 'image', data: 'data:;base64,AAEC' },
    { kind: 'image', data: 'AAEC' },
  ],
  [
    { type: 'audio', data: 'data:audio/ogg;codecs=opus;base64,AAEC', mimetype: 'x/y' },
    { kind: 'audio', data: 'AAEC', mimetype: 'x/y' },
  ],
  [
    { type: 'reaction', messageId: 'A', emoji: '👍' },
    { kind: 'reaction', messageId: 'A', emoji: '👍' },
  ],
  [
    { type: 'reaction', messageId: 'A', emoji: '' },
    { kind: 'reaction', messageId: 'A', emoji: '' },
  ],
  [
    { type: 'edit', messageId: 'A', text: 'b' },
    { kind: 'edit', messageId: 'A', text: 'b' },
  ],
  [
    { type: 'delete', messageId: 'A' },
    { kind: 'delete', messageId: 'A' },
  ],
  [
    { type: 'poll', name: 'q', options: ['a', 'b'], selectable: 1 },
    { kind: 'poll', name: 'q', options: ['a', 'b'], selectable: 1 },
  ],
  [
    { type: 'pollVote', messageId: 'A', options: [] },
    { kind: 'pollVote', messageId: 'A', options: [] },
  ],
  [
    { type: 'contact', displayName: 'B', vcard: 'BEGIN:VCARD' },
    { kind: 'contact', displayName: 'B', vcard: 'BEGIN:VCARD' },
  ],
  [
    { type: 'location', latitude: -23.5, longitude: 0, name: 'x' },
    { kind: 'location', latitude: -23.5, longitude: 0, name: 'x' },
  ],
  [
    { text: 'hi', stranger: 1, kind: 'poll' },
    { kind: 'text', text: 'hi' },
  ],
];

for (const [body, content] of contents) {
  test(`control: a message ${JSON.stringify(body)} is sent with its content`, async () => {
    const answer = await call('POST', `/contacts/${ana}/messages`, { to: account, ...body });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual(sandbox.calls.at(-1), ['send', ana, account, content, {}]);
    assert.match((answer.body as { id: string }).id, /^3EB0/);
  });
}

test('control: a message can go to a group, and can carry the LID of the sender', async () => {
  await call('POST', `/contacts/${ana}/messages`, { to: group.jid, text: 'hi', addressing: 'lid' });
  assert.deepEqual(sandbox.calls.at(-1), ['send', ana, group.jid, { kind: 'text', text: 'hi' }, { addressing: 'lid' }]);
});

test('control: people with linked devices are listed as phones, all others as contacts', async () => {
  await call('POST', '/phones/scan', { qr, number: account });
  const numbers = async (path: string) => ((await call('GET', path)).body as { number: string }[]).map(({ number }) => number);
  assert.ok((await numbers('/phones')).includes(account));
  assert.ok(!(await numbers('/contacts')).includes(account));
  assert.ok((await numbers('/contacts')).includes(bruno));
});

test('control: received messages are paged by the id of the last known message', async () => {
  const message = {
    chat: 'c',
    from: account,
    pushName: '',
    at: 1,
    envelope: 'msg',
    kind: 'conversation',
    text: 't',
    content: { bytes: 'AA==' },
  } as const;
  for (const id of ['A', 'B', 'C']) sandbox.deliver(bruno, { ...message, id });
  const ids = async (query: string) =>
    ((await call('GET', `/contacts/${bruno}/messages${query}`)).body as { id: string }[]).map(({ id }) => id).join('');
  assert.equal(await ids(''), 'ABC');
  assert.equal(await ids('?limit=2'), 'AB');
  assert.equal(await ids('?after=A'), 'BC');
  assert.equal(await ids('?after=A&limit=1'), 'B');
  assert.equal(await ids('?after=C'), '');
  const { body } = await call('GET', `/contacts/${bruno}/messages?limit=1`);
  assert.deepEqual(body, [{ ...message, id: 'A' }]);
});

test('control: the OpenAPI document describes every route, and its page is served', async () => {
  const { body } = (await call('GET', '/openapi.json')) as { body: { openapi: string; paths: Record<string, object> } };
  assert.match(body.openapi, /^3\./);
  const described = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const called = routes.map(
    ([, method, path]) =>
      `${method} ${path
        .split('?')[0]
        ?.replace(/\/\d{5,}(@g\.us|@newsletter)?(?=\/|$)/, (_all, jid) => (jid ? '/{jid}' : '/{number}'))
        .replace(/posts\/\d+/, 'posts/{serverId}')}`,
  );
  const elsewhere = ['POST /contacts/{number}/messages', 'GET /events', 'POST /communities', 'POST /communities/{jid}'];
  const ofBusinesses = ['GET', 'PUT', 'POST /products', 'PUT /products/{id}', 'DELETE /products/{id}', 'POST /collections'].map((one) => {
    const [method, path = ''] = one.split(' ');
    return `${method} /businesses/{number}${path}`;
  });
  const expected = new Set([...called, ...elsewhere, ...ofBusinesses]);
  assert.deepEqual(described.toSorted(), [...expected].toSorted());
  const docs = await call('GET', '/docs/');
  assert.equal(docs.status, 200);
  assert.doesNotMatch(String(docs.headers['content-security-policy']), /https?:|unsafe-eval/);
});
