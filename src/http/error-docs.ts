/** Errors in the OpenAPI document: each status with its texts. Errors that all operations of a kind share are described once. */
import { type TSchema, Type } from 'typebox';
import { type Reason, reasons } from '#actors/gateway.ts';
import { type BodyLimit, type Credential, credentials, type Method, type RefusalAnswer, type Refusals, type Route } from './route.ts';
import { refusalTable, tooLargeText, unexpectedText } from './errors.ts';
import { numberExample, ref } from './schemas/common.ts';
import { ErrorBody, PlatformErrorBody, platformErrorFields } from './schemas/errors.ts';
import { uncertainFields } from './schemas/send.ts';

/** One cause of an error. */
interface ErrorCase {
  readonly status: number;
  readonly text: string;
  readonly reason?: Reason;
  readonly fields?: RefusalAnswer['fields'];
}

/** The default of the setting BODY_LIMIT, for examples. */
const usualBodyLimit: BodyLimit = { bytes: 1_048_576, setting: 'BODY_LIMIT' };

const methodOf = ({ on }: Route): Method => on[0].split(' ')[0] as Method;

const denialsOf = ({ credential }: Route): readonly ErrorCase[] => {
  const wanted = credentials[credential];
  return wanted === null ? [] : [wanted.missing, wanted.wrong];
};

/** Returns the errors that may occur before `run` is called, and the errors of every route. */
const usualErrors = (spec: Route): readonly ErrorCase[] => {
  const takes = spec.params ?? spec.query ?? spec.body;
  const hasBody = methodOf(spec) !== 'GET' && spec.takesBytes === undefined;
  return [
    ...denialsOf(spec),
    ...(spec.credential === 'none' ? [] : [{ status: 429, text: refusalTable.limited.text }]),
    ...(takes || hasBody ? [{ status: 400, text: Object.values(spec.invalidTexts ?? {})[0] ?? 'the body is not valid JSON' }] : []),
    ...(hasBody ? [{ status: 413, text: tooLargeText(spec.bodyLimit ?? usualBodyLimit) }] : []),
    ...(hasBody ? [{ status: 415, text: 'the body must be JSON, with the header Content-Type: application/json' }] : []),
    {
      status: 500,
      text: spec.failure?.text ?? unexpectedText,
      ...(spec.failure?.fields === undefined ? {} : { fields: spec.failure.fields }),
    },
    ...(spec.credential === 'none' ? [] : [{ status: 503, text: refusalTable.unavailable.text }]),
  ];
};

const refusalErrors = (refusals: Refusals): readonly ErrorCase[] =>
  reasons.flatMap((reason) => {
    const special = refusals[reason];
    if (special === undefined) return [];
    const usual = refusalTable[reason];
    const [status, text] = [special.status ?? usual.status, special.text ?? special.example ?? usual.text];
    return [{ status, text, reason, ...(special.fields === undefined ? {} : { fields: special.fields }) }];
  });

type Fields = Readonly<Record<string, TSchema>>;

/** Makes the shape of an error. Additional fields are optional, because only some causes of a status have them. */
const withFields = (body: TSchema, fields: Fields): TSchema =>
  Object.keys(fields).length === 0 ? body : Type.Intersect([body, Type.Partial(Type.Object({ ...fields }))]);

const errorSchema = (cases: readonly ErrorCase[]): TSchema => {
  const body = cases.some(({ reason }) => reason === 'refused') ? ref(PlatformErrorBody) : ref(ErrorBody);
  return withFields(body, Object.assign({}, ...cases.map((one) => one.fields ?? {})) as Fields);
};

/** Returns the names of the additional fields that an error may have. */
const fieldsOf = ({ reason, fields = {} }: ErrorCase): readonly string[] => [
  ...Object.keys(fields),
  ...(reason === 'refused' ? Object.keys(platformErrorFields) : []),
];

/** For each status, the name that components have, and a sentence. */
export const errorStatuses: Readonly<Record<number, readonly [name: string, sentence: string]>> = {
  400: ['BadRequest', 'The request is not valid'],
  401: ['Unauthorized', 'The credential is missing or wrong'],
  403: ['Forbidden', 'The account or the caller has no right to make the request'],
  404: ['NotFound', 'An object that the request names does not exist'],
  409: ['Conflict', 'The state of the instance, or of an object that the request names, does not allow the request'],
  413: ['TooLarge', 'The body or the file is too large'],
  415: ['UnsupportedMedia', 'The body or the file has a type that is not supported'],
  416: ['RangeNotSatisfiable', 'The file has no such part'],
  429: ['TooMany', 'A limit is reached'],
  500: ['Failure', 'The gateway failed, or the platform refused the request'],
  501: ['NotSupported', 'The platform or the gateway does not support the request'],
  503: ['Unavailable', 'The storage or a service is not available now. Nothing was done'],
  504: ['TimedOut', 'The platform did not answer in time. The request may have been executed'],
};

const lineOf = ({ status, text }: Pick<ErrorCase, 'status' | 'text'>): string => `${status} \`${text.replaceAll('`', "'")}\``;

const refusalCases = (...names: readonly Reason[]): readonly ErrorCase[] => names.map((name) => refusalTable[name]);

/** Returns the errors that most operations with this credential have. */
const commonErrors = (credential: Credential | null): readonly ErrorCase[] => [
  { status: 400, text: 'the body is not valid JSON' },
  ...(credential === null ? [] : [credential.missing, credential.wrong]),
  { status: 413, text: tooLargeText(usualBodyLimit) },
  { status: 415, text: 'the body must be JSON, with the header Content-Type: application/json' },
  ...refusalCases('limited'),
  { status: 500, text: unexpectedText },
  ...refusalCases('unavailable'),
];

const ofInstance = commonErrors(credentials.instance);

/** Errors of operations that send requests to the platform. */
const platformErrors: readonly ErrorCase[] = [...ofInstance, ...refusalCases('notSent', 'capped', 'refused', 'notSupported', 'unknown')];

/** Errors that many operations of a tag have in addition to `platformErrors`. A test compares the texts with those of the rows. */
export const familyErrors = {
  send: [
    { status: 403, text: 'the account is not a member of this group' },
    { status: 404, text: `the number ${numberExample}@s.whatsapp.net is not on WhatsApp` },
    { status: 409, text: 'the Idempotency-Key was used with another request' },
    { status: 429, text: 'the asynchronous queue is full (10000 messages)' },
  ],
  group: [
    { status: 400, text: 'Could not parse Group JID' },
    { status: 403, text: 'User is not an admin of this group' },
    { status: 404, text: 'Group not found' },
  ],
  newsletter: [
    { status: 400, text: 'invalid newsletter id' },
    { status: 403, text: 'the account is no admin of this channel' },
    { status: 404, text: 'Channel not found' },
  ],
} as const satisfies Readonly<Record<string, readonly ErrorCase[]>>;

const hintHeader = {
  'x-error-hint': { type: 'string', description: 'Which field it is and what is wrong with it, where `error` does not say so' },
};

/** Makes a shared default answer. `further` has optional fields in addition to those of `body`. */
const defaultAnswer = (title: string, cases: readonly ErrorCase[], body: typeof ErrorBody | typeof PlatformErrorBody, further = {}) => {
  const lines = [...new Set(cases.toSorted((a, b) => a.status - b.status).map(lineOf))];
  const schema = withFields(ref(body), further);
  const example = { error: refusalTable.limited.text };
  return {
    lines: new Set(lines),
    fields: new Set([...Object.keys(body.properties), ...Object.keys(further)]),
    answer: { description: `${title}: ${lines.join(', ')}`, content: { 'application/json': { schema, example } }, headers: hintHeader },
  };
};

const ofPlatform = (title: string, further: readonly ErrorCase[], fields = {}) =>
  defaultAnswer(title, [...platformErrors, ...further], PlatformErrorBody, fields);

/** The default answers of operations. The document contains each default answer once. */
const defaults = {
  instance: defaultAnswer('The usual errors', ofInstance, ErrorBody),
  open: defaultAnswer('The usual errors of requests without a token', commonErrors(null), ErrorBody),
  admin: defaultAnswer('The usual errors of requests of the administrator', commonErrors(credentials.admin), ErrorBody),
  platform: ofPlatform('The usual errors of requests to the platform', []),
  send: ofPlatform('The usual errors of sends', familyErrors.send, uncertainFields),
  group: ofPlatform('The usual errors of requests about groups', familyErrors.group),
  newsletter: ofPlatform('The usual errors of requests about channels', familyErrors.newsletter),
} as const;

const isFamily = (tag: string): tag is keyof typeof familyErrors => Object.hasOwn(familyErrors, tag);

/**
 * Selects the default answer. An operation that lacks an error of its family gets the usual errors of platform requests, so the document lists no
 * impossible errors.
 */
const defaultOf = ({ credential, refusals, tag }: Route, cases: readonly ErrorCase[]): keyof typeof defaults => {
  const lines = new Set(cases.map(lineOf));
  if (refusals?.refused !== undefined) return isFamily(tag) && familyErrors[tag].every((one) => lines.has(lineOf(one))) ? tag : 'platform';
  return credential === 'admin' || credential === 'instance' ? credential : 'open';
};

/**
 * Returns the errors of a row. The answer `default` covers the usual errors. A status has an answer of its own only if its body has fields
 * that the default answer does not name. The text lists every error that is not among the usual ones.
 */
export const errorsOf = (spec: Route): { readonly answers: Readonly<Record<string, object>>; readonly text: string } => {
  const cases = [...usualErrors(spec), ...refusalErrors(spec.refusals ?? {})];
  const { lines, fields, answer } = defaults[defaultOf(spec, cases)];
  const fits = (one: ErrorCase): boolean => fieldsOf(one).every((name) => fields.has(name));
  const special = cases.filter((one) => !(fits(one) && lines.has(lineOf(one)))).toSorted((a, b) => a.status - b.status);
  const statuses = [...new Set(special.filter((one) => !fits(one)).map(({ status }) => status))];
  const answers = statuses.map((status) => {
    const schema = errorSchema(cases.filter((one) => one.status === status));
    const example = { error: Object.values(refusalTable).find((one) => one.status === status)?.text ?? unexpectedText };
    return [status, { description: errorStatuses[status]?.[1] ?? '', content: { 'application/json': { schema, example } } }];
  });
  const texts = [...new Set(special.map(lineOf))];
  return {
    answers: { ...Object.fromEntries(answers), default: answer },
    text: texts.length === 0 ? '' : `Further errors: ${texts.join(', ')}`,
  };
};
