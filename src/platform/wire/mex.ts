/** Queries in JSON (`w:mex`): one request for all of them, which names the query by its id. */
import { type BinaryNode, getBinaryNodeChild, type WASocket } from '@whiskeysockets/baileys';
import { personServer } from './jid.ts';

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
