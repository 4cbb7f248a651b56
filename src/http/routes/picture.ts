/** What rows that take a picture of somebody share. */
import type { Refusals } from '../route.ts';

/** Bytes of such a request: a photograph of a phone as base64. */
export const pictureBodyLimit = 8_388_608;

/** What may be wrong with the picture itself. */
export const pictureRefusals = {
  tooLarge: {},
  notConvertible: {},
  limited: {},
  invalid: { example: 'the file begins like image/jpeg, but it is damaged' },
} as const satisfies Refusals;

/** The picture as it was given; '' to take the present one away. */
export const pictureSource = (image: string): string => (/^(?:remove|delete)?$/i.test(image.trim()) ? '' : image);
