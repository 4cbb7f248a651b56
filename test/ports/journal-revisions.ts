/** Tests every journal when a message changes an earlier one: edits, deletions and pins, and the senders who may do so. */
import assert from 'node:assert/strict';
import type { Entry, Message, Revision } from '#actors/model.ts';
import { arrived, type Bench, type Case, chatId, fresh, kindsOf, queued, sent, status } from './entries.ts';

/** Returns a message that arrived and changes another one. */
const about = (message: Message, revises: Revision): Entry => ({ ...arrived(message), unread: false, revises }) as Entry;

const deletionOf = (message: Message, change: object = {}): Entry => {
  const { messageId, sender, senderPn, senderLid, fromMe } = message;
  return { kind: 'deleted', messageId, chatId: message.chatId, sender, senderPn, senderLid, fromMe, at: 2_000, ...change };
};

const edited = async (bench: Bench, target: Message, by: Partial<Message>) => {
  await bench.commit(arrived(target, { lastMessageText: target.text }));
  const edit = fresh({ text: 'mended', edited: target.messageId, ...by });
  const committed = await bench.commit(about(edit, { messageId: target.messageId, text: 'mended' }));
  return { edit, committed, stored: await bench.message(target.messageId) };
};

const stranger = { sender: 'b@lid', senderPn: 'b@s.whatsapp.net', senderLid: 'b@lid' };
const group = { chatId: 'team@g.us', isGroup: true, chatLid: '' };

export const revisions: readonly Case[] = [
  [
    'an edit changes the text of the stored message, and of its chat, with one event',
    async (bench) => {
      const target = fresh({ raw: Uint8Array.of(1, 2), timestamp: 1_990_000_000_000, content: { text: 'Oi', previewType: 0 } });
      const { edit, committed, stored } = await edited(bench, target, {});
      assert.deepEqual(kindsOf(committed), ['messages']);
      const { text, edited: by, content, status: state } = stored ?? target;
      assert.deepEqual([text, by, content, state], ['mended', edit.messageId, { text: 'mended', previewType: 0 }, '']);
      assert.deepEqual([...(stored?.raw ?? [])], [1, 2], 'the message can still be sent again and quoted');
      assert.equal((await bench.chat(chatId))?.lastMessageText, 'mended');
    },
  ],
  [
    'an edit that comes again does not undo a later one',
    async (bench) => {
      const target = fresh();
      const { edit } = await edited(bench, target, {});
      const later = fresh({ text: 'best', edited: target.messageId });
      await bench.commit(about(later, { messageId: target.messageId, text: 'best' }));
      await bench.commit(about(edit, { messageId: target.messageId, text: 'mended' }));
      assert.equal((await bench.message(target.messageId))?.text, 'best');
    },
  ],
  [
    'an edit by somebody else is a message that changes nothing',
    async (bench) => {
      const { stored } = await edited(bench, fresh({ ...group }), { ...group, ...stranger });
      assert.deepEqual([stored?.text, stored?.edited], ['Oi', '']);
      const own = await edited(bench, fresh({ fromMe: true, status: 'Sent' }), {});
      assert.equal(own.stored?.text, 'Oi');
    },
  ],
  [
    'a caption and a bare text keep their place in the content',
    async (bench) => {
      const picture = await edited(bench, fresh({ content: { URL: 'u', caption: 'Oi' } }), {});
      assert.deepEqual(picture.stored?.content, { URL: 'u', caption: 'mended' });
      const bare = await edited(bench, fresh({ content: 'Oi' }), {});
      assert.equal(bare.stored?.content, 'mended');
    },
  ],
  [
    'an edit of the API counts when it is sent',
    async (bench) => {
      const [target, edit] = [fresh({ fromMe: true, status: 'Sent' }), sent({ text: 'mended' })];
      const entries = { messageId: target.messageId, text: 'mended' };
      await bench.commit(arrived(target), queued({ ...edit, edited: target.messageId }));
      await bench.commit(status([edit.messageId], 'Failed', { error: 'no', fromMe: true }));
      assert.equal((await bench.message(target.messageId))?.text, 'Oi');
      assert.deepEqual(kindsOf(await bench.commit(status([edit.messageId], 'Sent', { fromMe: true, revises: entries }))), ['messages']);
      assert.equal((await bench.message(target.messageId))?.text, 'mended');
    },
  ],
  [
    'a message that was deleted has nothing left but its place, and no edit or receipt brings it back',
    async (bench) => {
      const target = fresh({ fromMe: true, status: 'Sent', raw: Uint8Array.of(1), timestamp: 1_990_000_000_001 });
      await bench.commit(arrived(target, { lastMessageText: target.text }));
      assert.deepEqual(kindsOf(await bench.commit(deletionOf(target))), ['messages_update Deleted']);
      const late = fresh({ fromMe: true, edited: target.messageId });
      await bench.commit(about(late, { messageId: target.messageId, text: 'late' }), status([target.messageId], 'Read'));
      const stored = await bench.message(target.messageId);
      assert.deepEqual([stored?.status, stored?.text, stored?.content, stored?.raw], ['Deleted', '', null, null]);
      assert.equal((await bench.chat(chatId))?.lastMessageText, '');
    },
  ],
  [
    'in a group its admins delete too, elsewhere only the author',
    async (bench) => {
      const [direct, ofGroup] = [fresh(), fresh(group)];
      await bench.commit(arrived(direct), arrived(ofGroup));
      assert.deepEqual(kindsOf(await bench.commit(deletionOf(direct, stranger), deletionOf(direct, { ...stranger, fromMe: true }))), []);
      assert.deepEqual(kindsOf(await bench.commit(deletionOf(ofGroup, { ...stranger, byAdmin: true, chatId: 'other@g.us' }))), []);
      assert.deepEqual(kindsOf(await bench.commit(deletionOf(ofGroup, stranger))), []);
      assert.deepEqual(kindsOf(await bench.commit(deletionOf(ofGroup, { ...stranger, byAdmin: true }))), ['messages_update Deleted']);
    },
  ],
  [
    'messages that the account reads leave the unread ones of their chat, once',
    async (bench) => {
      const id = '551100000009@s.whatsapp.net';
      const all = [1, 2, 3].map(() => fresh({ chatId: id }));
      await bench.commit(...all.map((message) => arrived(message)));
      const ids = all.slice(0, 2).map(({ messageId }) => messageId);
      const me = { sender: 'me@s.whatsapp.net', senderPn: 'me@s.whatsapp.net', senderLid: 'me@lid', at: 3_000 };
      const read: Entry = { kind: 'messagesRead', chatId: id, messageIds: [...ids, 'unknown'], ...me };
      const committed = await bench.commit(read);
      assert.deepEqual(kindsOf(committed), ['messages_update Read', 'chats']);
      const { MessageIDs, IsFromMe, Type } = (committed.events[0]?.payload['event'] ?? {}) as Record<string, unknown>;
      assert.deepEqual([MessageIDs, IsFromMe, Type], [ids, true, 'read']);
      assert.equal((await bench.chat(id))?.unreadCount, 1);
      assert.deepEqual(
        (await bench.stores.messages.unread(bench.record.id, id, 9)).map(({ messageId }) => messageId),
        [all[2]?.messageId],
      );
      assert.deepEqual(kindsOf(await bench.commit(read)), []);
    },
  ],
  [
    'what each member of a group confirms of an own message is kept, the first time of each step',
    async (bench) => {
      const own = fresh({ ...group, fromMe: true, status: 'Sent' });
      const direct = fresh({ fromMe: true, status: 'Sent' });
      await bench.commit(arrived(own), arrived(direct));
      const by = (member: string, at: number) => ({ chatId: group.chatId, sender: member, senderPn: '', senderLid: member, at });
      await bench.commit(
        status([own.messageId], 'Delivered', by('b@lid', 10)),
        status([own.messageId], 'Read', by('b@lid', 20)),
        status([own.messageId], 'Read', by('a@lid', 30)),
        status([own.messageId], 'Sent', { chatId: group.chatId, fromMe: true }),
        status([direct.messageId], 'Read', by('a@lid', 30)),
      );
      await bench.commit(status([own.messageId], 'Read', by('b@lid', 40)), status([own.messageId], 'Played', by('b@lid', 50)));
      const receipts = async (query: object): Promise<string> => {
        const asked = { messageId: own.messageId, state: null, limit: 9, offset: 0, ...query };
        const { receipts: found, more } = await bench.stores.messages.receipts(bench.record.id, asked);
        return found.map((one) => `${one.member} ${one.deliveredAt} ${one.readAt} ${one.playedAt}`).join(', ') + (more ? ' …' : '');
      };
      assert.equal(await receipts({}), 'a@lid 0 30 0, b@lid 10 20 50');
      assert.equal(await receipts({ limit: 1 }), 'a@lid 0 30 0 …');
      assert.equal(await receipts({ offset: 1 }), 'b@lid 10 20 50');
      assert.equal(await receipts({ state: 'Played' }), 'b@lid 10 20 50');
      assert.equal(await receipts({ state: 'Read' }), 'a@lid 0 30 0, b@lid 10 20 50');
      assert.equal(await receipts({ messageId: direct.messageId }), '');
    },
  ],
  [
    'a pin is kept with its end, by whomever it is made, and taken away again',
    async (bench) => {
      const target = fresh(group);
      await bench.commit(arrived(target));
      const pinned = async (pinnedUntil: number, chat = group.chatId): Promise<number | undefined> => {
        await bench.commit(about(fresh({ ...group, ...stranger, chatId: chat }), { messageId: target.messageId, pinnedUntil }));
        return (await bench.message(target.messageId))?.pinnedUntil;
      };
      assert.deepEqual([await pinned(9_000), await pinned(10, 'other@g.us'), await pinned(0)], [9_000, 9_000, 0]);
    },
  ],
];
