/** What a close means: three separate answers (what to do, a stable reason, a sentence), as a table over the platform's codes (design, section 4). */
import type { Close } from '../ports.ts';

/** Stable machine-readable reasons; stored in `lastDisconnectCause` and shown by the API's extensions. */
export const closeCauses = [
  'restartRequired',
  'connectionLost',
  'unreachable',
  'unknownError',
  'pairingExpired',
  'numberRefused',
  'deviceNameRefused',
  'codesLimited',
  'codeRefused',
  'codeVoided',
  'linkingRefused',
  'linkingStalled',
  'loggedOut',
  'locked',
  'suspended',
  'clientTooOld',
  'certificateRefused',
  'accountRefused',
  'pairingForged',
  'rejected',
  'replaced',
  'storageUnavailable',
  'corruptCredentials',
  'epochLost',
  'proxyFailed',
  'proxyMissing',
  'otherAccount',
  'passkeyFailed',
] as const;
export type CloseCause = (typeof closeCauses)[number];

/** Ends of a pairing that only a person can begin anew. */
const pairingEnds: readonly string[] = [
  'pairingExpired',
  'numberRefused',
  'deviceNameRefused',
  'codesLimited',
  'codeRefused',
  'codeVoided',
  'linkingRefused',
  'linkingStalled',
  'passkeyFailed',
] satisfies CloseCause[];
export const isPairingEnd = (cause: string): boolean => pairingEnds.includes(cause);
/** Refusals that another number or another device name may mend. */
export const refusesInput = (cause: CloseCause): boolean => cause === 'numberRefused' || cause === 'deviceNameRefused';

/**
 * What follows: `reopen` at once, `backOff`, `contest` (one late try), `gate` (one canary for all), `suspend` (until a date), or an end: `stop`
 * (nobody's failure), `loggedOut`, `refuse` (needs a person).
 */
export const reactions = ['reopen', 'backOff', 'contest', 'gate', 'stop', 'loggedOut', 'suspend', 'refuse'] as const;
export type Reaction = (typeof reactions)[number];

export interface Verdict {
  readonly cause: CloseCause;
  readonly reaction: Reaction;
  /** For people, such as `401: logged out from another device`. */
  readonly sentence: string;
  /** Suspended until, when the platform said so. */
  readonly until?: number;
}

/** What the chart knows when a close arrives. */
export interface Situation {
  /** A QR or code is on offer: then 408 is nobody's failure. */
  readonly pairing: boolean;
  /** Restarts asked for by the platform, this one included, within the window. */
  readonly restarts: number;
  readonly restartLimit: number;
  /** Unknown closes in a row without reaching open, this one included. */
  readonly unknowns: number;
  readonly unknownLimit: number;
  /** Take-overs within the window, this one included. */
  readonly takeOvers: number;
  readonly now: number;
}

interface Meaning {
  readonly cause: CloseCause;
  readonly reaction: Reaction;
  readonly text: string;
}

const lost: Meaning = { cause: 'connectionLost', reaction: 'backOff', text: 'connection lost' };
const rejected: Meaning = { cause: 'rejected', reaction: 'refuse', text: 'the platform refused the session' };
const unknown: Meaning = { cause: 'unknownError', reaction: 'backOff', text: 'closed for an unknown reason' };

/** A code that is not listed is `unknown`: backing off is safe, throwing a session away is not. */
const meanings: Readonly<Record<number, Meaning>> = {
  400: rejected,
  401: { cause: 'loggedOut', reaction: 'loggedOut', text: 'logged out from another device' },
  402: { cause: 'suspended', reaction: 'refuse', text: 'the account is suspended for a time' },
  403: { cause: 'locked', reaction: 'refuse', text: 'the account is locked' },
  405: { cause: 'clientTooOld', reaction: 'gate', text: 'the platform asks for a newer client' },
  406: { cause: 'locked', reaction: 'refuse', text: 'the account is banned' },
  408: lost,
  409: rejected,
  411: rejected,
  418: rejected,
  428: lost,
  440: { cause: 'replaced', reaction: 'contest', text: 'another login took over the session' },
  503: { cause: 'connectionLost', reaction: 'backOff', text: 'the platform is unavailable' },
  515: { cause: 'restartRequired', reaction: 'reopen', text: 'restart required by the platform' },
  516: { cause: 'restartRequired', reaction: 'reopen', text: 'restart required by the platform' },
};

/** Closes of our own making, by the `reason` that the adapter gives them. */
const ownMeanings: Readonly<Record<string, Meaning>> = {
  storageUnavailable: { cause: 'storageUnavailable', reaction: 'backOff', text: 'the database is not available' },
  corruptCredentials: {
    cause: 'corruptCredentials',
    reaction: 'refuse',
    text: 'the stored credentials cannot be read: disconnect and pair again',
  },
  // Whoever answered in place of the platform may be gone at the next try, and nothing was told to it.
  platformUnreachable: { cause: 'unreachable', reaction: 'backOff', text: 'cannot reach web.whatsapp.com' },
  addressUnreachable: { cause: 'unreachable', reaction: 'backOff', text: 'cannot reach the address of the platform' },
  certificateRefused: { cause: 'certificateRefused', reaction: 'backOff', text: 'the server did not prove that it is the platform' },
  pairingForged: {
    cause: 'pairingForged',
    reaction: 'refuse',
    text: 'the pairing does not come from a phone that read the code: pair again',
  },
  accountRefused: { cause: 'accountRefused', reaction: 'refuse', text: 'the pairing is not signed by the account: pair again' },
  numberRefused: { cause: 'numberRefused', reaction: 'stop', text: 'the platform makes no pairing code for this number' },
  deviceNameRefused: {
    cause: 'deviceNameRefused',
    reaction: 'stop',
    text: 'the platform refuses this browser and system in pairing codes',
  },
  codesLimited: {
    cause: 'codesLimited',
    reaction: 'stop',
    text: 'too many pairing codes were asked for: wait some hours, or pair by QR code',
  },
  codeRefused: { cause: 'codeRefused', reaction: 'stop', text: 'the platform refused to make a pairing code' },
  codeVoided: {
    cause: 'codeVoided',
    reaction: 'stop',
    text: 'the platform voided several pairing codes in a row: try later, or pair by QR code',
  },
  linkingRefused: { cause: 'linkingRefused', reaction: 'stop', text: 'the platform refused the last step of the pairing' },
  linkingStalled: {
    cause: 'linkingStalled',
    reaction: 'stop',
    text: 'the phone used the code, but the platform linked no device: the code was mistyped, or the client version is too old to be linked',
  },
  passkeyFailed: { cause: 'passkeyFailed', reaction: 'stop', text: 'the account could not be linked with its passkey' },
  // The node renews its lease and goes on, or has lost it and closes the session for good.
  leaseUnsure: { ...lost, text: 'the lease of the node may have ended' },
  epochLost: { cause: 'epochLost', reaction: 'stop', text: 'the instance belongs to another node' },
  proxyFailed: { cause: 'proxyFailed', reaction: 'backOff', text: 'the proxy failed' },
  proxyMissing: {
    cause: 'proxyMissing',
    reaction: 'refuse',
    text: 'the instance has no proxy, and the server allows no direct connections: set one',
  },
  otherAccount: {
    cause: 'otherAccount',
    reaction: 'loggedOut',
    text: 'another account than before was refused: link the phone of before, or connect with allowAccountChange, which removes the data of the account before',
  },
};

/** `data.expire` of a 402: seconds from now, as text. */
const expiry = (close: Close, now: number): number | undefined => {
  const seconds = Number(close.data?.['expire']);
  return Number.isFinite(seconds) && seconds > 0 ? now + seconds * 1000 : undefined;
};

/** An HTTP answer to the upgrade says nothing about the account: 4xx and 5xx there are the network's fault. */
const ofUpgrade = (close: Close): boolean => close.data?.['stage'] === 'upgrade';

const upgradeRefused: Meaning = { ...lost, text: 'the platform refused the connection' };

const meaningOf = (close: Close): Meaning => {
  if (ofUpgrade(close)) return upgradeRefused;
  if (close.code !== null) return meanings[close.code] ?? unknown;
  return ownMeanings[close.data?.['reason'] ?? ''] ?? unknown;
};

const pairingExpired: Meaning = { cause: 'pairingExpired', reaction: 'stop', text: 'the QR or pairing code ran out' };

const escalate = (meaning: Meaning, situation: Situation): Meaning => {
  if (meaning.cause === 'connectionLost' && situation.pairing) return pairingExpired;
  if (meaning.reaction === 'reopen' && situation.restarts > situation.restartLimit) return { ...meaning, reaction: 'backOff' };
  if (meaning.reaction === 'contest' && situation.takeOvers > 1) return { ...meaning, reaction: 'refuse' };
  if (meaning.cause === 'unknownError' && situation.unknowns >= situation.unknownLimit) return { ...meaning, reaction: 'refuse' };
  return meaning;
};

/** `text` as people read it, with the code before it. */
export const sentenceOf = (code: number | null, text: string): string => `${code === null ? '' : `${code}: `}${text}`;

/** Of a pairing that ended by the gateway's own clock, as of one that the platform ended. */
export const ranOut = sentenceOf(408, pairingExpired.text);

/** The words of every verdict, each of which has one cause. */
export const closeTexts: ReadonlyMap<string, CloseCause> = new Map(
  [lost, rejected, unknown, upgradeRefused, pairingExpired, ...Object.values(meanings), ...Object.values(ownMeanings)].map(
    ({ text, cause }) => [text, cause],
  ),
);

/** Causes whose details only the adapter knows: what is wrong with the network, what a proxy did, which value the platform refused, with which code. Its words are a fixed table. */
const detailed: readonly CloseCause[] = [
  'unreachable',
  'certificateRefused',
  'proxyFailed',
  'deviceNameRefused',
  'codeRefused',
  'linkingRefused',
  'passkeyFailed',
];

/** Pure and total: every close has a verdict. */
export function classify(close: Close, situation: Situation): Verdict {
  const { cause, reaction: usual, text } = escalate(meaningOf(close), situation);
  const until = cause === 'suspended' ? expiry(close, situation.now) : undefined;
  const reaction = until === undefined ? usual : 'suspend';
  const detail = detailed.includes(cause) ? `: ${close.message}` : '';
  const sentence = sentenceOf(close.code, text + detail);
  return { cause, reaction, sentence, ...(until === undefined ? {} : { until }) };
}
