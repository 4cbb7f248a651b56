/**
 * The admin credential. Storage holds only the hash of the token. The environment's value applies until a rotation, and again after a change of the
 * environment.
 */
import type { Gateway } from '../views.ts';
import { done, refuse, type Result } from '../model.ts';
import type { Ports } from '../ports.ts';
import { createMutex } from '../keyed-mutex.ts';

interface Stored {
  readonly hash: string;
  /** Hash of the environment's token that a rotation replaced; '' if there was none. */
  readonly replaces: string;
  readonly rotatedAt: number;
}

const key = 'admin.token';
const length = 50;

export type Admin = Pick<Gateway, 'isAdmin' | 'rotateAdminToken'> & {
  /** The token that this start generated, to be printed once; else null. */
  readonly made: string | null;
  /** Returns a fingerprint that changes with the token. */
  version(): string;
  /** Reloads the stored token. Returns true if it changed. */
  refresh(): Promise<boolean>;
};

const parse = (text: string | null): Stored | null => (text === null ? null : (JSON.parse(text) as Stored));

/** Loads the stored token, or stores one. If several nodes start at once, one of them stores its token and the others read it. */
const begin = async (ports: Ports, configured: string | null): Promise<{ readonly current: Stored; readonly made: string | null }> => {
  const { settings, digest, chance } = ports;
  const wanted = configured === null ? '' : digest(configured);
  for (;;) {
    const text = await settings.get(key);
    const stored = parse(text);
    if (stored && (wanted === '' || stored.replaces === wanted)) return { current: stored, made: null };
    const made = configured === null ? chance.token(length) : null;
    const current = { hash: made === null ? wanted : digest(made), replaces: wanted, rotatedAt: 0 };
    if (await settings.swap(key, text, JSON.stringify(current))) return { current, made };
  }
};

/** Creates the admin credential. `configured`: the token of the environment; null if there is none. */
export async function createAdmin(ports: Ports, configured: string | null, cooldown: number): Promise<Admin> {
  const { settings, digest, chance, time } = ports;
  const { made, ...begun } = await begin(ports, configured);
  let { current } = begun;
  const serially = createMutex();
  const reread = async (): Promise<void> => {
    current = parse(await settings.get(key)) ?? current;
  };
  const tooEarly = (): Result<never> => {
    const pause = { from: current.rotatedAt, to: current.rotatedAt + cooldown };
    const retryAfter = Math.max(1, Math.ceil((pause.to - time.now()) / 1000));
    return refuse('limited', 'Admin token rotation cooldown active', { retryAfter, pause });
  };
  const rotate = async (): Promise<Result<string>> => {
    if (current.rotatedAt + cooldown > time.now()) return tooEarly();
    const token = chance.token(length);
    const next: Stored = { ...current, hash: digest(token), rotatedAt: time.now() };
    if (await settings.swap(key, JSON.stringify(current), JSON.stringify(next))) {
      current = next;
      return done(token);
    }
    // Another node rotated the token meanwhile, so the caller's token is void.
    await reread();
    return tooEarly();
  };

  return {
    made,
    isAdmin: (token) => digest(token) === current.hash,
    rotateAdminToken: () => serially(rotate),
    version: () => current.hash,
    refresh: () =>
      serially(async () => {
        const { hash } = current;
        await reread();
        return current.hash !== hash;
      }),
  };
}
