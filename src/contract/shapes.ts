/** Schemas that tables of fields and shapes of HTTP have in common. */
import { type TSchema, Type } from 'typebox';

export const Flag = (description: string) => Type.Boolean({ description });

export const Text = (maxLength: number, description: string) => Type.String({ maxLength, description });

/** Phone numbers and ids that clients of dynamic languages send as numbers too. */
export const LooseText = (maxLength: number, description: string, minLength = 0) =>
  Type.Unsafe<string | number>({ type: ['string', 'number'], ...(minLength === 0 ? {} : { minLength }), maxLength, description });

/** A whole number; digits in a text are read as one before validation. */
export const Count = (minimum: number, maximum: number, description: string) => Type.Integer({ minimum, maximum, description });

export const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);

/** One of some texts. */
export const OneOf = <const T extends string>(values: readonly T[], more: Readonly<Record<string, unknown>> = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...more });

/** null, or a text. */
export const TextOrNull = (more: Readonly<Record<string, unknown>> = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...more });

/** An object whose keys are not ours to list. */
export const FreeObject = (description: string) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true, description });
