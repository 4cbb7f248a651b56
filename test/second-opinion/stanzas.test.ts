/** Tests the strict listener. It accepts the stanzas of gateway and simulated platform, and refuses each stanza below with a wrong part. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type BinaryNode, decodeBinaryNode } from '@whiskeysockets/baileys';
import { type Bench, connected, type Instance, startBench } from '#test/platform/setup.ts';
import { until } from '#test/support/until.ts';
import { child, childrenOf, FormError } from './form.ts';
import { groupChangeElement } from '#src/platform/operations/requests.ts';
import { type Side, StanzaPeer } from './stanza-peer.ts';

const own = '5511900000921';
const friend = '5511900000922';
const peer = new StanzaPeer();
const heard: { readonly from: Side; readonly encoded: Buffer }[] = [];
let all: readonly { readonly from: Side; readonly node: BinaryNode }[] = [];
let bench: Bench;
let instance: Instance;

const control = () => ({ signal: new AbortController().signal, deadline: Date.now() + 60_000 });
const writes = async (number: string, text: string): Promise<void> => {
  const send = { number, replyTo: '', mentions: [], forward: false, content: { kind: 'text' as const, text, preview: null } };
  const composed = await instance.link.perform({ name: 'message.compose', input: { send, draft: null } }, control());
  assert.ok(composed.ok);
  assert.ok((await instance.link.perform({ name: 'message.transmit', input: { message: composed.value } }, control())).ok);
  await until(() => bench.running.sandbox.received(friend).some((one) => one.text === text), text);
};

/** Runs a conversation with all stanzas of the table about devices and keys. */
before(async () => {
  bench = await startBench((from, stanza) => {
    const encoded = Buffer.from(stanza);
    heard.push({ from, encoded });
    peer.hear(from, encoded);
  });
  const { sandbox } = bench.running;
  await sandbox.putPerson({ number: friend, name: 'Friend' });
  instance = await connected(bench, own);
  const { lid } = sandbox.people().find(({ number }) => number === friend) ?? {};
  // The chat is addressed by LID from the first message on, as after a lookup of the gateway.
  await sandbox.send(friend, own, { kind: 'text', text: 'hello' });
  await instance.message(({ text }) => text === 'hello');
  await writes(`${lid}@lid`, 'first');
  await sandbox.fault({ kind: 'silentDevices', number: friend });
  await connected(bench, friend);
  await writes(friend, 'with a stale list');
  await writes(friend, 'with the new list');
  await sandbox.logout(friend);
  await connected(bench, friend);
  await writes(friend, 'to the next device');
  await sandbox.fault({ kind: 'keysUsedUp', number: own });
  await sandbox.send('5511900000923', own, { kind: 'text', text: 'uses up a key' });
  await sandbox.putPerson({ number: friend, reinstalled: true });
  await instance.message(({ text }) => text === 'uses up a key');
  // Before the notice is read, the text would be encrypted for the old keys of the phone.
  await instance.entries.wait((entry) => entry.kind === 'chat' && entry.chat.extra?.['identityChangedAt'] !== undefined, 'the other keys');
  await writes(friend, 'last');
  all = await Promise.all(heard.map(async ({ from, encoded }) => ({ from, node: await decodeBinaryNode(encoded) })));
});
after(() => bench.stop());

const is = (tag: string, attrs: Readonly<Record<string, string>> = {}, ...children: readonly string[]) => ({ tag, attrs, children });
const found = (from: Side, wanted: ReturnType<typeof is>): BinaryNode => {
  const one = all.find(
    ({ from: side, node }) =>
      side === from &&
      node.tag === wanted.tag &&
      Object.entries(wanted.attrs).every(([name, value]) => node.attrs[name] === value) &&
      wanted.children.every((tag) => child(node, tag)),
  );
  assert.ok(one, `${from} sent ${JSON.stringify(wanted)}`);
  return structuredClone(one.node);
};
/** Returns the element on a path of tags, taking the first of each. */
const at = (node: BinaryNode, way: string): BinaryNode => {
  const [tag, ...rest] = way.split('/');
  if (tag === undefined || tag === '') return node;
  const next = child(node, tag);
  assert.ok(next, `<${node.tag}> has <${tag}>`);
  return at(next, rest.join('/'));
};

test('stanzas: all stanzas of both sides have the documented form', () => peer.finished());

test('stanzas: the conversation contains an ack with the hash of a list of devices', () => {
  assert.ok(all.some(({ from, node }) => from === 'platform' && node.tag === 'ack' && node.attrs['phash']?.startsWith('2:')));
});

const usync = is('iq', { xmlns: 'usync' }, 'usync');
const samples: readonly (readonly [
  what: string,
  from: Side,
  wanted: ReturnType<typeof is>,
  needed: readonly string[],
  parts: readonly string[],
])[] = [
  // Attributes as `path@name`, and elements as their path.
  [
    'a text',
    'client',
    is('message', {}, 'participants'),
    ['@to', '@type', '@peer_recipient_pn', 'participants/to@jid', 'participants/to/enc@v'],
    [],
  ],
  ['a first text', 'client', is('message', {}, 'device-identity'), [], ['device-identity']],
  ['a look-up', 'client', usync, ['usync@sid', 'usync@context', 'usync@mode'], ['usync/query', 'usync/list']],
  [
    'an upload of keys',
    'client',
    is('iq', { xmlns: 'encrypt', type: 'set' }),
    [],
    ['registration', 'type', 'identity', 'list', 'skey', 'skey/signature'],
  ],
  ['a question for keys', 'client', is('iq', { xmlns: 'encrypt', type: 'get' }, 'key'), ['key/user@jid'], ['key/user']],
  ['an ack of a notification', 'client', is('ack', { class: 'notification' }), ['@type', '@to', '@id'], []],
  ['a receipt', 'client', is('receipt'), ['@id', '@to'], []],
  [
    'a signed pairing',
    'client',
    is('iq', { type: 'result' }, 'pair-device-sign'),
    ['pair-device-sign/device-identity@key-index'],
    ['pair-device-sign'],
  ],
  [
    'a notice of a new device',
    'platform',
    is('notification', { type: 'devices' }, 'add'),
    ['@lid', 'add@device_hash', 'add@device_lid_hash', 'add/device@jid', 'add/device@lid', 'add/device@key-index', 'add/key-index-list@ts'],
    ['add/device', 'add/key-index-list'],
  ],
  [
    'a notice of a removed device',
    'platform',
    is('notification', { type: 'devices' }, 'remove'),
    ['remove@device_hash', 'remove/device@lid'],
    ['remove/device'],
  ],
  ['a notice of few keys', 'platform', is('notification', { type: 'encrypt' }, 'count'), ['count@value', '@from'], ['count']],
  ['a notice of other keys', 'platform', is('notification', { type: 'encrypt' }, 'identity'), ['@from'], ['identity']],
  [
    'the end of a pairing',
    'platform',
    is('iq', { xmlns: 'md' }, 'pair-success'),
    ['pair-success/device@jid', 'pair-success/platform@name'],
    ['pair-success/device-identity', 'pair-success/device'],
  ],
  ['an ack of a message', 'platform', is('ack', { class: 'message' }), ['@id', '@from'], []],
  ['a success', 'platform', is('success'), ['@lid', '@t'], []],
];

const refused = (from: Side, node: BinaryNode, why: string): void => {
  assert.throws(() => peer.check(from, node), FormError, `${why}: ${JSON.stringify(node).slice(0, 300)}`);
};

for (const [what, from, wanted, needed, parts] of samples) {
  test(`stanzas: ${what} is refused with an additional attribute or child, and without a required one`, () => {
    peer.check(from, found(from, wanted));
    const more = found(from, wanted);
    more.attrs['unheard'] = '1';
    refused(from, more, 'an attribute too many');
    const strange = found(from, wanted);
    strange.content = [...childrenOf(strange), { tag: 'unheard', attrs: {} }];
    refused(from, strange, 'a child too many');
    for (const place of needed) {
      const [way = '', name = ''] = place.split('@');
      const node = found(from, wanted);
      assert.ok(at(node, way).attrs[name], `${what} has ${place}`);
      delete at(node, way).attrs[name];
      refused(from, node, `without ${place}`);
    }
    for (const way of parts) {
      const node = found(from, wanted);
      const end = way.lastIndexOf('/');
      const parent = at(node, way.slice(0, Math.max(0, end)));
      parent.content = childrenOf(parent).filter(({ tag }) => tag !== way.slice(end + 1));
      refused(from, node, `without ${way}`);
    }
  });
}

const text = is('message', {}, 'participants');
const changes: readonly (readonly [what: string, from: Side, wanted: ReturnType<typeof is>, change: (node: BinaryNode) => void])[] = [
  ['a text to a number', 'client', text, ({ attrs }) => (attrs['to'] = attrs['peer_recipient_pn'] ?? '')],
  [
    'a text with both forms of addresses',
    'client',
    text,
    (node) => (at(node, 'participants/to').attrs['jid'] = `${friend}@s.whatsapp.net`),
  ],
  ['a look-up of contacts in the old form', 'client', usync, (node) => (at(node, 'usync/query').content = [{ tag: 'contact', attrs: {} }])],
  [
    'a key of 31 bytes',
    'client',
    is('iq', { xmlns: 'encrypt', type: 'set' }),
    (node) => (at(node, 'identity').content = Buffer.alloc(31, 1)),
  ],
  [
    'two devices in a notice',
    'platform',
    is('notification', { type: 'devices' }, 'add'),
    (node) => (at(node, 'add').content = [...childrenOf(at(node, 'add')), at(node, 'add/device')]),
  ],
  [
    'a made-up hash',
    'platform',
    is('notification', { type: 'devices' }, 'add'),
    (node) => (at(node, 'add').attrs['device_hash'] = '2:simulated'),
  ],
  ['an unknown notification', 'platform', is('notification', { type: 'devices' }), ({ attrs }) => (attrs['type'] = 'unheard')],
  ['an unknown request', 'client', usync, ({ attrs }) => (attrs['xmlns'] = 'unheard')],
  ['an answer to nothing', 'platform', is('iq', { type: 'result' }), ({ attrs }) => (attrs['id'] = 'unheard')],
];
for (const [what, from, wanted, change] of changes)
  test(`stanzas: ${what} is refused`, () => {
    const node = found(from, wanted);
    change(node);
    refused(from, node, what);
  });

/** Requests that the conversation does not contain. */
const iq = (xmlns: string, type: string, content: BinaryNode, to = 's.whatsapp.net'): BinaryNode => ({
  tag: 'iq',
  attrs: { id: '1', to, xmlns, type },
  content: [content],
});
const el = (tag: string, attrs: Record<string, string> = {}, content?: BinaryNode['content']): BinaryNode => ({
  tag,
  attrs,
  ...(content ? { content } : {}),
});
const [lidOne, pnOne] = ['123456@lid', `${friend}@s.whatsapp.net`];
const createdBy = (attrs: Record<string, string>, more: Record<string, string> = {}, modes = true): BinaryNode =>
  iq(
    'w:g2',
    'set',
    el('create', { subject: 'team', ...more }, [
      el('participant', attrs),
      ...(modes ? [el('member_add_mode', {}, Buffer.from('admin_add'))] : []),
      el('ephemeral', { expiration: '0' }),
      el('membership_approval_mode', {}, [el('group_join', { state: 'off' })]),
    ]),
    '@g.us',
  );
const block = (attrs: Record<string, string>): BinaryNode => iq('blocklist', 'set', el('item', attrs));

const byHand: readonly (readonly [what: string, good: BinaryNode, bad: readonly BinaryNode[]])[] = [
  [
    'blocking',
    block({ jid: lidOne, action: 'block', pn_jid: pnOne }),
    [block({ jid: pnOne, action: 'block', pn_jid: pnOne }), block({ jid: lidOne, action: 'block' })],
  ],
  ['unblocking', block({ jid: lidOne, action: 'unblock' }), [block({ jid: lidOne, action: 'unblock', pn_jid: pnOne })]],
  [
    'a new group',
    createdBy({ jid: lidOne, phone_number: pnOne }),
    [createdBy({ jid: lidOne }, { key: 'k' }), createdBy({ jid: lidOne }, {}, false), createdBy({ jid: pnOne, phone_number: pnOne })],
  ],
  [
    'typing',
    { tag: 'chatstate', attrs: { to: lidOne }, content: [el('composing')] },
    [
      { tag: 'chatstate', attrs: { to: lidOne, from: pnOne }, content: [el('composing')] },
      { tag: 'chatstate', attrs: { to: pnOne }, content: [el('composing')] },
    ],
  ],
  [
    'a passkey',
    iq('md', 'set', el('companion_nonce', {}, Buffer.alloc(32, 1))),
    [iq('md', 'set', el('companion_nonce', {}, Buffer.alloc(16, 1))), iq('md', 'get', el('companion_nonce', {}, Buffer.alloc(32, 1)))],
  ],
];
for (const [what, good, bad] of byHand)
  test(`stanzas: ${what} is accepted in one form only`, () => {
    peer.check('client', good);
    for (const node of bad) refused('client', node, what);
  });

/** Returns a message of a member, in a group with this addressing of members. */
const inGroup = (mode: string, participant: string): BinaryNode =>
  el('message', { id: 'M', from: '123@g.us', type: 'text', t: '1', participant, addressing_mode: mode }, [
    el('enc', { v: '2', type: 'skmsg' }, Buffer.from('x')),
  ]);
const receiptOf = (participant: string, more: Record<string, string>): BinaryNode => el('receipt', { id: 'M', participant, ...more });

for (const [mode, right, wrong] of [
  ['lid', '123456:2@lid', `${friend}:2@s.whatsapp.net`],
  ['pn', `${friend}:2@s.whatsapp.net`, '123456:2@lid'],
] as const)
  test(`stanzas: in a group by ${mode} each message and receipt names its member by ${mode}`, () => {
    const listener = new StanzaPeer();
    listener.check('platform', inGroup(mode, right));
    assert.throws(() => listener.check('platform', inGroup(mode, wrong)), FormError);
    for (const [from, more] of [
      ['client', { to: '123@g.us' }],
      ['platform', { from: '123@g.us', t: '1' }],
    ] as const) {
      listener.check(from, receiptOf(right, more));
      assert.throws(() => listener.check(from, receiptOf(wrong, more)), FormError, from);
    }
  });

test('stanzas: a description of a group is changed and deleted in the form that other clients use', () => {
  for (const [text, prev] of [
    ['first', ''],
    ['second', 'OLD'],
    ['', 'OLD'],
    ['', ''],
  ] as const)
    peer.check('client', iq('w:g2', 'set', groupChangeElement({ of: 'description', text }, prev), '123@g.us'));
});
