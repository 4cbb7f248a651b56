/** Menus: buttons, lists, polls and carousels, written as a list of choices. */
import { Type } from 'typebox';
import { done, type Result, type SendContent } from '#actors/gateway.ts';
import { buttonsIn, cardsIn, sectionsIn } from '#src/contract/choices.ts';
import { mapResult } from '../../route.ts';
import { Count, OneOf, optional, Text } from '../../schemas/common.ts';
import { headOf } from './head.ts';
import { bodyLimitOf, fileRefusals, isBare } from './media.ts';
import { sendRow } from './row.ts';

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

/** One row a type of menu. */
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

/** `fileBytes`: of the largest picture. */
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
    content: (body) => contents[body.type](body),
  }),
];
