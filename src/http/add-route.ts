/** Registers the routes of a row with Fastify. The start fails if a row is not valid. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Gateway, InstanceId } from '#actors/gateway.ts';
import { isAudited } from './audit.ts';
import { leastRoleOf } from './roles.ts';
import { credentials, type Route } from './route.ts';
import { sendRefusal } from './errors.ts';
import { coercerOf } from './body.ts';
import { documentedSchema, type SharedSchemas } from './openapi.ts';

// Bodies may name a chat by the `id` of `/chat/find`. The platform's id replaces this `id` before the call.

const shortId = /^r[0-9a-f]{14}$/;
const usualFields = ['number', 'chatid'] as const;

/**
 * Returns the body with the platform's id in place of each short id. A short id stays in the body if no stored chat has it. `more` lists further fields that
 * name a chat.
 */
const withChatIds = async <Body>(gateway: Gateway, id: InstanceId, body: Body, more: readonly string[] = []): Promise<Body> => {
  if (typeof body !== 'object' || body === null) return body;
  const given = body as Readonly<Record<string, unknown>>;
  const named: Record<string, string> = {};
  for (const field of [...usualFields, ...more]) {
    const value = given[field];
    if (typeof value !== 'string' || !shortId.test(value.trim())) continue;
    const filters = [{ field: 'id', operator: '=' as const, value: value.trim() }];
    const { chats } = await gateway.findChats(id, { filters, any: false, sort: null, limit: 1, offset: 0 });
    if (chats[0]) named[field] = chats[0].chatId;
  }
  return Object.keys(named).length === 0 ? body : { ...body, ...named };
};

const namesIn = (url: string): readonly string[] => [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

const propertiesOf = (schema: unknown): readonly string[] =>
  Object.keys((schema as { readonly properties?: object } | undefined)?.properties ?? {});

/** Returns the fault of a row; null if the row is valid. */
const faultOf = (spec: Route, url: string): string | null => {
  if (!Object.hasOwn(credentials, spec.credential ?? '')) return 'names no credential; a route that everybody may call says `none`';
  if (!spec.operationId) return 'has no operationId';
  const [given, wanted] = [propertiesOf(spec.params).toSorted().join(), namesIn(url).toSorted().join()];
  return given === wanted ? null : `has the path parameters "${wanted}" and describes "${given}"`;
};

type Hook = (request: FastifyRequest, reply: FastifyReply, next: () => void) => void;

/** Makes the hooks that prepare input for the validation. First `relevantFields` prepares the body, then texts become numbers and booleans. */
const inputHooks = ({ relevantFields, params, query, body }: Route): Hook[] => {
  const hooks: Hook[] = [];
  if (relevantFields !== undefined) {
    hooks.push((request, _reply, next) => {
      request.body = relevantFields(request.body as Record<string, unknown>);
      next();
    });
  }
  const [readParams, readQuery, readBody] = [coercerOf(params), coercerOf(query), coercerOf(body)];
  if (readParams ?? readQuery ?? readBody) {
    hooks.push((request, _reply, next) => {
      if (readParams !== null) request.params = readParams(request.params);
      if (readQuery !== null) request.query = readQuery(request.query);
      if (readBody !== null) request.body = readBody(request.body);
      next();
    });
  }
  return hooks;
};

const configOf = (spec: Route) => ({
  credential: spec.credential,
  role: leastRoleOf(spec.on),
  ...(isAudited(spec) ? { audited: true } : {}),
  ...optionalConfigOf(spec),
});

const optionalConfigOf = ({ givesToken, relieves, whileStopping, invalidTexts, failure, refusals, bodyLimit, takesBytes }: Route) => ({
  ...(takesBytes === undefined ? {} : { readsBytes: true }),
  ...(bodyLimit === undefined ? {} : { ownBodyLimit: bodyLimit }),
  ...(givesToken === undefined ? {} : { givesToken }),
  ...(relieves === undefined ? {} : { relieves }),
  ...(whileStopping === undefined ? {} : { whileStopping }),
  ...(invalidTexts === undefined ? {} : { invalidTexts }),
  ...(failure === undefined ? {} : { failure }),
  ...(refusals?.tooLarge?.lead === undefined ? {} : { tooLarge: refusals.tooLarge.lead }),
});

/** The dependencies of every route. */
interface RouteContext {
  readonly gateway: Gateway;
  readonly now: () => number;
  readonly answerBytes: number;
  readonly shared: SharedSchemas;
}

export const addRoute = (app: FastifyInstance, spec: Route, { gateway, now, answerBytes, shared }: RouteContext): void => {
  const preValidation = inputHooks(spec);
  const usual = spec.status ?? 200;
  for (const [index, address] of spec.on.entries()) {
    const [method, url] = address.split(' ') as [HTTPMethods, string];
    const fault = faultOf(spec, url);
    if (fault !== null) throw new Error(`the route ${address} ${fault}`);
    app.route({
      method,
      url,
      schema: documentedSchema(spec, index, shared),
      config: configOf(spec),
      preValidation,
      ...(spec.bodyLimit === undefined ? {} : { bodyLimit: spec.bodyLimit.bytes }),
      // An event stream has no HEAD route, because a HEAD request would open a stream.
      exposeHeadRoute: method === 'GET' && spec.produces !== 'text/event-stream',
      handler: async (request, reply) => {
        const { instanceId: id, params, query } = request;
        const body = spec.credential === 'instance' ? await withChatIds(gateway, id, request.body, spec.chatIdFields) : request.body;
        const call = { gateway, now: now(), answerBytes, id, params, body, query, request, reply };
        const outcome = await spec.run(call);
        if (outcome === null || reply.sent) return;
        if (!outcome.ok) return sendRefusal(reply, outcome.refusal, spec.refusals?.[outcome.refusal.reason], call);
        void reply.code(outcome.status ?? usual);
        return outcome.value;
      },
    });
  }
};
