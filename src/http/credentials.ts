/** The table of credentials, with the exact texts of the interface. */

export const demoText = 'This is a public demo server. This endpoint has been disabled.';

export interface Denial {
  readonly status: 401 | 403 | 404;
  readonly text: string;
}

export interface Credential {
  /** Header that carries it, and query parameter where that is allowed. */
  readonly name: 'token' | 'admintoken' | 'passkey-code';
  readonly where: 'header' | 'query';
  /** Also taken as `Authorization: Bearer`. */
  readonly bearer?: true;
  readonly missing: Denial;
  readonly wrong: Denial;
}

/** A page of somebody else made the browser send the dashboard's cookie. */
export const forged: Denial = { status: 403, text: 'the session counts for requests of the dashboard only' };
/** A user called what only a greater role may call. */
export const roleText = (role: string, least: string): string => `the role ${role} does not allow this: it needs the role ${least}`;
/** Named by a page that does not know yet that it is gone. */
export const unknownInstance: Denial = { status: 404, text: 'instance not found' };

/** One sentence for every code that does not count, so that it tells a guesser nothing. */
export const wrongCodeText = 'this code does not count: it was used, has expired, or was never made. Ask for a new one';

const unauthorized: Denial = { status: 401, text: 'Unauthorized' };
const missingToken: Denial = { status: 401, text: 'missing token' };

/** Texts: specification 7, behaviour.md. The credential of a route is a name of this table. */
export const credentials = {
  none: null,
  instance: {
    name: 'token',
    where: 'header',
    missing: { status: 401, text: 'instance info not found' },
    wrong: { status: 401, text: 'Invalid token' },
  },
  /** The credential of the browser of an account's owner. It allows one linking with a passkey, and no other call. */
  passkeyCode: {
    name: 'passkey-code',
    where: 'header',
    missing: { status: 401, text: 'missing passkey code' },
    wrong: { status: 401, text: wrongCodeText },
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
