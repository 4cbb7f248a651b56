/** Tests every journal with posts of channels: their numbers, edits, views and reactions, and deletions by any admin. */
import assert from 'node:assert/strict';
import { type Entry, type Message, newPost } from '#actors/model.ts';
import { arrived, type Bench, type Case, fresh, kindsOf, queued, sent, status } from './entries.ts';

const channel = '120363000000000001@newsletter';
const other = '120363000000000002@newsletter';
const from = { chatId: channel, chatLid: '', sender: channel, senderPn: '', senderLid: '' };

const post = (serverId: number, change: Partial<Message> = {}): Message =>
  fresh({ ...from, post: { ...newPost, serverId }, content: 'Oi', ...change });
const edit = (of: Message, text: string, editedAt = 0): Entry => ({
  kind: 'postEdited',
  message: { ...of, text, content: text, post: { ...newPost, serverId: of.post?.serverId ?? 0, editedAt } },
  chat: { chatId: channel },
});
const counts = (serverId: number, views: number | null, reactions: Record<string, number> | null, chatId = channel): Entry => ({
  kind: 'postCounts',
  chatId,
  counts: [{ serverId, views, reactions }],
});

const stored = async (bench: Bench, { messageId }: Message) => {
  const found = await bench.message(messageId);
  return [found?.text, found?.edited, found?.post?.views, found?.post?.reactions];
};

export const posts: readonly Case[] = [
  [
    'an edit of a post changes it under its own id, with one event, and once',
    async (bench) => {
      const one = post(100);
      await bench.commit(arrived(one));
      const committed = await bench.commit(edit(one, 'mended', 5_000));
      assert.deepEqual(kindsOf(committed), ['newsletter_messages']);
      const told = { messageid: one.messageId, edited: one.messageId, text: 'mended', serverid: 100 };
      assert.partialDeepStrictEqual(committed.events[0]?.payload['message'], told);
      assert.deepEqual(await stored(bench, one), ['mended', one.messageId, 0, {}]);
      assert.equal((await bench.chat(channel))?.lastMessageText, 'mended');
      assert.deepEqual(kindsOf(await bench.commit(edit(one, 'mended', 5_000))), []);
    },
  ],
  [
    'an edit that comes late does not undo a later one',
    async (bench) => {
      const one = post(101);
      await bench.commit(arrived(one), edit(one, 'second', 6_000), edit(one, 'first', 5_000));
      assert.equal((await bench.message(one.messageId))?.text, 'second');
    },
  ],
  [
    'an edit of a post that is not stored stores it as it is now',
    async (bench) => {
      const one = post(102);
      assert.deepEqual(kindsOf(await bench.commit(edit(one, 'now'))), ['newsletter_messages']);
      assert.equal((await bench.message(one.messageId))?.text, 'now');
    },
  ],
  [
    'views and reactions find the post by its number, and what is not told stays',
    async (bench) => {
      const [one, two] = [post(103), post(104)];
      await bench.commit(arrived(one), arrived(two));
      assert.deepEqual(kindsOf(await bench.commit(counts(103, 7, { '👍': 2 }))), []);
      await bench.commit(counts(103, null, { '🎉': 1 }), counts(104, 3, null), counts(999, 1, {}), counts(104, 9, null, other));
      assert.deepEqual(await stored(bench, one), ['Oi', '', 7, { '🎉': 1 }]);
      assert.deepEqual(await stored(bench, two), ['Oi', '', 3, {}]);
    },
  ],
  [
    'counts that come with their post are counted on it',
    async (bench) => {
      const one = post(105);
      await bench.commit(arrived(one), counts(105, 4, { '👍': 1 }));
      assert.deepEqual(await stored(bench, one), ['Oi', '', 4, { '👍': 1 }]);
    },
  ],
  [
    'a post of the API has its number from its ack on, also in its event',
    async (bench) => {
      const own = sent({ ...from, sender: 'me@s.whatsapp.net', post: newPost });
      await bench.commit(queued(own));
      const committed = await bench.commit({
        ...status([own.messageId], 'Sent', { chatId: channel, fromMe: true }),
        serverId: 106,
      } as Entry);
      assert.deepEqual(kindsOf(committed), ['newsletter_messages']);
      assert.partialDeepStrictEqual(committed.events[0]?.payload['message'], { serverid: 106 });
      assert.equal((await bench.message(own.messageId))?.post?.serverId, 106);
      await bench.commit(counts(106, 2, null));
      assert.equal((await bench.message(own.messageId))?.post?.views, 2);
    },
  ],
  [
    'another admin takes an own post back',
    async (bench) => {
      const own = post(107, { fromMe: true, status: 'Sent' });
      await bench.commit(arrived(own));
      const gone: Entry = { kind: 'deleted', messageId: own.messageId, chatId: channel, sender: channel, fromMe: false, at: 2_000 };
      assert.deepEqual(kindsOf(await bench.commit(gone)), ['messages_update Deleted']);
      assert.deepEqual(kindsOf(await bench.commit(edit(own, 'back'))), []);
      assert.equal((await bench.message(own.messageId))?.status, 'Deleted');
    },
  ],
];
