/** Formats of texts in the interface: times, PIX keys, lines of bank slips, amounts, and the notation of `choices`. */
import {
  allDone,
  type Button,
  done,
  isWebAddress,
  type ListRow,
  type ListSection,
  type PixKey,
  refuse,
  type Result,
} from '#actors/gateway.ts';

// Times. `isoTime` and `timeText` accept any number, because a damaged row must not fail an answer about all rows.

/** The first and the last time with a year of four digits, which every client can read. In Unix milliseconds. */
const [first, last] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** Returns the time as `2026-08-19T17:36:34.345Z`. A time outside the years 1 to 9999 becomes the nearest time of these years. */
export const isoTime = (ms: number): string => new Date(Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, first), last)).toISOString();

/** Returns the time as `2026-08-19 17:36:34.345Z`, in UTC, and '' for a missing time. */
export const timeText = (ms: number | null): string => (ms === null ? '' : isoTime(ms).replace('T', ' '));

// Formats of Brazilian payments: PIX keys, lines of bank slips, amounts.

const pixKeyTypes = ['CPF', 'CNPJ', 'PHONE', 'EMAIL', 'EVP'] as const;

/**
 * Returns the values of the characters for the check digits. Newer CNPJs also have letters. A character counts as its ASCII code minus that
 * of `0`.
 */
const valuesOf = (text: string): readonly number[] => [...text].map((letter) => letter.charCodeAt(0) - 48);

/** Returns the check digit for the preceding digits, modulo 11. The weights go from 2 to `highest`, beginning at the last digit, and then start at 2 again. */
const checkDigit = (values: readonly number[], highest: number): number => {
  const sum = values.toReversed().reduce((total, value, index) => total + value * (2 + (index % (highest - 1))), 0);
  const rest = sum % 11;
  return rest < 2 ? 0 : 11 - rest;
};

/** Returns true if the text ends with two valid check digits, and its digits are not all the same. */
const isChecked = (text: string, highest: number): boolean => {
  const values = valuesOf(text);
  const [first, second] = values.slice(-2);
  const body = values.slice(0, -2);
  const expected = checkDigit(body, highest);
  return new Set(text).size > 1 && first === expected && second === checkDigit([...body, expected], highest);
};

/** Normalisers by type: each returns the key as it is sent to the platform, or null if the key is not valid. */
const keys: Readonly<Record<PixKey['type'], (key: string) => string | null>> = {
  CPF: (key) => {
    const digits = key.replace(/[\s.-]/g, '');
    return /^\d{11}$/.test(digits) && isChecked(digits, 11) ? digits : null;
  },
  CNPJ: (key) => {
    const text = key.replace(/[\s./-]/g, '').toUpperCase();
    return /^[0-9A-Z]{12}\d{2}$/.test(text) && isChecked(text, 9) ? text : null;
  },
  PHONE: (key) => {
    const digits = key.replace(/[\s().-]/g, '').replace(/^\+/, '');
    return /^[1-9]\d{9,14}$/.test(digits) ? `+${digits}` : null;
  },
  EMAIL: (key) => (key.length <= 77 && /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(key.trim()) ? key.trim().toLowerCase() : null),
  EVP: (key) => (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(key.trim()) ? key.trim().toLowerCase() : null),
};

/** The error of an unknown key type. */
export const invalidKeyType = `Invalid keyType. Allowed: ${pixKeyTypes.join(', ')}`;

const isType = (type: string): type is PixKey['type'] => (pixKeyTypes as readonly string[]).includes(type);

export const pixKeyOf = (written: string, key: string, name: string): Result<PixKey> => {
  const type = written.trim().toUpperCase();
  if (!isType(type)) return refuse('invalid', invalidKeyType);
  const given = keys[type](key);
  return given === null ? refuse('invalid', `pixKey is no valid ${type} key`) : done({ type, key: given, name: name.trim() });
};

/** Returns the digits of a bank slip. A slip of a bank has 47 digits, a bill has 48, and the bar code has 44. */
export const boletoOf = (written: string): Result<string> => {
  const digits = written.replace(/[\s.-]/g, '');
  return /^(\d{44}|\d{47}|\d{48})$/.test(digits)
    ? done(digits)
    : refuse('invalid', 'boletoCode must have the 44, 47 or 48 digits of a bank slip');
};

/** Returns an amount in hundredths. Fractions such as 0.29 are not exact in floating point, so a deviation of up to 0.001 hundredths is accepted. */
export const centsOf = (amount: number): Result<number> => {
  const cents = Math.round(amount * 100);
  if (cents < 1 || Math.abs(amount * 100 - cents) > 0.001) return refuse('invalid', 'amount must be above 0, with two decimals at most');
  return done(cents);
};

// The notation of `choices`: an entry is a label and a value, separated by a bar or a line break.
//
// Buttons: `Yes|yes`, `Yes` (the label is the id), `Yes|reply:yes`, `Shop|https://…`, `Shop|url:https://…`, `Call|call:+55…`, `Copy|copy:CODE`. Lists:
// `[Section]` opens a section, `Title|id|description` is a row. Carousels: `[text]` opens a card, `{picture}` is shown above the text of the card, and the
// buttons follow.

/** A card of a carousel. `picture`: URL or base64; '' for none. */
interface CardChoice {
  readonly text: string;
  readonly picture: string;
  readonly buttons: readonly Button[];
}

const invalid = (message: string) => refuse('invalid', message);

/** Splits an entry at the first bar or line break. */
const split = (entry: string): readonly [label: string, rest: string] => {
  const at = entry.search(/[|\n]/);
  return at < 0 ? [entry.trim(), ''] : [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
};

const inBrackets = (entry: string, open: string, close: string): string | null => {
  const text = entry.trim();
  return text.startsWith(open) && text.endsWith(close) && text.length >= 2 ? text.slice(1, -1).trim() : null;
};

/** Returns the digits with a leading `+`; null if the text is not a phone number. */
const phoneOf = (value: string): string | null => {
  const digits = value.replace(/[\s().-]/g, '').replace(/^\+/, '');
  return /^\d{5,15}$/.test(digits) ? `+${digits}` : null;
};

export const buttonTypes = ['REPLY', 'URL', 'CALL', 'COPY'] as const;

/** Makes one button. `value` is its id, address, number or code. */
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
