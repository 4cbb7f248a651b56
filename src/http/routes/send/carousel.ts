/** Carousels, written card by card. */
import { Type } from 'typebox';
import { allDone, type Card, type Head, refuse, type Result } from '#actors/gateway.ts';
import { buttonOf, buttonTypes } from '#src/contract/choices.ts';
import { mapResult } from '../../route.ts';
import { OneOf, optional, Text } from '../../schemas/common.ts';
import { headOf } from './head.ts';
import { bodyLimitOf, fileRefusals, isBare } from './media.ts';
import { sendRow } from './row.ts';

const missing = 'Missing required fields or invalid card format';

const CardButton = Type.Object({
  id: optional(Text(8_192, 'What a tap answers, the address, the number, or the code to copy')),
  text: optional(Type.String({ maxLength: 1024, description: 'Label', examples: ['Order'] })),
  type: optional(OneOf(buttonTypes, { description: '`REPLY` when left out' })),
});

const CardField = Type.Object({
  text: Type.String({ minLength: 1, maxLength: 65_536, description: 'Text of the card', examples: ['A mug of two colours'] }),
  image: optional(Type.String({ description: 'Picture above the text: URL, data URL or base64' })),
  video: optional(Type.String({ description: 'Video in its place' })),
  document: optional(Type.String({ description: 'Document in its place' })),
  filename: optional(Text(255, 'Name of the document')),
  buttons: Type.Array(CardButton, { minItems: 1, maxItems: 3, description: 'Below the text' }),
});

type CardFields = Type.Static<typeof CardField>;

const headIn = ({ image, video, document, filename }: CardFields): Head | null =>
  headOf('image', image) ?? headOf('video', video) ?? headOf('document', document, filename);

const cardOf = (card: CardFields): Result<Card> => {
  const { text, image = '', video = '', document = '', buttons } = card;
  if ([image, video, document].filter((source) => source !== '').length > 1)
    return refuse('invalid', 'a card has one picture, video or document');
  const made = allDone(buttons.map(({ type = 'REPLY', text: label = '', id = '' }) => buttonOf(type, label, id.trim())));
  return mapResult(made, (labelled) => ({ head: headIn(card), text, buttons: labelled }));
};

/** `fileBytes`: of the largest file. */
export const carouselRows = (fileBytes: number) => [
  sendRow({
    on: 'POST /send/carousel',
    operationId: 'sendCarousel',
    summary:
      'Send cards side by side, each with buttons. Not guaranteed: the platform may refuse or hide it for accounts that are no business',
    sent: 'Carousel sent successfully',
    bodyLimit: bodyLimitOf(fileBytes),
    unstored: ({ carousel }) =>
      carousel.some(({ image = '', video = '', document = '' }) => [image, video, document].some(isBare)) ? ['carousel'] : [],
    refusals: fileRefusals,
    fields: {
      text: Type.String({
        minLength: 1,
        maxLength: 65_536,
        description: 'Text above the cards, with placeholders',
        examples: ['New this week'],
      }),
      carousel: Type.Array(CardField, { minItems: 1, maxItems: 10, description: 'The cards, from left to right' }),
    },
    invalidTexts: Object.fromEntries(
      ['number', 'text', 'carousel'].flatMap((field) => ['required', 'minLength', 'minItems'].map((rule) => [`${field}:${rule}`, missing])),
    ),
    content: ({ text, carousel }) =>
      mapResult(allDone(carousel.map(cardOf)), (cards) => ({ kind: 'carousel' as const, text, footer: '', cards })),
  }),
];
