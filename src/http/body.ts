/**
 * Reads bodies and parameters. Accepts numbers and booleans that clients send as texts. Refuses texts that PostgreSQL cannot store. Describes the first fault
 * in one sentence.
 */
import { isUtf8 } from 'node:buffer';
import { Socket } from 'node:net';
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify';
import type { TSchema } from 'typebox';
import { lazyValidators } from '../base/lazy-validators.ts';
import { BodyError, checkShape } from './body-bounds.ts';

// A body must be a JSON object. Content types of old clients are accepted, and texts that PostgreSQL cannot store are refused.

/** Content types that are read as JSON. curl and old clients omit the header or send `text/plain`. */
const readable = /^(?:application\/(?:[\w.-]+\+)?json|text\/plain|text\/json)\b|^$/i;

/** The charset in a content type. */
const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i;
const utf8Names: ReadonlySet<string> = new Set(['', 'utf-8', 'utf8', 'us-ascii', 'ascii']);

/**
 * Returns the text of a body. Bytes that are not UTF-8 are refused, because a decoder would replace them and a damaged text would be sent.
 */
const textOf = (bytes: Buffer, type: string): string => {
  const name = charset.exec(type)?.[1]?.toLowerCase() ?? '';
  if (!utf8Names.has(name)) throw new BodyError(415, `the body must be in UTF-8, and its Content-Type names the charset ${name}`);
  if (!isUtf8(bytes)) throw new BodyError(400, 'the body is not valid UTF-8');
  return bytes.toString('utf8');
};

/**
 * Returns true if PostgreSQL can store all texts. PostgreSQL stores no NUL and no unpaired surrogate. Walks without recursion, because clients
 * choose the depth of a body.
 */
const storable = (body: object): boolean => {
  const pending: unknown[] = [body];
  while (pending.length > 0) {
    const part = pending.pop();
    if (typeof part === 'string' && (part.includes('\0') || !part.isWellFormed())) return false;
    if (typeof part === 'object' && part !== null) for (const [key, value] of Object.entries(part)) pending.push(key, value);
  }
  return true;
};

/** The escapes of NUL and of surrogates. A body without such escapes has only texts that PostgreSQL can store. */
const suspicious = /\\u(?:0000|d[89a-f])/i;

/** Removes fields that are null. Clients with optional fields send null for an absent field. */
const withoutNulls = (body: Record<string, unknown>): Record<string, unknown> => {
  for (const key in body) if (body[key] === null) delete body[key];
  return body;
};

const objectOf = (parsed: unknown, text: string): Record<string, unknown> => {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new BodyError(400, 'the body must be a JSON object');
  if (suspicious.test(text) && !storable(parsed)) throw new BodyError(400, 'the body holds NUL characters or broken Unicode');
  return withoutNulls(parsed as Record<string, unknown>);
};

/** Connections that receive a body which its route reads as a stream (`takeBytes`). */
const uploading = new WeakSet<Socket>();

/** Returns true if the connection receives a body that its route reads as a stream. `requestTimeout` of the server does not apply to such a request. */
export const isUploading = (socket: Socket): boolean => uploading.has(socket);

/**
 * Passes bodies of any type to the route as streams of bytes. Such a body may be long, so `requestTimeout` limits only the pauses between its bytes. Call
 * this only for an app whose routes all read bytes and ask for a credential.
 */
export const takeBytes = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  app.addHook('preHandler', ({ raw }, _reply, next) => {
    const { socket } = raw;
    // An injected request has no socket.
    if (socket instanceof Socket) {
      uploading.add(socket);
      socket.setTimeout(app.server.requestTimeout);
      raw.once('close', () => {
        uploading.delete(socket);
        // If the answer left before the end of the body, Node has already set the keep-alive time-out, which must stay.
        if (socket.timeout === app.server.requestTimeout) socket.setTimeout(0);
      });
    }
    next();
  });
};

/** The text for a body with keys that could change the prototype of objects. */
const forbiddenKeys = 'the keys __proto__ and constructor.prototype are not allowed';

/** Returns true for JSON that the parser refused because of a key. Its error does not tell such a body from a text that is not JSON. */
const hasForbiddenKey = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Installs the only parser. An absent or empty body becomes `{}`. */
export const readBodies = (app: FastifyInstance): void => {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    const type = request.headers['content-type'] ?? '';
    const notJson = () => new BodyError(415, 'the body must be JSON, with the header Content-Type: application/json');
    let text = '';
    try {
      // A form or a file is refused below for its content type, so its bytes are not checked.
      if (readable.test(type)) checkShape(bytes);
      text = readable.test(type) ? textOf(bytes, type) : bytes.toString('utf8');
    } catch (problem) {
      return done(problem as BodyError);
    }
    if (text.trim() === '') return done(null, {});
    if (!readable.test(type)) return done(notJson());
    return parseJson(request, text, (error, parsed) => {
      if (error !== null && hasForbiddenKey(text)) return done(new BodyError(400, forbiddenKeys));
      if (error !== null) return done(/^text\/plain\b/i.test(type) ? notJson() : error);
      try {
        return done(null, objectOf(parsed, text));
      } catch (problem) {
        return done(problem as BodyError);
      }
    });
  });
  app.addHook('preValidation', (request, _reply, next) => {
    request.body ??= {};
    next();
  });
};

// The rules of input validation. The validator does not coerce values, because it would silently turn numbers into texts. `coercerOf` converts texts
// to numbers and booleans before the validation.

/** The options of `ajv` in Fastify. */
export const inputRules = {
  customOptions: { coerceTypes: false, useDefaults: false, removeAdditional: false, allowUnionTypes: true },
} as const;

/** The validator of Fastify's library, which is loaded with the first check. */
const validatorOf = lazyValidators().compilersFactory.buildValidator({}, inputRules);

/** Returns the errors of a value; an empty list if the value fits. */
export type InputCheck = (value: unknown) => readonly FastifySchemaValidationError[];

/** Makes a check for values outside of bodies, by the same rules as for bodies. */
export const inputCheck = (schema: TSchema): InputCheck => {
  const validate = validatorOf({ schema, method: '', url: '' });
  return (value) => (validate(value) === true ? [] : ((validate.errors ?? []) as readonly FastifySchemaValidationError[]));
};

// Describes the first fault of a validation in one sentence.

/** Fixed texts of a route, the most specific first: `<field>:<keyword>`, `<field>`, `*`. For a missing field, `<field>` ends with the name of that field. */
export type InvalidTexts = Readonly<Record<string, string>>;

const typeWords: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

const namedTypes = (type: unknown): string =>
  String(type)
    .split(',')
    .map((word) => typeWords[word] ?? word)
    .join(' or ');

/** The requirement of each keyword, in words. */
const demands: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => string>> = {
  required: () => 'is required',
  type: ({ type }) => `must be ${namedTypes(type)}`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as readonly unknown[]).filter((value) => value !== '').join(', ')}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} characters`),
  maxLength: ({ limit }) => `must have at most ${String(limit)} characters`,
  // The pattern `\S` demands a text that is not empty. Routes with other patterns answer with a text of their own.
  pattern: ({ pattern }) => (pattern === String.raw`\S` ? 'must not be empty' : 'is not valid'),
  contains: () => 'must have at least one entry that is valid',
  minItems: ({ limit }) => `must have at least ${String(limit)} entries`,
  maxItems: ({ limit }) => `must have at most ${String(limit)} entries`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
};

/** Turns `/events/0` into `events.0`. For a missing field, adds its name to the path. */
const fieldOf = ({ keyword, instancePath, params }: FastifySchemaValidationError): string => {
  const path = instancePath.slice(1).replaceAll('/', '.');
  if (keyword !== 'required') return path;
  return `${path === '' ? '' : `${path}.`}${String(params['missingProperty'])}`;
};

/** The answer to invalid input. `hint` names the field and its error, if the fixed text of the route does not begin with the name of the field. */
interface InvalidInput {
  readonly error: string;
  readonly hint?: string;
}

export const invalidInput = (findings: readonly FastifySchemaValidationError[], part: string, fixed: InvalidTexts = {}): InvalidInput => {
  const finding = findings[0];
  if (finding === undefined) return { error: fixed['*'] ?? `the ${part} is not valid` };
  const { keyword, params } = finding;
  const field = fieldOf(finding);
  const sentence = `${field === '' ? `the ${part}` : field} ${demands[keyword]?.(params) ?? finding.message ?? 'is not valid'}`;
  const text = fixed[`${field}:${keyword}`] ?? fixed[field] ?? fixed['*'];
  if (text === undefined) return { error: sentence };
  return text.toLowerCase().startsWith(`${field.toLowerCase()} `) ? { error: text } : { error: text, hint: sentence };
};

// Numbers and booleans that clients of dynamic languages send as texts (`"12"`, `"true"`), converted to the types of the schema.

/** Returns the converted value, or the given value if no conversion is needed. Changes objects and lists in place. */
export type Coercer = (value: unknown) => unknown;

/** The part of JSON Schema that the schemas of routes use. */
interface Shape {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly allOf?: readonly Shape[];
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
}

const flags: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };
const whole = /^-?\d{1,15}$/;
const decimal = /^-?\d{1,15}(?:\.\d{1,15})?$/;

const alternativesOf = ({ anyOf, oneOf }: Shape): readonly Shape[] => anyOf ?? oneOf ?? [];

/** Returns every JSON type that fits an alternative of a schema; null if the schema allows every type. */
const typesOf = (shape: Shape): ReadonlySet<string> | null => {
  if (shape.type !== undefined) return new Set([shape.type].flat());
  const members = shape.enum ?? (shape.const === undefined ? undefined : [shape.const]);
  if (members !== undefined) return new Set(members.map((member) => typeof member));
  if (shape.properties !== undefined || shape.patternProperties !== undefined) return new Set(['object']);
  const parts = [...alternativesOf(shape), ...(shape.allOf ?? [])].map(typesOf);
  if (parts.length === 0 || parts.includes(null)) return null;
  return new Set(parts.flatMap((part) => [...(part ?? [])]));
};

/**
 * Returns the coercer of a number or a boolean; null for every other schema. If the schema also allows a text, returns null too, because a text then stays a
 * text.
 */
const scalarCoercer = (shape: Shape): Coercer | null => {
  const types = typesOf(shape);
  if (types === null || types.has('string')) return null;
  const [numbers, booleans] = [types.has('number') ? decimal : types.has('integer') ? whole : null, types.has('boolean')];
  if (numbers === null && !booleans) return null;
  return (value) => {
    if (typeof value === 'string') {
      const text = value.trim();
      if (numbers?.test(text)) return Number(text);
      return booleans ? (flags[text.toLowerCase()] ?? value) : value;
    }
    return booleans && numbers === null && (value === 0 || value === 1) ? value === 1 : value;
  };
};

const chained = (coercers: readonly (Coercer | null)[]): Coercer | null => {
  const real = coercers.filter((coercer) => coercer !== null);
  if (real.length < 2) return real[0] ?? null;
  return (value) => real.reduce((read, coercer) => coercer(read), value);
};

const objectCoercer = ({ properties = {}, patternProperties = {} }: Shape): Coercer | null => {
  const named = Object.entries(properties).flatMap(([name, shape]) => {
    const coercer = compiledCoercer(shape);
    return coercer === null ? [] : [[name, coercer] as const];
  });
  const rest = chained(Object.values(patternProperties).map(compiledCoercer));
  if (named.length === 0 && rest === null) return null;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const object = value as Record<string, unknown>;
    for (const [name, coercer] of named) if (object[name] !== undefined) object[name] = coercer(object[name]);
    if (rest !== null) for (const name of Object.keys(object)) if (!(name in properties)) object[name] = rest(object[name]);
    return object;
  };
};

const listCoercer = ({ items }: Shape): Coercer | null => {
  const coercer = items === undefined ? null : compiledCoercer(items);
  return coercer === null ? null : (value) => (Array.isArray(value) ? value.map(coercer) : value);
};

/**
 * Returns the coercer of alternatives, which converts an object only if exactly one alternative may be an object, and a list only if exactly one may be a list.
 */
const alternativesCoercer = (shape: Shape): Coercer | null => {
  const alternatives = alternativesOf(shape);
  const objects = alternatives.filter((one) => typesOf(one)?.has('object') ?? true);
  const lists = alternatives.filter((one) => typesOf(one)?.has('array') ?? true);
  return chained(
    [objects.length === 1 ? objects[0] : null, lists.length === 1 ? lists[0] : null].map((one) => (one ? compiledCoercer(one) : null)),
  );
};

/** Compiles the coercer of a schema. Returns null if the schema has no number and no boolean. */
const compiledCoercer = (shape: Shape): Coercer | null =>
  chained([
    scalarCoercer(shape),
    objectCoercer(shape),
    listCoercer(shape),
    alternativesCoercer(shape),
    ...(shape.allOf ?? []).map((part) => compiledCoercer(part)),
  ]);

export const coercerOf = (schema: TSchema | undefined): Coercer | null => (schema === undefined ? null : compiledCoercer(schema as Shape));

/** Splits a list that clients write as one text. Spaces around entries and empty entries are removed. */
export const commaList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
