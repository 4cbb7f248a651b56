/** Shapes of the dashboard's session. */
import { Type } from 'typebox';
import { Flag } from './common.ts';

export const SessionAnswer = Type.Object({
  signedIn: Flag('A session of the dashboard came with the request'),
  demo: Flag('The server is a public demo, where nobody can sign in'),
  version: Type.Optional(Type.String({ description: 'Of the server; only for a session' })),
});
