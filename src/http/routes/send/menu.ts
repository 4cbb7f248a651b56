/** Menus: buttons, lists, polls and carousels, written as a list of choices. */
import { Type } from 'typebox';
import { allDone, type Card, done, type Head, refuse, type Result, type SendContent } from '#actors/gateway.ts';
import { buttonOf, buttonsIn, buttonTypes, cardsIn, sectionsIn } from '#src/contract/formats.ts';
import { mapResult } from '../../route.ts';
import { Count, OneOf, optional, Text } from '../../schemas/common.ts';
import { bodyLimitOf, fileRefusals, isBare } from './media.ts';
import { sendRow } from './row.ts';

// Pictures, videos and documents above the text of a message or card, as clients write them.

/** Returns the file above a message; null if `source` is empty. `source` is a URL, a data URL or base64. */
export const headOf = (as: Head['as'], source = '', filename = ''): Head | null =>
  source.trim() === '' ? null : { as, file: { source, as, thumbnail: '', mimetype: '', filename: filename.trim() } };

const missing = 'Missing required fields or invalid menu type';

interface Menu {
  readonly text: string;
  readonly choices: readonly string[];
  readonly footerText?: string;
  readonly listButton?: string;
  readonly selectableCount?: number;
  readonly imageButton?: string;
}

const types = ['button', 'button_legacy', 'list', 'poll', 'carousel'] as const;

const buttons =
  (legacy: boolean) =>
  ({ text, footerText: footer = '', imageButton, choices }: Menu): Result<SendContent> =>
    mapResult(buttonsIn(choices), (all) => ({
      kind: 'buttons' as const,
      head: headOf('image', imageButton),
      text,
      footer,
      buttons: all,
      legacy,
    }));

/** The functions that convert a menu to the content of a message, by type of menu. */
const contents: Readonly<Record<(typeof types)[number], (menu: Menu) => Result<SendContent>>> = {
  button: buttons(false),
  button_legacy: buttons(true),
  list: ({ text, footerText: footer = '', listButton = 'Menu', choices }) =>
    mapResult(sectionsIn(choices), (sections) => ({ kind: 'list' as const, text, footer, button: listButton, sections })),
  poll: ({ text: question, choices: options, selectableCount: selectable = 1 }) =>
    done({ kind: 'poll' as const, question, options, selectable }),
  carousel: ({ text, footerText: footer = '', choices }) =>
    mapResult(cardsIn(choices), (cards) => ({
      kind: 'carousel' as const,
      text,
      footer,
      cards: cards.map(({ picture, ...card }) => ({ ...card, head: headOf('image', picture) })),
    })),
};

/** Fields that a type of menu cannot show. */
const unshown: Readonly<Record<(typeof types)[number], readonly ('footerText' | 'imageButton')[]>> = {
  button: [],
  button_legacy: [],
  list: ['imageButton'],
  poll: ['footerText', 'imageButton'],
  carousel: ['imageButton'],
};

/** Makes the rows. `fileBytes` is the size of the largest picture, in bytes. */
export const menuRows = (fileBytes: number) => [
  sendRow({
    on: 'POST /send/menu',
    operationId: 'sendMenu',
    summary:
      'Send buttons, a list, a poll or a carousel. Not guaranteed: the platform may refuse or hide all but polls for accounts that are no business',
    sent: 'Menu sent successfully',
    bodyLimit: bodyLimitOf(fileBytes),
    unstored: ({ imageButton = '', choices }) => [
      ...(isBare(imageButton) ? (['imageButton'] as const) : []),
      ...(choices.some((choice) => /^\s*\{/.test(choice) && isBare(choice.trim().slice(1))) ? (['choices'] as const) : []),
    ],
    refusals: fileRefusals,
    fields: {
      type: OneOf(types, {
        description:
          '`button_legacy` is the form before native flows: replies only, and the platform refuses it for most accounts. A list opens behind a button',
      }),
      text: Type.String({
        minLength: 1,
        maxLength: 65_536,
        description: 'Text above the choices, with placeholders; the question of a poll',
        examples: ['Shall we deliver today?'],
      }),
      footerText: optional(Text(1024, 'Small text below')),
      listButton: optional(Text(100, 'Label of the button that opens a list; `Menu` when left out')),
      selectableCount: optional(Count(0, 12, 'Options of a poll that one may choose at most; 0 for all')),
      imageButton: optional(Type.String({ description: 'Picture above buttons: URL, data URL or base64' })),
      choices: Type.Array(Type.String(), {
        minItems: 1,
        maxItems: 200,
        description:
          'Buttons: `text|id`, `text|https://…`, `text|call:+55…`, `text|copy:CODE`; at most 10. Some apps do not show a mixture of replies and others, more than 3 replies, or more than 2 of the others: `warning` in the answer says so. Lists: `[Section]`, then `text|id|description`. Polls: the options. Carousels: for each card `[text]`, `{picture as URL or base64}` and then its buttons',
        examples: [['Yes|yes', 'No|no']],
      }),
    },
    invalidTexts: Object.fromEntries(
      ['number', 'type', 'text', 'choices']
        .flatMap((field) => ['required', 'minLength', 'minItems'].map((rule) => [`${field}:${rule}`, missing]))
        .concat([['type:enum', missing]]),
    ),
    warning(body) {
      const left = unshown[body.type].filter((field) => (body[field] ?? '').trim() !== '');
      return left.length === 0 ? null : `a menu of the type ${body.type} has ${left.map((field) => `no ${field}`).join(' and ')}`;
    },
    content: (body) => contents[body.type](body),
  }),
];

// A button by which the recipient sends a location.

const noPlaceFields = 'Missing required fields or invalid coordinates';

export const locationButtonRows = [
  sendRow({
    on: 'POST /send/location-button',
    operationId: 'sendLocationButton',
    summary:
      'Ask for the place with a button; the answer is a location that quotes the message. Not guaranteed: the platform may refuse or hide it',
    sent: 'Location sent successfully',
    fields: {
      text: Type.String({
        minLength: 1,
        maxLength: 65_536,
        description: 'Text above the button, with placeholders',
        examples: ['Where shall we deliver?'],
      }),
    },
    invalidTexts: {
      'number:required': noPlaceFields,
      'number:minLength': noPlaceFields,
      'text:required': noPlaceFields,
      'text:minLength': noPlaceFields,
    },
    content: ({ text }) => done({ kind: 'placeRequest', text }),
  }),
];

// Carousels, written card by card.

const badCards = 'Missing required fields or invalid card format';

const CardButton = Type.Object({
  id: optional(Text(8_192, 'Answer of a tap, address, number, or code to copy')),
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

/** Makes the rows. `fileBytes` is the size of the largest file, in bytes. */
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
      ['number', 'text', 'carousel'].flatMap((field) =>
        ['required', 'minLength', 'minItems'].map((rule) => [`${field}:${rule}`, badCards]),
      ),
    ),
    content: ({ text, carousel }) =>
      mapResult(allDone(carousel.map(cardOf)), (cards) => ({ kind: 'carousel' as const, text, footer: '', cards })),
  }),
];
