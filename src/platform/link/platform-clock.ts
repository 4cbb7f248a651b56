/** Derives the platform's time from stanzas of all sessions. The platform's time shows whether the clock of the machine or of the database is wrong. */
import type { PlatformTime } from '#actors/ports.ts';

interface Stanza {
  readonly attrs: Readonly<Record<string, string | undefined>>;
}

/** Returns the attribute `t` (whole seconds) in Unix milliseconds. Returns null if it is missing. */
const timeOf = ({ attrs: { t } }: Stanza): number | null => {
  const seconds = Number(t);
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds * 1_000 : null;
};

export class PlatformClock {
  readonly #monotonic: () => number;
  #heard: PlatformTime | null = null;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  get heard(): PlatformTime | null {
    return this.#heard;
  }

  /** Listens to the stanzas of a connection that contain a time. */
  follow(ws: { on(event: string, listener: (stanza: Stanza) => void): unknown }): void {
    ws.on('CB:success', (success) => this.loggedIn(success));
    ws.on('CB:ack,class:message', (ack) => this.passed(ack));
    ws.on('CB:message', (message) => this.passed(message));
  }

  /** Takes the time of a `success` stanza, which is the platform's present time. */
  loggedIn(success: Stanza): void {
    const at = timeOf(success);
    if (at !== null) this.#heard = { at, heardAt: this.#monotonic() };
  }

  /** Takes the time of a stanza, which is never later than the platform's present time. Stanzas that waited for the session are ignored. */
  passed(stanza: Stanza): void {
    const at = timeOf(stanza);
    if (at === null || stanza.attrs['offline'] !== undefined) return;
    const heardAt = this.#monotonic();
    const { at: before, heardAt: since } = this.#heard ?? { at, heardAt };
    this.#heard = { at: Math.max(at, before + heardAt - since), heardAt };
  }
}
