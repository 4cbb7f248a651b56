/** Facts about a decrypted message: its kind, its text, its media, and the attributes that its stanza needs. */
import { getContentType, normalizeMessageContent, proto } from '@whiskeysockets/baileys';

/** Attributes that a stanza needs for this content. */
export interface StanzaKind {
  readonly type: 'text' | 'media' | 'reaction' | 'poll' | 'event';
  readonly mediatype?: string;
  readonly 'decrypt-fail'?: 'hide';
}

type MediaKind = 'image' | 'video' | 'audio' | 'document' | 'sticker';

/** The fields of a media message that point at its encrypted file. */
export interface MediaPart {
  readonly kind: MediaKind;
  readonly directPath?: string | null;
  readonly mediaKey?: Uint8Array | null;
  readonly fileSha256?: Uint8Array | null;
  readonly fileEncSha256?: Uint8Array | null;
}

const mediaFields = {
  imageMessage: 'image',
  videoMessage: 'video',
  ptvMessage: 'video',
  audioMessage: 'audio',
  documentMessage: 'document',
  stickerMessage: 'sticker',
} as const satisfies Partial<Record<keyof proto.IMessage, MediaKind>>;

export function mediaOf(message: proto.IMessage): MediaPart | undefined {
  const content = normalizeMessageContent(message) ?? {};
  for (const [field, kind] of Object.entries(mediaFields)) {
    const part = content[field as keyof typeof mediaFields];
    if (part) return { ...part, kind };
  }
  return undefined;
}

/** The name of the message's first content field. */
export const kindOf = (message: proto.IMessage): string => getContentType(message) ?? 'empty';

/** The text or caption of a message, of an edit the new text, '' when there is none. */
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
    pollOf(content)?.name ||
    content.interactiveMessage?.body?.text ||
    content.buttonsMessage?.contentText ||
    content.listMessage?.description ||
    answerTextOf(content) ||
    ''
  );
}

/** The label of what was tapped. */
const answerTextOf = (content: proto.IMessage): string | null | undefined =>
  content.interactiveResponseMessage?.body?.text ||
  content.buttonsResponseMessage?.selectedDisplayText ||
  content.listResponseMessage?.title ||
  content.templateButtonReplyMessage?.selectedDisplayText;

export const pollOf = (message: proto.IMessage | undefined): proto.Message.IPollCreationMessage | undefined =>
  message?.pollCreationMessage ?? message?.pollCreationMessageV2 ?? message?.pollCreationMessageV3 ?? undefined;

/** The message as JSON: bytes in base64, enumerations by name. */
export const toJson = (message: proto.IMessage): unknown => JSON.parse(JSON.stringify(proto.Message.fromObject(message)));

export const secretOf = (message: proto.IMessage | undefined): Uint8Array | undefined =>
  message?.messageContextInfo?.messageSecret ?? undefined;

export function stanzaKind(message: proto.IMessage): StanzaKind {
  const content = normalizeMessageContent(message) ?? {};
  if (content.reactionMessage) return { type: 'reaction', 'decrypt-fail': 'hide' };
  if (content.pollUpdateMessage) return { type: 'poll', 'decrypt-fail': 'hide' };
  if (pollOf(content)) return { type: 'poll' };
  if (content.eventMessage) return { type: 'event' };
  if (content.encEventResponseMessage || content.secretEncryptedMessage) return { type: 'event', 'decrypt-fail': 'hide' };
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
  if (content.videoMessage?.gifPlayback) return 'gif';
  if (content.audioMessage?.ptt) return 'ptt';
  return mediaOf(content)?.kind;
}
