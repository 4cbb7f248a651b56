/** Carousels, written card by card. */
import { Type } from 'typebox';
import { type Button, type Card, done, type Result } from '#actors/gateway.ts';
import { buttonOf, buttonTypes } from '#src/contract/choices.ts';
import { mapResult } from '../../outcome.ts';
import { OneOf, optional, Text } from '../../schemas/common.ts';
import { sendRow } from './row.ts';

const missing = 'Missing required fields or invalid card format';

const CardButton = Type.Object({
  id: optional(Text(8_192, 'What a tap answers, the address, the number, or the code to copy')),
  text: optional(Text(1024, 'Label')),
  type: optional(OneOf(buttonTypes, { description: '`REPLY` when left out' })),
});

const CardField = Type.Object({
  text: Type.String({ minLength: 1, maxLength: 65_536 }),
  buttons: Type.Array(CardButton, { minItems: 1, maxItems: 3 }),
});

const cardOf = ({ text, buttons }: Type.Static<typeof CardField>): Result<Card> => {
  const made: Button[] = [];
  for (const { type = 'REPLY', text: label = '', id = '' } of buttons) {
    const button = buttonOf(type, label, id.trim());
    if (!button.ok) return button;
    made.push(button.value);
  }
  return done({ text, buttons: made });
};

const cardsOf = (fields: readonly Type.Static<typeof CardField>[]): Result<readonly Card[]> => {
  const cards: Card[] = [];
  for (const field of fields) {
    const card = cardOf(field);
    if (!card.ok) return card;
    cards.push(card.value);
  }
  return done(cards);
};

export const carouselRows = [
  sendRow({
    on: 'POST /send/carousel',
    operationId: 'sendCarousel',
    summary:
      'Send cards side by side, each with buttons. Not guaranteed: the platform may refuse or hide it for accounts that are no business',
    sent: 'Carousel sent successfully',
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
