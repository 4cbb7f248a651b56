/** Shapes of requests for older messages. */
import { Type } from 'typebox';
import { Count, fields, Flag, LooseText, OneOf, optional, Text } from './common.ts';
import { ChatNumber } from './message.ts';

/** Messages of one request; milliseconds that a caller waits. The platform's phones hand over 50 at once. */
export const historyPage = { usual: 50, most: 50, wait: 25_000 };

export const HistoryBody = Type.Object({
  number: ChatNumber,
  mode: optional(OneOf(['history', 'exact'], { description: '`exact`: only before a message that is stored' })),
  messageid: optional(LooseText(300, 'The message before which the phone looks; the oldest stored one when left out')),
  count: optional(Count(1, 100, `At most ${historyPage.most} come, however many are asked for`)),
  timestamp: optional(Count(0, 1e15, 'Time of a message that is not stored, in seconds or milliseconds')),
  fromMe: optional(Flag('Whether that message is an own one')),
  requestId: optional(Text(100, 'A name for the request; one that was used is refused')),
  fallbackMode: optional(
    OneOf(['try_alternates', 'exact'], { description: 'Whether the phone is asked under the other address of the chat too' }),
  ),
  sync: optional(Flag('Wait for the answer of the phone')),
  timeoutMs: optional(Count(0, historyPage.wait, 'Milliseconds to wait for it')),
});

const state = OneOf(['pending', 'answered', 'unanswered']);

export const HistoryAnswer = Type.Object({
  success: Type.Boolean(),
  ...fields('mode message request_id', Type.String()),
  details: Type.Object({ chatid: Type.String(), state, messages: Type.Integer(), more: Type.Boolean() }),
  next_request: Type.Object({ ...fields('number mode', Type.String()), count: Type.Integer() }),
});

export const HistoryStatus = Type.Object({
  initial: Type.Object({
    messages: Type.Integer(),
    progress: Type.Unsafe<number | null>({ type: ['number', 'null'], description: 'Percent' }),
  }),
  requests: Type.Array(
    Type.Object({
      ...fields('request_id chatid', Type.String()),
      state,
      messages: Type.Integer(),
      more: Type.Boolean(),
      created: Type.Integer({ description: 'Unix milliseconds' }),
    }),
  ),
});
