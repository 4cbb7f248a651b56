/** Logs where wrong credentials come from, so that an operator sees a guesser. The log never has what was guessed. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HttpLog } from './options.ts';
import { networkOf } from './rate-limit.ts';

export type GuessedKind = 'admin' | 'instance' | 'passkeyCode' | 'session' | 'signIn';

/** Milliseconds for which the guesses of an address are one line. */
const period = 60_000;
/** Addresses with a line of their own in a period. The guesses of all further ones are one line, which bounds memory and log in an attack by many. */
const mostAddresses = 100;
const others = 'others';

declare module 'fastify' {
  interface FastifyInstance {
    readonly noteGuess: NoteGuess;
  }
}

/** Notes the refused guess of a request. */
export type NoteGuess = (request: Pick<FastifyRequest, 'ip'>, kind: GuessedKind) => void;

/**
 * Returns the function that notes guesses, and decorates the server with it. Writes `http.guessed` once a minute for each address and kind of
 * credential, and the last lines when the server closes.
 */
export const logGuesses = (app: FastifyInstance, log: HttpLog): NoteGuess => {
  const counts = new Map<string, { readonly address: string; readonly kind: GuessedKind; count: number }>();
  let timer: NodeJS.Timeout | null = null;
  const write = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    for (const { address, kind, count } of counts.values()) log.warn({ address, kind, count }, 'http.guessed');
    counts.clear();
  };
  app.addHook('onClose', (_app, done) => {
    write();
    done();
  });
  const note: NoteGuess = ({ ip }, kind) => {
    const network = networkOf(ip);
    const own = `${kind} ${network}`;
    const address = counts.has(own) || counts.size < mostAddresses ? network : others;
    const key = `${kind} ${address}`;
    const known = counts.get(key) ?? { address, kind, count: 0 };
    known.count += 1;
    counts.set(key, known);
    timer ??= setTimeout(write, period).unref();
  };
  app.decorate('noteGuess', note);
  return note;
};
