/** Decides which alerts an operator gets and when, and writes their texts. Pure functions over the stored state and the current troubles. */
import type { AlertAttempt, AlertChannel, AlertKind, AlertMessage, AlertSettings, Trouble } from '../model.ts';
import { quietFor } from './campaign-policy.ts';

// The state of alerts, and the functions that derive the next state. The state contains the messages that channels have not accepted yet.

/** The time for which a trouble must last before it is reported. Troubles with one cause then share a message. In milliseconds. */
const settleMs: Readonly<Record<AlertKind, number>> = { session: 60_000, receiver: 0, disk: 0, node: 0 };
/**
 * The time for which a trouble must be absent before it counts as over. While a session moves to another node, no node reports its troubles for up to
 * a minute. In milliseconds.
 */
const wellMs = 180_000;
/** The shortest time between two messages. In milliseconds. */
const pauseMs = 300_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;
/** The largest number of known troubles (`mostKnown`), and of troubles that one message names (`mostNamed`). */
const mostKnown = 1_000;
const mostNamed = 20;
/** The largest number of messages that wait for one channel. A further message replaces the oldest message. */
const mostPending = 5;
/** The time for which a node reserves a message that it sends. Longer than the time limit of a channel. In milliseconds. */
export const takenMs = 60_000;
const retryMs = { min: 60_000, max: 3_600_000 };
/** The largest number of attempts to send a message. The pauses between twelve attempts add up to about six hours. */
const mostAttempts = 12;

interface KnownTrouble extends Trouble {
  readonly seenAt: number;
  /** The time of the last message about the trouble; null before the first. */
  readonly toldAt: number | null;
  /** The time since which no node reports the trouble; null while a node reports it. */
  readonly missingSince: number | null;
}

export interface PendingAlert {
  readonly channel: AlertChannel;
  readonly message: AlertMessage;
  readonly attempts: number;
  /** The time of the next attempt. While a node sends the message, the end of its reservation. */
  readonly notBefore: number;
}

export interface AlertState {
  readonly known: readonly KnownTrouble[];
  /** The time of the last message; 0 before the first. */
  readonly lastAt: number;
  readonly pending: readonly PendingAlert[];
  /** The last attempt of each channel. `error` is '' if the message reached all recipients. */
  readonly outcomes: Readonly<Partial<Record<AlertChannel, { readonly at: number; readonly error: string }>>>;
}

export const noAlertState: AlertState = { known: [], lastAt: 0, pending: [], outcomes: {} };

/** Reads a stored state. A damaged state counts as empty. */
export const alertStateIn = (stored: unknown): AlertState => {
  const { known, lastAt, pending, outcomes } = (stored ?? {}) as Partial<AlertState>;
  const isWhole = Array.isArray(known) && Array.isArray(pending) && typeof lastAt === 'number' && typeof outcomes === 'object';
  return isWhole ? { known, lastAt, pending, outcomes } : noAlertState;
};

/** The current troubles of all nodes, and facts about the nodes. */
export interface Seen {
  readonly troubles: readonly Trouble[];
  /** Names of live nodes. A lost node counts as recovered only if it is among these names. */
  readonly liveNodes: readonly string[];
  /** The latest start of a node. A node that has just started does not know yet which receivers are failing. */
  readonly steadySince: number;
}

const idOf = ({ kind, key }: Trouble): string => `${kind} ${key}`;

const isDue = (trouble: Trouble, { kinds, receiverMinutes }: AlertSettings, now: number): boolean =>
  kinds.includes(trouble.kind) && (trouble.kind !== 'receiver' || now - trouble.since >= receiverMinutes * minuteMs);

/** Merges the troubles that nodes report into the known troubles. */
const merged = (known: readonly KnownTrouble[], seen: Seen, settings: AlertSettings, now: number): readonly KnownTrouble[] => {
  const before = new Map(known.map((one) => [idOf(one), one]));
  const next = new Map<string, KnownTrouble>();
  for (const trouble of seen.troubles) {
    const found = before.get(idOf(trouble));
    if (found === undefined && !isDue(trouble, settings, now)) continue;
    if (!settings.kinds.includes(trouble.kind)) continue;
    // After a correction of the clock a time may lie in the future.
    const [seenAt, toldAt] = [Math.min(found?.seenAt ?? now, now), found?.toldAt ?? null];
    const told = toldAt === null ? null : Math.min(toldAt, now);
    next.set(idOf(trouble), { ...trouble, since: found?.since ?? trouble.since, seenAt, toldAt: told, missingSince: null });
  }
  for (const one of known) {
    if (next.has(idOf(one)) || one.toldAt === null || !settings.kinds.includes(one.kind)) continue;
    next.set(idOf(one), { ...one, missingSince: Math.min(one.missingSince ?? now, now) });
  }
  return [...next.values()].slice(0, mostKnown);
};

const isOver = ({ kind, missingSince }: KnownTrouble, { steadySince }: Seen, { receiverMinutes }: AlertSettings, now: number): boolean => {
  if (missingSince === null) return false;
  const since = kind === 'receiver' ? Math.max(missingSince, steadySince + receiverMinutes * minuteMs) : missingSince;
  return now - since >= wellMs;
};

const plain = ({ kind, key, name, reason, since }: Trouble): Trouble => ({ kind, key, name, reason, since });

const queued = (pending: readonly PendingAlert[], message: AlertMessage, { channels }: AlertSettings): readonly PendingAlert[] =>
  channels.flatMap((channel) => {
    const own = pending.filter((one) => one.channel === channel);
    return [...own, { channel, message, attempts: 0, notBefore: message.at }].slice(-mostPending);
  });

/** Returns the next state. `id`: the id of the next message, if one is due. */
export const nextAlerts = (state: AlertState, seen: Seen, settings: AlertSettings, now: number, id: string): AlertState => {
  const known = merged(state.known, seen, settings, now);
  const pending = state.pending.filter(({ channel }) => settings.channels.includes(channel));
  const lastAt = Math.min(state.lastAt, now);
  const over = known.filter((one) => isOver(one, seen, settings, now));
  // A lost node whose row is gone is no longer a trouble. The node did not recover, so no message reports a recovery.
  const forgotten = new Set(over.filter(({ kind, key }) => kind === 'node' && !seen.liveNodes.includes(key)));
  const well = over.filter((one) => !forgotten.has(one));
  const next = { ...state, lastAt, pending, known: known.filter((one) => !forgotten.has(one)) };
  // Without a channel no message can report the end of a trouble.
  if (settings.channels.length === 0) return { ...next, known: next.known.filter((one) => !over.includes(one)) };
  if (now - lastAt < pauseMs || quietFor(settings, now) > 0) return next;
  const present = next.known.filter(({ missingSince }) => missingSince === null);
  const fresh = present.filter(({ kind, seenAt, toldAt }) => toldAt === null && now - seenAt >= settleMs[kind]);
  const told = present.filter(({ toldAt }) => toldAt !== null);
  const isRepeated = settings.repeatHours > 0 && told.some(({ toldAt }) => now - (toldAt ?? now) >= settings.repeatHours * hourMs);
  const repeats = isRepeated ? told : [];
  const troubles = [
    ...fresh.map((one) => ({ ...plain(one), repeated: false })),
    ...repeats.map((one) => ({ ...plain(one), repeated: true })),
  ];
  if (troubles.length + well.length === 0) return next;
  const counts = { troubles: troubles.length, well: well.length };
  const message = { id, at: now, troubles: troubles.slice(0, mostNamed), well: well.slice(0, mostNamed).map(plain), counts };
  const saying = new Set<KnownTrouble>([...fresh, ...repeats]);
  return {
    ...next,
    lastAt: now,
    known: next.known.filter((one) => !well.includes(one)).map((one) => (saying.has(one) ? { ...one, toldAt: now } : one)),
    pending: queued(pending, message, settings),
  };
};

/**
 * Reserves the messages that are due, so that no other node sends them meanwhile. `taken`: the reserved messages, as the returned state contains them. In
 * quiet hours no message is due.
 */
export const reserveDueAlerts = (
  state: AlertState,
  settings: Pick<AlertSettings, 'quiet' | 'timeZone'>,
  now: number,
): { readonly state: AlertState; readonly taken: readonly PendingAlert[] } => {
  if (quietFor(settings, now) > 0) return { state, taken: [] };
  const taken: PendingAlert[] = [];
  const pending = state.pending.map((one) => {
    // After a correction of the clock, a time may lie further in the future than any back-off.
    if (one.notBefore > now && one.notBefore - now <= retryMs.max + takenMs) return one;
    const own = { ...one, attempts: one.attempts + 1, notBefore: now + takenMs };
    taken.push(own);
    return own;
  });
  return { state: { ...state, pending }, taken };
};

interface AlertOutcome extends AlertAttempt {
  readonly of: PendingAlert;
}

const isSame = (one: PendingAlert, other: PendingAlert): boolean => one.channel === other.channel && one.message.id === other.message.id;

/** Records the outcomes of attempts. A failed message is retried with a growing back-off, and given up after `mostAttempts` attempts. */
export const settled = (state: AlertState, outcomes: readonly AlertOutcome[], now: number): AlertState => {
  const pending = state.pending.flatMap((one) => {
    const outcome = outcomes.find(({ of }) => isSame(of, one));
    if (outcome === undefined) return [one];
    if (outcome.sent || one.attempts >= mostAttempts) return [];
    return [{ ...one, notBefore: now + Math.min(retryMs.max, retryMs.min * 2 ** (one.attempts - 1)) }];
  });
  const last = Object.fromEntries(outcomes.map(({ of, error }) => [of.channel, { at: now, error }]));
  return { ...state, pending, outcomes: { ...state.outcomes, ...last } };
};

// The words of an alert.

const words: Readonly<Record<AlertKind, readonly [one: string, many: string]>> = {
  session: ['session needs a person', 'sessions need a person'],
  receiver: ['receiver does not answer', 'receivers do not answer'],
  disk: ['disk is nearly full', 'disks are nearly full'],
  node: ['node is lost', 'nodes are lost'],
};

const kinds = Object.keys(words) as readonly AlertKind[];

/**
 * Returns a text as one safe line, because users may have written the text. Removes line breaks and bidirectional control characters, and shortens a long
 * text. Splits `://`, so that mail clients make no links of such addresses.
 */
const line = (text: string, most: number): string => {
  const flat = text
    .replaceAll(/[\s\p{Cc}\p{Bidi_Control}\u200B\u2060]+/gu, ' ')
    .replaceAll('://', ': //')
    .trim();
  return [...flat].length > most ? `${[...flat].slice(0, most).join('')}…` : flat;
};

const counted = (troubles: readonly Trouble[]): readonly string[] =>
  kinds.flatMap((kind) => {
    const count = troubles.filter((one) => one.kind === kind).length;
    return count === 0 ? [] : [`${count} ${words[kind][count === 1 ? 0 : 1]}`];
  });

const moment = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const nameOf = ({ kind, name, key }: Trouble): string => line(name, 80) || (kind === 'disk' || kind === 'node' ? 'this gateway' : key);

const lineOf = (trouble: Trouble, baseUrl: string): string => {
  const { kind, key, reason, since } = trouble;
  const link = kind === 'session' ? ` ${baseUrl}/admin/sessions/${encodeURIComponent(key)}` : '';
  const why = line(reason, 200);
  return `- ${nameOf(trouble)}${why === '' ? '' : `: ${why}`} (since ${moment(since)})${link}`;
};

const more = (shown: number, all: number): readonly string[] => (all > shown ? [`- and ${all - shown} more`] : []);

/** Returns the subject of a message, such as `Dormouse: 3 sessions need a person`. */
export const subjectOf = ({ troubles, well, counts }: AlertMessage): string => {
  const parts = counted(troubles);
  const cut = counts.troubles > troubles.length ? ` and ${counts.troubles - troubles.length} more` : '';
  const over = counts.well === 0 ? [] : [`${counts.well} well again`];
  return `Dormouse: ${[...(parts.length === 0 ? [] : [parts.join(', ') + cut]), ...over].join('; ') || (well.length === 0 ? 'a test' : '')}`;
};

/** Returns the whole text of a message. A message that reports neither troubles nor their ends is a test. */
export const textOf = (message: AlertMessage, baseUrl: string): string => {
  const { troubles, well, counts } = message;
  if (counts.troubles + counts.well === 0) return `This is a test of the alerts of ${baseUrl}. Nothing is wrong.`;
  const sections = [
    ...kinds.flatMap((kind) => {
      const own = troubles.filter((one) => one.kind === kind);
      if (own.length === 0) return [];
      const repeated = own.every((one) => one.repeated) ? ' (still)' : '';
      return [[`${counted(own).join('')}${repeated}:`, ...own.map((one) => lineOf(one, baseUrl))]];
    }),
    ...more(troubles.length, counts.troubles).map((text) => [text]),
    ...(well.length === 0 ? [] : [['Well again:', ...well.map((one) => `- ${nameOf(one)}`), ...more(well.length, counts.well)]]),
  ];
  return [...sections.map((lines) => lines.join('\n')), `${baseUrl}/admin`].join('\n\n');
};
