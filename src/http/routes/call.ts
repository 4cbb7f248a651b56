/** Calls: refused when they ring; none can be placed. */
import { mapResult, platformRefusals, type Route, route } from '../route.ts';
import { CallAnswer, CallBody, RejectBody } from '../schemas/account.ts';

const common = { credential: 'instance', tag: 'call' } as const;

export const callRoutes: readonly Route[] = [
  route({
    on: ['POST /call/make'],
    operationId: 'makeCall',
    ...common,
    summary: 'Call somebody. Not supported: answered with 501, because the client library has no sound',
    body: CallBody,
    answer: CallAnswer,
    invalidTexts: {
      'number:required': 'missing number in payload',
      'number:minLength': 'missing number in payload',
      call_duration: 'invalid call_duration',
    },
    refusals: { ...platformRefusals, invalid: { text: 'invalid number JID' } },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'call.make', { number: String(body.number) }), () => ({ response: 'Call successful' })),
  }),
  route({
    on: ['POST /call/reject'],
    operationId: 'rejectCall',
    ...common,
    summary: 'Refuse a call that rings: the one of an id, the one of a number, or without both the last one',
    body: RejectBody,
    answer: CallAnswer,
    refusals: { ...platformRefusals, notFound: { example: 'no such call is ringing' } },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'call.reject', { number: String(body.number ?? ''), id: body.id ?? '' }), () => ({
        response: 'Call rejected',
      })),
  }),
];
