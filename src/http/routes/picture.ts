/** Shared parts of rows that take a picture of a person or group. */
import type { BodyLimit, Refusals } from '../route.ts';

/** Holds a photograph of a phone as base64. */
export const pictureBodyLimit: BodyLimit = { bytes: 8_388_608 };

/** The refusals of a picture itself. */
export const pictureRefusals = {
  tooLarge: {},
  notConvertible: {},
  limited: {},
  invalid: { example: 'the file begins like image/jpeg, but it is damaged' },
} as const satisfies Refusals;

/** The picture as it was given; '' to take the present one away. */
export const pictureSource = (image: string): string => (/^(?:remove|delete)?$/i.test(image.trim()) ? '' : image);
