/** Facts about a decrypted message: its kind, its text, its media, and the attributes that its stanza needs. */
import { getContentType, normalizeMessageContent, proto } from '@whiskeysockets/baileys';

/** The attributes of a message stanza that depend on the content of the message. */
export interface StanzaKind {
  readonly type: 'text' | 'media' | 'reaction' | 'poll' | 'event';
  readonly mediatype?: string;
  readonly 'decrypt-fail'?: 'hide';
}

type MediaKind = 'image' | 'video' | 'audio' | 'document' | 'sticker';

/** The fields of a media message that refer to its encrypted file. */
export interface MediaPart {
  readonly kind: MediaKind;
  readonly directPath?: string | null;
  readonly mediaKey?: Uint8Array | null;
  readonly fileSha256?: Uint8Array | null;
  readonly fileEncSha256?: Uint8Array | null;
  readonly fileLength?: number | { toNumber(): number } | null;
}

/** The metadata that a phone shows for a media file. */
export interface MediaFacts {
  readonly mimetype: string;
  /** A JPEG, or a PNG for a sticker, in base64; '' if there is none. */
  readonly thumbnail: string;
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  /** 64 values from 0 to 100 in base64; '' if there is none. */
  readonly waveform: string;
  readonly fileName: string;
  /** The marks of the file: view once, round video, plays like a GIF, voice message, animated. */
  readonly marks: readonly ('viewOnce' | 'ptv' | 'gif' | 'ptt' | 'animated')[];
  /** Id of the album that contains the file; '' for none. */
  readonly album: string;
}

const mediaFields = {
  imageMessage: 'image',
  videoMessage: 'video',
  ptvMessage: 'video',
  audioMessage: 'audio',
  documentMessage: 'document',
  stickerMessage: 'sticker',
} as const satisfies Partial<Record<keyof proto.IMessage, MediaKind>>;

/** Returns the header files of an interactive message and of its cards. Phones show a header file above the text. */
export const headsOf = (message: proto.IMessage): MediaPart[] => {
  const whole = normalizeMessageContent(message)?.interactiveMessage;
  return [whole, ...(whole?.carouselMessage?.cards ?? [])].flatMap((card) => {
    const { imageMessage, videoMessage, documentMessage } = card?.header ?? {};
    return mediaOf({ imageMessage, videoMessage, documentMessage } as proto.IMessage) ?? [];
  });
};

export function mediaOf(message: proto.IMessage): MediaPart | undefined {
  const content = normalizeMessageContent(message) ?? {};
  for (const [field, kind] of Object.entries(mediaFields)) {
    const part = content[field as keyof typeof mediaFields];
    if (part) return { ...part, kind };
  }
  return undefined;
}

const base64Of = (bytes: Uint8Array | null | undefined): string => (bytes ? Buffer.from(bytes).toString('base64') : '');

/** Reads the facts of a message for which `mediaOf` finds a file. */
export function mediaFacts(message: proto.IMessage): MediaFacts {
  const content = normalizeMessageContent(message) ?? {};
  const { imageMessage: image, audioMessage: audio, documentMessage: document, stickerMessage: sticker } = content;
  const video = content.videoMessage ?? content.ptvMessage;
  const wrapped = message.viewOnceMessage ?? message.viewOnceMessageV2 ?? message.viewOnceMessageV2Extension;
  const marks = {
    viewOnce: Boolean(wrapped && (image ?? video ?? audio)?.viewOnce),
    ptv: Boolean(content.ptvMessage),
    gif: Boolean(video?.gifPlayback),
    ptt: Boolean(audio?.ptt),
    animated: Boolean(sticker?.isAnimated),
  };
  return {
    mimetype: (image ?? video ?? audio ?? document ?? sticker)?.mimetype ?? '',
    thumbnail: base64Of((image ?? video ?? document)?.jpegThumbnail ?? sticker?.pngThumbnail),
    width: (image ?? video ?? sticker)?.width ?? 0,
    height: (image ?? video ?? sticker)?.height ?? 0,
    seconds: (video ?? audio)?.seconds ?? 0,
    waveform: base64Of(audio?.waveform),
    fileName: document?.fileName ?? '',
    marks: (Object.keys(marks) as (keyof typeof marks)[]).filter((mark) => marks[mark]),
    album: message.messageContextInfo?.messageAssociation?.parentMessageKey?.id ?? '',
  };
}

/** Returns the name of the message's first content field; `empty` if it has none. */
export const kindOf = (message: proto.IMessage): string => getContentType(message) ?? 'empty';

/** Returns the text, caption or title of a message; '' if there is none. For an edit, returns the new text. */
export function textOf(message: proto.IMessage): string {
  const content = normalizeMessageContent(message) ?? {};
  const edited = content.protocolMessage?.editedMessage;
  if (edited) return textOf(edited);
  return (
    content.conversation ||
    content.extendedTextMessage?.text ||
    content.imageMessage?.caption ||
    content.videoMessage?.caption ||
    content.documentMessage?.caption ||
    content.reactionMessage?.text ||
    content.contactMessage?.displayName ||
    content.contactsArrayMessage?.displayName ||
    content.locationMessage?.name ||
    content.eventMessage?.name ||
    content.groupInviteMessage?.caption ||
    content.productMessage?.body ||
    content.productMessage?.product?.title ||
    content.orderMessage?.message ||
    content.orderMessage?.orderTitle ||
    pollOf(content)?.name ||
    content.interactiveMessage?.body?.text ||
    content.buttonsMessage?.contentText ||
    content.listMessage?.description ||
    answerTextOf(content) ||
    ''
  );
}

/** Returns the label of the button or row that was tapped. */
const answerTextOf = (content: proto.IMessage): string | null | undefined =>
  content.interactiveResponseMessage?.body?.text ||
  content.buttonsResponseMessage?.selectedDisplayText ||
  content.listResponseMessage?.title ||
  content.templateButtonReplyMessage?.selectedDisplayText;

export const pollOf = (message: proto.IMessage | undefined): proto.Message.IPollCreationMessage | undefined =>
  message?.pollCreationMessage ?? message?.pollCreationMessageV2 ?? message?.pollCreationMessageV3 ?? undefined;

/** Returns the message as JSON: bytes in base64, enumerations by name. */
export const toJson = (message: proto.IMessage): unknown => JSON.parse(JSON.stringify(proto.Message.fromObject(message)));

/** Returns the time after which phones remove the message, in seconds; 0 if never. */
export const expirationOf = (message: proto.IMessage): number => {
  const content = normalizeMessageContent(message);
  const kind = getContentType(content);
  const part = (kind && content?.[kind]) as { readonly contextInfo?: proto.IContextInfo | null } | null | undefined;
  return part?.contextInfo?.expiration ?? 0;
};

export const secretOf = (message: proto.IMessage | undefined): Uint8Array | undefined =>
  message?.messageContextInfo?.messageSecret ?? undefined;

const { SecretEncType } = proto.Message.SecretEncryptedMessage;

/**
 * Returns the stanza attributes for a message. An encrypted edit of a text message has the attributes of a text message (vinikjkkj/zapo,
 * `src/message/encode/content.ts`).
 */
export function stanzaKind(message: proto.IMessage): StanzaKind {
  const content = normalizeMessageContent(message) ?? {};
  if (content.reactionMessage) return { type: 'reaction', 'decrypt-fail': 'hide' };
  if (content.pollUpdateMessage) return { type: 'poll', 'decrypt-fail': 'hide' };
  if (pollOf(content)) return { type: 'poll' };
  if (content.eventMessage) return { type: 'event' };
  if (content.encEventResponseMessage || content.secretEncryptedMessage?.secretEncType === SecretEncType.EVENT_EDIT)
    return { type: 'event', 'decrypt-fail': 'hide' };
  const mediatype = mediaType(content);
  return mediatype ? { type: 'media', mediatype } : { type: 'text' };
}

function mediaType(content: proto.IMessage): string | undefined {
  if (content.contactMessage) return 'vcard';
  if (content.contactsArrayMessage) return 'contact_array';
  if (content.locationMessage) return 'location';
  if (content.interactiveResponseMessage) return 'native_flow_response';
  if (content.buttonsResponseMessage) return 'buttons_response';
  if (content.listResponseMessage) return 'list_response';
  if (content.productMessage) return 'product';
  if (content.orderMessage) return 'order';
  if (content.videoMessage?.gifPlayback) return 'gif';
  if (content.audioMessage?.ptt) return 'ptt';
  return mediaOf(content)?.kind;
}
