/**
 * The notation of `choices`: an entry is a label and a value, apart by a bar or a line break.
 *
 * Buttons: `Yes|yes`, `Yes` (the label is the id), `Yes|reply:yes`, `Shop|https://…`, `Shop|url:https://…`, `Call|call:+55…`, `Copy|copy:CODE`.
 * Lists: `[Section]` opens a section, `Title|id|description` is a row. Carousels: `[text]` opens a card, `{picture}` is shown above its text, the
 * buttons follow.
 */
import { allDone, type Button, done, isWebAddress, type ListRow, type ListSection, refuse, type Result } from '#actors/gateway.ts';

/** `picture`: URL or base64; '' for none. */
export interface CardChoice {
  readonly text: string;
  readonly picture: string;
  readonly buttons: readonly Button[];
}

const invalid = (message: string) => refuse('invalid', message);

/** The part before the first bar or line break, and the rest. */
const split = (entry: string): readonly [label: string, rest: string] => {
  const at = entry.search(/[|\n]/);
  return at < 0 ? [entry.trim(), ''] : [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
};

const inBrackets = (entry: string, open: string, close: string): string | null => {
  const text = entry.trim();
  return text.startsWith(open) && text.endsWith(close) && text.length >= 2 ? text.slice(1, -1).trim() : null;
};

/** Digits with a leading `+`; null when it is no number. */
const phoneOf = (value: string): string | null => {
  const digits = value.replace(/[\s().-]/g, '').replace(/^\+/, '');
  return /^\d{5,15}$/.test(digits) ? `+${digits}` : null;
};

export const buttonTypes = ['REPLY', 'URL', 'CALL', 'COPY'] as const;

/** One button. `value`: id, address, number or code. */
export const buttonOf = (type: (typeof buttonTypes)[number], text: string, value: string): Result<Button> => {
  switch (type) {
    case 'REPLY':
      return done({ kind: 'reply', text, id: value || text });
    case 'URL':
      return isWebAddress(value)
        ? done({ kind: 'url', text, url: value })
        : invalid(`the button ${text} needs an address with http or https`);
    case 'CALL': {
      const phone = phoneOf(value);
      return phone === null ? invalid(`the button ${text} needs a phone number of 5 to 15 digits`) : done({ kind: 'call', text, phone });
    }
    case 'COPY':
      return value === '' ? invalid(`the button ${text} needs a code to copy`) : done({ kind: 'copy', text, code: value });
  }
};

const marked = /^(reply|url|call|copy):\s*/i;

const buttonIn = (entry: string): Result<Button> => {
  const [text, value] = split(entry);
  const mark = marked.exec(value);
  const type = mark?.[1]?.toUpperCase() as (typeof buttonTypes)[number] | undefined;
  if (mark && type) return buttonOf(type, text, value.slice(mark[0].length));
  return buttonOf(/^https?:\/\//i.test(value) ? 'URL' : 'REPLY', text, value);
};

export const buttonsIn = (choices: readonly string[]): Result<readonly Button[]> => allDone(choices.map(buttonIn));

const rowIn = (entry: string): ListRow => {
  const [title, rest] = split(entry);
  const [id, description] = split(rest);
  return { id: id || title, title, description };
};

export const sectionsIn = (choices: readonly string[]): Result<readonly ListSection[]> => {
  const sections: { title: string; rows: ListRow[] }[] = [];
  for (const entry of choices) {
    const title = inBrackets(entry, '[', ']');
    if (title !== null) sections.push({ title, rows: [] });
    else {
      if (sections.length === 0) sections.push({ title: '', rows: [] });
      sections.at(-1)?.rows.push(rowIn(entry));
    }
  }
  return done(sections);
};

export const cardsIn = (choices: readonly string[]): Result<readonly CardChoice[]> => {
  const cards: { text: string; picture: string; entries: string[] }[] = [];
  for (const entry of choices) {
    const text = inBrackets(entry, '[', ']');
    const card = cards.at(-1);
    const picture = inBrackets(entry, '{', '}');
    if (text !== null) cards.push({ text, picture: '', entries: [] });
    else if (card === undefined) return invalid('choices of a carousel begin with the text of a card in brackets: [text]');
    else if (picture === null) card.entries.push(entry);
    else if (picture === '') return invalid(`the card ${card.text} has an empty picture: {address}`);
    else if (card.picture !== '') return invalid(`the card ${card.text} has two pictures`);
    else card.picture = picture;
  }
  return allDone(
    cards.map(({ text, picture, entries }): Result<CardChoice> => {
      const buttons = buttonsIn(entries);
      return buttons.ok ? done({ text, picture, buttons: buttons.value }) : buttons;
    }),
  );
};
