/** Carousels, written card by card. */
import { Type } from 'typebox';
import { type Button, type Card, done, type Head, refuse, type Result } from '#actors/gateway.ts';
import { buttonOf, buttonTypes } from '#src/contract/choices.ts';
import { mapResult } from '../../outcome.ts';
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
  text: Type.String({ minLength: 1, maxLength: 65_536 }),
  image: optional(Type.String({ description: 'Picture above the text: URL, data URL or base64' })),
  video: optional(Type.String({ description: 'Video in its place' })),
  document: optional(Type.String({ description: 'Document in its place' })),
  filename: optional(Text(255, 'Name of the document')),
  buttons: Type.Array(CardButton, { minItems: 1, maxItems: 3 }),
});

type CardFields = Type.Static<typeof CardField>;

const headIn = ({ image, video, document, filename }: CardFields): Head | null =>
  headOf('image', image) ?? headOf('video', video) ?? headOf('document', document, filename);

const cardOf = (card: CardFields): Result<Card> => {
  const { text, image = '', video = '', document = '', buttons } = card;
  if ([image, video, document].filter((source) => source !== '').length > 1)
    return refuse('invalid', 'a card has one picture, video or document');
  const made: Button[] = [];
  for (const { type = 'REPLY', text: label = '', id = '' } of buttons) {
    const button = buttonOf(type, label, id.trim());
    if (!button.ok) return button;
    made.push(button.value);
  }
  return done({ head: headIn(card), text, buttons: made });
};

const cardsOf = (fields: readonly CardFields[]): Result<readonly Card[]> => {
  const cards: Card[] = [];
  for (const field of fields) {
    const card = cardOf(field);
    if (!card.ok) return card;
    cards.push(card.value);
  }
  return done(cards);
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
      text: Type.String({ minLength: 1, maxLength: 65_536, description: 'Text above the cards, with placeholders' }),
      carousel: Type.Array(CardField, { minItems: 1, maxItems: 10 }),
    },
    invalidTexts: Object.fromEntries(
      ['number', 'text', 'carousel'].flatMap((field) => ['required', 'minLength', 'minItems'].map((rule) => [`${field}:${rule}`, missing])),
    ),
    content: ({ text, carousel }) => mapResult(cardsOf(carousel), (cards) => ({ kind: 'carousel' as const, text, footer: '', cards })),
  }),
];
