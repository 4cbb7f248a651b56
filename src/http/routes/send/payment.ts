/** Payments of Brazil: a PIX key to copy, and an order with its payment methods. */
import { Type } from 'typebox';
import { done, isWebAddress, type PixKey, refuse, type Result, type SendContent } from '#actors/gateway.ts';
import { boletoOf, centsOf, invalidKeyType, pixKeyOf } from '#src/contract/formats.ts';
import { mapResult } from '../../route.ts';
import { optional, Text } from '../../schemas/common.ts';
import { headOf } from './menu.ts';
import { fileRefusals } from './media.ts';
import { sendRow } from './row.ts';

const missingPix = 'Missing pixKey or pixCode';

interface Request {
  readonly title?: string;
  readonly text?: string;
  readonly footer?: string;
  readonly itemName?: string;
  readonly invoiceNumber?: string;
  readonly amount?: number;
  readonly orderMessageId?: string;
  readonly pixKey?: string;
  readonly pixType?: string;
  readonly pixName?: string;
  readonly paymentLink?: string;
  readonly boletoCode?: string;
  readonly fileUrl?: string;
  readonly fileName?: string;
}

const unless = <T, E>(empty: E, given: string, of: (given: string) => Result<T>): Result<T | E> => (given === '' ? done(empty) : of(given));

const linkOf = (link: string): Result<string> =>
  isWebAddress(link) ? done(link) : refuse('invalid', 'paymentLink must be an address with http or https');

const waysOf = ({ pixKey = '', pixType = 'EVP', pixName = '', paymentLink = '', boletoCode = '' }: Request) => {
  const pix = unless<PixKey, null>(null, pixKey, (key) => pixKeyOf(pixType, key, pixName));
  if (!pix.ok) return pix;
  const link = unless('', paymentLink.trim(), linkOf);
  if (!link.ok) return link;
  const boleto = unless('', boletoCode.trim(), boletoOf);
  if (!boleto.ok) return boleto;
  if (pix.value === null && link.value === '' && boleto.value === '') return refuse('invalid', missingPix);
  return done({ pix: pix.value, link: link.value, boleto: boleto.value });
};

const paymentOf = (request: Request): Result<SendContent> => {
  const {
    title = '',
    text = '',
    footer = '',
    itemName: item = '',
    invoiceNumber: reference = '',
    amount,
    orderMessageId: order = '',
  } = request;
  if (amount === undefined && order === '') return refuse('invalid', 'amount or orderMessageId is required');
  const cents = amount === undefined ? done(null) : centsOf(amount);
  if (!cents.ok) return cents;
  return mapResult(waysOf(request), (ways) => ({
    kind: 'payment' as const,
    head: headOf('document', request.fileUrl, request.fileName),
    title,
    text,
    footer,
    item,
    reference,
    order,
    cents: cents.value,
    ...ways,
  }));
};

const pixFields = {
  pixType: Type.String({ maxLength: 20, description: 'CPF, CNPJ, PHONE, EMAIL or EVP', examples: ['EVP'] }),
  pixKey: Type.String({ maxLength: 200, description: 'The key', examples: ['123e4567-e89b-42d3-a456-426614174000'] }),
  pixName: Text(100, 'Name of the payee; the name of the profile if absent'),
};

export const paymentRows = [
  sendRow({
    on: 'POST /send/request-payment',
    operationId: 'sendRequestPayment',
    summary: 'Ask for a payment in Brazil by PIX, link or bank slip. Not guaranteed: the platform offers it to businesses',
    sent: 'Payment request sent successfully',
    fields: {
      title: optional(Text(1024, 'Title, with placeholders')),
      text: optional(Text(65_536, 'Text, with placeholders')),
      footer: optional(Text(1024, 'Small text below')),
      itemName: optional(Text(255, 'Name of the paid item')),
      invoiceNumber: optional(Text(100, 'Number of the order; made up when left out')),
      amount: optional(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000_000, description: 'In Reais', examples: [199.9] })),
      orderMessageId: optional(Text(200, 'A received order: its total is asked for when `amount` is left out')),
      pixType: optional(pixFields.pixType),
      pixKey: optional(pixFields.pixKey),
      pixName: optional(pixFields.pixName),
      paymentLink: optional(Text(2048, 'Address where it is paid')),
      fileUrl: optional(Text(2048, 'Address of a document above the text, such as the bank slip')),
      fileName: optional(Text(255, 'Name of the document')),
      boletoCode: optional(Text(100, 'Digits of a bank slip')),
    },
    refusals: { ...fileRefusals, invalid: { example: missingPix } },
    content: paymentOf,
  }),
  sendRow({
    on: 'POST /send/pix-button',
    operationId: 'sendPixButton',
    summary: 'Send a PIX key with a button that copies it. Not guaranteed: the platform offers it to businesses',
    sent: 'PIX button sent successfully',
    fields: { pixType: pixFields.pixType, pixKey: pixFields.pixKey, pixName: optional(pixFields.pixName) },
    invalidTexts: { 'pixType:required': invalidKeyType, 'pixKey:required': missingPix },
    refusals: { invalid: { example: invalidKeyType } },
    content: ({ pixType, pixKey, pixName = '' }) => mapResult(pixKeyOf(pixType, pixKey, pixName), (pix) => ({ kind: 'pix' as const, pix })),
  }),
];
