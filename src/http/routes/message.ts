/** Stored messages, and messages in the queue. */
import { type Static, Type } from 'typebox';
import type { Message as Stored, MessageQuery } from '#actors/gateway.ts';
import { isoTime, messageView, receiptsView } from '#src/contract/views.ts';
import { type Call, done, instanceRefusals, mapResult, performs, platformRefusals, type Route, route } from '../route.ts';
import { pageSize, pageWithin, withPage } from '../answers.ts';
import { like, LooseText, optional, ref, Text } from '../schemas/common.ts';
import {
  ClearedAnswer,
  ClearedStats,
  FindMessagesBody,
  MarkReadAnswer,
  MarkReadBody,
  Message,
  MessageId,
  messagePage,
  MessagesAnswer,
  PinAnswer,
  PinBody,
  QueueAnswer,
  receiptPage,
  ReceiptsAnswer,
  ReceiptsBody,
  StarBody,
  TypingBody,
} from '../schemas/message.ts';

const tag = 'message';

/** Returns the filter. An empty text does not filter, like an absent one. */
const queryOf = (body: Static<typeof FindMessagesBody>): MessageQuery => ({
  ...(body.id ? { id: String(body.id) } : {}),
  ...(body.chatid ? { chatId: String(body.chatid) } : {}),
  ...(body.track_source ? { trackSource: body.track_source } : {}),
  ...(body.messageType ? { messageType: body.messageType } : {}),
  ...(body.fromMe === undefined ? {} : { fromMe: body.fromMe }),
  ...(body.track_id ? { trackId: String(body.track_id) } : {}),
  limit: pageSize(body.limit ?? 0, messagePage),
  offset: body.offset ?? 0,
});

const shown = (message: Stored, { gateway, id }: Pick<Call<unknown, unknown, unknown>, 'gateway' | 'id'>) =>
  messageView(message, gateway.view(id)?.record.owner ?? '');

/** Makes the counters of a cleared queue. The queue is one list, so the counters of further lists are 0. */
const clearedStats = (cleared: number) => ({
  trackedJobsCleared: cleared,
  bufferedJobsMarkedCanceled: 0,
  drainedChannelJobs: 0,
  clearedOverflowJobs: 0,
  persistedQueuedCanceled: cleared,
});

export const messageRoutes: readonly Route[] = [
  route({
    on: ['POST /message/find'],
    operationId: 'findMessages',
    credential: 'instance',
    tag,
    summary: 'Find stored messages, newest first',
    body: FindMessagesBody,
    answer: MessagesAnswer,
    run: async ({ gateway, answerBytes, id, body, now }) => {
      const query = queryOf(body);
      const { messages, more } = await gateway.findMessages(id, query);
      const owner = gateway.view(id)?.record.owner ?? '';
      const page = pageWithin(messages, (message) => messageView(message, owner, now), answerBytes);
      const returned = page.views.length;
      const { limit, offset } = query;
      return done(
        withPage('messages', page, {
          returnedMessages: returned,
          limit,
          offset,
          nextOffset: offset + returned,
          hasMore: more || page.cut,
        }),
      );
    },
  }),
  route({
    on: ['POST /message/status'],
    operationId: 'listReceipts',
    credential: 'instance',
    tag,
    summary: 'Show which members of a group received, read and played an own message',
    body: ReceiptsBody,
    answer: ReceiptsAnswer,
    invalidTexts: { 'id:required': 'Missing Id in Payload', 'id:minLength': 'Missing Id in Payload' },
    refusals: { invalid: {}, notFound: { text: 'Message not found' } },
    run: async ({ gateway, id, body }) => {
      const page = { state: body.state ?? null, limit: pageSize(body.limit ?? 0, receiptPage), offset: body.offset ?? 0 };
      return mapResult(await gateway.receipts(id, String(body.id), page), ({ message, receipts, more, counts }) =>
        receiptsView(message, receipts, { limit: page.limit, offset: page.offset, more, counts }),
      );
    },
  }),
  route({
    on: ['GET /message/async'],
    operationId: 'getQueue',
    credential: 'instance',
    tag,
    summary: 'Show the queue of asynchronous sends',
    answer: QueueAnswer,
    failure: { fields: { instanceId: Type.String() }, details: (instanceId) => ({ instanceId }) },
    run: async ({ gateway, id }) => done({ response: 'Async queue status', instanceId: id, queue: await gateway.queue(id) }),
  }),
  route({
    on: ['DELETE /message/async'],
    operationId: 'clearQueue',
    refusals: instanceRefusals,
    credential: 'instance',
    tag,
    summary: 'Cancel the messages that wait in the queue of asynchronous sends',
    answer: ClearedAnswer,
    failure: {
      fields: { instanceId: Type.String(), stats: ClearedStats },
      details: (instanceId) => ({ instanceId, stats: clearedStats(0) }),
    },
    run: async ({ gateway, id }) =>
      mapResult(await gateway.clearQueue(id), (cleared) => ({
        response: 'Async queue cleared',
        instanceId: id,
        stats: clearedStats(cleared),
      })),
  }),
  performs({
    on: ['POST /message/react'],
    operationId: 'reactToMessage',
    tag,
    summary: 'React to a message. An empty text removes the reaction',
    body: Type.Object({
      id: MessageId,
      text: like(Text(64, 'An emoji'), '👍'),
      number: optional(LooseText(128, 'Chat of the message; not needed')),
    }),
    answer: ref(Message),
    invalidTexts: { 'id:required': 'Missing Id in Payload', 'id:minLength': 'Missing Id in Payload' },
    refusals: { notFound: { text: 'Message not found' } },
    failure: { text: 'Error sending message' },
    operation: 'message.react',
    input: ({ body }) => ({ id: String(body.id), text: body.text }),
    shown,
  }),
  performs({
    on: ['POST /message/edit'],
    operationId: 'editMessage',
    tag,
    summary: 'Replace the text of an own message. The answer is the edit with an id of its own. In a channel it has the id of the post',
    body: Type.Object({
      id: MessageId,
      text: Type.String({ minLength: 1, maxLength: 65_536, description: 'The new text', examples: ['We open at ten'] }),
    }),
    answer: ref(Message),
    invalidTexts: { '*': 'Invalid payload' },
    refusals: { notFound: { text: 'Message not found' } },
    failure: { text: 'Error fetching message from database' },
    operation: 'message.edit',
    input: ({ body }) => ({ id: String(body.id), text: body.text }),
    shown,
  }),
  performs({
    on: ['POST /message/pin'],
    operationId: 'pinMessage',
    tag,
    summary: 'Pin a message in its chat for 1, 7 or 30 days, or take the pin away',
    body: PinBody,
    answer: PinAnswer,
    invalidTexts: { 'id:required': 'Missing Id in Payload', 'id:minLength': 'Missing Id in Payload' },
    refusals: {
      invalid: { example: 'message pinning is not supported for newsletters' },
      notFound: { text: 'Message not found' },
    },
    operation: 'message.pin',
    input: ({ body }) => ({ id: String(body.id), seconds: body.pin === false ? 0 : (body.duration ?? 30) * 86_400 }),
    shown: ({ pin, messageId }, call) => ({
      ...shown(pin, call),
      messageType: 'PinInChatMessage',
      targetMessageID: messageId,
      pinned: call.body.pin !== false,
    }),
  }),
  performs({
    on: ['POST /message/star'],
    operationId: 'starMessage',
    tag,
    summary: 'Star a message for the account, on its phone and all its devices, or take the star away',
    body: StarBody,
    answer: ref(Message),
    invalidTexts: { 'id:required': 'Missing Id in Payload', 'id:minLength': 'Missing Id in Payload' },
    refusals: {
      notSent: { example: 'history sync still in progress, try again in a moment' },
      invalid: { example: 'only messages of chats with people and groups can be starred' },
      notFound: { text: 'Message not found' },
    },
    operation: 'message.star',
    input: ({ body }) => ({ id: String(body.id), on: body.star }),
    shown,
  }),
  route({
    on: ['POST /message/markread'],
    operationId: 'markMessagesRead',
    credential: 'instance',
    tag,
    summary: 'Mark messages as read, of several chats at once; each id has an outcome of its own',
    body: MarkReadBody,
    answer: MarkReadAnswer,
    invalidTexts: { 'id:required': 'Missing Id in Payload', 'id:minItems': 'Missing Id in Payload' },
    refusals: platformRefusals,
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.markRead(id, body.id.map(String)), (marked) => ({
        results: marked.map(({ id: name, error }) => ({
          message_id: name,
          status: error === '' ? ('success' as const) : ('error' as const),
          ...(error === '' ? {} : { error }),
        })),
      })),
  }),
  route({
    on: ['POST /message/presence'],
    operationId: 'showTyping',
    credential: 'instance',
    tag,
    summary: 'Show typing or recording in a chat. With a delay it lasts that long, or until a message is sent to the chat',
    body: TypingBody,
    answer: Type.Object({ response: Type.String() }),
    refusals: { ...platformRefusals, limited: {} },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.showTyping(id, String(body.number), body.presence, body.delay ?? 0), () => ({
        response: 'Chat presence sent successfully',
      })),
  }),
  route({
    on: ['POST /message/delete'],
    operationId: 'deleteMessage',
    credential: 'instance',
    tag,
    summary:
      'Delete a message for everybody: an own one, or in a group as its admin; one that waits in the asynchronous queue is cancelled',
    body: Type.Object({ id: MessageId }),
    answer: Type.Object({ id: Type.String(), timestamp: Type.String({ format: 'date-time' }) }),
    invalidTexts: { '*': 'invalid payload' },
    refusals: {
      ...platformRefusals,
      notFound: { text: 'message not found' },
      conflict: { example: 'the message is being sent: try again in a moment' },
    },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.deleteMessage(id, String(body.id)), ({ messageId, at }) => ({
        id: messageId,
        timestamp: isoTime(at),
      })),
  }),
];
