/** The attributes and nodes of a message stanza that the library does not add, and contents that must be sent in another form than the library accepts. */
import { type BinaryNode, getContentType, normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import type { Audience } from '#actors/model.ts';

// Attributes and nodes of a stanza that the library does not add. All of them are derived from the content, so the first send, the asynchronous queue and a
// resend write the same stanza.

interface StanzaParts {
  readonly attributes: Readonly<Record<string, string>>;
  readonly nodes: readonly BinaryNode[];
}

type Content = proto.IMessage;
type Rule = (content: Content) => Partial<StanzaParts>;

const { Type } = proto.Message.ProtocolMessage;

/** Returns the attribute `edit`: `1` for an edit, `7` for the deletion of an own message, `8` for a deletion by an admin of the group. */
const editOf = ({ protocolMessage }: Content): Partial<StanzaParts> => {
  if (protocolMessage?.type === Type.MESSAGE_EDIT) return { attributes: { edit: '1' } };
  if (protocolMessage?.type === Type.REVOKE) return { attributes: { edit: protocolMessage.key?.fromMe ? '7' : '8' } };
  return {};
};

/** Makes a rule that adds a `meta` node, which describes the content for receivers that do not decrypt it. */
const meta =
  (attrs: Readonly<Record<string, string>>): Rule =>
  () => ({ nodes: [{ tag: 'meta', attrs: { ...attrs } }] });

const newPoll = meta({ polltype: 'creation' });
/** Marks view-once media outside of the encrypted content. The platform reads this mark. */
const viewOnceOf = (media: { readonly viewOnce?: boolean | null } | null | undefined): Partial<StanzaParts> =>
  media?.viewOnce ? { nodes: [{ tag: 'meta', attrs: { view_once: 'true' } }] } : {};

const { SecretEncType } = proto.Message.SecretEncryptedMessage;

/** Adds the attributes of a message with a second layer of encryption. The library treats such a message as a text. */
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
 * The `biz` nodes of native flows with a special name, by the name of the first button of the flow. For payments, the name is an attribute, because the
 * platform refuses a child node with error 473.
 */
const namedFlows: Readonly<Record<string, BinaryNode>> = {
  payment_info: node('biz', { native_flow_name: 'payment_info' }),
  review_and_pay: node('biz', { native_flow_name: 'order_details' }),
  send_location: nativeFlow('send_location', '2'),
};

/**
 * Adds the node without which phones do not show the message, although the platform accepts it. Phones do not need the longer form of this node (actors,
 * storage, quality control). The node `<bot biz_bot="1"/>` is omitted too, because clients disagree about it, and the platform refuses it in groups.
 */
const flowNote: Rule = ({ interactiveMessage }) => ({
  nodes: [namedFlows[interactiveMessage?.nativeFlowMessage?.buttons?.[0]?.name ?? ''] ?? nativeFlow('mixed', '9')],
});

/** The rules by kind of content. A kind without a rule needs no further attributes or nodes. */
const rules: Readonly<Partial<Record<keyof Content, Rule>>> = {
  protocolMessage: editOf,
  pollCreationMessage: newPoll,
  pollCreationMessageV3: newPoll,
  eventMessage: meta({ event_type: 'creation' }),
  secretEncryptedMessage: secretEdit,
  imageMessage: ({ imageMessage }) => viewOnceOf(imageMessage),
  videoMessage: ({ videoMessage }) => viewOnceOf(videoMessage),
  audioMessage: ({ audioMessage }) => viewOnceOf(audioMessage),
  // The library treats a round video as a text.
  ptvMessage: () => ({ attributes: { type: 'media' } }),
  pinInChatMessage: () => ({ attributes: { edit: '2' } }),
  pollUpdateMessage: meta({ polltype: 'vote' }),
  interactiveMessage: flowNote,
  buttonsMessage: () => ({ nodes: [node('biz', {}, [node('buttons', {})])] }),
  // Without this attribute, the phones of recipients keep a removed reaction.
  reactionMessage: ({ reactionMessage }) => (reactionMessage?.text ? {} : { attributes: { edit: '7' } }),
};

/** Returns the node with the privacy setting of a status post. Reactions to a post and deletions have no such node. */
const audienceNodes = (content: Content, audience: Audience | null): readonly BinaryNode[] =>
  audience === null || content.protocolMessage || content.reactionMessage
    ? []
    : [{ tag: 'meta', attrs: { status_setting: audience.setting } }];

/** Returns the attributes and nodes for a content. `audience`: the audience of a status post; null for other messages. */
export const stanzaOf = (content: Content, audience: Audience | null = null): StanzaParts => {
  const inner = normalizeMessageContent(content) ?? content;
  const kind = getContentType(inner);
  const parts = kind === undefined ? undefined : rules[kind]?.(inner);
  return { attributes: parts?.attributes ?? {}, nodes: [...(parts?.nodes ?? []), ...audienceNodes(inner, audience)] };
};

// The type attributes of a stanza. The library adds them at the first send, but not at a resend.

export interface StanzaKind {
  /** The attribute `type` of the stanza. */
  readonly type: string;
  /** The attributes of the encrypted content. */
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

/** Types by the field with the content. Other content is a text, or media if it has a media type. */
const types: Readonly<Partial<Record<keyof Content, string>>> = {
  reactionMessage: 'reaction',
  encReactionMessage: 'reaction',
  pollCreationMessage: 'poll',
  pollCreationMessageV2: 'poll',
  pollCreationMessageV3: 'poll',
  pollUpdateMessage: 'poll',
  eventMessage: 'event',
};

/** Contents that a phone hides if it cannot decrypt them. For all other contents the phone shows a placeholder. */
const hidden: readonly (keyof Content)[] = ['pinInChatMessage', 'reactionMessage'];

/** Returns the type attributes. `content`: the form for the library (see `givenForm`). */
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

// Contents that are sent in another form than the library accepts. The library adds the type of media to the stanza, and derives the type from the
// content that it gets. The library does not know round videos and view-once media, and phones drop media without a type. The library therefore gets a
// plain picture, video or audio, and requests the final form right before the encryption.

/** The final forms of contents. The key is the content that the library got. */
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

/** Returns the final form of a content. This form is encrypted for receivers. It is also inside the copy for the account's own devices. */
export const finalForm = (given: Content): Content => {
  const copied = given.deviceSentMessage?.message;
  const form = finalForms.get(copied ?? given);
  if (form === undefined) return given;
  return copied ? { ...given, deviceSentMessage: { ...given.deviceSentMessage, message: form } } : form;
};
