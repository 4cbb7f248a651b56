/** Tests the cache of the library for messages that it sends again by itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BinaryNode, MessageRetryManager, proto, type WASocket } from '@whiskeysockets/baileys';
import { Resends } from '#src/platform/outbound/resends.ts';
import { GroupUnknown } from '#src/platform/wire/outcomes.ts';
import { plainDirectory } from './plain-directory.ts';

const resendsOf = (): Resends =>
  new Resends({ directory: {}, stored: async () => null, loadMappings: async () => undefined, group: async () => null } as never);

const log = { debug: () => undefined } as never;
const request: proto.IMessage = { protocolMessage: { peerDataOperationRequestMessage: {} } };

test('resends: the library finds its last requests and the keys of sessions, and forgets the oldest ones', () => {
  const manager = new MessageRetryManager(log, 5);
  resendsOf().takeOver({ messageRetryManager: manager } as unknown as WASocket);
  for (let n = 0; n < 1_000; n += 1) {
    manager.addRecentMessage('me', `request ${n}`, request);
    manager.saveBaseKey('551', `message ${n}`, Uint8Array.of(n % 256));
  }
  assert.equal(manager.getRecentMessage('me', 'request 999')?.message, request);
  assert.equal(manager.getRecentMessage('me', 'request 1'), undefined);
  assert.equal(manager.hasSameBaseKey('551', 'message 999', Uint8Array.of(999 % 256)), true);
  assert.equal(manager.hasSameBaseKey('551', 'message 1', Uint8Array.of(1)), false);
  manager.markRetrySuccess('request 999');
  assert.equal(manager.getRecentMessage('me', 'request 999'), undefined);
  manager.deleteBaseKey('551', 'message 999');
  assert.equal(manager.hasSameBaseKey('551', 'message 999', Uint8Array.of(999 % 256)), false);
  manager.clear();
  assert.equal(manager.getRecentMessage('me', 'request 998'), undefined);
});

test('resends: the library caches its own requests to the phone, and no received or sent message', () => {
  const remembered: string[] = [];
  const manager = { addRecentMessage: (_to: string, id: string) => void remembered.push(id) };
  resendsOf().takeOver({ messageRetryManager: manager } as unknown as WASocket);
  const add = manager.addRecentMessage as (to: string, id: string, message: proto.IMessage) => void;
  add('551@s.whatsapp.net', 'received', { conversation: 'Hi' });
  add('551@s.whatsapp.net', 'edited', { protocolMessage: { type: proto.Message.ProtocolMessage.Type.MESSAGE_EDIT } });
  add('me@s.whatsapp.net', 'request', { protocolMessage: { peerDataOperationRequestMessage: {} } });
  assert.deepEqual(remembered, ['request']);
});

test('resends: the library gets only the message that a request names, and none of a list', async () => {
  const given: BinaryNode[] = [];
  const sock = { sendMessageAck: async () => undefined } as unknown as WASocket;
  const attrs = { id: 'A', from: '551@s.whatsapp.net', type: 'retry', offline: '1' };
  const list = { tag: 'list', attrs: {}, content: [{ tag: 'item', attrs: { id: 'B' } }] };
  const retry = { tag: 'retry', attrs: { count: '1', id: 'A' } };
  await resendsOf().answer({ tag: 'receipt', attrs, content: [list, retry] }, sock, (node) => void given.push(node));
  assert.deepEqual(
    given.map((node) => [node.attrs['id'], node.attrs['offline'], node.content]),
    [['A', undefined, [retry]]],
  );
});

test('resends: a request from a group about which the platform gave no answer is not acknowledged, so that it comes again', async () => {
  const acknowledged: string[] = [];
  const sock = { sendMessageAck: async ({ attrs }: BinaryNode) => void acknowledged.push(attrs['participant'] ?? '') } as never;
  const group = async (): Promise<null> => {
    throw new GroupUnknown();
  };
  const loadMappings = async (): Promise<void> => undefined;
  const resends = new Resends({ directory: plainDirectory, stored: async () => null, loadMappings, group });
  const ask = (participant: string): Promise<void> =>
    resends.answer({ tag: 'receipt', attrs: { id: 'M', from: '1@g.us', participant } }, sock, () => undefined);
  await assert.rejects(ask('559@s.whatsapp.net'), GroupUnknown);
  assert.deepEqual(acknowledged, []);
  await ask(plainDirectory.me.pn);
  assert.deepEqual(acknowledged, [plainDirectory.me.pn], 'an own device needs no group');
});
