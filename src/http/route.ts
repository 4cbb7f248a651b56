/** The type of a route: one row with its credential, its shapes, its answers and refusals, and one call into the gateway. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema, TUnknown } from 'typebox';
import {
  type AnswerOf as OutputOf,
  type Gateway,
  type InputOf,
  type InstanceId,
  type OperationName,
  type Reason,
  type Refusal,
  type Result,
  unknownInstance,
} from '#actors/gateway.ts';
import type { Frozen } from '#src/contract/fields.ts';
import type { InvalidTexts } from './body.ts';

// The table of credentials, with the exact texts of the interface.

export const demoText = 'This is a public demo server. This endpoint has been disabled.';

export interface Denial {
  readonly status: 401 | 403 | 404;
  readonly text: string;
}

export interface Credential {
  /**
   * The name of the header or of the query parameter, as `where` says. With the setting ALLOW_QUERY_TOKENS, the query may contain the token in place of the
   * header.
   */
  readonly name: 'token' | 'admintoken' | 'passkey-code';
  readonly where: 'header' | 'query';
  /** True if `Authorization: Bearer` is accepted too. */
  readonly bearer?: true;
  readonly missing: Denial;
  readonly wrong: Denial;
}

/** The refusal for a cookie that a page of another site made the browser send. */
export const forged: Denial = { status: 403, text: 'the session counts for requests of the dashboard only' };
/** Returns the refusal for a user whose role is too low. */
export const roleText = (role: string, least: string): string => `the role ${role} does not allow this: it needs the role ${least}`;
/** The refusal for an instance that the page still shows, but that is deleted. */
export const noSuchInstance: Denial = { status: 404, text: 'instance not found' };

/** The refusal for every invalid code. All reasons share one sentence, so that the answer does not tell an attacker which codes exist. */
export const wrongCodeText = 'this code does not count: it was used, has expired, or was never made. Ask for a new one';

const unauthorized: Denial = { status: 401, text: 'Unauthorized' };
const missingToken: Denial = { status: 401, text: 'missing token' };

/** Credentials and the texts of their refusals, which the interface fixes. The credential of a route is a name of this table. */
export const credentials = {
  none: null,
  instance: {
    name: 'token',
    where: 'header',
    missing: { status: 401, text: 'instance info not found' },
    wrong: { status: 401, text: 'Invalid token' },
  },
  /** The code that the browser of an account's owner has. The code allows one linking with a passkey, and no other call. */
  passkeyCode: {
    name: 'passkey-code',
    where: 'header',
    missing: { status: 401, text: 'missing passkey code' },
    wrong: { status: 401, text: wrongCodeText },
  },
  /** Clients of the Model Context Protocol send the token of the instance as `Authorization: Bearer`. */
  mcp: {
    name: 'token',
    where: 'header',
    bearer: true,
    missing: { status: 401, text: 'instance info not found' },
    wrong: { status: 401, text: 'Invalid token' },
  },
  webhook: { name: 'token', where: 'header', missing: missingToken, wrong: missingToken },
  stream: { name: 'token', where: 'query', missing: unauthorized, wrong: unauthorized },
  admin: {
    name: 'admintoken',
    where: 'header',
    missing: unauthorized,
    wrong: { status: 403, text: 'Invalid AdminToken Header' },
  },
  metrics: {
    name: 'admintoken',
    where: 'header',
    bearer: true,
    missing: unauthorized,
    wrong: { status: 403, text: 'Invalid AdminToken Header' },
  },
  globalWebhook: { name: 'admintoken', where: 'header', missing: unauthorized, wrong: { status: 403, text: demoText } },
} as const satisfies Readonly<Record<string, Credential | null>>;

export type CredentialName = keyof typeof credentials;

// Results of routes, and their conversion.

export { done, refuse, unknownInstance } from '#actors/gateway.ts';

/** Converts the value of a result. A refusal stays unchanged. */
export const mapResult = <Value, Answer>(result: Result<Value>, view: (value: Value) => Answer): Result<Answer> =>
  result.ok ? { ok: true, value: view(result.value) } : result;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A method and a path, such as `POST /send/text` or `PATCH /business/catalog/collection/:id`. */
export type Address = `${Method} /${string}`;

type SuccessStatus = 200 | 201 | 202 | 207;

export type AnswerOf<Schema extends TSchema> = Frozen<Static<Schema>>;

export interface Call<Params, Body, Query> {
  readonly gateway: Gateway;
  /** The time of the request, in Unix milliseconds. */
  readonly now: number;
  /** Largest size of one page, in bytes. */
  readonly answerBytes: number;
  /** The instance of the token; '' on routes of the administrator. */
  readonly id: InstanceId;
  readonly params: Params;
  readonly body: Body;
  readonly query: Query;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export type Refused = { readonly ok: false; readonly refusal: Refusal };

/** Further success answers, by status. */
type FurtherAnswers = Readonly<Partial<Record<SuccessStatus, TSchema>>>;

type FurtherSuccess<Also extends FurtherAnswers> = {
  [Status in keyof Also]: {
    readonly ok: true;
    readonly status: Status;
    readonly value: Also[Status] extends TSchema ? AnswerOf<Also[Status]> : never;
  };
}[keyof Also];

/** The answer of a route; null if `run` took the reply over and answers itself, as streams do. */
export type Outcome<Answer extends TSchema, Also extends FurtherAnswers> =
  | { readonly ok: true; readonly status?: undefined; readonly value: AnswerOf<Answer> }
  | FurtherSuccess<Also>
  | Refused
  | null;

/** The answer to a refusal, if the table in `errors.ts` does not fit. */
export interface RefusalAnswer {
  readonly status?: number;
  /** A text in place of the refusal's own sentence. */
  readonly text?: string;
  /** Words before the refusal's own sentence. */
  readonly lead?: string;
  /** A typical sentence of this refusal, for the documents. */
  readonly example?: string;
  /** Fields beside `error`: their shapes, and the function that fills them. */
  readonly fields?: Readonly<Record<string, TSchema>>;
  readonly details?: (refusal: Refusal, call: { readonly id: InstanceId; readonly now: number }) => Readonly<Record<string, unknown>>;
}

/** The answer to an unexpected failure. `details` gets the id of the instance, because there is no refusal. */
export interface FailureAnswer extends Pick<RefusalAnswer, 'text' | 'fields'> {
  readonly details?: (instance: InstanceId) => Readonly<Record<string, unknown>>;
}

/** The largest body of a request. `setting` is the setting of this bound; absent for a fixed size. */
export interface BodyLimit {
  readonly bytes: number;
  readonly setting?: string;
}

/** The reasons for which a route can refuse, with the row's texts. `invalid` and `unavailable` need no entry. */
export type Refusals = Readonly<Partial<Record<Reason, RefusalAnswer>>>;

/** The refusals of routes that name no object except the instance. */
export const instanceRefusals = { notFound: { example: unknownInstance.refusal.message } } as const satisfies Refusals;

/** The refusal of calls that begin a connection, by `actors/commands/connect-limit.ts`. */
export const connectRefusals = {
  limited: { example: 'too many calls began a connection of this instance: try again in 60 s, because the platform may ban its number' },
} as const satisfies Refusals;

/** The refusals of every route that sends a request to the platform. */
export const platformRefusals = { notSent: {}, refused: {}, unknown: {}, notSupported: {}, capped: {} } as const satisfies Refusals;

/** A row without its call: its shapes and its texts. */
interface RowSpec<Params extends TSchema, Body extends TSchema, Query extends TSchema, Answer extends TSchema> {
  /** The addresses. The first address is the name of the route, and each further address is an alias. */
  readonly on: readonly [Address, ...Address[]];
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  /** The description of each `:name` of the address. Required if the address has such names. */
  readonly params?: Params;
  readonly body?: Body;
  readonly query?: Query;
  /** The shape of the answer. All fields of the result of `run` are sent, and the compiler compares the types. */
  readonly answer: Answer;
  /** A sentence on the answer, for the documents. */
  readonly answerText?: string;
  /** Status of `answer`; 200 if absent. */
  readonly status?: SuccessStatus;
  /** Headers that the request may have, by their name in lower case. */
  readonly requestHeaders?: TObject;
  /** Headers of the answer by name, with their descriptions for the documents. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Examples in place of those that are made from the schemas. */
  readonly examples?: { readonly body?: Frozen<Static<Body>>; readonly answer?: AnswerOf<Answer> };
  /** The largest body; the setting BODY_LIMIT if absent. */
  readonly bodyLimit?: BodyLimit;
  /** Prepares a body before validation: drops fields that are ignored even if they are invalid, or rewrites other spellings of a field. */
  readonly relevantFields?: (body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Fixed texts for input that does not fit the schemas. */
  readonly invalidTexts?: InvalidTexts;
  readonly refusals?: Refusals;
  /** True if the answer shows tokens to the dashboard. In all other answers to the dashboard, tokens are empty. */
  readonly givesToken?: true;
  /** The text of a 500 for an unexpected failure; `Internal server error` if absent. */
  readonly failure?: FailureAnswer;
  /** Fields of the body that name a chat, in addition to `number` and `chatid`. These fields accept the `id` of `/chat/find` too. */
  readonly chatIdFields?: readonly string[];
  /** True if the row also answers while the server is overloaded, because it reduces the load or shows its cause. */
  readonly relieves?: true;
  /** True if the row also answers while the server stops. All other rows with a credential are then refused. */
  readonly whileStopping?: true;
  /** The media type of a body of bytes, which `run` reads from `body` within a bound of its own. */
  readonly takesBytes?: string;
  /** Media type of a success; JSON if absent. */
  readonly produces?: string;
}

export interface RouteSpec<
  Params extends TSchema,
  Body extends TSchema,
  Query extends TSchema,
  Answer extends TSchema,
  Also extends FurtherAnswers,
> extends RowSpec<Params, Body, Query, Answer> {
  readonly credential: CredentialName;
  /** Further successes, by status. `run` returns them by `answered`. */
  readonly also?: Also;
  run(call: Call<Static<Params>, Static<Body>, Static<Query>>): Outcome<Answer, Also> | Promise<Outcome<Answer, Also>>;
}

/** A row whose parts the compiler has compared. */
export interface Route extends Omit<RouteSpec<TSchema, TSchema, TSchema, TSchema, FurtherAnswers>, 'run' | 'examples'> {
  readonly examples?: { readonly body?: unknown; readonly answer?: unknown };
  run(call: Call<unknown, unknown, unknown>): AnyOutcome | Promise<AnyOutcome>;
}

type AnyOutcome = { readonly ok: true; readonly status?: SuccessStatus; readonly value: unknown } | Refused | null;

/** Lets the compiler compare the parts of a row with each other. */
export const route = <
  Answer extends TSchema,
  Params extends TSchema = TUnknown,
  Body extends TSchema = TUnknown,
  Query extends TSchema = TUnknown,
  const Also extends FurtherAnswers = Readonly<Record<never, never>>,
>(
  spec: RouteSpec<Params, Body, Query, Answer, Also>,
): Route => spec as unknown as Route;

/** A row whose call is one operation on the platform. */
export interface OperationSpec<
  Name extends OperationName,
  Params extends TSchema,
  Body extends TSchema,
  Query extends TSchema,
  Answer extends TSchema,
> extends RowSpec<Params, Body, Query, Answer> {
  readonly operation: Name;
  /** Makes the input of the operation, or refuses the request. */
  input(call: Call<Static<Params>, Static<Body>, Static<Query>>): InputOf<Name> | Refused;
  /** Makes the answer from the platform's answer. */
  shown(output: OutputOf<Name>, call: Call<Static<Params>, Static<Body>, Static<Query>>): AnswerOf<Answer>;
}

const isRefused = (input: object | null): input is Refused => input !== null && 'refusal' in input;

/** Makes a row of an operation on the platform. The name of the operation gives the types of its input and its output. */
export const performs = <
  Name extends OperationName,
  Answer extends TSchema,
  Params extends TSchema = TUnknown,
  Body extends TSchema = TUnknown,
  Query extends TSchema = TUnknown,
>({
  operation,
  input,
  shown,
  refusals,
  ...row
}: OperationSpec<Name, Params, Body, Query, Answer>): Route =>
  route<Answer, Params, Body, Query>({
    ...row,
    credential: 'instance',
    refusals: { ...platformRefusals, ...refusals },
    async run(call) {
      const made = input(call);
      if (isRefused(made)) return made;
      return mapResult(await call.gateway.perform(call.id, operation, made), (output) => shown(output, call));
    },
  });

/** Makes a success with its own status: `answered(207, value)`. */
export const answered = <const Status extends SuccessStatus, Value>(status: Status, value: Value) => ({ ok: true, status, value }) as const;
