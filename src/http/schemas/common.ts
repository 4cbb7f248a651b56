/** Shapes that every resource uses. Strings are bounded: what is stored for ever is not for the caller to size. */
import { type TSchema, Type } from 'typebox';

export const Flag = (description: string) => Type.Boolean({ description });

export const Text = (maxLength: number, description: string) => Type.String({ maxLength, description });

export const Name = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });

/** Phone numbers and ids that clients of dynamic languages send as numbers too. */
export const LooseText = (maxLength: number, description: string, minLength = 0) =>
  Type.Unsafe<string | number>({ type: ['string', 'number'], minLength, maxLength, description });

/** A whole number; digits in a text are read as one before validation. */
export const Count = (minimum: number, maximum: number, description: string) => Type.Integer({ minimum, maximum, description });

export const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);

/** Points at a shape that `sharedSchemas` registers, so that the documents name it once. */
export const ref = (id: string) => Type.Unsafe<unknown>({ $ref: `${id}#` });

/** Texts of the given names, for answers whose fields are all of one type. */
export const fields = <T extends TSchema>(names: string, schema: T) =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, schema]),
  );
