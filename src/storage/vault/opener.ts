/** Opens the sealed values of rows. A value that does not open sets its row aside, so that one damaged row does not stop all others. */
import type { Log } from '#actors/ports.ts';
import type { Place, Sealer } from './sealing.ts';

/** The owner and the field of a value, for the log. */
export interface Named {
  readonly id: string;
  readonly field: string;
}

export interface Opener {
  readonly seal: Sealer['seal'];
  /** Returns null if the value does not open, or if `read` throws. Logs `storage.unreadable` once for each place. */
  open<T>(place: Place, sealed: Uint8Array, read: (text: string) => T, named: Named): T | null;
}

export const asText = (text: string): string => text;

/** `sealer` opens under the key of now, and under the key before during a change. */
export const makeOpener = (sealer: Sealer, log: Pick<Log, 'error'>): Opener => {
  const reported = new Set<string>();
  return {
    seal: (place, value) => sealer.seal(place, value),
    open(place, sealed, read, named) {
      try {
        return read(sealer.open(place, sealed));
      } catch {
        // The error says nothing: it may quote the value.
        if (!reported.has(place.name)) log.error({ ...named }, 'storage.unreadable');
        reported.add(place.name);
        return null;
      }
    },
  };
};
