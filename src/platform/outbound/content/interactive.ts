/**
 * Composers of interactive contents: native flows, buttons, lists, carousels, location requests, PIX keys and orders, with media above the
 * text.
 */
import { randomBytes } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys';
import {
  type Button,
  type ButtonsContent,
  type CarouselContent,
  done,
  type Head,
  type ListContent,
  type ListSection,
  type MediaContent,
  type Message,
  type PaymentContent,
  type PixContent,
  type PixKey,
  type PlaceRequestContent,
  refuse,
  type Result,
} from '#actors/model.ts';
import { numberOf } from '../../events/library-values.ts';
import { unwrapped } from '../../events/message-kinds.ts';
import { type Composer, plainComposer } from '../composer.ts';
import type { LiveConnection } from '../live-connection.ts';
import { mediaComposer } from './media.ts';

// Native flows, the newer form of buttons and lists. A button of a native flow has a name, and its parameters as JSON.

type Flow = proto.Message.InteractiveMessage.NativeFlowMessage.INativeFlowButton;

const flow = (name: string, params: unknown): Flow => ({ name, buttonParamsJson: JSON.stringify(params) });

const buttonFlow = (button: Button): Flow => {
  const { text: display_text } = button;
  switch (button.kind) {
    case 'reply':
      return flow('quick_reply', { display_text, id: button.id });
    case 'url':
      return flow('cta_url', { display_text, url: button.url, merchant_url: button.url });
    case 'call':
      return flow('cta_call', { display_text, phone_number: button.phone });
    case 'copy':
      return flow('cta_copy', { display_text, copy_code: button.code });
  }
};

const listFlow = (title: string, sections: readonly ListSection[]): Flow =>
  flow('single_select', {
    title,
    sections: sections.map((section) => ({
      title: section.title,
      highlight_label: '',
      rows: section.rows.map((row) => ({ header: '', title: row.title, description: row.description, id: row.id })),
    })),
  });

interface Words {
  readonly title?: string;
  readonly text: string;
  readonly footer?: string;
}

/** A picture, video or document above the text. */
type HeadMessage = Pick<proto.Message.InteractiveMessage.IHeader, 'imageMessage' | 'videoMessage' | 'documentMessage'>;

/** Builds the fields that messages and cards of a carousel have in common. */
const interactive = (
  { title = '', text, footer = '' }: Words,
  buttons: readonly Flow[],
  head: HeadMessage | null = null,
): proto.Message.IInteractiveMessage => ({
  ...(title === '' && head === null ? {} : { header: { title, hasMediaAttachment: head !== null, ...head } }),
  body: { text },
  ...(footer === '' ? {} : { footer: { text: footer } }),
  nativeFlowMessage: { buttons: [...buttons], messageParamsJson: '', messageVersion: 1 },
});

/** Builds the whole message with an empty list of devices. Other clients also send this list with messages of this kind. */
const interactiveMessage = (message: proto.Message.IInteractiveMessage): proto.IMessage => ({
  interactiveMessage: message,
  messageContextInfo: { deviceListMetadata: {}, deviceListMetadataVersion: 2 },
});

// Pictures, videos and documents above the text of a message or a card.

const mediaOf = ({ as, file }: Head): MediaContent => ({ kind: 'media', as, file, caption: '', viewOnce: false });

/** Uploads the file above the text; null for none. */
const uploadedHead = async (head: Head | null, connection: LiveConnection, jid: string): Promise<Result<HeadMessage | null>> =>
  head === null ? done(null) : mediaComposer.content(mediaOf(head), connection, jid);

/** Builds the media above the text without a connection and without an upload. */
const draftHead = (head: Head | null): HeadMessage | null => (head === null ? null : mediaComposer.draft(mediaOf(head)));

// Buttons, lists, carousels and location requests. Phones show them only with a node that `stanza.ts` adds.

const { ButtonsMessage, InteractiveMessage } = proto.Message;

const legacyButtons = ({ text, footer, buttons }: ButtonsContent, head: HeadMessage | null): proto.IMessage => ({
  buttonsMessage: {
    contentText: text,
    ...(footer === '' ? {} : { footerText: footer }),
    ...head,
    headerType: head === null ? ButtonsMessage.HeaderType.EMPTY : ButtonsMessage.HeaderType.IMAGE,
    buttons: buttons.flatMap((button) =>
      button.kind === 'reply'
        ? [{ buttonId: button.id, buttonText: { displayText: button.text }, type: ButtonsMessage.Button.Type.RESPONSE }]
        : [],
    ),
  },
});

/** Puts reply buttons before all other buttons, because some apps show only the first buttons. */
const inOrder = (buttons: ButtonsContent['buttons']): ButtonsContent['buttons'] => [
  ...buttons.filter(({ kind }) => kind === 'reply'),
  ...buttons.filter(({ kind }) => kind !== 'reply'),
];

const buttonsMessage = (content: ButtonsContent, head: HeadMessage | null): proto.IMessage =>
  content.legacy ? legacyButtons(content, head) : interactiveMessage(interactive(content, inOrder(content.buttons).map(buttonFlow), head));

export const buttonsComposer: Composer<ButtonsContent> = {
  uploads: true,
  async content(content, connection, jid) {
    const head = await uploadedHead(content.head, connection, jid);
    return head.ok ? done(buttonsMessage(content, head.value)) : head;
  },
  draft: (content) => buttonsMessage(content, draftHead(content.head)),
  isComplete: ({ head }) => head === null,
};

export const listComposer = plainComposer<ListContent>((content) =>
  interactiveMessage(interactive(content, [listFlow(content.button, content.sections)])),
);

/** Builds a carousel. A single card without media becomes the message itself, because phones do not show such a carousel. iPhones need `contextInfo`. */
const carouselMessage = ({ text, footer, cards }: CarouselContent, heads: readonly (HeadMessage | null)[]): proto.IMessage => {
  const [first] = cards;
  if (cards.length === 1 && first?.head === null)
    return interactiveMessage(interactive({ text: `${text}\n\n${first.text}`, footer }, first.buttons.map(buttonFlow)));
  return interactiveMessage({
    body: { text },
    ...(footer === '' ? {} : { footer: { text: footer } }),
    contextInfo: {},
    carouselMessage: {
      cards: cards.map((card, index) => interactive(card, card.buttons.map(buttonFlow), heads[index] ?? null)),
      messageVersion: 1,
      carouselCardType: InteractiveMessage.CarouselMessage.CarouselCardType.HSCROLL_CARDS,
    },
  });
};

export const carouselComposer: Composer<CarouselContent> = {
  uploads: true,
  async content(content, connection, jid) {
    const heads: (HeadMessage | null)[] = [];
    for (const card of content.cards) {
      const head = await uploadedHead(card.head, connection, jid);
      if (!head.ok) return head;
      heads.push(head.value);
    }
    return done(carouselMessage(content, heads));
  },
  draft: (content) =>
    carouselMessage(
      content,
      content.cards.map(({ head }) => draftHead(head)),
    ),
  isComplete: ({ cards }) => cards.every(({ head }) => head === null),
};

export const placeRequestComposer = plainComposer<PlaceRequestContent>(({ text }) =>
  interactiveMessage(interactive({ text }, [flow('send_location', { display_text: 'Send location' })])),
);

// PIX keys and payable orders, which Brazilian phones show.

const amount = (value: number) => ({ value, offset: 100 });

interface Order {
  readonly reference: string;
  readonly cents: number;
  readonly item: string;
}

/** Builds the parameters of an order with one item. */
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

/**
 * Returns the order in a stored message. Prices of an order are in thousandths of the currency unit, and payments are in hundredths. The caller converts
 * them.
 */
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
