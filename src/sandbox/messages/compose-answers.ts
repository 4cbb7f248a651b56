/** Messages by which people answer: taps on buttons and rows, products of a catalog, and orders. */
import { proto, proto as types } from '@whiskeysockets/baileys';
import { pnJid } from '../address.ts';
import type { Product } from '../business/shape.ts';
import type { Shops } from '../business/shops.ts';
import { type Content, SandboxError } from '../interface.ts';
import { interactiveOf } from '../interactive.ts';
import type { Random } from '../random.ts';

// Messages of customers: a product of a catalog, and an order.

type Of<K extends Content['kind']> = Extract<Content, { readonly kind: K }>;

interface Tools {
  readonly shops: Shops;
  readonly random: Random;
}

const thousandths = (price: string): number => Number(price === '' ? 0 : price);

/** Returns a product of a catalog. Throws if customers do not see the product. */
function offered({ shops }: Tools, owner: string, id: string): Product {
  const product = shops.product(owner, id);
  if (product.isHidden || product.status !== 'APPROVED') throw new SandboxError(409, `customers do not see the product ${id}`);
  return product;
}

export function composeProduct({ owner, productId, text }: Of<'product'>, tools: Tools): proto.IMessage {
  const product = offered(tools, owner, productId);
  const [image] = product.images;
  return {
    productMessage: {
      businessOwnerJid: pnJid(owner),
      ...(text === undefined ? {} : { body: text }),
      product: {
        productId,
        title: product.name,
        description: product.description,
        retailerId: product.retailerId,
        url: product.url,
        productImageCount: product.images.length,
        ...(image ? { productImage: { url: image.url, mimetype: 'image/jpeg' } } : {}),
        ...(product.price === '' ? {} : { currencyCode: product.currency, priceAmount1000: thousandths(product.price) }),
        ...(product.salePrice === '' ? {} : { salePriceAmount1000: thousandths(product.salePrice) }),
      },
    },
    messageContextInfo: { messageSecret: tools.random.bytes(32) },
  };
}

export function composeOrder({ owner, items, text }: Of<'order'>, tools: Tools): proto.IMessage {
  const lines = items.map(({ productId, quantity }) => ({ product: offered(tools, owner, productId), quantity }));
  const order = tools.shops.addOrder(lines);
  const { OrderStatus, OrderSurface } = types.Message.OrderMessage;
  return {
    orderMessage: {
      orderId: order.id,
      token: order.token,
      sellerJid: pnJid(owner),
      orderTitle: lines[0]?.product.name ?? '',
      itemCount: lines.reduce((sum, { quantity }) => sum + quantity, 0),
      status: OrderStatus.INQUIRY,
      surface: OrderSurface.CATALOG,
      messageVersion: 1,
      ...(text === undefined ? {} : { message: text }),
      ...(order.total > 0 ? { totalAmount1000: order.total, totalCurrencyCode: order.currency } : {}),
    },
    messageContextInfo: { messageSecret: tools.random.bytes(32) },
  };
}

// The messages that a phone sends when its owner taps a button or a row. An answer has one of four forms, or is a location.

type Tap = Extract<Content, { readonly kind: 'tap' }>;

/** A tappable part of a message: a button, or a row of a list. The answer to a tap repeats these fields. */
interface Option {
  readonly name: string;
  readonly id: string | undefined;
  readonly text: string;
  readonly description: string;
}

const optionsOf = (message: proto.IMessage | undefined): { readonly form: 'native' | 'buttons' | 'list'; readonly options: Option[] } => {
  const view = interactiveOf(message);
  if (!view) throw new SandboxError(400, 'this message has nothing to tap');
  const buttons = [...view.buttons, ...view.cards.flatMap((card) => card.buttons)];
  const options = buttons.flatMap(({ name, text, id, rows }): Option[] =>
    rows === undefined
      ? [{ name, id, text, description: '' }]
      : rows.map((row) => ({ name, id: row.id, text: row.title, description: row.description })),
  );
  return { form: view.form, options };
};

const { ButtonsResponseMessage, ListResponseMessage, InteractiveResponseMessage } = proto.Message;

const answers: Readonly<Record<NonNullable<Tap['form']>, (option: Option, contextInfo: proto.IContextInfo) => proto.IMessage>> = {
  native: ({ name, id, text, description }, contextInfo) => ({
    interactiveResponseMessage: {
      body: { text, format: InteractiveResponseMessage.Body.Format.DEFAULT },
      contextInfo,
      nativeFlowResponseMessage: {
        name: name === 'single_select' ? 'menu_options' : name,
        paramsJson: JSON.stringify(name === 'single_select' ? { id, title: text, description } : { id }),
        version: 3,
      },
    },
  }),
  buttons: ({ id = '', text }, contextInfo) => ({
    buttonsResponseMessage: {
      selectedButtonId: id,
      selectedDisplayText: text,
      type: ButtonsResponseMessage.Type.DISPLAY_TEXT,
      contextInfo,
    },
  }),
  list: ({ id = '', text, description }, contextInfo) => ({
    listResponseMessage: {
      title: text,
      description,
      listType: ListResponseMessage.ListType.SINGLE_SELECT,
      singleSelectReply: { selectedRowId: id },
      contextInfo,
    },
  }),
  template: ({ id = '', text }, contextInfo) => ({
    templateButtonReplyMessage: { selectedId: id, selectedDisplayText: text, contextInfo },
  }),
};

/** Makes the message of a tap. `contextInfo` quotes the tapped message. */
export const composeTap = (tap: Tap, tapped: proto.IMessage | undefined, contextInfo: proto.IContextInfo): proto.IMessage => {
  const { form, options } = optionsOf(tapped);
  const option = options.find(({ id, text }) => id === tap.option || text === tap.option);
  if (!option) throw new SandboxError(400, `nothing to tap is called ${tap.option.slice(0, 80)}`);
  if (option.name === 'send_location') {
    const { latitude: degreesLatitude = 0, longitude: degreesLongitude = 0 } = tap;
    return { locationMessage: { degreesLatitude, degreesLongitude, contextInfo } };
  }
  if (option.id === undefined) throw new SandboxError(400, `${tap.option.slice(0, 80)} opens something on the phone and answers nothing`);
  return answers[tap.form ?? form](option, contextInfo);
};
