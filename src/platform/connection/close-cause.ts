/** Why a connection ended, as an error of the client library tells it, in the gateway's words. What it means is decided elsewhere. */
import type { Close } from '#actors/ports.ts';

/** What Boom errors look like; the library does not promise that an error is one. */
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

export const closeOf = (error: unknown): Close => {
  if (typeof error !== 'object' || error === null) return { code: null, message: 'closed without a reason' };
  const boom: Boomlike = error;
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
  restartTimeout: { code: 515, message: 'restart required' },
  silence: { code: 408, message: 'no frame for too long' },
  brokenFrame: { code: 500, message: 'a frame could not be read' },
  surprise: { code: 500, message: 'unexpected error' },
  proxyMissing: { code: null, message: 'no proxy is set, and none is not allowed', data: { reason: 'proxyMissing' } },
  leaseUnsure: { code: null, message: 'the lease of this node may have ended', data: { reason: 'leaseUnsure' } },
  epochLost: { code: null, message: 'another node owns the instance', data: { reason: 'epochLost' } },
  corruptCredentials: { code: null, message: 'the stored credentials cannot be read', data: { reason: 'corruptCredentials' } },
  storage: { code: null, message: 'the storage is unavailable', data: { reason: 'storageUnavailable' } },
} as const satisfies Readonly<Record<string, Close>>;
