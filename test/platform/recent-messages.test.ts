/** Tests the messages that the library keeps to send them again by itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proto, type WASocket } from '@whiskeysockets/baileys';
import { Resends } from '#src/platform/outbound/resends.ts';

test('resends: the library remembers its own requests to the phone, and no message that was received or sent', () => {
  const remembered: string[] = [];
  const manager = { addRecentMessage: (_to: string, id: string) => void remembered.push(id) };
  const resends = new Resends({
    directory: {} as never,
    stored: async () => null,
    loadMappings: async () => undefined,
    group: async () => null,
  } as never);
  resends.takeOver({ messageRetryManager: manager } as unknown as WASocket);
  const add = manager.addRecentMessage as (to: string, id: string, message: proto.IMessage) => void;
  add('551@s.whatsapp.net', 'received', { conversation: 'Hi' });
  add('551@s.whatsapp.net', 'edited', { protocolMessage: { type: proto.Message.ProtocolMessage.Type.MESSAGE_EDIT } });
  add('me@s.whatsapp.net', 'request', { protocolMessage: { peerDataOperationRequestMessage: {} } });
  assert.deepEqual(remembered, ['request']);
});
