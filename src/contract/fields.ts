/**
 * Tables of fields. A row is the schema of a field and the function that reads its value. One table makes the schema and the view of a resource,
 * so that a new field is one line and the two cannot differ.
 */
import { type Static, type TObject, type TOptional, type TProperties, type TSchema, Type } from 'typebox';

/** The read-only form of a type. Views answer with shared records, which nobody may change. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

/** The view of a resource that has these schemas. */
export type ViewOf<Schemas extends TProperties> = Frozen<Static<TObject<Schemas>>>;

/** The value of a field. A view leaves an optional field out if its value is undefined. */
type ValueOf<Schema extends TSchema> = Frozen<Static<Schema>> | (Schema extends TOptional ? undefined : never);

export type Row<Source, Schema extends TSchema> = readonly [schema: Schema, read: (source: Source) => ValueOf<Schema>];

type Rows<Source, Schemas extends TProperties> = { readonly [Name in keyof Schemas]: Row<Source, Schemas[Name]> };

export interface FieldTable<Source, Schemas extends TProperties> {
  /** For a table that has these rows among its own. */
  readonly rows: Rows<Source, Schemas>;
  readonly schemas: Schemas;
  /** Makes the view, with its fields in the order of the table. */
  readonly view: (source: Source) => ViewOf<Schemas>;
}

/** Reads a field that the interface has and the gateway does not know. */
export const notKnown = (): undefined => undefined;

/** Makes a table of fields whose values come from a record: `fieldsOf<Source>()({ id: [Type.String(), ({ id }) => id] })`. */
export const fieldsOf =
  <Source>() =>
  <Schemas extends TProperties>(rows: Rows<Source, Schemas>): FieldTable<Source, Schemas> => {
    const entries = Object.entries(rows as Readonly<Record<string, Row<Source, TSchema>>>);
    const known = entries.filter(([, [, read]]) => read !== notKnown);
    const view = (source: Source): Readonly<Record<string, unknown>> => {
      const made: Record<string, unknown> = {};
      for (const [name, [, read]] of known) {
        const value = read(source);
        if (value !== undefined) made[name] = value;
      }
      return made;
    };
    const schemas = Object.fromEntries(entries.map(([name, [schema]]) => [name, schema]));
    return { rows, schemas: schemas as TProperties as Schemas, view: view as (source: Source) => ViewOf<Schemas> };
  };

// Schemas that tables and shapes of HTTP have in common.

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
