/** The words beside a message for its kind, as the library writes them at the first sending and not when a message is sent again. */
import { normalizeMessageContent, type proto } from '@whiskeysockets/baileys';

type Content = proto.IMessage;

export interface StanzaKind {
  /** Attribute of the stanza. */
  readonly type: string;
  /** Attributes of the encrypted content. */
  readonly enc: Readonly<Record<string, string>>;
}

const mediaTypes: readonly (readonly [key: keyof Content, type: string | ((content: Content) => string)])[] = [
  ['imageMessage', 'image'],
  ['videoMessage', ({ videoMessage }) => (videoMessage?.gifPlayback ? 'gif' : 'video')],
  ['audioMessage', ({ audioMessage }) => (audioMessage?.ptt ? 'ptt' : 'audio')],
  ['contactMessage', 'vcard'],
  ['documentMessage', 'document'],
  ['contactsArrayMessage', 'contact_array'],
  ['liveLocationMessage', 'livelocation'],
  ['stickerMessage', 'sticker'],
  ['listMessage', 'list'],
  ['listResponseMessage', 'list_response'],
  ['buttonsResponseMessage', 'buttons_response'],
  ['orderMessage', 'order'],
  ['productMessage', 'product'],
  ['interactiveResponseMessage', 'native_flow_response'],
  ['groupInviteMessage', 'url'],
];

/** Kinds by the field that holds the content. Other content is a text, or media if it has a media type. */
const types: Readonly<Partial<Record<keyof Content, string>>> = {
  reactionMessage: 'reaction',
  encReactionMessage: 'reaction',
  pollCreationMessage: 'poll',
  pollCreationMessageV2: 'poll',
  pollCreationMessageV3: 'poll',
  pollUpdateMessage: 'poll',
  eventMessage: 'event',
};

/** Phones that cannot read these show nothing, instead of a message that waits. */
const hidden: readonly (keyof Content)[] = ['pinInChatMessage', 'reactionMessage'];

/** `content`: in the form that the library is given (`forms.ts`). */
export const stanzaKindOf = (content: Content): StanzaKind => {
  const inner = normalizeMessageContent(content) ?? content;
  const found = mediaTypes.find(([key]) => inner[key])?.[1];
  const mediatype = typeof found === 'function' ? found(inner) : found;
  const type = Object.entries(types).find(([key]) => inner[key as keyof Content])?.[1];
  return {
    type: type ?? (mediatype === undefined ? 'text' : 'media'),
    enc: {
      ...(mediatype === undefined ? {} : { mediatype }),
      ...(hidden.some((key) => inner[key]) ? { 'decrypt-fail': 'hide' } : {}),
    },
  };
};
