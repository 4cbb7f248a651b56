/** Messages of customers: a product of a catalog, and an order. */
import type { proto } from '@whiskeysockets/baileys';
import { proto as types } from '@whiskeysockets/baileys';
import { pnJid } from '../address.ts';
import type { Product } from '../business/shape.ts';
import type { Shops } from '../business/shops.ts';
import { SandboxError, type Content } from '../face.ts';
import type { Random } from '../random.ts';

type Of<K extends Content['kind']> = Extract<Content, { readonly kind: K }>;

interface Tools {
  readonly shops: Shops;
  readonly random: Random;
}

const thousandths = (price: string): number => Number(price === '' ? 0 : price);

/** Returns the products that can be ordered: those that customers see. */
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
