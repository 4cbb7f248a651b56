/** Makes tools from the rows of the interface. A tool has one input schema for all parts of a request, and converts the input of a call to a request. */
import type { TSchema } from 'typebox';
import type { SharedSchemas } from '../openapi.ts';
import type { McpGroup } from '../options.ts';
import type { Route } from '../route.ts';
import { type ToolKind, toolKinds } from './kinds.ts';

type Json = Readonly<Record<string, unknown>>;

/** A tool as the protocol lists it. */
interface ToolListing {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, object>>;
    readonly required: string[];
    readonly additionalProperties: false;
  };
  readonly annotations: ToolKind['annotations'];
}

/** A request to the interface. */
export interface ToolRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent if the request has no body. */
  readonly payload?: Json;
}

export interface Tool {
  readonly listing: ToolListing;
  /** The address of the operation, such as `POST /send/text`. */
  readonly address: string;
  readonly asks: boolean;
  /**
   * Returns the reason why the request of a call cannot be made; null if there is none. Unknown arguments are refused, because they could hide the known
   * arguments from the person who confirms a call.
   */
  objection(input: Json): string | null;
  /** Puts each argument into the part of the request to which it belongs. */
  request(input: Json): ToolRequest;
}

/** Returns a plain copy of a schema with shared shapes in place of references, because clients do not resolve references. */
const resolved = (value: unknown, shared: SharedSchemas): unknown => {
  if (Array.isArray(value)) return value.map((item) => resolved(item, shared));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, $id: _, ...rest } = value as { readonly $ref?: string; readonly $id?: string };
  const whole = Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, resolved(part, shared)]));
  return $ref === undefined ? whole : { ...(resolved(shared.get($ref.replace(/#$/, '')) ?? {}, shared) as object), ...whole };
};

interface Part {
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
}

const partOf = (schema: TSchema | undefined, shared: SharedSchemas): Part => {
  const { properties = {}, required = [] } = (resolved(schema ?? {}, shared) ?? {}) as Partial<Part>;
  return { properties, required };
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const textsOf = (input: Json, { properties }: Part): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(properties).flatMap((name) => (input[name] === undefined || input[name] === null ? [] : [[name, textOf(input[name])]])),
  );

/** Returns an error in the form of the interface's error answers. */
const errorText = (error: string): string => JSON.stringify({ error });

/** Returns true for path segments that HTTP clients remove. With such a segment the request would reach another operation. */
const isNoSegment = (text: string | undefined): boolean => text === undefined || text === '' || text === '.' || text === '..';

const toolOf = (row: Route, { asks, annotations }: ToolKind, shared: SharedSchemas): Tool => {
  const [address] = row.on;
  const [method = '', path = ''] = address.split(' ');
  const [params, query, headers, body] = [row.params, row.query, row.requestHeaders, row.body].map((schema) => partOf(schema, shared)) as [
    Part,
    Part,
    Part,
    Part,
  ];
  const parts = [params, query, headers, body];
  const names = parts.flatMap(({ properties }) => Object.keys(properties));
  if (new Set(names).size < names.length) throw new Error(`the tool ${row.operationId} has an argument in two parts of its request`);
  const outside = new Set([params, query, headers].flatMap(({ properties }) => Object.keys(properties)));
  return {
    address,
    asks,
    listing: {
      name: row.operationId,
      description: `${row.summary} (${address})`,
      inputSchema: {
        type: 'object',
        properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as Record<string, object>,
        required: parts.flatMap(({ required }) => required),
        additionalProperties: false,
      },
      annotations,
    },
    objection(input) {
      const unknown = Object.keys(input).find((name) => !names.includes(name));
      if (unknown !== undefined) return errorText(`${row.operationId} has no argument ${unknown.slice(0, 100)}`);
      const given = textsOf(input, params);
      const wrong = Object.keys(params.properties).find((name) => isNoSegment(given[name]));
      return wrong === undefined ? null : errorText(`${wrong} is required, and may be neither . nor ..`);
    },
    request(input) {
      const search = new URLSearchParams(textsOf(input, query)).toString();
      const given = textsOf(input, params);
      const url = path.replaceAll(/:(\w+)/g, (_whole, name: string) => encodeURIComponent(given[name] ?? ''));
      return {
        method,
        url: search === '' ? url : `${url}?${search}`,
        headers: textsOf(input, headers),
        ...(row.body === undefined ? {} : { payload: Object.fromEntries(Object.entries(input).filter(([name]) => !outside.has(name))) }),
      };
    },
  };
};

/** Returns the tools of the groups, by their name. A row becomes a tool only if the table of kinds names it. */
export const toolsOf = (rows: readonly Route[], groups: readonly McpGroup[], shared: SharedSchemas): ReadonlyMap<string, Tool> =>
  new Map(
    rows.flatMap((row) => {
      const kind = toolKinds.get(row.operationId);
      return kind !== undefined && groups.includes(kind.group) ? [[row.operationId, toolOf(row, kind, shared)] as const] : [];
    }),
  );
