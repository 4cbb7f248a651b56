/** The limits of buttons, lists and carousels, and the display limits of phones. */
import type { Button, ButtonsContent, CarouselContent, ListContent } from '../model.ts';

/** The limit of a message is ten buttons. Every phone shows `replies` of them, or `links` buttons that open a link, call or copy, but no mixture. */
const most = { buttons: 10, replies: 3, links: 2, cardButtons: 3, cards: 10 } as const;

const countsOf = ({ buttons }: Pick<ButtonsContent, 'buttons'>) => {
  const replies = buttons.filter(({ kind }) => kind === 'reply').length;
  return { replies, links: buttons.length - replies };
};

const blank = (text: string): boolean => text.trim() === '';

const labelProblem = (buttons: readonly Button[]): string | null =>
  buttons.some(({ text }) => blank(text)) ? 'a button has no text' : null;

export const buttonsRule = ({ text, buttons, legacy }: ButtonsContent): string | null => {
  const { replies, links } = countsOf({ buttons });
  if (blank(text)) return 'a menu needs a text';
  if (buttons.length === 0) return 'choices must name at least one button';
  if (legacy && links > 0) return 'button_legacy takes replies only';
  if (legacy && replies > most.replies) return `button_legacy takes at most ${most.replies} replies`;
  if (buttons.length > most.buttons) return `at most ${most.buttons} buttons`;
  return labelProblem(buttons);
};

/** Returns a warning about parts that some phones do not show; null if every phone shows the whole message. The message is sent nevertheless. */
export const buttonsWarning = (content: Pick<ButtonsContent, 'buttons'>): string | null => {
  const { replies, links } = countsOf(content);
  if (replies > 0 && links > 0) return 'some WhatsApp apps do not show replies beside buttons that open a link, call or copy';
  if (replies > most.replies) return `some WhatsApp apps show at most ${most.replies} replies`;
  return links > most.links ? `some WhatsApp apps show at most ${most.links} buttons that open a link, call or copy` : null;
};

export const listRule = ({ text, button, sections }: ListContent): string | null => {
  const rows = sections.flatMap((section) => section.rows);
  if (blank(text)) return 'a menu needs a text';
  if (blank(button)) return 'listButton must not be empty';
  if (rows.length === 0) return 'choices must name at least one row';
  if (sections.some((section) => section.rows.length === 0)) return 'a section of the list has no rows';
  if (rows.some(({ title }) => blank(title))) return 'a row of the list has no text';
  return new Set(rows.map(({ id }) => id)).size < rows.length ? 'two rows of the list have the same id' : null;
};

export const carouselRule = ({ text, cards }: CarouselContent): string | null => {
  if (blank(text)) return 'a carousel needs a text';
  if (cards.length === 0) return 'a carousel needs at least one card';
  if (cards.length > most.cards) return `a carousel has at most ${most.cards} cards`;
  if (cards.some((card) => blank(card.text))) return 'a card has no text';
  if (cards.some(({ buttons }) => buttons.length === 0 || buttons.length > most.cardButtons))
    return `a card has 1 to ${most.cardButtons} buttons`;
  return labelProblem(cards.flatMap(({ buttons }) => buttons));
};
