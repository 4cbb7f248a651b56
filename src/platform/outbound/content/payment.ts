/** PIX keys and orders to be paid, as Brazilian phones show them. */
import { randomBytes } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys';
import { done, type Message, type PaymentContent, type PixContent, type PixKey, refuse, type Result } from '#actors/model.ts';
import type { LiveConnection } from '../live-connection.ts';
import { numberOf } from '../../events/content-json.ts';
import { unwrapped } from '../../events/message-kinds.ts';
import type { Composer } from '../composer.ts';
import { draftHead, uploadedHead } from './head.ts';
import { flow, type HeadMessage, interactive, interactiveMessage } from './native-flow.ts';

const amount = (value: number) => ({ value, offset: 100 });

interface Order {
  readonly reference: string;
  readonly cents: number;
  readonly item: string;
}

/** An order of one item. */
const orderParams = ({ reference, cents, item }: Order, settings: readonly unknown[]) => ({
  currency: 'BRL',
  total_amount: amount(cents),
  reference_id: reference === '' ? randomBytes(6).toString('hex').toUpperCase() : reference,
  type: 'physical-goods',
  order: {
    status: 'pending',
    subtotal: amount(cents),
    order_type: 'ORDER',
    items: [{ name: item, amount: amount(cents), quantity: 1 }],
  },
  payment_settings: settings,
});

const pixSetting = ({ type, key, name }: PixKey, payee: string) => ({
  type: 'pix_static_code',
  pix_static_code: { merchant_name: name || payee || 'PIX', key, key_type: type },
});

const pixMessage = ({ pix }: PixContent, payee: string): proto.IMessage =>
  interactiveMessage(
    interactive({ text: '' }, [
      flow('payment_info', orderParams({ reference: '', cents: 0, item: pix.name || payee || 'PIX' }, [pixSetting(pix, payee)])),
    ]),
  );

export const pixComposer: Composer<PixContent> = {
  content: async (content, { directory }) => done(pixMessage(content, directory.me.name)),
  draft: (content) => pixMessage(content, ''),
  isComplete: ({ pix }) => pix.name !== '',
};

const settingsOf = ({ pix, link, boleto }: PaymentContent, payee: string): readonly unknown[] => [
  ...(pix === null ? [] : [pixSetting(pix, payee)]),
  ...(link === '' ? [] : [{ type: 'payment_link', payment_link: { uri: link } }]),
  ...(boleto === '' ? [] : [{ type: 'boleto', boleto: { digitable_line: boleto } }]),
  { type: 'cards', cards: { enabled: false } },
];

const paymentMessage = (content: PaymentContent, order: Order, payee: string, head: HeadMessage | null): proto.IMessage =>
  interactiveMessage(interactive(content, [flow('review_and_pay', orderParams(order, settingsOf(content, payee)))], head));

/** The order that a message announced. Its prices are in thousandths, payments are in hundredths. */
const orderIn = (stored: Message | null): proto.Message.IOrderMessage | null =>
  stored?.raw ? (unwrapped(proto.Message.decode(stored.raw))?.orderMessage ?? null) : null;

const orderOf = async (content: PaymentContent, connection: LiveConnection): Promise<Result<Order>> => {
  const item = content.item || content.title || 'Order';
  if (content.order === '') return done({ reference: content.reference, cents: content.cents ?? 0, item });
  const order = orderIn(await connection.stored(content.order));
  if (order === null) return refuse('invalid', `the message ${content.order} is no stored order`);
  const cents = content.cents ?? Math.round(numberOf(order.totalAmount1000) / 10);
  if (cents <= 0) return refuse('invalid', 'the order has no total: amount is required');
  return done({ reference: content.reference || (order.orderId ?? ''), cents, item: content.item || order.orderTitle || item });
};

export const paymentComposer: Composer<PaymentContent> = {
  uploads: true,
  async content(content, connection, jid) {
    const order = await orderOf(content, connection);
    if (!order.ok) return order;
    const head = await uploadedHead(content.head, connection, jid);
    return head.ok ? done(paymentMessage(content, order.value, connection.directory.me.name, head.value)) : head;
  },
  draft(content) {
    const { reference, cents, item, title, head } = content;
    return paymentMessage(content, { reference, cents: cents ?? 0, item: item || title || 'Order' }, '', draftHead(head));
  },
  isComplete: ({ order, pix, head }) => order === '' && head === null && (pix === null || pix.name !== ''),
};
