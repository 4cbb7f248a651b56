/** What a phone shows nothing of, although the platform took it: the stanza lacks what the kind of content needs. */
import { normalizeMessageContent, type proto } from '@whiskeysockets/baileys';
import { pollOf } from '../content.ts';
import { child, type BinaryNode } from '../nodes.ts';

/** A client's stanza without its envelopes. */
export interface Besides {
  readonly attrs: Readonly<Record<string, string | undefined>>;
  readonly nodes: readonly BinaryNode[];
}

const envelopes = new Set(['enc', 'participants', 'device-identity']);

export const besidesOf = ({ attrs, content }: BinaryNode): Besides => ({
  attrs,
  nodes: (Array.isArray(content) ? content : []).filter((one) => !envelopes.has(one.tag)),
});

interface Rule {
  /** The content that the rule is about. */
  readonly of: (content: proto.IMessage) => unknown;
  readonly fits: (besides: Besides, content: proto.IMessage) => boolean;
  readonly otherwise: string;
}

const metaOf = ({ nodes }: Besides): BinaryNode['attrs'] => child({ tag: '', attrs: {}, content: [...nodes] }, 'meta')?.attrs ?? {};

const rules: readonly Rule[] = [
  { of: pollOf, fits: (besides) => metaOf(besides)['polltype'] === 'creation', otherwise: 'a poll without <meta polltype="creation">' },
];

/** Why the phone shows nothing; undefined when it shows the message. */
export const hiddenBecause = (message: proto.IMessage, besides: Besides): string | undefined => {
  const content = normalizeMessageContent(message) ?? {};
  return rules.find(({ of, fits }) => of(content) && !fits(besides, content))?.otherwise;
};
