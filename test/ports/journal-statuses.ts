/** Tests every journal with the progress of messages: sent, failed, confirmed, read. */
import assert from 'node:assert/strict';
import { statusChat, type Audience, type Message } from '#actors/model.ts';
import { arrived, type Case, chatId, fresh, kindsOf, queued, sent, status } from './entries.ts';

export const statuses: readonly Case[] = [
  [
    'a queued message makes its event when it is sent, and updates after that',
    async (bench) => {
      const own = sent();
      assert.deepEqual((await bench.commit(queued(own))).events, []);
      assert.equal((await bench.message(own.messageId))?.status, 'Queued');
      const gone = await bench.commit(status([own.messageId], 'Sent'));
      assert.deepEqual(kindsOf(gone), ['messages']);
      assert.equal((gone.events[0]?.payload['message'] as Message | undefined)?.status, 'Sent');
      assert.deepEqual(kindsOf(await bench.commit(status([own.messageId], 'Delivered'))), ['messages_update Delivered']);
      assert.deepEqual(kindsOf(await bench.commit(status([own.messageId], 'Sent'))), []);
    },
  ],

  [
    'a message of the queue is composed while it waits, and not afterwards',
    async (bench) => {
      const queuedSend = { send: null, delay: 5, readChat: true, readMessages: false };
      const own = sent({ queuedSend, text: 'draft' });
      await bench.commit(queued(own));
      await bench.commit({ kind: 'composed', message: { ...own, text: 'whole', queuedSend: { ...queuedSend, delay: 0 } } });
      const composed = await bench.message(own.messageId);
      assert.deepEqual([composed?.text, composed?.queuedSend?.delay, composed?.status], ['whole', 0, 'Queued']);
      await bench.commit(status([own.messageId], 'Canceled'), { kind: 'composed', message: { ...own, text: 'late' } });
      const canceled = await bench.message(own.messageId);
      assert.deepEqual([canceled?.text, canceled?.status, canceled?.queuedSend], ['whole', 'Canceled', null]);
    },
  ],

  [
    'a status post keeps its audience, has no chat and no event of its own; every reader has one',
    async (bench) => {
      const report = { explicit: true, usualPrivacy: false, contacts: { named: 0, pushName: 0, number: 0 } };
      const counts = { requested: 2, resolved: 2, discarded: 0, examples: [], most: 500 };
      const audience: Audience = { setting: 'allowlist', recipients: ['1@lid', '2@lid'], report: { ...report, ...counts } };
      const post = sent({ chatId: statusChat });
      await bench.commit(queued(post));
      await bench.commit({ kind: 'composed', message: { ...post, audience } });
      const seenBy = (senderLid: string) => ({ chatId: statusChat, sender: senderLid, senderLid });
      assert.deepEqual(kindsOf(await bench.commit(status([post.messageId], 'Sent', { chatId: statusChat }))), []);
      assert.deepEqual(kindsOf(await bench.commit(status([post.messageId], 'Read', seenBy('1@lid')))), ['messages_update Read']);
      assert.deepEqual(kindsOf(await bench.commit(status([post.messageId], 'Read', seenBy('2@lid')))), ['messages_update Read']);
      assert.deepEqual((await bench.message(post.messageId))?.audience, audience);
      assert.equal(await bench.chat(statusChat), null);
    },
  ],

  [
    'a delivery that overtakes the ack makes both events, in order',
    async (bench) => {
      const own = sent();
      await bench.commit(queued(own));
      const both = await bench.commit(status([own.messageId], 'Delivered'), status([own.messageId], 'Sent'));
      assert.deepEqual(kindsOf(both), ['messages', 'messages_update Delivered']);
    },
  ],

  [
    'a failure keeps its error, and a late ack mends it',
    async (bench) => {
      const own = sent();
      const statusAndError = async () => (await bench.message(own.messageId)) ?? own;
      await bench.commit(queued(own));
      assert.deepEqual(kindsOf(await bench.commit(status([own.messageId], 'Failed', { error: 'no answer' }))), ['messages_update Failed']);
      const failed = await statusAndError();
      assert.deepEqual([failed.status, failed.error], ['Failed', 'no answer']);
      assert.deepEqual(kindsOf(await bench.commit(status([own.messageId], 'Sent'))), ['messages']);
      const mended = await statusAndError();
      assert.deepEqual([mended.status, mended.error], ['Sent', '']);
    },
  ],

  [
    'one receipt of several messages is one event, with those that it moved',
    async (bench) => {
      const phone = [1, 2, 3].map(() => fresh({ fromMe: true, status: 'Sent' }));
      await bench.commit(...phone.map((message) => arrived(message)), status([phone[0]!.messageId], 'Read'));
      const ids = phone.map(({ messageId }) => messageId);
      const { events } = await bench.commit(status([...ids, 'unknown'], 'Delivered'));
      assert.equal(events.length, 1);
      assert.deepEqual(events[0]?.payload, {
        type: 'ReadReceipt',
        state: 'Delivered',
        event: {
          MessageIDs: ids.slice(1),
          Chat: chatId,
          chatid: chatId,
          Sender: 'a@lid',
          sender_pn: 'a@s.whatsapp.net',
          sender_lid: 'a@lid',
          IsFromMe: false,
          IsGroup: false,
          Timestamp: '1970-01-01T00:00:01.000Z',
          Type: 'Delivered',
        },
      });
      assert.deepEqual([events[0]?.message, events[0]?.messageType, events[0]?.lane], [null, '', chatId]);
    },
  ],

  [
    'a receipt that names the chat by its other address still finds the message',
    async (bench) => {
      const own = fresh({ fromMe: true, status: 'Sent' });
      await bench.commit(arrived(own));
      const { events } = await bench.commit(status([own.messageId], 'Read', { chatId: own.chatLid }));
      assert.equal(events[0]?.lane, chatId);
    },
  ],

  [
    'unread messages are counted, and reading a chat marks those before it',
    async (bench) => {
      const { stores, record } = bench;
      const [id, older, read, later] = ['551100000002@s.whatsapp.net', fresh(), fresh(), fresh()];
      const entry = (message: Message) => arrived({ ...message, chatId: id });
      await bench.commit(entry(older));
      await bench.commit(entry(read), { kind: 'chatRead', chatId: id }, entry(later), {
        kind: 'chatRead',
        chatId: 'nobody@s.whatsapp.net',
      });
      assert.equal((await bench.chat(id))?.unreadCount, 1);
      assert.deepEqual(await stores.messages.unread(record.id, id, 10), [{ chatId: id, messageId: later.messageId, sender: later.sender }]);
      await bench.commit({ kind: 'chatRead', chatId: id });
      assert.deepEqual(await stores.messages.unread(record.id, id, 10), []);
    },
  ],
];
