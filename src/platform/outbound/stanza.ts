/** Attributes and nodes of a stanza that the library does not add to the encrypted content. Contents in another form than the library takes. */
import { type BinaryNode, getContentType, normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import type { Audience } from '#actors/model.ts';

// Attributes and nodes of a stanza beside its encrypted content that the library does not add. All of them follow from the content, so that
// the first sending, the asynchronous queue and a resend write the same stanza.

interface StanzaParts {
  readonly attributes: Readonly<Record<string, string>>;
  readonly nodes: readonly BinaryNode[];
}

type Content = proto.IMessage;
type Rule = (content: Content) => Partial<StanzaParts>;

const { Type } = proto.Message.ProtocolMessage;

/** The attribute `edit`: `1` an edit, `7` an own message is deleted, `8` a group's admin deletes another's. */
const editOf = ({ protocolMessage }: Content): Partial<StanzaParts> => {
  if (protocolMessage?.type === Type.MESSAGE_EDIT) return { attributes: { edit: '1' } };
  if (protocolMessage?.type === Type.REVOKE) return { attributes: { edit: protocolMessage.key?.fromMe ? '7' : '8' } };
  return {};
};

/** Names the change that a poll or an event makes, for receivers that do not decrypt it. */
const meta =
  (attrs: Readonly<Record<string, string>>): Rule =>
  () => ({ nodes: [{ tag: 'meta', attrs: { ...attrs } }] });

const newPoll = meta({ polltype: 'creation' });
/** View-once media names itself also outside of the encryption, where the platform's server reads it. */
const viewOnceOf = (media: { readonly viewOnce?: boolean | null } | null | undefined): Partial<StanzaParts> =>
  media?.viewOnce ? { nodes: [{ tag: 'meta', attrs: { view_once: 'true' } }] } : {};

const { SecretEncType } = proto.Message.SecretEncryptedMessage;

/** The library treats a message with a second layer of encryption as a text. */
const secretEdit: Rule = ({ secretEncryptedMessage }) =>
  secretEncryptedMessage?.secretEncType === SecretEncType.EVENT_EDIT
    ? { attributes: { type: 'event', edit: '1' }, nodes: [{ tag: 'meta', attrs: { event_type: 'edit' } }] }
    : { attributes: { edit: '1' } };

const node = (tag: string, attrs: Readonly<Record<string, string>>, content?: BinaryNode[]): BinaryNode => ({
  tag,
  attrs: { ...attrs },
  ...(content === undefined ? {} : { content }),
});

const nativeFlow = (name: string, v: string): BinaryNode =>
  node('biz', {}, [node('interactive', { type: 'native_flow', v: '1' }, [node('native_flow', { v, name })])]);

/**
 * Flows that have a name of their own, by their first button. Clients differ: payments are named by a child or by an attribute; the child is
 * refused with 473, so the attribute is used.
 */
const namedFlows: Readonly<Record<string, BinaryNode>> = {
  payment_info: node('biz', { native_flow_name: 'payment_info' }),
  review_and_pay: node('biz', { native_flow_name: 'order_details' }),
  send_location: nativeFlow('send_location', '2'),
};

/**
 * Without this node the platform takes the message and phones show nothing. Its fuller form (actors, storage, a decision of quality control) is left
 * out: phones show the message without it too. So is `<bot biz_bot="1"/>`, about which clients contradict each other, and which is refused in groups.
 */
const flowNote: Rule = ({ interactiveMessage }) => ({
  nodes: [namedFlows[interactiveMessage?.nativeFlowMessage?.buttons?.[0]?.name ?? ''] ?? nativeFlow('mixed', '9')],
});

/** Each row is for one kind of content. A kind without a row needs no attributes. */
const rules: Readonly<Partial<Record<keyof Content, Rule>>> = {
  protocolMessage: editOf,
  pollCreationMessage: newPoll,
  pollCreationMessageV3: newPoll,
  eventMessage: meta({ event_type: 'creation' }),
  secretEncryptedMessage: secretEdit,
  imageMessage: ({ imageMessage }) => viewOnceOf(imageMessage),
  videoMessage: ({ videoMessage }) => viewOnceOf(videoMessage),
  audioMessage: ({ audioMessage }) => viewOnceOf(audioMessage),
  // The library takes a round video for a text.
  ptvMessage: () => ({ attributes: { type: 'media' } }),
  pinInChatMessage: () => ({ attributes: { edit: '2' } }),
  pollUpdateMessage: meta({ polltype: 'vote' }),
  interactiveMessage: flowNote,
  buttonsMessage: () => ({ nodes: [node('biz', {}, [node('buttons', {})])] }),
  // Without this attribute the recipients' phones keep the removed reaction.
  reactionMessage: ({ reactionMessage }) => (reactionMessage?.text ? {} : { attributes: { edit: '7' } }),
};

/** A status post names the way in which its readers were chosen. A reaction to a post does not. */
const audienceNodes = (content: Content, audience: Audience | null): readonly BinaryNode[] =>
  audience === null || content.protocolMessage || content.reactionMessage
    ? []
    : [{ tag: 'meta', attrs: { status_setting: audience.setting } }];

/** `audience`: of a status post. */
export const stanzaOf = (content: Content, audience: Audience | null = null): StanzaParts => {
  const inner = normalizeMessageContent(content) ?? content;
  const kind = getContentType(inner);
  const parts = kind === undefined ? undefined : rules[kind]?.(inner);
  return { attributes: parts?.attributes ?? {}, nodes: [...(parts?.nodes ?? []), ...audienceNodes(inner, audience)] };
};

// The attributes of a message for its kind. The library writes them for the first send, and not for a resend.

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

/** `content`: in the form that the library is given (`stanza.ts`). */
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

// Contents that are sent in another form than the library takes. The library names the kind of media beside the encrypted content, and
// reads it from the form that it gets. It does not know round videos and view-once media. Phones drop such media without the name. So the
// library gets a plain picture, video or audio, and asks for the final form right before it encrypts.

/** The content that travels, by the one that the library was given. */
const finalForms = new WeakMap<Content, Content>();

const plainOf = (content: Content): Content | null => {
  const { viewOnceMessageV2, viewOnceMessageV2Extension, ptvMessage, ...rest } = content;
  const inner = viewOnceMessageV2?.message ?? viewOnceMessageV2Extension?.message;
  if (inner) return { ...rest, ...inner };
  return ptvMessage ? { ...rest, videoMessage: ptvMessage } : null;
};

/** Returns the form of a content for the library. Each call makes a new object if the forms differ. */
export const givenForm = (content: Content): Content => {
  const plain = plainOf(content);
  if (plain === null) return content;
  finalForms.set(plain, content);
  return plain;
};

/** Returns the form that is encrypted in place of the library's form: for receivers, and inside the copy for the account's own devices. */
export const finalForm = (given: Content): Content => {
  const copied = given.deviceSentMessage?.message;
  const form = finalForms.get(copied ?? given);
  if (form === undefined) return given;
  return copied ? { ...given, deviceSentMessage: { ...given.deviceSentMessage, message: form } } : form;
};
