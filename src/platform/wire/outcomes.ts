/** Outcomes of operations, in the words of the gateway: what a failure of the client library or of the platform did to the world. */
import { type BinaryNode, getBinaryNodeChild, type WASocket } from '@whiskeysockets/baileys';
import { done, type Entry, type Refusal, refuse, type Result } from '#actors/model.ts';
import type { Outcome } from '#actors/ports.ts';
import { closeOf } from './close-cause.ts';
import { personServer } from './jid.ts';

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
