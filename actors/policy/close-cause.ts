/** The meaning of a close: a reaction, a stable cause and a sentence, from a table of the platform's codes (docs/runbook.md). */
import type { Close } from '../ports.ts';

/** Stable machine-readable causes. The causes are stored in `lastDisconnectCause` and shown by the API's extensions. */
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
  'unreadable',
  'exported',
] as const;
export type CloseCause = (typeof closeCauses)[number];

/** Ends of a pairing after which a person has to start a new pairing. */
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
/** Returns true if another number or another device name may solve the refusal. */
export const refusesInput = (cause: CloseCause): boolean => cause === 'numberRefused' || cause === 'deviceNameRefused';

/**
 * The reactions to a close. `reopen` reconnects without a back-off, and `backOff` after a back-off. `contest` reconnects once, after the delay of
 * `Policy.replaced`. `gate` stops the handshakes of all instances of the node until a canary succeeds (see `Gate`). `suspend` reconnects when the
 * suspension ends. `stop`, `loggedOut` and `refuse` do not reconnect. `stop` is not an error. `loggedOut` and `refuse` need a person.
 */
export const reactions = ['reopen', 'backOff', 'contest', 'gate', 'stop', 'loggedOut', 'suspend', 'refuse'] as const;
export type Reaction = (typeof reactions)[number];

export interface Verdict {
  readonly cause: CloseCause;
  readonly reaction: Reaction;
  /** The human-readable sentence, such as `401: logged out from another device`. */
  readonly sentence: string;
  /** The end of a suspension, if the platform gave one. In Unix milliseconds. */
  readonly until?: number;
}

/** The state of the chart when a close arrives. */
export interface Situation {
  /** True while a QR code, a pairing code or a passkey is on offer. A lost connection then means that the pairing expired. */
  readonly pairing: boolean;
  /** The number of restarts within the window that the platform requested, including the current one. */
  readonly restarts: number;
  readonly restartLimit: number;
  /** The number of consecutive closes for an unknown reason without an open connection between them, including the current one. */
  readonly unknowns: number;
  readonly unknownLimit: number;
  /** The number of takeovers (440) within the window, including the current one. */
  readonly takeOvers: number;
  /** The time at which this process paired the session; 0 if the session was not paired in this process. In Unix milliseconds. */
  readonly pairedAt: number;
  readonly now: number;
}

interface Meaning {
  readonly cause: CloseCause;
  readonly reaction: Reaction;
  readonly text: string;
}

const means = (cause: CloseCause, reaction: Reaction, text: string): Meaning => ({ cause, reaction, text });

const lost = means('connectionLost', 'backOff', 'connection lost');
const unavailable = means('connectionLost', 'backOff', 'the platform is unavailable');
const rejected = means('rejected', 'refuse', 'the platform refused the session');
/**
 * Since 2026-08 the platform removes devices that look like an unofficial app, and restricts the account for 24 hours (EvolutionAPI/evolution-api
 * 2693, devlikeapro/waha 2136). A removal by hand has the same stanza, so only the time since the pairing distinguishes the two causes.
 */
const removedEarly = means(
  'loggedOut',
  'loggedOut',
  'logged out from another device soon after linking: if nobody removed the device on the phone, the platform did, and it is best to wait 24 hours before linking again',
);
/** The time after a pairing within which the platform itself may have removed the device. In milliseconds. */
const earlyMs = 15 * 60_000;

const unknown = means('unknownError', 'backOff', 'closed for an unknown reason');

/** The meanings of the platform's codes. A code that is not listed means `unknown`, because a back-off is safe and discarding a session is not. */
const meanings: Readonly<Record<number, Meaning>> = {
  400: rejected,
  401: means('loggedOut', 'loggedOut', 'logged out from another device'),
  402: means('suspended', 'refuse', 'the account is suspended for a time'),
  403: means('locked', 'refuse', 'the account is locked'),
  405: means('clientTooOld', 'gate', 'the platform asks for a newer client'),
  406: means('locked', 'refuse', 'the account is banned'),
  408: lost,
  409: rejected,
  411: rejected,
  418: rejected,
  428: lost,
  440: means('replaced', 'contest', 'another login took over the session'),
  503: unavailable,
  515: means('restartRequired', 'reopen', 'restart required by the platform'),
  516: means('restartRequired', 'reopen', 'restart required by the platform'),
};

/** The meanings of closes by the gateway itself, keyed by the `reason` that the adapter sets. */
const ownMeanings: Readonly<Record<string, Meaning>> = {
  storageUnavailable: means('storageUnavailable', 'backOff', 'the database is not available'),
  corruptCredentials: means('corruptCredentials', 'refuse', 'the stored credentials cannot be read: disconnect and pair again'),
  // The next three causes reconnect after a back-off. A host that answers in place of the platform receives no secrets, and may be gone at the next attempt.
  platformUnreachable: means('unreachable', 'backOff', 'cannot reach web.whatsapp.com'),
  addressUnreachable: means('unreachable', 'backOff', 'cannot reach the address of the platform'),
  certificateRefused: means('certificateRefused', 'backOff', 'the server did not prove that it is the platform'),
  pairingForged: means('pairingForged', 'refuse', 'the pairing does not come from a phone that read the code: pair again'),
  accountRefused: means('accountRefused', 'refuse', 'the pairing is not signed by the account: pair again'),
  numberRefused: means('numberRefused', 'stop', 'the platform makes no pairing code for this number'),
  deviceNameRefused: means('deviceNameRefused', 'stop', 'the platform refuses this browser and system in pairing codes'),
  codesLimited: means('codesLimited', 'stop', 'too many pairing codes were asked for: wait some hours, or pair by QR code'),
  codeRefused: means('codeRefused', 'stop', 'the platform refused to make a pairing code'),
  codeVoided: means('codeVoided', 'stop', 'the platform voided several pairing codes in a row: try later, or pair by QR code'),
  linkingRefused: means('linkingRefused', 'stop', 'the platform refused the last step of the pairing'),
  linkingStalled: means(
    'linkingStalled',
    'stop',
    'the phone used the code, but the platform linked no device: the code was mistyped, or the client version is too old to be linked',
  ),
  passkeyFailed: means('passkeyFailed', 'stop', 'the account could not be linked with its passkey'),
  // A node that renews its lease connects again. A node that lost its lease closes the session for the next owner.
  leaseUnsure: { ...lost, text: 'the lease of the node may have ended' },
  epochLost: means('epochLost', 'stop', 'the instance belongs to another node'),
  proxyFailed: means('proxyFailed', 'backOff', 'the proxy failed'),
  proxyMissing: means('proxyMissing', 'refuse', 'the instance has no proxy, and the server allows no direct connections: set one'),
  unreadable: means('unreadable', 'refuse', 'values of the instance are damaged in the database: set them anew, then connect'),
  otherAccount: means(
    'otherAccount',
    'loggedOut',
    'another account than before was refused: link the phone of the former account, or connect with allowAccountChange, which removes its data',
  ),
};

/** Returns the end of a suspension from `data.expire` of a 402, which contains the seconds from now as text. */
const expiry = (close: Close, now: number): number | undefined => {
  const seconds = Number(close.data?.['expire']);
  return Number.isFinite(seconds) && seconds > 0 ? now + seconds * 1000 : undefined;
};

/** Returns true if the code is the HTTP status of a refused upgrade. This status says nothing about the account, although it may equal a code of the table. */
const ofUpgrade = (close: Close): boolean => close.data?.['stage'] === 'upgrade';

/**
 * Returns true if the platform refused a login because of a fault of its own. The library also reports stream errors without a code as
 * 500, but without `data.reason`.
 */
const ofLoginFault = (close: Close): boolean => close.code === 500 && close.data?.['reason'] === '500';

const upgradeRefused: Meaning = { ...lost, text: 'the platform refused the connection' };

const meaningOf = (close: Close): Meaning => {
  if (ofUpgrade(close)) return upgradeRefused;
  if (ofLoginFault(close)) return unavailable;
  if (close.code !== null) return meanings[close.code] ?? unknown;
  return ownMeanings[close.data?.['reason'] ?? ''] ?? unknown;
};

const pairingExpired = means('pairingExpired', 'stop', 'the QR or pairing code ran out');

const escalate = (meaning: Meaning, situation: Situation): Meaning => {
  if (meaning.cause === 'connectionLost' && situation.pairing) return pairingExpired;
  if (meaning === meanings[401] && situation.pairedAt > 0 && situation.now - situation.pairedAt < earlyMs) return removedEarly;
  if (meaning.reaction === 'reopen' && situation.restarts > situation.restartLimit) return { ...meaning, reaction: 'backOff' };
  if (meaning.reaction === 'contest' && situation.takeOvers > 1) return { ...meaning, reaction: 'refuse' };
  if (meaning.cause === 'unknownError' && situation.unknowns >= situation.unknownLimit) return { ...meaning, reaction: 'refuse' };
  return meaning;
};

/** Returns the text with the code in front. */
export const sentenceOf = (code: number | null, text: string): string => `${code === null ? '' : `${code}: `}${text}`;

/** The sentence of a pairing that timed out at the gateway, which is also the sentence of a time-out at the platform (408). */
export const ranOut = sentenceOf(408, pairingExpired.text);

/** Returns the sentence about an instance whose sealed fields cannot be decrypted. `fields`: their names, such as `token, proxy`. */
export const unreadableFieldsReason = (fields: string): string => `${ownMeanings['unreadable']?.text}: ${fields}`;

/** The cause of a close by its sentence without code and details. */
export const closeTexts: ReadonlyMap<string, CloseCause> = new Map(
  [lost, rejected, removedEarly, unknown, upgradeRefused, pairingExpired, ...Object.values(meanings), ...Object.values(ownMeanings)].map(
    ({ text, cause }) => [text, cause],
  ),
);

/**
 * Causes with details from the adapter, such as the error of the network or the proxy, or the refused value and its code. The adapter's texts come
 * from a fixed table.
 */
const detailed: readonly CloseCause[] = [
  'unreachable',
  'certificateRefused',
  'proxyFailed',
  'deviceNameRefused',
  'codeRefused',
  'linkingRefused',
  'passkeyFailed',
  'unreadable',
];

/** Returns the verdict of a close. Pure and total. */
export function classify(close: Close, situation: Situation): Verdict {
  const { cause, reaction: usual, text } = escalate(meaningOf(close), situation);
  const until = cause === 'suspended' ? expiry(close, situation.now) : undefined;
  const reaction = until === undefined ? usual : 'suspend';
  const detail = detailed.includes(cause) ? `: ${close.message}` : '';
  const sentence = sentenceOf(close.code, text + detail);
  return { cause, reaction, sentence, ...(until === undefined ? {} : { until }) };
}
