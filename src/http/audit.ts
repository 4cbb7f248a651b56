/** Records every request that changes settings in the audit log. The entry is made when the answer was sent, or when the client disconnected. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuditNote, Gateway } from '#actors/gateway.ts';
import type { Route } from './route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the audit log records requests of this route. */
    audited?: boolean;
  }
  interface FastifyRequest {
    /** The instance and the subject of the request, if neither the credential nor the address names them. The route sets this field. */
    auditSubject: { instance?: string; subject?: string } | null;
  }
}

/** True for each tag whose changes are recorded. Requests with the other tags are too frequent, and stored messages show their effects. */
export const auditedTags: Readonly<Record<string, boolean>> = {
  admin: true,
  inspector: true,
  instance: true,
  proxy: true,
  webhook: true,
  chatwoot: true,
  chatbot: true,
  sender: true,
  business: true,
  send: false,
  message: false,
  chat: false,
  contact: false,
  group: false,
  community: false,
  newsletter: false,
  label: false,
  lead: false,
  call: false,
};

/** Routes that are treated differently from other routes of their tag. */
const exceptions: Readonly<Record<string, boolean>> = {
  // These routes only read.
  'POST /business/get/profile': false,
  'POST /business/catalog/info': false,
  'POST /business/catalog/list': false,
  'POST /sender/listmessages': false,
  // This route sets whether the account is shown as online, which is not a setting.
  'POST /instance/presence': false,
  // Each tool call makes a request to the route of its operation, and the audit log records that request.
  'POST /mcp': false,
  'DELETE /mcp': false,
  // Chatwoot posts every message of an agent to this route.
  'POST /chatwoot/webhook/:hook': false,
  // This route names the fields of all leads, so it changes settings.
  'POST /instance/updateFieldsMap': true,
  // This route shows a secret.
  'GET /admin/session/token': true,
};

export const isAudited = ({ on, tag }: Pick<Route, 'on' | 'tag'>): boolean =>
  exceptions[on[0]] ?? (!on[0].startsWith('GET ') && (auditedTags[tag] ?? true));

/** The largest length of a name in an entry, in characters. Names of instances, nodes and users are shorter. */
const longest = 100;

const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, longest) : '');

/** Returns the caller as the entry names it; null for a caller that was not admitted. */
const callerOf = ({ caller, instanceId }: FastifyRequest): Pick<AuditNote, 'actor' | 'who'> | null => {
  if (caller === null) return null;
  if (caller.actor === 'user') return { actor: 'user', who: caller.user.name };
  return { actor: caller.actor, who: caller.actor === 'adminToken' ? '' : instanceId };
};

/** Returns the instance that a request names, if it exists. Without this check the audit log would contain names that callers invent. */
const namedBy = (gateway: Gateway, request: FastifyRequest): string => {
  const { instance = '', id = '' } = (request.params ?? {}) as Readonly<Record<string, string>>;
  const ofPath = instance || ((request.routeOptions.url ?? '').startsWith('/admin/actors/') ? id : '');
  // If a request is refused for its role, its instance was not looked up. Only the header `x-instance` names the instance then.
  const named = textOf(ofPath || (request.caller?.actor === 'user' ? request.headers['x-instance'] : ''));
  return named !== '' && gateway.view(named) !== null ? named : '';
};

const noteOf = (gateway: Gateway, request: FastifyRequest, status: number, now: number): AuditNote | null => {
  const caller = callerOf(request);
  if (caller === null) return null;
  const { name = '' } = (request.params ?? {}) as Readonly<Record<string, string>>;
  const { instance = '', subject = '' } = request.auditSubject ?? {};
  return {
    at: now,
    ...caller,
    address: request.ip,
    method: request.method,
    route: request.routeOptions.url ?? '',
    instance: textOf(request.instanceId || instance) || namedBy(gateway, request),
    subject: textOf(subject || name),
    status,
  };
};

/** Installs the hooks of the audit log. Call this before `guardRoutes`, so that requests which it refuses by their role are recorded too. */
export const auditRequests = (app: FastifyInstance, gateway: Gateway, now: () => number): void => {
  app.decorateRequest('auditSubject', null);
  app.addHook('onRequest', (request, reply, next) => {
    if (request.routeOptions.config.audited !== true) return next();
    let isNoted = false;
    const note = (status: number): void => {
      if (isNoted) return;
      isNoted = true;
      const made = noteOf(gateway, request, status, now());
      if (made !== null) gateway.audit(made);
    };
    reply.raw.once('finish', () => note(reply.raw.statusCode));
    // A client that disconnects does not undo its request, so the audit log records the request too. The recorded status is 0 if no answer was sent.
    reply.raw.once('close', () => note(reply.raw.headersSent ? reply.raw.statusCode : 0));
    next();
  });
};
