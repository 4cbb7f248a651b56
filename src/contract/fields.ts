/**
 * Tables of fields. A row is the schema of a field and the function that reads its value. One table makes the schema and the view of a resource,
 * so a new field is one line, and schema and view cannot differ.
 */
import type { Static, TObject, TOptional, TProperties, TSchema } from 'typebox';
import { optional } from './shapes.ts';

/** The read-only form of a type. Views share records with other parts of the gateway, so they must not be changed. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

/** The view of a resource whose fields have these schemas. */
export type ViewOf<Schemas extends TProperties> = Frozen<Static<TObject<Schemas>>>;

/** The value of a field. A view leaves an optional field out if its value is undefined. */
type ValueOf<Schema extends TSchema> = Frozen<Static<Schema>> | (Schema extends TOptional ? undefined : never);

export type Row<Source, Schema extends TSchema> = readonly [schema: Schema, read: (source: Source) => ValueOf<Schema>];

type Rows<Source, Schemas extends TProperties> = { readonly [Name in keyof Schemas]: Row<Source, Schemas[Name]> };

export interface FieldTable<Source, Schemas extends TProperties> {
  /** The rows. Another table may include them. */
  readonly rows: Rows<Source, Schemas>;
  readonly schemas: Schemas;
  /** Makes the view, with its fields in the order of the table. */
  readonly view: (source: Source) => ViewOf<Schemas>;
}

/** Reads a field that the interface has and the gateway never fills. */
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

// Fields that clients may also set.

/** The conversions of a field. A conversion may be left out if its input already fits the type of its result. */
type Conversions<Value, Shown extends TSchema, Taken extends TSchema> = ([Value] extends [ValueOf<Shown>]
  ? unknown
  : { readonly show: (value: Value) => ValueOf<Shown> }) &
  ([Frozen<Static<Taken>>] extends [Value] ? unknown : { readonly take: (given: Frozen<Static<Taken>>) => Value }) & {
    readonly show?: (value: Value) => ValueOf<Shown>;
    readonly take?: (given: Frozen<Static<Taken>>) => Value;
  };

interface SetRow<Kept, Shown extends TSchema, Taken extends TSchema> {
  /** The row of the field in views. */
  readonly row: Row<Kept, Shown>;
  readonly taken: Taken;
  readonly key: keyof Kept;
  take(given: Frozen<Static<Taken>>): unknown;
}

type SetRows<Kept> = Readonly<Record<string, SetRow<Kept, TSchema, TSchema>>>;

type TakenBy<Kept, Sets extends SetRows<Kept>> = { [Name in keyof Sets]: TOptional<Sets[Name]['taken']> };

export interface Settable<Kept, Sets extends SetRows<Kept>> {
  /** The rows for a table of the whole view. */
  readonly rows: { readonly [Name in keyof Sets]: Sets[Name]['row'] };
  /** The schemas for a body. */
  readonly taken: TakenBy<Kept, Sets>;
  /** Makes the change that a body requests. Fields that the body does not have are left out. */
  readonly change: (body: Frozen<Static<TObject<TakenBy<Kept, Sets>>>>) => Partial<Kept>;
}

/** Makes fields that clients read and set: their names in the model, their schemas in answers and in bodies, and their conversions. */
export const settableOf = <Kept>() => ({
  field: <const Key extends keyof Kept, Shown extends TSchema, Taken extends TSchema>(
    key: Key,
    shown: Shown,
    taken: Taken,
    ...[conversions]: object extends Conversions<Kept[Key], Shown, Taken>
      ? [conversions?: Conversions<Kept[Key], Shown, Taken>]
      : [conversions: Conversions<Kept[Key], Shown, Taken>]
  ): SetRow<Kept, Shown, Taken> => {
    const { show = (value: unknown) => value, take = (given: unknown) => given } = (conversions ?? {}) as {
      readonly show?: (value: Kept[Key]) => unknown;
      readonly take?: (given: Frozen<Static<Taken>>) => unknown;
    };
    return { row: [shown, (kept) => show(kept[key]) as ValueOf<Shown>], taken, key, take };
  },
  group: <const Sets extends SetRows<Kept>>(sets: Sets): Settable<Kept, Sets> => {
    const entries = Object.entries(sets);
    const change = (body: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(entries.flatMap(([name, { key, take }]) => (body[name] === undefined ? [] : [[key, take(body[name])]])));
    return {
      rows: Object.fromEntries(entries.map(([name, { row }]) => [name, row])),
      taken: Object.fromEntries(entries.map(([name, { taken }]) => [name, optional(taken)])),
      change,
    } as unknown as Settable<Kept, Sets>;
  },
});
