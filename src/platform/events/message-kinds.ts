/** The kinds of message content: their names in the API, their texts, answers and options, and their tappable parts. */
import { normalizeMessageContent, type proto } from '@whiskeysockets/baileys';
import { numberOf } from './library-values.ts';

// The tappable parts of a message and the answer to a tap. There are native flows, and the older buttons, lists and templates.

/** A tappable part. `id`: the id in the answer to a reply button or a row; null for another button, such as one that opens a page. */
export interface Tappable {
  readonly id: string | null;
  readonly text: string;
  readonly description: string;
  /** True for a row of a list. */
  readonly row: boolean;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Parses the JSON parameters of a native flow, which another client wrote. Returns an empty object for invalid JSON, and for more than 262,144 characters,
 * which is the platform's limit.
 */
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

/** Returns the tappable parts in the order of the message; an empty list for a message without such parts. */
export const tappablesOf = ({ interactiveMessage, buttonsMessage, listMessage }: proto.IMessage): readonly Tappable[] => {
  if (interactiveMessage) return interactiveTappables(interactiveMessage);
  if (listMessage) return listTappables(listMessage);
  return (buttonsMessage?.buttons ?? []).map(({ buttonId, buttonText }) => button(buttonId ?? '', buttonText?.displayText));
};

/** Returns the labels, joined by `|` as in `convertOptions`. Buttons without a label are left out. */
const labelsOf = (message: proto.IMessage): string =>
  tappablesOf(message)
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('|');

/** Returns the id of the tapped part, which is the parameter `id`. If this parameter is missing, returns the name of the native flow. */
const answeredId = ({ nativeFlowResponseMessage }: proto.Message.IInteractiveResponseMessage): string => {
  const params = paramsOf(nativeFlowResponseMessage?.paramsJson);
  return textAt(params, 'id') || (nativeFlowResponseMessage?.name ?? '');
};

// The texts of products and orders.

type Amount = Parameters<typeof numberOf>[0];

/** Formats an amount in thousandths, such as `19.90 BRL`; '' for no amount. The third decimal is shown only if it is not 0. */
const priceText = (thousandths: Amount, currency: string | null | undefined): string => {
  const amount = numberOf(thousandths);
  if (amount <= 0) return '';
  const digits = amount % 10 === 0 ? 2 : 3;
  return [(amount / 1000).toFixed(digits), currency ?? ''].filter(Boolean).join(' ');
};

const lines = (...texts: readonly (string | null | undefined)[]): string => texts.filter(Boolean).join('\n');

/** Returns the customer's question, the product's name and its price. */
const productText = ({ body, product }: proto.Message.IProductMessage): string =>
  lines(body, product?.title, priceText(product?.salePriceAmount1000 || product?.priceAmount1000, product?.currencyCode));

/** Returns the customer's text, the order's title, the number of items and the total price. */
const orderText = ({ message, orderTitle, itemCount, totalAmount1000, totalCurrencyCode }: proto.Message.IOrderMessage): string => {
  const count = itemCount ? `${itemCount} ${itemCount === 1 ? 'item' : 'items'}` : '';
  const total = priceText(totalAmount1000, totalCurrencyCode);
  return lines(message, orderTitle, [count, total].filter(Boolean).join(', '));
};

type Content = proto.IMessage;

/** The facts about a message that its content contains. An absent text means ''. */
export interface Facts {
  /** The type, such as `text`, `media`, `poll` or `reaction`. */
  readonly type: string;
  readonly mediaType: string;
  readonly text?: string | null | undefined;
  readonly vote?: string | null | undefined;
  readonly convertOptions?: string;
  readonly buttonOrListId?: string | null | undefined;
  readonly reaction?: string | null | undefined;
  /** The id of the message to which this content belongs. It replaces the id in `contextInfo`. */
  readonly quoted?: string | null | undefined;
  /** True for content that belongs to another message. It neither counts as unread nor becomes the last message of its chat. */
  readonly attached?: boolean;
  /** True if the `content` of the message is an object whose only key is the protocol's field name. */
  readonly nested?: boolean;
  /** The name of the kind, if it differs from the name of the content's key. */
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

/** Facts of contents that change another message. The API has no name for them. */
const unnamed: Facts = { type: 'unknown', mediaType: '', attached: true, nested: true, messageType: 'UnknownMessageType' };

/** Returns the name and the telephone numbers of a contact card. */
const cardText = (name: string | null | undefined, vcard: string | null | undefined): string => {
  const phones = (vcard ?? '')
    .split(/\r?\n/)
    .filter((line) => /^(item\d+\.)?TEL/i.test(line))
    .map((line) => line.slice(line.indexOf(':') + 1).trim());
  return [name ?? '', ...phones].filter((line) => line !== '').join('\n');
};

/** Returns the facts of an interactive message. The API names its kind by the content inside, such as `CarouselMessage`. */
const interactive = (interactiveMessage: proto.Message.IInteractiveMessage): Facts => ({
  type: 'text',
  mediaType: '',
  text: interactiveMessage.body?.text,
  convertOptions: labelsOf({ interactiveMessage }),
  ...(interactiveMessage.nativeFlowMessage ? { messageType: 'NativeFlowMessage' } : {}),
  ...(interactiveMessage.carouselMessage ? { messageType: 'CarouselMessage' } : {}),
});

/** Readers by the fields of the protocol's `Message`. */
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
  /** The field of the protocol's `Message` with the content. */
  readonly key: keyof Content;
  /** The name of the kind, such as `ImageMessage`. */
  readonly messageType: string;
  readonly facts: Facts;
  readonly value: unknown;
}

/** Fields that are not contents, although they have similar names. */
const besides = new Set([
  'senderKeyDistributionMessage',
  'messageContextInfo',
  'protocolMessage',
  'fastRatchetKeySenderKeyDistributionMessage',
]);

/** Wrappers that the library does not know. */
const otherWrappers = ['lottieStickerMessage', 'groupMentionedMessage', 'botInvokeMessage'] as const satisfies readonly (keyof Content)[];

/** The largest number of these wrappers around a content. The library has the same bound for the other wrappers. */
const mostWrappers = 5;

/** Returns the content inside its wrappers (view once, disappearing, with caption, edited). An empty wrapper is returned itself. */
export const unwrapped = (message: Content | null | undefined): Content | undefined => {
  let content = normalizeMessageContent(message ?? undefined);
  for (let depth = 0; depth < mostWrappers; depth += 1) {
    const wrapper = otherWrappers.find((name) => content?.[name]?.message);
    if (wrapper === undefined) break;
    content = normalizeMessageContent(content?.[wrapper]?.message ?? undefined);
  }
  return content;
};

const captioned = ['imageMessage', 'videoMessage', 'documentMessage'] as const satisfies readonly (keyof Content)[];

/** Returns the content of a message with another text and the same other fields, as edits need. Returns null for kinds without a text. */
export const withOtherText = (message: Content, text: string): Content | null => {
  const content = unwrapped(message);
  if (content === undefined) return null;
  if (typeof content.conversation === 'string' || content.extendedTextMessage) {
    const context = content.extendedTextMessage?.contextInfo;
    return { extendedTextMessage: { text, ...(context ? { contextInfo: context } : {}) } };
  }
  const kind = captioned.find((name) => content[name]);
  return kind === undefined ? null : { [kind]: { ...content[kind], caption: text } };
};

/** Returns the kind of a message. Returns null if it has no content that a person wrote. A kind that is missing in `readers` has the type `unknown`. */
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
