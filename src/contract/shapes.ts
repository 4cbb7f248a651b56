/** Schemas that the tables of fields share with the shapes of HTTP. */
import { type TSchema, Type } from 'typebox';

export const Flag = (description: string) => Type.Boolean({ description });

export const Text = (maxLength: number, description: string) => Type.String({ maxLength, description });

/** Makes the schema of phone numbers and ids, which clients of dynamic languages may also send as numbers. */
export const LooseText = (maxLength: number, description: string, minLength = 0) =>
  Type.Unsafe<string | number>({ type: ['string', 'number'], ...(minLength === 0 ? {} : { minLength }), maxLength, description });

/** Makes the schema of a whole number. Before validation, a text of digits becomes a number. */
export const Count = (minimum: number, maximum: number, description: string) => Type.Integer({ minimum, maximum, description });

export const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);

/** Makes the schema of a text from a fixed list. */
export const OneOf = <const T extends string>(values: readonly T[], more: Readonly<Record<string, unknown>> = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...more });

/** Makes the schema of a text that may be null. */
export const TextOrNull = (more: Readonly<Record<string, unknown>> = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...more });

/** Makes the schema of an object with keys that the interface does not define. */
export const FreeObject = (description: string) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true, description });
