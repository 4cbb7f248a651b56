/** Whether the database is there: noted from whatever is asked of it, and while it is away by asking again and again. */
import { StorageUnavailable, type Log } from '#actors/ports.ts';
import { explained } from './failures.ts';

export interface Health {
  readonly up: boolean;
  /** Runs the work, and notes what it tells about the database. A failure of the database leaves as a `StorageFailure`. */
  watch<T>(work: () => Promise<T>): Promise<T>;
  /** A connection was lost while nothing was asked: the database is asked whether it is there. */
  suspect(): void;
  end(): void;
}

const probeInterval = 500;

export const makeHealth = (log: Log, probe: () => Promise<unknown>): Health => {
  const state: { up: boolean; asking: boolean; ended: boolean } = { up: true, asking: false, ended: false };
  const note = (up: boolean): void => {
    if (up === state.up || state.ended) return;
    state.up = up;
    log[up ? 'info' : 'error']({}, up ? 'storage.available' : 'storage.unavailable');
    if (!up) ask();
  };
  const ask = (): void => {
    if (state.asking || state.ended) return;
    state.asking = true;
    // Its outcome is noted like that of any work.
    probe().then(
      () => void (state.asking = false),
      () => {
        const again = (): void => {
          state.asking = false;
          if (!state.up) ask();
        };
        setTimeout(again, probeInterval).unref();
      },
    );
  };
  return {
    get up() {
      return state.up;
    },
    async watch(work) {
      try {
        const result = await work();
        note(true);
        return result;
      } catch (error) {
        const reason = explained(error);
        if (reason instanceof StorageUnavailable) note(false);
        throw reason;
      }
    },
    suspect: ask,
    end: () => {
      state.ended = true;
    },
  };
};
