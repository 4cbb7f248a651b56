/** Translates the error that ended a connection into a `Close`. The policy decides what the close means. */
import type { Close } from '#actors/ports.ts';

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
