/** The admin credential: only its hash is kept; the environment's value counts until it is rotated, and again when it is changed there. */
import type { Gateway } from '../face.ts';
import { done, refuse, type Result } from '../model.ts';
import type { Ports } from '../ports.ts';
import { createMutex } from '../keyed-mutex.ts';

interface Stored {
  readonly hash: string;
  /** Hash of the environment's token that a rotation replaced; '' when there was none. */
  readonly replaces: string;
  readonly rotatedAt: number;
}

const key = 'admin.token';
const length = 50;

export type Admin = Pick<Gateway, 'isAdmin' | 'rotateAdminToken'> & {
  /** Set when this start made the token: to be printed once. */
  readonly made: string | null;
  /** Another one for another token. */
  version(): string;
  /** Reads what is stored again; whether it is another token. */
  refresh(): Promise<boolean>;
};

const parse = (text: string | null): Stored | null => (text === null ? null : (JSON.parse(text) as Stored));

/** `configured`: the token of the environment, null when it has none. */
export async function createAdmin(ports: Ports, configured: string | null, cooldown: number): Promise<Admin> {
  const { settings, digest, chance, time } = ports;
  const stored = parse(await settings.get(key));
  const wanted = configured === null ? '' : digest(configured);
  const made = configured === null && !stored ? chance.token(length) : null;
  let current: Stored =
    stored && (wanted === '' || stored.replaces === wanted)
      ? stored
      : { hash: made === null ? wanted : digest(made), replaces: wanted, rotatedAt: 0 };
  if (current !== stored) await settings.set(key, JSON.stringify(current));

  const serially = createMutex();
  const rotate = async (): Promise<Result<string>> => {
    const pause = { from: current.rotatedAt, to: current.rotatedAt + cooldown };
    const wait = pause.to - time.now();
    if (wait > 0) return refuse('limited', 'Admin token rotation cooldown active', { retryAfter: Math.ceil(wait / 1000), pause });
    const token = chance.token(length);
    const next: Stored = { ...current, hash: digest(token), rotatedAt: time.now() };
    await settings.set(key, JSON.stringify(next));
    current = next;
    return done(token);
  };

  return {
    made,
    isAdmin: (token) => digest(token) === current.hash,
    rotateAdminToken: () => serially(rotate),
    version: () => current.hash,
    refresh: () =>
      serially(async () => {
        const [before, now] = [current, parse(await settings.get(key))];
        current = now ?? current;
        return current.hash !== before.hash;
      }),
  };
}
