/** Shapes that all resources use. Strings are bounded, because they are stored and callers must not choose their size. */
export { Count, Flag, FreeObject, LooseText, OneOf, optional, Text, TextOrNull } from '#src/contract/shapes.ts';
import { LooseText } from '#src/contract/shapes.ts';
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';

/** Makes the schema of a text that is not blank. The routes trim the text. */
export const Name = (description: string, example = 'shop') =>
  Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', description, examples: [example] });

/** Returns the schema with an example for the documents. */
export const like = <T extends TSchema>(schema: T, example: unknown): T => ({ ...schema, examples: [example] });

export const numberExample = '5511999999999';

/** Makes the schema of the recipient of a message, or of a chat. */
export const NumberText = (description: string) => like(LooseText(128, description, 1), numberExample);

/** Makes a reference to a shape of `sharedSchemas`. The documents therefore contain the shape once. The type is that of the shape. */
export const ref = <T extends TSchema>(shared: T): TUnsafe<Static<T>> =>
  Type.Unsafe<Static<T>>({ $ref: `${(shared as { readonly $id?: string }).$id}#` });

/** The type of the words in a text. */
type Words<Names extends string> = Names extends `${infer First}\n${infer Rest}`
  ? Words<First> | Words<Rest>
  : Names extends `${infer First} ${infer Rest}`
    ? Words<First> | Words<Rest>
    : Names extends ''
      ? never
      : Names;

/** Makes a field for each name. All fields have the same schema. */
export const fields = <const Names extends string, T extends TSchema>(names: Names, schema: T): { [Name in Words<Names>]: T } =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, schema]),
  ) as { [Name in Words<Names>]: T };

// Shapes of files.

export const FileParams = Type.Object({
  name: Type.String({ maxLength: 100, description: 'The last part of the `fileURL` of a message' }),
});

export const FileBytes = Type.String({ description: 'The bytes of the file', format: 'binary' });
