/** Sends of texts, with the preview of a link, and the list of every send of the interface. */
import { Type } from 'typebox';
import { done, type TextContent } from '#actors/gateway.ts';
import type { HttpOptions } from '../../options.ts';
import type { Route } from '../../route.ts';
import { Flag, optional, Text } from '../../schemas/common.ts';
import { cardRows, eventRows } from './cards.ts';
import { mediaRows } from './media.ts';
import { carouselRows, locationButtonRows, menuRows } from './menu.ts';
import { paymentRows } from './payment.ts';
import { type SendRoute, sendRow } from './row.ts';
import { statusRows } from './status.ts';

// Texts, with the preview of a link.

const missing = 'Missing number or text';

interface PreviewFields {
  readonly linkPreview?: boolean;
  readonly linkPreviewTitle?: string;
  readonly linkPreviewDescription?: string;
  readonly linkPreviewImage?: string;
  readonly linkPreviewLarge?: boolean;
}

const previewOf = (body: PreviewFields): TextContent['preview'] => {
  const { linkPreviewTitle: title = '', linkPreviewDescription: description = '', linkPreviewImage: image = '' } = body;
  if (body.linkPreview !== true) return null;
  const large = body.linkPreviewLarge ?? false;
  return title === '' && description === '' && image === '' && !large ? 'auto' : { title, description, image, large };
};

const textRows = [
  sendRow({
    on: 'POST /send/text',
    operationId: 'sendText',
    summary: 'Send a text',
    sent: 'Message sent successfully',
    fields: {
      text: Type.String({
        minLength: 1,
        maxLength: 65_536,
        description:
          'Text, with placeholders such as {{name}}. With `replyid` of a poll, a list or buttons, `>` and the id or label of an option chooses it',
        examples: ['Hello'],
      }),
      linkPreview: optional(Flag('Show a preview of the first link')),
      linkPreviewTitle: optional(Text(1000, 'Title of the preview instead of the fetched one')),
      linkPreviewDescription: optional(Text(4000, 'Description of the preview')),
      linkPreviewImage: optional(Text(900_000, 'Picture of the preview: URL or base64')),
      linkPreviewLarge: optional(Flag('Show the preview large')),
    },
    unstored: ({ linkPreviewImage = '' }) => (/^https?:/i.test(linkPreviewImage) ? [] : ['linkPreviewImage']),
    invalidTexts: { 'number:required': missing, 'number:minLength': missing, 'text:required': missing, 'text:minLength': missing },
    content: (body) => done({ kind: 'text', text: body.text, preview: previewOf(body) }),
  }),
];

// Every send of the interface.

/** Returns the sends that go to a chat. */
export const chatSendRoutes = ({ mediaBytes }: Pick<HttpOptions, 'mediaBytes'>): readonly SendRoute[] => [
  ...textRows,
  ...mediaRows(mediaBytes),
  ...cardRows,
  ...eventRows,
  ...menuRows(mediaBytes),
  ...carouselRows(mediaBytes),
  ...locationButtonRows,
  ...paymentRows,
];

export const sendRoutes = (options: Pick<HttpOptions, 'mediaBytes'>): readonly Route[] => [
  ...chatSendRoutes(options),
  ...statusRows(options.mediaBytes),
];
