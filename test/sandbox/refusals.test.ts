/** Tests what the platform refuses, ignores or withholds although the request is well-formed. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { eventually, openSandbox, pair, type Client, type TestSandbox } from './client.ts';

const ana = '5511999990091';
const bia = '5511999990092';
const carl = '5511988880091';
const jid = (number: string): string => `${number}@s.whatsapp.net`;

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  client = await pair(sandbox, { number: ana, name: 'Ana' });
  for (const number of [bia, carl]) await sandbox.sandbox.putPerson({ number });
});
after(() => cleanUp());

const lid = (number: string): string => `${sandbox.sandbox.people().find((one) => one.number === number)?.lid}@lid`;

const statesOf = ({ seen }: Client, number: string): (string | undefined)[] =>
  seen('presence.update').flatMap(({ id, presences }) => (id === jid(number) ? [presences[id]?.lastKnownPresence] : []));

test('presence: a client that is not available is sent neither typing nor the state of others', async () => {
  await client.sock.presenceSubscribe(jid(carl));
  for (const isAvailable of [false, true]) {
    await client.sock.sendPresenceUpdate(isAvailable ? 'available' : 'unavailable');
    await eventually(() => sandbox.sandbox.account(ana).online === isAvailable, 'the presence');
    await sandbox.sandbox.presence(carl, { state: 'available' });
    await sandbox.sandbox.presence(carl, { state: 'composing', to: ana });
    const { id } = await sandbox.sandbox.send(carl, ana, { kind: 'text', text: 'after' });
    await client.wait('messages.upsert', ({ messages }) => messages.some(({ key }) => key.id === id));
    assert.deepEqual(statesOf(client, carl), isAvailable ? ['available', 'composing'] : []);
  }
});

test('groups: a message that names another addressing than that of the group is refused', async () => {
  const { jid: group } = await sandbox.sandbox.createGroup({ subject: 'By LID', creator: carl, participants: [ana], addressing: 'lid' });
  const sentWith = async (addressing: string): Promise<string | undefined> => {
    const attrs = { to: group, id: client.sock.generateMessageTag(), type: 'text', addressing_mode: addressing };
    const ack = (await client.sock.query({ tag: 'message', attrs, content: [] })) as BinaryNode;
    return ack.attrs['error'];
  };
  assert.deepEqual([await sentWith('pn'), await sentWith('lid')], ['421', undefined]);
});

test('groups: a person who is added by LID without the number is refused', async () => {
  const { jid: group } = await sandbox.sandbox.createGroup({ subject: 'Few', creator: ana, participants: [bia], addressing: 'lid' });
  const add = async (attrs: BinaryNode['attrs']): Promise<unknown> =>
    client.sock.query({
      tag: 'iq',
      attrs: { to: group, type: 'set', xmlns: 'w:g2' },
      content: [{ tag: 'add', attrs: {}, content: [{ tag: 'participant', attrs }] }],
    });
  await assert.rejects(add({ jid: lid(carl) }), ({ data }: { data?: unknown }) => data === 400);
  await add({ jid: lid(carl), phone_number: jid(carl) });
  const members = sandbox.sandbox
    .groups()
    .find((one) => one.jid === group)
    ?.participants.map(({ number }) => number);
  assert.deepEqual(members, [ana, bia, carl]);
});

test('calls: a call that is rejected with a privacy token goes on', async () => {
  const { id } = await sandbox.sandbox.call(bia, ana, { step: 'offer' });
  const reject = async (...children: BinaryNode[]): Promise<void> => {
    const content = [{ tag: 'reject', attrs: { 'call-id': id, 'call-creator': lid(bia), count: '0' }, content: children }];
    await client.sock.query({ tag: 'call', attrs: { from: lid(ana), to: lid(bia), id: client.sock.generateMessageTag() }, content });
  };
  const steps = (): readonly string[] =>
    sandbox.sandbox
      .callLog()
      .find((one) => one.id === id)
      ?.steps.map(({ step }) => step) ?? [];
  await reject({ tag: 'tctoken', attrs: {}, content: randomBytes(16) });
  assert.deepEqual(steps(), ['offer']);
  await reject();
  assert.deepEqual(steps(), ['offer', 'reject']);
});

test('typing: with the new forms, typing to a number has no effect', async () => {
  sandbox.sandbox.requireVersion({ newForms: true });
  const type = (to: string): Promise<void> =>
    client.sock.sendNode({ tag: 'chatstate', attrs: { to }, content: [{ tag: 'composing', attrs: {} }] });
  const seen: string[] = [];
  const stop = sandbox.sandbox.subscribe((event) => void (event.type === 'presence' && event.of === ana && seen.push(event.state)));
  await type(jid(bia));
  await type(lid(bia));
  await client.sock.fetchBlocklist();
  stop();
  sandbox.sandbox.requireVersion({});
  assert.deepEqual(seen, ['composing']);
});
