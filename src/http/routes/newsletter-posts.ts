/** Posts of channels: list and change them, mark them as seen, react to them. A post is sent like any other message. */
import type { ChangedPost, ListedPost, PostName } from '#actors/gateway.ts';
import { changedPostView, durationText, postView } from '#src/contract/views.ts';
import { type Call, type Refusals, refuse, type Refused, type Route } from '../route.ts';
import { pageSize, pageWithin, withPage } from '../answers.ts';
import { channelRow, done } from './channel.ts';
import {
  ChangedPostAnswer,
  ChannelBody,
  DeletePostBody,
  DurationAnswer,
  EditPostBody,
  ListPostsBody,
  postPage,
  PostReactionBody,
  PostsAnswer,
  PostUpdatesBody,
  searchPage,
  searchPages,
  ViewedBody,
} from '../schemas/channel.ts';

const refusals = {
  forbidden: { example: 'the account has no right to do this in the channel' },
  notFound: { example: 'newsletter or message not found' },
} as const satisfies Refusals;

/** Returns as many of the posts as fit into an answer. The client gets the other posts with the next page. */
const postsWithin = (posts: readonly ListedPost[], { answerBytes }: Pick<Call<unknown, unknown, unknown>, 'answerBytes'>) =>
  withPage('response', pageWithin(posts, postView, answerBytes), {});

interface NamedPost {
  readonly messageid?: string | number;
  readonly serverid?: number;
  readonly count?: number;
  readonly maxpages?: number;
}

/** Returns the post of a body and the channel to search. Refuses (`invalid`) a body without a post. */
const namedPost = (
  channel: string,
  { messageid = '', serverid: serverId = 0, count = 0, maxpages = 0 }: NamedPost,
): { readonly post: PostName; readonly search: { readonly count: number; readonly pages: number } } | Refused => {
  const messageId = String(messageid);
  if (messageId === '' && serverId === 0) return refuse('invalid', 'messageid or serverid is required');
  return { post: { channel, messageId, serverId }, search: { count: pageSize(count, searchPage), pages: pageSize(maxpages, searchPages) } };
};

const changeRefusals = {
  ...refusals,
  notFound: { example: 'newsletter message not found in recent history' },
  conflict: {},
} as const satisfies Refusals;

const changedPost = { answer: ChangedPostAnswer, shown: (changed: ChangedPost) => ({ response: changedPostView(changed) }) } as const;

export const newsletterPostRoutes: readonly Route[] = [
  channelRow({
    on: 'POST /newsletter/messages',
    operationId: 'listPosts',
    summary: 'List posts of a channel, newest first, in pages',
    body: ListPostsBody,
    answer: PostsAnswer,
    refusals,
    operation: 'post.list',
    input: (channel, { count = 0, beforeid: before = 0 }) => ({ channel, count: pageSize(count, postPage), before }),
    shown: postsWithin,
  }),
  channelRow({
    on: 'POST /newsletter/updates',
    operationId: 'listPostUpdates',
    summary: 'Show views and reactions of posts of a channel',
    body: PostUpdatesBody,
    answer: PostsAnswer,
    refusals,
    operation: 'post.updates',
    input: (channel, { count = 0, afterid: after = 0, since = 0 }) => ({ channel, count: pageSize(count, postPage), after, since }),
    shown: postsWithin,
  }),
  channelRow({
    on: 'POST /newsletter/messages/edit',
    operationId: 'editPost',
    summary: 'Replace the text or caption of a post of a channel',
    body: EditPostBody,
    refusals: { ...changeRefusals, invalid: { example: 'text is required' } },
    operation: 'post.edit',
    input(channel, body) {
      const text = body.text || body.caption || '';
      if (text === '') return refuse('invalid', 'text is required');
      const named = namedPost(channel, body);
      return 'post' in named ? { ...named, text, mediaId: body.mediahandle ?? '' } : named;
    },
    ...changedPost,
  }),
  channelRow({
    on: 'POST /newsletter/messages/delete',
    operationId: 'deletePost',
    summary: 'Take a post of a channel back',
    body: DeletePostBody,
    refusals: { ...changeRefusals, invalid: { example: 'messageid or serverid is required' } },
    operation: 'post.delete',
    input: namedPost,
    ...changedPost,
  }),
  channelRow({
    on: 'POST /newsletter/viewed',
    operationId: 'viewPosts',
    summary: 'Count posts of a channel as seen by the account',
    body: ViewedBody,
    invalidTexts: { 'serverids:minItems': 'serverids is required' },
    refusals: { ...refusals, invalid: { example: 'serverids is required' } },
    operation: 'post.view',
    input: (channel, { serverids: serverIds }) => ({ channel, serverIds }),
    ...done,
  }),
  channelRow({
    on: 'POST /newsletter/reaction',
    operationId: 'reactToPost',
    summary: 'React to a post of a channel. An empty reaction removes it',
    body: PostReactionBody,
    refusals: { ...refusals, conflict: {}, invalid: { example: 'serverid is required' } },
    operation: 'post.react',
    input: (channel, { serverid: serverId, reaction: text = '', reactionmessageid: messageId = '' }) => ({
      channel,
      serverId,
      text,
      messageId,
    }),
    ...done,
  }),
  channelRow({
    on: 'POST /newsletter/subscribe',
    operationId: 'followPostUpdates',
    summary: 'Ask for live updates of views and reactions of a channel for some minutes',
    body: ChannelBody,
    answer: DurationAnswer,
    refusals,
    operation: 'post.follow',
    input: (channel) => ({ channel }),
    shown: ({ seconds }) => ({ response: durationText(seconds) }),
  }),
];
