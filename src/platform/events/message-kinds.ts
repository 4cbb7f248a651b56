/** The kinds of message content: their names in the interface, their texts, answers and options, and the parts that people tap. */
import { normalizeMessageContent, type proto } from '@whiskeysockets/baileys';
import { numberOf } from './library-values.ts';

// The tappable parts of a message, and the answer of a tap: native flows, and the older buttons, lists and templates.

/** `id`: the id that an answer names; null if the tap opens a page or an app on the phone. */
export interface Tappable {
  readonly id: string | null;
  readonly text: string;
  readonly description: string;
  /** A row of a list. */
  readonly row: boolean;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parameters are JSON that another client wrote. The platform allows 262,144 characters. */
const paramsOf = (text: string | null | undefined): Json => {
  if (!text || text.length > 262_144) return {};
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? json : {};
  } catch {
    return {};
  }
};

const textAt = (json: Json, name: string): string => (typeof json[name] === 'string' ? json[name] : '');
const listAt = (json: Json, name: string): readonly Json[] => (Array.isArray(json[name]) ? json[name].filter(isObject) : []);

const button = (id: string | null | undefined, text: string | null | undefined): Tappable => ({
  id: id ?? null,
  text: text ?? '',
  description: '',
  row: false,
});

const flowTappables = ({
  name,
  buttonParamsJson,
}: proto.Message.InteractiveMessage.NativeFlowMessage.INativeFlowButton): readonly Tappable[] => {
  const params = paramsOf(buttonParamsJson);
  if (name !== 'single_select') return [button(name === 'quick_reply' ? textAt(params, 'id') : null, textAt(params, 'display_text'))];
  return listAt(params, 'sections').flatMap((section) =>
    listAt(section, 'rows').map((row) => ({
      id: textAt(row, 'id'),
      text: textAt(row, 'title'),
      description: textAt(row, 'description'),
      row: true,
    })),
  );
};

const interactiveTappables = ({ nativeFlowMessage, carouselMessage }: proto.Message.IInteractiveMessage): readonly Tappable[] => [
  ...(nativeFlowMessage?.buttons ?? []).flatMap(flowTappables),
  ...(carouselMessage?.cards ?? []).flatMap((card) => (card.nativeFlowMessage?.buttons ?? []).flatMap(flowTappables)),
];

const listTappables = ({ sections }: proto.Message.IListMessage): readonly Tappable[] =>
  (sections ?? []).flatMap(({ rows }) =>
    (rows ?? []).map(({ rowId, title, description }) => ({
      id: rowId ?? '',
      text: title ?? '',
      description: description ?? '',
      row: true,
    })),
  );

/** Returns the tappable parts in the order of the message; none for other messages. */
export const tappablesOf = ({ interactiveMessage, buttonsMessage, listMessage }: proto.IMessage): readonly Tappable[] => {
  if (interactiveMessage) return interactiveTappables(interactiveMessage);
  if (listMessage) return listTappables(listMessage);
  return (buttonsMessage?.buttons ?? []).map(({ buttonId, buttonText }) => button(buttonId ?? '', buttonText?.displayText));
};

/** Returns the labels in the form of the interface's options. Buttons without a label are left out. */
const labelsOf = (message: proto.IMessage): string =>
  tappablesOf(message)
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('|');

/** The name of a native flow does not identify the tapped part. Its id is among the parameters. */
const answeredId = ({ nativeFlowResponseMessage }: proto.Message.IInteractiveResponseMessage): string => {
  const params = paramsOf(nativeFlowResponseMessage?.paramsJson);
  return textAt(params, 'id') || (nativeFlowResponseMessage?.name ?? '');
};

// Products and orders as people would write them down.

type Amount = Parameters<typeof numberOf>[0];

/** Such as `19.90 BRL`, out of thousandths; '' for no amount. The third digit is shown only where it says something. */
const priceText = (thousandths: Amount, currency: string | null | undefined): string => {
  const amount = numberOf(thousandths);
  if (amount <= 0) return '';
  const digits = amount % 10 === 0 ? 2 : 3;
  return [(amount / 1000).toFixed(digits), currency ?? ''].filter(Boolean).join(' ');
};

const lines = (...texts: readonly (string | null | undefined)[]): string => texts.filter(Boolean).join('\n');

/** The customer's question, the product's name and its price. */
const productText = ({ body, product }: proto.Message.IProductMessage): string =>
  lines(body, product?.title, priceText(product?.salePriceAmount1000 || product?.priceAmount1000, product?.currencyCode));

/** The customer's text, the order's title, the number of items and the total price. */
const orderText = ({ message, orderTitle, itemCount, totalAmount1000, totalCurrencyCode }: proto.Message.IOrderMessage): string => {
  const count = itemCount ? `${itemCount} ${itemCount === 1 ? 'item' : 'items'}` : '';
  const total = priceText(totalAmount1000, totalCurrencyCode);
  return lines(message, orderTitle, [count, total].filter(Boolean).join(', '));
};

type Content = proto.IMessage;

/** The facts that content tells about a message. Absent texts are ''. */
export interface Facts {
  /** `text`, `media`, `poll`, `reaction`, … */
  readonly type: string;
  readonly mediaType: string;
  readonly text?: string | null | undefined;
  readonly vote?: string | null | undefined;
  readonly convertOptions?: string;
  readonly buttonOrListId?: string | null | undefined;
  readonly reaction?: string | null | undefined;
  /** Instead of the id in the context: what polls answer. */
  readonly quoted?: string | null | undefined;
  /** Part of another message's story: it neither counts as unread nor stands as a chat's last message. */
  readonly attached?: boolean;
  /** The content's key is repeated inside `content`. */
  readonly nested?: boolean;
  /** Instead of the name of the content's key. */
  readonly messageType?: string;
}

type Reader<K extends keyof Content> = (content: NonNullable<Content[K]>) => Facts;

const media = (mediaType: string, more: Partial<Facts> = {}): Facts => ({ type: 'media', mediaType, ...more });

const poll = (content: proto.Message.IPollCreationMessage): Facts => ({
  type: 'poll',
  mediaType: '',
  text: content.name,
  convertOptions: (content.options ?? []).map((option) => option.optionName ?? '').join('|'),
  nested: true,
});

/** Contents that change another message. The interface has no name for them. */
const unnamed: Facts = { type: 'unknown', mediaType: '', attached: true, nested: true, messageType: 'UnknownMessageType' };

/** Name and telephone lines, as people would write them down. */
const cardText = (name: string | null | undefined, vcard: string | null | undefined): string => {
  const phones = (vcard ?? '')
    .split(/\r?\n/)
    .filter((line) => /^(item\d+\.)?TEL/i.test(line))
    .map((line) => line.slice(line.indexOf(':') + 1).trim());
  return [name ?? '', ...phones].filter((line) => line !== '').join('\n');
};

/** Names the kind by the content of the message, in the words of the interface. */
const interactive = (interactiveMessage: proto.Message.IInteractiveMessage): Facts => ({
  type: 'text',
  mediaType: '',
  text: interactiveMessage.body?.text,
  convertOptions: labelsOf({ interactiveMessage }),
  ...(interactiveMessage.nativeFlowMessage ? { messageType: 'NativeFlowMessage' } : {}),
  ...(interactiveMessage.carouselMessage ? { messageType: 'CarouselMessage' } : {}),
});

/** Keys are fields of the protocol's `Message`. */
const readers: { readonly [K in keyof Content]?: Reader<K> } = {
  conversation: (text) => ({ type: 'text', mediaType: '', text }),
  extendedTextMessage: ({ text }) => ({ type: 'text', mediaType: '', text }),
  imageMessage: ({ caption }) => media('image', { text: caption }),
  videoMessage: ({ caption, gifPlayback }) => media(gifPlayback ? 'gif' : 'video', { text: caption }),
  ptvMessage: ({ caption }) => media('video', { text: caption }),
  audioMessage: ({ ptt }) => media(ptt ? 'ptt' : 'audio'),
  documentMessage: ({ caption }) => media('document', { text: caption }),
  stickerMessage: () => media('sticker'),
  lottieStickerMessage: () => media('sticker'),
  contactMessage: ({ displayName, vcard }) => media('vcard', { text: cardText(displayName, vcard) }),
  contactsArrayMessage: ({ contacts }) =>
    media('contact_array', { text: (contacts ?? []).map(({ displayName, vcard }) => cardText(displayName, vcard)).join('\n') }),
  locationMessage: () => media('location'),
  liveLocationMessage: ({ caption }) => media('livelocation', { text: caption }),
  listMessage: (listMessage) =>
    media('list', { text: listMessage.description || listMessage.title, convertOptions: labelsOf({ listMessage }) }),
  listResponseMessage: ({ title, singleSelectReply, contextInfo }) =>
    media('list_response', { vote: title, buttonOrListId: singleSelectReply?.selectedRowId, quoted: contextInfo?.stanzaId }),
  buttonsMessage: (buttonsMessage) => ({
    type: 'text',
    mediaType: '',
    text: buttonsMessage.contentText,
    convertOptions: labelsOf({ buttonsMessage }),
  }),
  buttonsResponseMessage: ({ selectedButtonId, selectedDisplayText }) =>
    media('buttons_response', { vote: selectedDisplayText, buttonOrListId: selectedButtonId }),
  templateButtonReplyMessage: ({ selectedId, selectedDisplayText }) =>
    media('buttons_response', { vote: selectedDisplayText, buttonOrListId: selectedId }),
  interactiveMessage: interactive,
  interactiveResponseMessage: (answer) => media('native_flow_response', { vote: answer.body?.text, buttonOrListId: answeredId(answer) }),
  pollCreationMessage: poll,
  pollCreationMessageV2: poll,
  pollCreationMessageV3: poll,
  pollCreationMessageV5: poll,
  pollUpdateMessage: ({ pollCreationMessageKey }) => ({ type: 'poll', mediaType: '', quoted: pollCreationMessageKey?.id, attached: true }),
  reactionMessage: ({ text, key }) => ({ type: 'reaction', mediaType: '', text, reaction: key?.id, attached: true }),
  encReactionMessage: ({ targetMessageKey }) => ({ type: 'reaction', mediaType: '', reaction: targetMessageKey?.id, attached: true }),
  eventMessage: ({ name, description }) => ({ type: 'event', mediaType: '', text: [name, description].filter(Boolean).join('\n') }),
  encEventResponseMessage: ({ eventCreationMessageKey }) => ({
    type: 'event',
    mediaType: '',
    quoted: eventCreationMessageKey?.id,
    attached: true,
  }),
  secretEncryptedMessage: ({ targetMessageKey }) => ({ type: 'unknown', mediaType: '', quoted: targetMessageKey?.id, attached: true }),
  groupInviteMessage: ({ caption }) => media('url', { text: caption }),
  newsletterAdminInviteMessage: ({ caption, newsletterName }) => ({ type: 'text', mediaType: '', text: caption || newsletterName }),
  productMessage: (shown) => media('product', { text: productText(shown) }),
  orderMessage: (order) => media('order', { text: orderText(order) }),
  albumMessage: () => media('album'),
  pinInChatMessage: () => unnamed,
  keepInChatMessage: () => unnamed,
};

export interface Kind {
  /** Field of the protocol's `Message` that holds the content. */
  readonly key: keyof Content;
  /** Such as `ImageMessage`. */
  readonly messageType: string;
  readonly facts: Facts;
  readonly value: unknown;
}

/** Fields that are not contents, although their names end like those of contents. */
const besides = new Set([
  'senderKeyDistributionMessage',
  'messageContextInfo',
  'protocolMessage',
  'fastRatchetKeySenderKeyDistributionMessage',
]);

/** Content inside its wrappers (view once, disappearing, with caption, edited). */
export const unwrapped = (message: Content | null | undefined): Content | undefined => normalizeMessageContent(message ?? undefined);

/** Null if the message has no content of a person. Kinds outside of the table keep their name, with type `unknown`. */
export const kindOf = (message: Content): Kind | null => {
  for (const [name, value] of Object.entries(message)) {
    if (value === null || value === undefined || besides.has(name)) continue;
    const key = name as keyof Content;
    const reader = readers[key] as Reader<keyof Content> | undefined;
    if (reader === undefined && !name.includes('Message')) continue;
    const facts: Facts = reader === undefined ? { type: 'unknown', mediaType: '' } : reader(value as never);
    return { key, messageType: facts.messageType ?? name.charAt(0).toUpperCase() + name.slice(1), facts, value };
  }
  return null;
};

/** Returns the context of a message: the quoted message and the mentioned people. */
export const contextOf = (value: unknown): proto.IContextInfo | null => {
  if (typeof value !== 'object' || value === null || !('contextInfo' in value)) return null;
  return (value.contextInfo ?? null) as proto.IContextInfo | null;
};
