/** Shapes of the dashboard's session. */
import { Type } from 'typebox';
import { roles } from '#actors/gateway.ts';
import { Flag, OneOf } from './common.ts';
import { ClientVersion } from './server.ts';

export const SessionAnswer = Type.Object({
  signedIn: Flag('A session of the dashboard came with the request'),
  user: Type.Optional(Type.String({ description: 'Name of the user; empty for the admin token. Only for a session' })),
  role: Type.Optional(OneOf(roles, { description: 'What the session may do; only for a session' })),
  hasCode: Type.Optional(Flag('The user signs in with a one-time code; only for a session')),
  demo: Flag('The server is a public demo, where nobody can sign in'),
  sandbox: Type.Optional(Flag('The platform is simulated, and its phone can scan')),
  sandboxPage: Type.Optional(Type.String({ description: 'The address of the simulated phones; empty beside the real platform' })),
  version: Type.Optional(Type.String({ description: 'Of the server; only for a session' })),
  clientVersion: Type.Optional(ClientVersion),
  cluster: Type.Optional(Flag('This gateway is one of several nodes; only for a session')),
  eventTypes: Type.Optional(Type.Array(Type.String(), { description: 'Events that webhooks can have; only for a session' })),
  streamTypes: Type.Optional(Type.Array(Type.String(), { description: 'Events that streams can have; only for a session' })),
  messageFilters: Type.Optional(Type.Array(Type.String(), { description: 'Messages that webhooks can leave out; only for a session' })),
});

export const TokenAnswer = Type.Object({ token: Type.String({ description: 'Of the instance' }) });

export const ScanAnswer = Type.Object({ scanned: Flag('The phone has read the code; the session connects now') });
