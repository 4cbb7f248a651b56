/** Posts of channels: listed, changed, seen, reacted to. Posting itself is a send like any other. */
import { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { Gateway, InstanceId, ListedPost, PostName, Result } from '#actors/gateway.ts';
import { changedPostView, channelIdOf, durationText, postView } from '#src/contract/views.ts';
import { type AnswerOf, done, mapResult, platformRefusals, type Refusals, refuse, type Route, route } from '../route.ts';
import { pageSize, pageWithin, withPage } from '../page.ts';
import { channelHint } from './channel.ts';
import {
  ChangedPostAnswer,
  type channelFields,
  DeletePostBody,
  DoneAnswer,
  DurationAnswer,
  EditPostBody,
  FollowUpdatesBody,
  ListPostsBody,
  postPage,
  PostReactionBody,
  PostsAnswer,
  PostUpdatesBody,
  searchPage,
  searchPages,
  ViewedBody,
} from '../schemas/channel.ts';

interface Asking {
  readonly gateway: Gateway;
  readonly id: InstanceId;
  readonly channel: string;
  readonly answerBytes: number;
}

interface PostRow<Fields extends TProperties, Answer extends TSchema> {
  readonly on: `POST /newsletter/${string}`;
  readonly operationId: string;
  readonly summary: string;
  readonly body: TObject<Fields>;
  readonly answer: Answer;
  readonly invalidTexts?: Readonly<Record<string, string>>;
  readonly refusals?: Refusals;
  readonly run: (asking: Asking, body: Static<TObject<Fields>>) => Promise<Result<AnswerOf<Answer>>>;
}

const invalidId = 'invalid newsletter id';

/** A row about one channel, which its body names. */
const postRow = <Fields extends TProperties & typeof channelFields, Answer extends TSchema>({
  run,
  invalidTexts,
  refusals,
  ...row
}: PostRow<Fields, Answer>): Route =>
  route({
    ...row,
    on: [row.on],
    credential: 'instance',
    tag: 'newsletter',
    invalidTexts: { jid: invalidId, id: invalidId, ...invalidTexts },
    refusals: {
      ...platformRefusals,
      invalid: { example: invalidId },
      forbidden: { example: 'the account has no right to do this in the channel' },
      notFound: { example: 'newsletter or message not found' },
      ...refusals,
    },
    run: async ({ gateway, id, body, answerBytes }) => {
      const given = body as Static<TObject<Fields>> & { readonly jid?: string | number; readonly id?: string | number };
      const channel = channelIdOf(String(given.jid ?? given.id ?? ''));
      return channel === ''
        ? refuse('invalid', invalidId, { hint: channelHint(given.jid ?? given.id) })
        : run({ gateway, id, channel, answerBytes }, given);
    },
  });

/** Returns as many posts as an answer may hold. The rest is on the next page. */
const postsWithin = (posts: Result<readonly ListedPost[]>, bytes: number) =>
  mapResult(posts, (all) => withPage('response', pageWithin(all, postView, bytes), {}));

interface NamedPost {
  readonly messageid?: string | number;
  readonly serverid?: number;
  readonly count?: number;
  readonly maxpages?: number;
}

/** Refused (`invalid`) when the body names no post. */
const namedPost = (channel: string, { messageid = '', serverid: serverId = 0 }: NamedPost): Result<PostName> => {
  const messageId = String(messageid);
  return messageId === '' && serverId === 0
    ? refuse('invalid', 'messageid or serverid is required')
    : done({ channel, messageId, serverId });
};

const searchOf = ({ count = 0, maxpages = 0 }: NamedPost) => ({
  count: pageSize(count, searchPage),
  pages: pageSize(maxpages, searchPages),
});

const changeRefusals: Refusals = { notFound: { example: 'newsletter message not found in recent history' }, conflict: {} };

export const newsletterPostRoutes: readonly Route[] = [
  postRow({
    on: 'POST /newsletter/messages',
    operationId: 'listPosts',
    summary: 'List posts of a channel, newest first, in pages',
    body: ListPostsBody,
    answer: PostsAnswer,
    run: async ({ gateway, id, channel, answerBytes }, { count = 0, beforeid: before = 0 }) =>
      postsWithin(await gateway.perform(id, 'post.list', { channel, count: pageSize(count, postPage), before }), answerBytes),
  }),
  postRow({
    on: 'POST /newsletter/updates',
    operationId: 'listPostUpdates',
    summary: 'Show views and reactions of posts of a channel',
    body: PostUpdatesBody,
    answer: PostsAnswer,
    run: async ({ gateway, id, channel, answerBytes }, { count = 0, afterid: after = 0, since = 0 }) =>
      postsWithin(await gateway.perform(id, 'post.updates', { channel, count: pageSize(count, postPage), after, since }), answerBytes),
  }),
  postRow({
    on: 'POST /newsletter/messages/edit',
    operationId: 'editPost',
    summary: 'Replace the text or caption of a post of a channel',
    body: EditPostBody,
    answer: ChangedPostAnswer,
    refusals: { ...changeRefusals, invalid: { example: 'text is required' } },
    run: async ({ gateway, id, channel }, body) => {
      const text = body.text || body.caption || '';
      if (text === '') return refuse('invalid', 'text is required');
      const post = namedPost(channel, body);
      if (!post.ok) return post;
      const change = { post: post.value, search: searchOf(body), text, mediaId: body.mediahandle ?? '' };
      return mapResult(await gateway.perform(id, 'post.edit', change), (changed) => ({ response: changedPostView(changed) }));
    },
  }),
  postRow({
    on: 'POST /newsletter/messages/delete',
    operationId: 'deletePost',
    summary: 'Take a post of a channel back',
    body: DeletePostBody,
    answer: ChangedPostAnswer,
    refusals: { ...changeRefusals, invalid: { example: 'messageid or serverid is required' } },
    run: async ({ gateway, id, channel }, body) => {
      const post = namedPost(channel, body);
      if (!post.ok) return post;
      const change = { post: post.value, search: searchOf(body) };
      return mapResult(await gateway.perform(id, 'post.delete', change), (changed) => ({ response: changedPostView(changed) }));
    },
  }),
  postRow({
    on: 'POST /newsletter/viewed',
    operationId: 'viewPosts',
    summary: 'Count posts of a channel as seen by the account',
    body: ViewedBody,
    answer: DoneAnswer,
    invalidTexts: { 'serverids:minItems': 'serverids is required' },
    refusals: { invalid: { example: 'serverids is required' } },
    run: async ({ gateway, id, channel }, { serverids: serverIds }) =>
      mapResult(await gateway.perform(id, 'post.view', { channel, serverIds }), () => ({ response: true })),
  }),
  postRow({
    on: 'POST /newsletter/reaction',
    operationId: 'reactToPost',
    summary: 'React to a post of a channel; an empty reaction takes it back',
    body: PostReactionBody,
    answer: DoneAnswer,
    refusals: { conflict: {}, invalid: { example: 'serverid is required' } },
    run: async ({ gateway, id, channel }, { serverid: serverId, reaction: text = '', reactionmessageid: messageId = '' }) =>
      mapResult(await gateway.perform(id, 'post.react', { channel, serverId, text, messageId }), () => ({ response: true })),
  }),
  postRow({
    on: 'POST /newsletter/subscribe',
    operationId: 'followPostUpdates',
    summary: 'Ask for live updates of views and reactions of a channel for some minutes',
    body: FollowUpdatesBody,
    answer: DurationAnswer,
    run: async ({ gateway, id, channel }) =>
      mapResult(await gateway.perform(id, 'post.follow', { channel }), ({ seconds }) => ({ response: durationText(seconds) })),
  }),
];
