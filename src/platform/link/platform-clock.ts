/** The platform's time, as stanzas of all sessions name it: a witness beside the clocks of the machine and of the database. */
import type { HeardTime } from '#actors/ports.ts';

interface Stanza {
  readonly attrs: Readonly<Record<string, string | undefined>>;
}

/** Unix milliseconds of the attribute `t`, which has whole seconds. Null when there is none. */
const timeOf = ({ attrs: { t } }: Stanza): number | null => {
  const seconds = Number(t);
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds * 1_000 : null;
};

export class PlatformClock {
  readonly #monotonic: () => number;
  #heard: HeardTime | null = null;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  get heard(): HeardTime | null {
    return this.#heard;
  }

  /** Listens to the stanzas of a connection that name the time of this moment. */
  follow(ws: { on(event: string, listener: (stanza: Stanza) => void): unknown }): void {
    ws.on('CB:success', (success) => this.loggedIn(success));
    ws.on('CB:ack,class:message', (ack) => this.passed(ack));
    ws.on('CB:message', (message) => this.passed(message));
  }

  /** Takes the time of a `success`, which is the platform's of this moment. */
  loggedIn(success: Stanza): void {
    const at = timeOf(success);
    if (at !== null) this.#heard = { at, heardAt: this.#monotonic() };
  }

  /** Takes the time of a stanza that the platform stamped when it passed it on, at this moment or before. What waited for the session is old. */
  passed(stanza: Stanza): void {
    const at = timeOf(stanza);
    if (at === null || stanza.attrs['offline'] !== undefined) return;
    const heardAt = this.#monotonic();
    const { at: before, heardAt: since } = this.#heard ?? { at, heardAt };
    this.#heard = { at: Math.max(at, before + heardAt - since), heardAt };
  }
}
