/** The status of a payment that a message asked for. */
import { Type } from 'typebox';
import { refuse } from '#actors/gateway.ts';
import { type Route, route } from '../route.ts';
import { Flag, OneOf, optional, Text } from '../schemas/common.ts';
import { MessageId } from '../schemas/message.ts';

const orderStatuses = ['payment_requested', 'preparing_to_ship', 'shipped', 'delivered', 'completed', 'canceled'] as const;

const reason = 'the status of a payment cannot be sent: this build has no message for it';

export const paymentRoutes: readonly Route[] = [
  route({
    on: ['POST /message/payment/status'],
    operationId: 'setPaymentStatus',
    credential: 'instance',
    tag: 'message',
    summary:
      'Tell how far an order is whose payment was asked for. Not supported: answered with 501, because this build has no message for it',
    body: Type.Object({
      id: MessageId,
      status: OneOf(orderStatuses, { description: 'How far the order is' }),
      paid: optional(Flag('True once it is paid; unchanged when left out')),
      note: optional(Text(500, 'A remark for the customer')),
    }),
    answer: Type.Object({ response: Type.String() }),
    refusals: { notSupported: { example: reason } },
    run: async () => refuse('notSupported', reason),
  }),
];
