/** Formats of texts in the interface: times, PIX keys, lines of bank slips, amounts. */
import { done, type PixKey, refuse, type Result } from '#actors/gateway.ts';

// Times. Both formats are total: a damaged row may hold any number, and must not fail an answer about all rows.

/** The first and the last moment with a year of four digits, which every client reads. Unix milliseconds. */
const [first, last] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** Returns the time as `2026-08-19T17:36:34.345Z`. A time outside the years 1 to 9999 becomes the nearest one within. */
export const isoTime = (ms: number): string => new Date(Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, first), last)).toISOString();

/** Returns the time as `2026-08-19 17:36:34.345Z`, in UTC, and '' for a missing time. */
export const timeText = (ms: number | null): string => (ms === null ? '' : isoTime(ms).replace('T', ' '));

// Formats of Brazilian payments: PIX keys, lines of bank slips, amounts.

export const pixKeyTypes = ['CPF', 'CNPJ', 'PHONE', 'EMAIL', 'EVP'] as const;

/** Digits and, in newer CNPJs, letters: each counts by its place in ASCII from `0` on. */
const valuesOf = (text: string): readonly number[] => [...text].map((letter) => letter.charCodeAt(0) - 48);

/** The check digit for what stands before it, modulo 11. `highest`: the weight after which the weights begin at 2 again, from the right. */
const checkDigit = (values: readonly number[], highest: number): number => {
  const sum = values.toReversed().reduce((total, value, index) => total + value * (2 + (index % (highest - 1))), 0);
  const rest = sum % 11;
  return rest < 2 ? 0 : 11 - rest;
};

/** Ends with two check digits, and is not one digit all over. */
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

/** The digits of a bank slip: 47 of a bank, 48 of a bill, or the 44 of its bar code. */
export const boletoOf = (written: string): Result<string> => {
  const digits = written.replace(/[\s.-]/g, '');
  return /^(\d{44}|\d{47}|\d{48})$/.test(digits)
    ? done(digits)
    : refuse('invalid', 'boletoCode must have the 44, 47 or 48 digits of a bank slip');
};

/** Hundredths. Amounts come as numbers with a fraction, which is no exact number of hundredths. */
export const centsOf = (amount: number): Result<number> => {
  const cents = Math.round(amount * 100);
  if (cents < 1 || Math.abs(amount * 100 - cents) > 0.001) return refuse('invalid', 'amount must be above 0, with two decimals at most');
  return done(cents);
};
