/** Tests how requests and mentions name people whose Brazilian number the client wrote in its other form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, proto } from '@whiskeysockets/baileys';
import type { Group } from '#actors/model.ts';
import type { MembersAction } from '#actors/ports.ts';
import { ownerOf } from '#src/platform/operations/business-requests.ts';
import { channelHandlers } from '#src/platform/operations/channel.ts';
import { groupHandlers } from '#src/platform/operations/group.ts';
import { audienceOf } from '#src/platform/outbound/audience.ts';
import { compose } from '#src/platform/outbound/compose.ts';
import type { LiveConnection } from '#src/platform/outbound/live-connection.ts';
import { mappingKeysOf } from '#src/platform/wire/jid.ts';
import { group as sample } from '#test/contract/samples.ts';
import { plainDirectory } from './plain-directory.ts';

const control = { signal: new AbortController().signal, deadline: Number.MAX_SAFE_INTEGER };
const groupId = '1@g.us';
/** The account of the tests has eight digits after the area code. */
const registered = '553187654321@s.whatsapp.net';
const written = '5531987654321';
const lid = '100000000000001@lid';

const contactAnswer = (asked: string): BinaryNode => {
  const isThere = asked === `+${registered.split('@')[0]}`;
  const contact = { tag: 'contact', attrs: { type: isThere ? 'in' : 'out' }, content: Buffer.from(asked) };
  return {
    tag: 'user',
    attrs: isThere ? { jid: lid, pn_jid: registered } : { pn_jid: `${asked.slice(1)}@s.whatsapp.net` },
    content: [contact],
  };
};

const textOf = (node: BinaryNode): string => Buffer.from((getBinaryNodeChild(node, 'contact')?.content ?? '') as Uint8Array).toString();

/** A connection to a platform that knows one account. `group`: the group as it is known before. */
const connected = (group: Group) => {
  const lids = new Map<string, string>();
  const lookUps: string[][] = [];
  const named: string[] = [];
  const query = async (stanza: BinaryNode): Promise<BinaryNode> => {
    const [request] = stanza.content as BinaryNode[];
    if (stanza.attrs['xmlns'] === 'usync') {
      const users = getBinaryNodeChildren(getBinaryNodeChild(request, 'list'), 'user').map(textOf);
      lookUps.push(users);
      const list = { tag: 'list', attrs: {}, content: users.map(contactAnswer) };
      return { tag: 'iq', attrs: {}, content: [{ tag: 'usync', attrs: {}, content: [list] }] };
    }
    if (stanza.attrs['xmlns'] === 'w:mex') {
      named.push(JSON.parse(Buffer.from(request!.content as Uint8Array).toString()).variables.user_id);
      return { tag: 'iq', attrs: {}, content: [] };
    }
    named.push(...getBinaryNodeChildren(request, 'participant').map(({ attrs }) => attrs['jid'] ?? ''));
    return { tag: 'iq', attrs: {}, content: [request!] };
  };
  const storeLIDPNMappings = async (pairs: readonly { pn: string; lid: string }[]): Promise<void> => {
    for (const pair of pairs) lids.set(pair.pn, pair.lid);
  };
  const getLIDsForPNs = async (numbers: readonly string[]): Promise<void> => {
    lookUps.push([...numbers]);
    if (numbers.includes(registered)) lids.set(registered, lid);
  };
  const sock = {
    query,
    generateMessageTag: () => 'T',
    ws: { isOpen: true },
    signalRepository: { lidMapping: { storeLIDPNMappings, getLIDsForPNs } },
    authState: { keys: { get: async () => ({}) } },
  };
  const connection = {
    sock,
    directory: { ...plainDirectory, lid: (pn: string) => lids.get(pn) ?? '' },
    groups: { get: async () => group },
    group: async () => group,
    timer: async () => 0,
    loadMappings: async (jids: readonly string[]) => void mappingKeysOf(jids),
  } as unknown as LiveConnection;
  const change = (action: MembersAction, people: readonly string[]) =>
    groupHandlers['group.members'](connection, { groupId, action, people }, control);
  const mentions = async (people: readonly string[]): Promise<unknown> => {
    const content = { kind: 'text' as const, text: 'hello', preview: null };
    const composed = await compose({ number: groupId, content, replyTo: '', mentions: people, forward: false }, null, connection);
    assert.ok(composed.ok && composed.value.raw);
    return proto.Message.decode(composed.value.raw).extendedTextMessage?.contextInfo?.mentionedJid;
  };
  return { change, mentions, lookUps, named, connection };
};

const member = { id: lid, pn: registered, lid, isAdmin: false, isSuperAdmin: false };

test('number forms: a new member is looked up in both forms, and added by the LID of the account', async () => {
  const { change, lookUps, named } = connected({ ...sample, id: groupId, members: [] });
  assert.ok((await change('add', [written])).ok);
  assert.deepEqual([lookUps, named], [[[`+${written}`, `+${registered.split('@')[0]}`]], [lid]]);
});

test('number forms: a member is found by the other form without a look-up', async () => {
  const { change, lookUps, named } = connected({ ...sample, id: groupId, members: [member] });
  assert.ok((await change('remove', [written])).ok);
  assert.deepEqual([lookUps, named], [[], [lid]]);
});

test('number forms: a number without an account, and one with a single form, stay as they are written', async () => {
  const { change, named } = connected({ ...sample, id: groupId, members: [] });
  const people = ['5531988888888', '4915112345678'];
  assert.ok((await change('remove', people)).ok);
  assert.deepEqual(
    named,
    people.map((one) => `${one}@s.whatsapp.net`),
  );
});

test('number forms: a mention in the other form names the member as the group does', async () => {
  const people = [written, '5531988888888'];
  const byLid = connected({ ...sample, id: groupId, addressing: 'lid', members: [member] });
  assert.deepEqual(await byLid.mentions(people), [lid, '5531988888888@s.whatsapp.net']);
  const byNumber = connected({ ...sample, id: groupId, addressing: 'pn', members: [{ ...member, id: registered, lid: '' }] });
  assert.deepEqual(await byNumber.mentions(people), [registered, '5531988888888@s.whatsapp.net']);
  assert.deepEqual([byLid.lookUps, byNumber.lookUps], [[], []]);
});

test('number forms: an admin of a channel is named by the LID of the account', async () => {
  const { connection, lookUps, named } = connected(sample);
  await channelHandlers['channel.dropAdmin'](connection, { channelId: '1@newsletter', person: written, what: 'right' }, control);
  assert.deepEqual([lookUps, named], [[[`+${written}`, `+${registered.split('@')[0]}`]], [lid]]);
});

test('number forms: a business is named by the number of the account', async () => {
  const { connection, lookUps } = connected(sample);
  for (let n = 0; n < 2; n += 1) assert.deepEqual(await ownerOf(connection, written), { ok: true, value: registered });
  assert.equal(lookUps.length, 1);
});

test('number forms: a recipient of a status post gets the key under the LID of the account, once', async () => {
  const { connection, lookUps } = connected(sample);
  const recipients = [written, registered, '5531988888888'];
  const audience = await audienceOf({ recipients, contacts: [], most: 0 }, connection);
  assert.ok(audience.ok);
  assert.deepEqual(audience.value.recipients, [lid]);
  assert.deepEqual(
    audience.value.report.examples.map(({ input, reason }) => [input, reason]),
    [
      [registered, 'duplicate'],
      ['5531988888888', 'lid_unresolved'],
    ],
  );
  assert.equal(lookUps.length, 1);
});
