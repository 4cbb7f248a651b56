/**
 * Finds messages that the platform accepts and phones do not show, because the stanza lacks an attribute or node for its kind of content. Also finds
 * interactive messages that the platform refuses.
 */
import { normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import { pollOf } from '../content.ts';
import { interactiveOf } from '../interactive.ts';
import { type BinaryNode, child, children, firstChild } from '../nodes.ts';

/** A client's stanza without its envelopes. */
export interface Besides {
  readonly attrs: Readonly<Record<string, string | undefined>>;
  readonly nodes: readonly BinaryNode[];
  /** The kind of media that the envelopes name; '' if they name none. */
  readonly mediatype: string;
}

const envelopes = new Set(['enc', 'participants', 'device-identity']);

/** Returns the kind of media from the first envelope that names one. Other envelopes name the same kind, or only carry keys. */
const mediatypeOf = (stanza: BinaryNode): string => {
  const own = children(child(stanza, 'participants'), 'to').flatMap((to) => children(to, 'enc'));
  return [...children(stanza, 'enc'), ...own].find(({ attrs }) => attrs['mediatype'] !== undefined)?.attrs['mediatype'] ?? '';
};

export const besidesOf = (stanza: BinaryNode): Besides => ({
  attrs: stanza.attrs,
  nodes: (Array.isArray(stanza.content) ? stanza.content : []).filter((one) => !envelopes.has(one.tag)),
  mediatype: mediatypeOf(stanza),
});

interface Rule {
  /** Returns a truthy value if the rule applies to the content. */
  readonly of: (content: proto.IMessage) => unknown;
  readonly fits: (besides: Besides, content: proto.IMessage) => unknown;
  readonly otherwise: string;
}

const nodeOf = ({ nodes }: Besides, tag: string): BinaryNode | undefined => child({ tag: '', attrs: {}, content: [...nodes] }, tag);
const metaOf = (besides: Besides): BinaryNode['attrs'] => nodeOf(besides, 'meta')?.attrs ?? {};

/** The flow name that `<biz>` must have, by the name of the first button. The flow name is `mixed` for all other buttons. */
const namesOf: Readonly<Record<string, string>> = {
  payment_info: 'payment_info',
  review_and_pay: 'order_details',
  send_location: 'send_location',
};

const fitsFlows: Rule['fits'] = (besides, { interactiveMessage }) => {
  const biz = nodeOf(besides, 'biz');
  const wanted = namesOf[interactiveMessage?.nativeFlowMessage?.buttons?.[0]?.name ?? ''] ?? 'mixed';
  return (biz?.attrs['native_flow_name'] ?? child(child(biz, 'interactive'), 'native_flow')?.attrs['name']) === wanted;
};

const { SecretEncType } = proto.Message.SecretEncryptedMessage;
const secretOfType =
  (type: proto.Message.SecretEncryptedMessage.SecretEncType) =>
  ({ secretEncryptedMessage }: proto.IMessage): boolean =>
    secretEncryptedMessage?.secretEncType === type;

const protocolOf = (type: proto.Message.ProtocolMessage.Type) => (content: proto.IMessage) => content.protocolMessage?.type === type;
const { Type } = proto.Message.ProtocolMessage;

const rules: readonly Rule[] = [
  { of: protocolOf(Type.MESSAGE_EDIT), fits: ({ attrs }) => attrs['edit'] === '1', otherwise: 'an edit without edit="1"' },
  {
    of: protocolOf(Type.REVOKE),
    fits: ({ attrs }) => attrs['edit'] === '7' || attrs['edit'] === '8',
    otherwise: 'a deletion without edit="7" or edit="8"',
  },
  { of: (content) => content.interactiveMessage, fits: fitsFlows, otherwise: 'native flows without the <biz> that names them' },
  { of: (content) => interactiveOf(content) === null, fits: () => false, otherwise: 'a button or card whose parameters make no sense' },
  {
    of: (content) => content.listMessage,
    fits: (besides) => child(nodeOf(besides, 'biz'), 'list'),
    otherwise: 'a list without <biz><list/></biz>',
  },
  { of: (content) => content.buttonsMessage, fits: (besides) => nodeOf(besides, 'biz'), otherwise: 'old buttons without <biz>' },
  { of: pollOf, fits: (besides) => metaOf(besides)['polltype'] === 'creation', otherwise: 'a poll without <meta polltype="creation">' },
  {
    of: ({ eventMessage }) => eventMessage,
    fits: (besides) => besides.attrs['type'] === 'event' && metaOf(besides)['event_type'] === 'creation',
    otherwise: 'an event without type="event" and <meta event_type="creation">',
  },
  {
    of: secretOfType(SecretEncType.MESSAGE_EDIT),
    fits: ({ attrs }) => attrs['edit'] === '1',
    otherwise: 'an encrypted edit without edit="1"',
  },
  {
    of: secretOfType(SecretEncType.EVENT_EDIT),
    fits: (besides) => besides.attrs['type'] === 'event' && besides.attrs['edit'] === '1' && metaOf(besides)['event_type'] === 'edit',
    otherwise: 'a changed event without type="event", edit="1" and <meta event_type="edit">',
  },
  {
    of: ({ videoMessage, audioMessage }) => (videoMessage ?? audioMessage)?.viewOnce,
    fits: ({ mediatype }) => mediatype !== '',
    otherwise: 'a video or audio to be viewed once, without its mediatype',
  },
  {
    of: ({ ptvMessage }) => ptvMessage,
    fits: ({ attrs }) => attrs['type'] === 'media',
    otherwise: 'a round video in a stanza of another type',
  },
];

/** Returns the reason why the phone hides the message; undefined if it shows the message. */
export const hiddenBecause = (message: proto.IMessage, besides: Besides): string | undefined => {
  const content = normalizeMessageContent(message) ?? {};
  return rules.find(({ of, fits }) => of(content) && !fits(besides, content))?.otherwise;
};

// The platform's rules for stanzas of interactive messages. The platform cannot decrypt the message. It therefore checks the nodes beside the envelopes.

/** The codes of refusals. */
const [refusedKind, refusedFlow, malformed] = ['405', '473', '479'] as const;

/**
 * The codes of refused flows, by name. Only business customers of the platform may send these flows. A name that is neither in this table nor in `takenFlows`
 * is malformed.
 */
const refusedFlows: Readonly<Record<string, string>> = {
  cta_url: refusedFlow,
  call_permission_request: refusedFlow,
  payment_info: refusedFlow,
  review_and_pay: refusedFlow,
  order_details: refusedFlow,
  open_webview: refusedKind,
  galaxy_message: refusedKind,
};

/** The versions of accepted flows, by name. */
const takenFlows: Readonly<Record<string, string>> = { mixed: '9', send_location: '2', mpm: '2', cta_catalog: '2' };

/** Payment flows. Their `<biz>` has the attribute `native_flow_name` and no child. */
const flatFlows = new Set(['payment_info', 'order_details']);

const interactiveRefusal = (interactive: BinaryNode): string | undefined => {
  const flow = child(interactive, 'native_flow');
  if (!flow || interactive.attrs['type'] !== 'native_flow' || interactive.attrs['v'] !== '1') return malformed;
  const { name = '', v } = flow.attrs;
  if (Object.hasOwn(takenFlows, name) && takenFlows[name] === v) return undefined;
  return (Object.hasOwn(refusedFlows, name) ? refusedFlows[name] : undefined) ?? malformed;
};

const bizRefusal = (biz: BinaryNode, inGroup: boolean): string | undefined => {
  const flat = biz.attrs['native_flow_name'];
  const inner = firstChild(biz);
  if (flat !== undefined) return flatFlows.has(flat) && inner === undefined ? undefined : malformed;
  if (inner?.tag === 'interactive') return interactiveRefusal(inner);
  if (inner?.tag === 'buttons') return refusedKind;
  if (inner?.tag !== 'list') return malformed;
  return !inGroup && inner.attrs['type'] === 'product_list' && inner.attrs['v'] === '2' ? undefined : malformed;
};

const mediaTypesOf = (stanza: BinaryNode): Set<string | undefined> => {
  const encs = [...children(stanza, 'enc'), ...children(child(stanza, 'participants'), 'to').flatMap((to) => children(to, 'enc'))];
  return new Set(encs.map((enc) => enc.attrs['mediatype']));
};

/**
 * Returns the code with which the platform refuses the stanza; `undefined` if it accepts the stanza. A stanza without `biz` is accepted, but phones
 * hide content that needs one.
 */
export const interactiveRefusalOf = (stanza: BinaryNode, inGroup: boolean): string | undefined => {
  if (inGroup && child(stanza, 'bot')) return malformed;
  const biz = child(stanza, 'biz');
  if (biz) return bizRefusal(biz, inGroup);
  return mediaTypesOf(stanza).has('list') ? refusedKind : undefined;
};
