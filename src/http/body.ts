/** Bodies: JSON objects and nothing else, read leniently where old clients are sloppy and strictly where storage could not cope. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify';
import type { TSchema } from 'typebox';
import { lazyValidators } from '../base/lazy-validators.ts';

/** 401 to 404: the credential ended before the body did. */
type BodyStatus = 400 | 401 | 403 | 404 | 415;

/** A body that no route can take; one place turns it into an answer of this status. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly statusCode: BodyStatus;
  constructor(statusCode: BodyStatus, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Content types that are read as JSON. curl and old clients omit the header or send `text/plain`. */
const readable = /^(?:application\/(?:[\w.-]+\+)?json|text\/plain|text\/json)\b|^$/i;

/** The name of an encoding in a content type. */
const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i;
const utf8Names: ReadonlySet<string> = new Set(['', 'utf-8', 'utf8', 'us-ascii', 'ascii']);

/** Returns the text of a body. A decoder would replace bytes that are not UTF-8, and a damaged text would be sent. */
const textOf = (bytes: Buffer, type: string): string => {
  const name = charset.exec(type)?.[1]?.toLowerCase() ?? '';
  if (!utf8Names.has(name)) throw new BodyError(415, `the body must be in UTF-8, and its Content-Type names the charset ${name}`);
  if (!isUtf8(bytes)) throw new BodyError(400, 'the body is not valid UTF-8');
  return bytes.toString('utf8');
};

/** PostgreSQL stores neither NUL nor half a surrogate pair. Walks without recursion: the depth of a body is not ours to choose. */
const storable = (body: object): boolean => {
  const pending: unknown[] = [body];
  while (pending.length > 0) {
    const part = pending.pop();
    if (typeof part === 'string' && (part.includes('\0') || !part.isWellFormed())) return false;
    if (typeof part === 'object' && part !== null) for (const [key, value] of Object.entries(part)) pending.push(key, value);
  }
  return true;
};

/** Such characters can only come as escapes, so bodies without them need no second look. */
const suspicious = /\\u(?:0000|d[89a-f])/i;

/** A field that is null counts as absent, as clients with optional fields expect. */
const withoutNulls = (body: Record<string, unknown>): Record<string, unknown> => {
  for (const key in body) if (body[key] === null) delete body[key];
  return body;
};

const objectOf = (parsed: unknown, text: string): Record<string, unknown> => {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new BodyError(400, 'the body must be a JSON object');
  if (suspicious.test(text) && !storable(parsed)) throw new BodyError(400, 'the body holds NUL characters or broken Unicode');
  return withoutNulls(parsed as Record<string, unknown>);
};

/** Bytes instead of JSON, whatever they are called: the route reads them. For an app that holds such routes alone. */
export const takeBytes = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
};

/** Installs the one parser. An absent or empty body is `{}`. */
export const readBodies = (app: FastifyInstance): void => {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    const type = request.headers['content-type'] ?? '';
    const notJson = new BodyError(415, 'the body must be JSON, with the header Content-Type: application/json');
    let text = '';
    try {
      // A form or a file is refused for its type, before a check of its bytes.
      text = readable.test(type) ? textOf(bytes, type) : bytes.toString('utf8');
    } catch (problem) {
      return done(problem as BodyError);
    }
    if (text.trim() === '') return done(null, {});
    if (!readable.test(type)) return done(notJson);
    return parseJson(request, text, (error, parsed) => {
      if (error !== null) return done(/^text\/plain\b/i.test(type) ? notJson : error);
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

// The rules of input checks. Values are taken as they are, so that a number never silently becomes a text.

/** For `ajv` of Fastify. */
export const inputRules = {
  customOptions: { coerceTypes: false, useDefaults: false, removeAdditional: false, allowUnionTypes: true },
} as const;

/** One library for all, made with the first check. */
const validatorOf = lazyValidators().compilersFactory.buildValidator({}, inputRules);

/** Returns the errors of a value; an empty list if the value fits. */
export type InputCheck = (value: unknown) => readonly FastifySchemaValidationError[];

/** Checks what comes in another place than the body of a route as such a body is checked. */
export const inputCheck = (schema: TSchema): InputCheck => {
  const validate = validatorOf({ schema, method: '', url: '' });
  return (value) => (validate(value) === true ? [] : ((validate.errors ?? []) as readonly FastifySchemaValidationError[]));
};
