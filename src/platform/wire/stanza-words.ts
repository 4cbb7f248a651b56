/**
 * The library writes words that are often used as numbers, which it looks up in a plain object: a text such as `constructor` or `__proto__` finds what
 * every object inherits, and the stanza is written wrong. Here that object stops inheriting.
 */
import { TOKEN_MAP } from '@whiskeysockets/baileys/lib/WABinary/constants.js';

/** Idempotent. */
export const repairStanzaWords = (): void => {
  Object.setPrototypeOf(TOKEN_MAP, null);
};
