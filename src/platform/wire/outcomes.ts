/**
 * Converts failures of the client library and of the platform into the gateway's terms: the outcome of an operation, and the close of a connection.
 */
import { type BinaryNode, getBinaryNodeChild, type WASocket } from '@whiskeysockets/baileys';
import { done, type Entry, type Refusal, refuse, type Result } from '#actors/model.ts';
import type { Close, Outcome } from '#actors/ports.ts';
import { personServer } from './jid.ts';

// The conversion of an error that ended a connection into a `Close`. The close policy decides what follows from the `Close`.

/** The used fields of a Boom error. Other errors may lack any of them. */
interface Boomlike {
  readonly message?: unknown;
  readonly data?: unknown;
  readonly output?: { readonly statusCode?: unknown };
}

/** The attributes of a `<failure>` that a close keeps. All other contents of `data` may be private, and are dropped. */
const keptAttributes = ['code', 'expire', 'location', 'reason'];

const attributes = (data: unknown): Record<string, string> | null => {
  if (typeof data !== 'object' || data === null) return null;
  const kept = Object.entries(data).filter(
    (entry): entry is [string, string] => keptAttributes.includes(entry[0]) && typeof entry[1] === 'string',
  );
  return kept.length === 0 ? null : Object.fromEntries(kept);
};

/**
 * The limit of a reported error text, in characters. The library's texts are shorter. The text of a socket error may be longer, because it may contain an
 * address.
 */
const longest = 200;

interface DialError extends Error {
  readonly code?: string;
  readonly syscall?: string;
  /** The errors of an `AggregateError`, one for each IP address that Node tried. */
  readonly errors?: readonly DialError[];
}

/** Reasons for a failed connection attempt, by the error code. Other codes are reported unchanged. */
const dialTroubles: Readonly<Record<string, string>> = {
  ENOTFOUND: 'DNS',
  EAI_AGAIN: 'DNS',
  ECONNREFUSED: 'connection refused',
  ENETUNREACH: 'no network',
  EHOSTUNREACH: 'no route',
  ETIMEDOUT: 'no answer',
};

/** Node's codes for errors of certificates and of the TLS handshake. */
const tlsCodes = /^(?:CERT_|ERR_TLS_|ERR_SSL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;

/** Texts of errors whose code does not identify them. The first is from Node, the second from the WebSocket client. */
const cutHandshake = /before secure TLS connection was established/;
const lateOpening = /^Opening handshake has timed out$/;

const noAnswer = 'no answer in time';

/** Returns the reason for a failed connection attempt. Returns null for an error of another kind. */
const dialTrouble = (error: unknown): string | null => {
  if (!(error instanceof Error)) return null;
  const { code, syscall, errors, message }: DialError = error;
  if (errors?.[0] !== undefined) return dialTrouble(errors[0]);
  if (lateOpening.test(message)) return noAnswer;
  if (cutHandshake.test(message)) return 'TLS (the connection was cut)';
  if (code !== undefined && tlsCodes.test(code)) return `TLS (${code})`;
  return code !== undefined && (syscall === 'getaddrinfo' || syscall === 'connect') ? (dialTroubles[code] ?? code) : null;
};

/**
 * The library's text if the HMAC of a pairing does not match the secret of the code. Only the text identifies this error, because its status is the library's
 * default, 500.
 */
const wrongSecret = 'Invalid account signature';

/** Returns the close for a failed connection attempt. `url`: the configured address of the platform; null for the real platform. */
const unreachable = (trouble: string, url: string | null): Close => ({
  code: null,
  message: trouble,
  data: { reason: url === null ? 'platformUnreachable' : 'addressUnreachable' },
});

/** Returns the close for a time-out. `isOpen`: true if the connection is open, but the platform does not begin the handshake. `url`: as in `closeOf`. */
export const silenceOf = (isOpen: boolean, url: string | null): Close => (isOpen ? ownCloses.handshakeTimeout : unreachable(noAnswer, url));

/** Returns true if the connection or the handshake timed out. */
export const isSilent = (close: Close): boolean =>
  close === ownCloses.handshakeTimeout || (close.message === noAnswer && close.code === null);

/** Converts an error into a close. `url`: the configured address of the platform; null for the real platform. */
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

/** Closes that the adapter decides by itself, because the library does not report them. */
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

/** Errors that end a connection because of a faulty certificate or a wrong account signature. `closeOf` converts them. */
export const signatureErrors = {
  certificate: (problem: string) => Object.assign(new Error(problem), { data: { reason: 'certificateRefused' } }),
  account: () => Object.assign(new Error('the account is signed by another key'), { data: { reason: 'accountRefused' } }),
} as const;

// Outcomes of operations.

type Failed = { readonly ok: false; readonly refusal: Refusal };

export const answered = <T>(value: T, entries?: readonly Entry[]): Outcome<T> => ({ ok: true, value, ...(entries ? { entries } : {}) });

/** The outcome if no byte left the process. A retry is safe. */
export const notSent: Failed = refuse('notSent', 'the connection was closed before anything was sent', { connectionLost: true });

export const notKnown: Failed = refuse('notSupported', 'this version of the gateway does not know the operation');

/** The outcome if a frame left the process, and the connection ended before the platform answered. */
export const lostAnswer: Failed = refuse(
  'unknown',
  'the connection was closed before the platform answered: whether it happened is not known',
  {
    connectionLost: true,
  },
);

export const lateAnswer: Failed = refuse('unknown', 'the platform did not answer in time: whether it happened is not known');

/** The outcome if the platform did not answer in time while a message was composed. No frame of the message left the process. */
export const notComposed: Failed = refuse(
  'notSent',
  'the platform did not answer in time while the message was composed: nothing was sent',
);

/** Returns the outcome of a refusal by the platform. */
export const refused = (code: number | null, text: string): Failed => refuse('refused', text, code === null ? {} : { code });

/** Returns the outcome of a refusal with the platform's own text. `inWords` adds a description of the operation. */
export const refusedAs = (code: number, detail: string): Failed => refuse('refused', detail, { code, detail });

/** The refusal of requests about a group of which the account is not a member. */
export const noMember: Failed = refuse('forbidden', 'the account is not a member of this group');

export const noAdmin: Failed = refuse('forbidden', 'the account is no admin of this channel');
export const noChannel: Failed = refuse('notFound', 'Channel not found');

/** The error if the platform did not answer a query about a group. Nobody knows then if the group exists. */
export class GroupUnknown extends Error {
  override readonly name = 'GroupUnknown';
}

/**
 * The outcome if a message or a request needs the facts of a group, and the platform did not answer the query about the group. No byte of the message or the
 * request left the process.
 */
export const groupUnknown: Failed = refuse('notSent', 'the platform did not answer a question about the group: nothing was sent');

/** Codes of temporary refusals, which say nothing about the group: too many requests (429), and an overload of the platform (503). */
const passingCodes: ReadonlySet<number> = new Set([429, 503]);

/**
 * Returns true if the platform answered with a refusal. Returns false for a time-out, for the end of the connection, and for a temporary code (`passingCodes`).
 */
export const isAnswer = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'data' in error && typeof error.data === 'number' && !passingCodes.has(error.data);

/** Resolves with null where the promise rejects with `GroupUnknown`. For callers that can do without the group. */
export const ifKnown = <T>(group: Promise<T>): Promise<T | null> =>
  group.catch((error: unknown) => {
    if (error instanceof GroupUnknown) return null;
    throw error;
  });

/** Returns the platform's code. Boom errors of the library have the code in `data` or as their status. */
const codeOf = (error: unknown, status: number | null): number | null =>
  typeof error === 'object' && error !== null && 'data' in error && typeof error.data === 'number' ? error.data : status;

/**
 * Returns the outcome of an operation that failed with an error of the library. Returns null for an unexpected error. `live`: true if the connection is
 * still open.
 */
export const outcomeOfError = (error: unknown, live: boolean): Failed | null => {
  if (error instanceof GroupUnknown) return live ? groupUnknown : notSent;
  const { code, message } = closeOf(error);
  if (!live || code === 428) return lostAnswer;
  if (code === 408) return lateAnswer;
  const answer = codeOf(error, code);
  return answer === null ? null : refusedAs(answer, message);
};

/** Returns the platform's answer, or its refusal as a value. Rejects with all other errors. `live` is called after a failure (see `outcomeOfError`). */
export const answerOf = async <T>(work: Promise<T>, live: () => boolean): Promise<Result<T>> => {
  try {
    return done(await work);
  } catch (error) {
    const outcome = outcomeOfError(error, live());
    if (outcome?.refusal.reason !== 'refused') throw error;
    return outcome;
  }
};

// Queries in JSON (`w:mex`). All of them use the same stanza, in which `query_id` selects the query.

export type Json = Readonly<Record<string, unknown>>;

/** Returns the value if it is an object, and otherwise an empty object. */
export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

interface MexError {
  readonly message?: unknown;
  readonly extensions?: { readonly error_code?: unknown };
}

/** Parses the JSON of an answer or a notification. Returns empty values for invalid JSON. */
const read = (node: BinaryNode | undefined): { readonly data: Json; readonly errors: readonly MexError[] } => {
  try {
    const parsed = objectOf(JSON.parse(String(node?.content)));
    return { data: objectOf(parsed['data']), errors: Array.isArray(parsed['errors']) ? (parsed['errors'] as readonly MexError[]) : [] };
  } catch {
    return { data: {}, errors: [] };
  }
};

/** Returns the data of a `mex` notification; an empty object for invalid JSON. */
export const mexNews = (notification: BinaryNode): Json => read(getBinaryNodeChild(notification, 'update')).data;

/** Makes an error of the form that the library gives to a refused request. Its `data` is the platform's code. */
const refusal = ([first]: readonly MexError[]): Error => {
  const code = Number(first?.extensions?.error_code ?? 400) || 400;
  const text = typeof first?.message === 'string' && first.message !== '' ? first.message : `the platform refused with ${code}`;
  return Object.assign(new Error(text), { data: code });
};

/** Sends a query. Returns the value under `root` of the answer; null if there is none. A refusal rejects with an error that `outcomeOfError` converts. */
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
