/**
 * Failures of the client library and of the platform in the words of the gateway: the outcome of an operation, and the end of a connection.
 */
import { type BinaryNode, getBinaryNodeChild, type WASocket } from '@whiskeysockets/baileys';
import { done, type Entry, type Refusal, refuse, type Result } from '#actors/model.ts';
import type { Close, Outcome } from '#actors/ports.ts';
import { personServer } from './jid.ts';

// Translates the error that ended a connection into a `Close`. The policy decides what the close means.

/** The shape of Boom errors. The library does not promise that an error is one. */
interface Boomlike {
  readonly message?: unknown;
  readonly data?: unknown;
  readonly output?: { readonly statusCode?: unknown };
}

/** Attributes of a `<failure>` that somebody can act on. Everything else in `data` may be private and is dropped. */
const keptAttributes = ['code', 'expire', 'location', 'reason'];

const attributes = (data: unknown): Record<string, string> | null => {
  if (typeof data !== 'object' || data === null) return null;
  const kept = Object.entries(data).filter(
    (entry): entry is [string, string] => keptAttributes.includes(entry[0]) && typeof entry[1] === 'string',
  );
  return kept.length === 0 ? null : Object.fromEntries(kept);
};

/** Sentences of the library are constant but for socket errors, which name an address. Longer than this is no sentence. */
const longest = 200;

interface DialError extends Error {
  readonly code?: string;
  readonly syscall?: string;
  /** One for each address that was tried. */
  readonly errors?: readonly DialError[];
}

/** Reasons why no connection to the address of the platform was made. Other codes are reported as they are. */
const dialTroubles: Readonly<Record<string, string>> = {
  ENOTFOUND: 'DNS',
  EAI_AGAIN: 'DNS',
  ECONNREFUSED: 'connection refused',
  ENETUNREACH: 'no network',
  EHOSTUNREACH: 'no route',
  ETIMEDOUT: 'no answer',
};

/** Codes of Node about certificates and about the handshake of TLS. */
const tlsCodes = /^(?:CERT_|ERR_TLS_|ERR_SSL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;

/** Texts of errors without a code of their own: the first one of Node, the second one of the client of WebSockets. */
const cutHandshake = /before secure TLS connection was established/;
const lateOpening = /^Opening handshake has timed out$/;

const noAnswer = 'no answer in time';

/** Null unless the error is about the look-up of the name or about the opening of the connection. */
const dialTrouble = (error: unknown): string | null => {
  if (!(error instanceof Error)) return null;
  const { code, syscall, errors, message }: DialError = error;
  if (errors?.[0] !== undefined) return dialTrouble(errors[0]);
  if (lateOpening.test(message)) return noAnswer;
  if (cutHandshake.test(message)) return 'TLS (the connection was cut)';
  if (code !== undefined && tlsCodes.test(code)) return `TLS (${code})`;
  return code !== undefined && (syscall === 'getaddrinfo' || syscall === 'connect') ? (dialTroubles[code] ?? code) : null;
};

/** The sentence of the library when the HMAC of a pairing is not made with the secret of the code. It throws a plain error of status 500. */
const wrongSecret = 'Invalid account signature';

/** No connection came about. `url`: the address of another platform than the real one. */
const unreachable = (trouble: string, url: string | null): Close => ({
  code: null,
  message: trouble,
  data: { reason: url === null ? 'platformUnreachable' : 'addressUnreachable' },
});

/** Returns the close for a time-out. `isOpen`: the connection is open, and the platform does not begin the handshake. `url`: as in `closeOf`. */
export const silenceOf = (isOpen: boolean, url: string | null): Close => (isOpen ? ownCloses.handshakeTimeout : unreachable(noAnswer, url));

/** True if no connection came about in the time for it. */
export const isSilent = (close: Close): boolean =>
  close === ownCloses.handshakeTimeout || (close.message === noAnswer && close.code === null);

/** `url`: the address of another platform than the real one. */
export const closeOf = (error: unknown, url: string | null = null): Close => {
  if (typeof error !== 'object' || error === null) return { code: null, message: 'closed without a reason' };
  const boom: Boomlike = error;
  const trouble = dialTrouble(boom.data);
  if (trouble !== null) return unreachable(trouble, url);
  if (boom.message === wrongSecret) return { code: null, message: wrongSecret, data: { reason: 'pairingForged' } };
  const status = boom.output?.statusCode;
  const data = attributes(boom.data);
  return {
    code: typeof status === 'number' ? status : null,
    message: (typeof boom.message === 'string' ? boom.message : 'unknown error').slice(0, longest),
    ...(data === null ? {} : { data }),
  };
};

/** Closes which the adapter declares by itself, because the library never does (or cannot know). */
export const ownCloses = {
  trust: { code: 408, message: 'the simulated platform does not tell its certificates' },
  handshakeTimeout: { code: 408, message: 'no handshake in time' },
  loginTimeout: { code: 408, message: 'no answer to the login in time' },
  codeTimeout: { code: 408, message: 'no answer to the request of a pairing code in time' },
  pairingExpired: { code: 408, message: 'the QR or pairing code ran out' },
  numberRefused: { code: null, message: 'the platform makes no code for the number', data: { reason: 'numberRefused' } },
  deviceNameRefused: { code: null, message: 'device name refused', data: { reason: 'deviceNameRefused' } },
  codesLimited: { code: null, message: 'too many pairing codes', data: { reason: 'codesLimited' } },
  codeRefused: { code: null, message: 'pairing code refused', data: { reason: 'codeRefused' } },
  codeVoided: { code: null, message: 'the platform voids every pairing code', data: { reason: 'codeVoided' } },
  linkingRefused: { code: null, message: 'last step of a pairing refused', data: { reason: 'linkingRefused' } },
  linkingStalled: { code: null, message: 'no linked device after the phone used the code', data: { reason: 'linkingStalled' } },
  restartTimeout: { code: 515, message: 'restart required' },
  silence: { code: 408, message: 'no frame for too long' },
  brokenFrame: { code: 500, message: 'a frame could not be read' },
  surprise: { code: 500, message: 'unexpected error' },
  proxyMissing: { code: null, message: 'no proxy is set, and none is not allowed', data: { reason: 'proxyMissing' } },
  unreadable: { code: null, message: 'proxy', data: { reason: 'unreadable' } },
  otherAccount: { code: null, message: 'another account was paired', data: { reason: 'otherAccount' } },
  leaseUnsure: { code: null, message: 'the lease of this node may have ended', data: { reason: 'leaseUnsure' } },
  epochLost: { code: null, message: 'another node owns the instance', data: { reason: 'epochLost' } },
  corruptCredentials: { code: null, message: 'the stored credentials cannot be read', data: { reason: 'corruptCredentials' } },
  storage: { code: null, message: 'the storage is unavailable', data: { reason: 'storageUnavailable' } },
} as const satisfies Readonly<Record<string, Close>>;

/** Errors that end a connection because something is not signed as it should be. `closeOf` reads them. */
export const forgeries = {
  certificate: (problem: string) => Object.assign(new Error(problem), { data: { reason: 'certificateRefused' } }),
  account: () => Object.assign(new Error('the account is signed by another key'), { data: { reason: 'accountRefused' } }),
} as const;

// Outcomes of operations, in the words of the gateway: what a failure of the client library or of the platform did to the world.

type Failed = { readonly ok: false; readonly refusal: Refusal };

export const answered = <T>(value: T, entries?: readonly Entry[]): Outcome<T> => ({ ok: true, value, ...(entries ? { entries } : {}) });

/** The failure before any byte left the process. A retry is safe. */
export const notSent: Failed = refuse('notSent', 'the connection was closed before anything was sent', { connectionLost: true });

export const notKnown: Failed = refuse('notSupported', 'this version of the gateway does not know the operation');

/** A frame left the process, and the connection ended before the platform answered. */
export const lostAnswer: Failed = refuse(
  'unknown',
  'the connection was closed before the platform answered: whether it happened is not known',
  {
    connectionLost: true,
  },
);

export const lateAnswer: Failed = refuse('unknown', 'the platform did not answer in time: whether it happened is not known');

/** The platform said no. */
export const refused = (code: number | null, text: string): Failed => refuse('refused', text, code === null ? {} : { code });

/** The platform said no, in its own text. `inWords` turns the text into a sentence about the operation. */
export const refusedAs = (code: number, detail: string): Failed => refuse('refused', detail, { code, detail });

/** The platform refuses requests about a group that the account left, or never was in. */
export const noMember: Failed = refuse('forbidden', 'the account is not a member of this group');

export const noAdmin: Failed = refuse('forbidden', 'the account is no admin of this channel');
export const noChannel: Failed = refuse('notFound', 'Channel not found');

/** The code that the platform gave: Boom errors of the library carry it in `data`, or as their status. */
const codeOf = (error: unknown, status: number | null): number | null =>
  typeof error === 'object' && error !== null && 'data' in error && typeof error.data === 'number' ? error.data : status;

/**
 * Returns the outcome of an operation that ended with an error of the library; null for an error that the library does not foresee. `live`: the connection
 * is still open.
 */
export const outcomeOfError = (error: unknown, live: boolean): Failed | null => {
  const { code, message } = closeOf(error);
  if (!live || code === 428) return lostAnswer;
  if (code === 408) return lateAnswer;
  const answer = codeOf(error, code);
  return answer === null ? null : refusedAs(answer, message);
};

/** The answer of the platform, or its refusal as a value; rejects with everything else. `live`: as in `outcomeOfError`, asked when the request failed. */
export const answerOf = async <T>(work: Promise<T>, live: () => boolean): Promise<Result<T>> => {
  try {
    return done(await work);
  } catch (error) {
    const outcome = outcomeOfError(error, live());
    if (outcome?.refusal.reason !== 'refused') throw error;
    return outcome;
  }
};

// Queries in JSON (`w:mex`): one request for all of them, which names the query by its id.

export type Json = Readonly<Record<string, unknown>>;

/** The object under a key; empty when there is none. */
export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

interface MexError {
  readonly message?: unknown;
  readonly extensions?: { readonly error_code?: unknown };
}

/** JSON of an answer or a notification; empty objects when it makes no sense. */
const read = (node: BinaryNode | undefined): { readonly data: Json; readonly errors: readonly MexError[] } => {
  try {
    const parsed = objectOf(JSON.parse(String(node?.content)));
    return { data: objectOf(parsed['data']), errors: Array.isArray(parsed['errors']) ? (parsed['errors'] as readonly MexError[]) : [] };
  } catch {
    return { data: {}, errors: [] };
  }
};

/** The content of a notification. */
export const mexNews = (notification: BinaryNode): Json => read(getBinaryNodeChild(notification, 'update')).data;

/** An error as the library makes them for a stanza that the platform refused: its `data` is the platform's code. */
const refusal = ([first]: readonly MexError[]): Error => {
  const code = Number(first?.extensions?.error_code ?? 400) || 400;
  const text = typeof first?.message === 'string' && first.message !== '' ? first.message : `the platform refused with ${code}`;
  return Object.assign(new Error(text), { data: code });
};

/** The value under `root` of the answer; null when the platform has none. Rejects with what `outcomeOfError` reads when it refuses. */
export const askMex = async (
  sock: Pick<WASocket, 'query' | 'generateMessageTag'>,
  { id, root }: { readonly id: string; readonly root: string },
  variables: Json,
): Promise<unknown> => {
  const answer = (await sock.query({
    tag: 'iq',
    attrs: { id: sock.generateMessageTag(), type: 'get', to: `@${personServer}`, xmlns: 'w:mex' },
    content: [{ tag: 'query', attrs: { query_id: id }, content: Buffer.from(JSON.stringify({ variables })) }],
  })) as BinaryNode;
  const { data, errors } = read(getBinaryNodeChild(answer, 'result'));
  if (errors.length > 0) throw refusal(errors);
  return data[root] ?? null;
};
