/** Products and orders as people would write them down. */
import type { proto } from '@whiskeysockets/baileys';
import { numberOf } from './content-json.ts';

type Amount = Parameters<typeof numberOf>[0];

/** Such as `19.90 BRL`, out of thousandths; '' for no amount. The third digit is shown only where it says something. */
export const priceText = (thousandths: Amount, currency: string | null | undefined): string => {
  const amount = numberOf(thousandths);
  if (amount <= 0) return '';
  const digits = amount % 10 === 0 ? 2 : 3;
  return [(amount / 1000).toFixed(digits), currency ?? ''].filter(Boolean).join(' ');
};

const lines = (...texts: readonly (string | null | undefined)[]): string => texts.filter(Boolean).join('\n');

/** The customer's question, the product's name and its price. */
export const productText = ({ body, product }: proto.Message.IProductMessage): string =>
  lines(body, product?.title, priceText(product?.salePriceAmount1000 || product?.priceAmount1000, product?.currencyCode));

/** The customer's text, the order's title, the number of items and the total price. */
export const orderText = ({ message, orderTitle, itemCount, totalAmount1000, totalCurrencyCode }: proto.Message.IOrderMessage): string => {
  const count = itemCount ? `${itemCount} ${itemCount === 1 ? 'item' : 'items'}` : '';
  const total = priceText(totalAmount1000, totalCurrencyCode);
  return lines(message, orderTitle, [count, total].filter(Boolean).join(', '));
};
