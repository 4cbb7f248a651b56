/** Answers of operations on posts of channels. */
import type { ChangedPost, ListedPost } from '#actors/gateway.ts';
import { now } from '#test/contract/samples.ts';

const channel = '120363123456789012@newsletter';
const post: ListedPost = {
  serverId: 12_345,
  messageId: '3EB0B4302B3A8A52F7A1',
  type: 'text',
  at: now,
  views: 1200,
  reactions: { '👍': 12 },
  content: { conversation: 'News' },
};
const changedPost: ChangedPost = {
  target: { channel, messageId: post.messageId, serverId: 12_345 },
  messageId: post.messageId,
  serverId: 12_345,
};

export const postAnswers = {
  'post.list': [post],
  'post.updates': [{ ...post, messageId: '', type: '', at: 0, content: null }],
  'post.view': null,
  'post.react': null,
  'post.edit': changedPost,
  'post.delete': changedPost,
  'post.follow': { seconds: 300 },
} as const;
