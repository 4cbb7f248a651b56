/** A route is data: who may call it, what it takes, what it answers, and one call into the gateway. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { type Static, type TSchema, type TUnknown, Type } from 'typebox';
import type { InstanceId, Refusal, Result } from '#actors/gateway.ts';
import { type CredentialName, credentials } from './auth.ts';
import { readEssential, readNumbers } from './body.ts';
import type { Complaints } from './complaint.ts';
import { sendRefusal } from './errors.ts';

export interface Call<Body, Query> {
  /** The instance of the token; '' on routes of the administrator. */
  readonly id: InstanceId;
  readonly body: Body;
  readonly query: Query;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type Outcome = Result<unknown>;

export interface RouteSpec<Body extends TSchema, Query extends TSchema> {
  /** `POST /send/text`; further names are aliases. */
  readonly on: readonly [`${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`, ...`${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`[]];
  readonly credential: CredentialName;
  readonly tag: string;
  readonly summary: string;
  readonly body?: Body;
  readonly query?: Query;
  /** Shape of the answer, for the documents only: nothing is dropped from what `run` returns. */
  readonly answer: TSchema;
  /** What of a body counts, where some of it is to be ignored even when it makes no sense. */
  readonly essential?: (body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  readonly complaints?: Complaints;
  readonly surprise?: string;
  /** Fields that a refusal of this route has beside `error`. */
  readonly details?: (refusal: Refusal) => Readonly<Record<string, unknown>>;
  /** What a 200 is sent as; JSON when left out. */
  readonly produces?: string;
  run(call: Call<Static<Body>, Static<Query>>): Outcome | Promise<Outcome>;
}

export type Route = RouteSpec<TSchema, TSchema>;

export const route = <Body extends TSchema = TUnknown, Query extends TSchema = TUnknown>(spec: RouteSpec<Body, Query>): Route =>
  spec as Route;

const ErrorBody = Type.Object({ error: Type.String() });

const securityOf = (name: CredentialName) =>
  credentials[name] === null ? [] : [{ [credentials[name].where === 'query' ? 'stream' : credentials[name].name]: [] }];

const schemaOf = (spec: Route, alias: boolean) => ({
  tags: [spec.tag],
  summary: spec.summary,
  security: securityOf(spec.credential),
  ...(alias ? { deprecated: true } : {}),
  ...(spec.body === undefined ? {} : { body: spec.body }),
  ...(spec.query === undefined ? {} : { querystring: spec.query }),
  ...(spec.produces === undefined ? {} : { produces: [spec.produces] }),
  response: { 200: spec.answer, '4xx': ErrorBody, '5xx': ErrorBody },
});

const numbersOf = ({ body }: Route): readonly string[] =>
  Object.entries((body as { readonly properties?: Readonly<Record<string, { readonly type?: unknown }>> } | undefined)?.properties ?? {})
    .filter(([, { type }]) => type === 'integer')
    .map(([name]) => name);

const configOf = ({ credential, complaints, surprise }: Route) => ({
  credential,
  ...(complaints === undefined ? {} : { complaints }),
  ...(surprise === undefined ? {} : { surprise }),
});

export const addRoute = (app: FastifyInstance, spec: Route): void => {
  const numbers = numbersOf(spec);
  const preValidation = [
    ...(spec.essential === undefined ? [] : [readEssential(spec.essential)]),
    ...(numbers.length === 0 ? [] : [readNumbers(numbers)]),
  ];
  for (const [index, name] of spec.on.entries()) {
    const [method, url] = name.split(' ') as [HTTPMethods, string];
    app.route({
      method,
      url,
      schema: schemaOf(spec, index > 0),
      config: configOf(spec),
      preValidation,
      // A stream has no end that an answer to HEAD could tell of.
      exposeHeadRoute: method === 'GET' && spec.produces === undefined,
      handler: async (request, reply) => {
        const outcome = await spec.run({ id: request.instanceId, body: request.body, query: request.query, request, reply });
        if (reply.sent) return;
        return outcome.ok ? outcome.value : sendRefusal(reply, outcome.refusal, spec.details?.(outcome.refusal));
      },
    });
  }
};
