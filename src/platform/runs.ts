/**
 * Runs of a session's keys, so that a crash is known at the next start. A run is from the opening of the keys to their end; it is noted
 * before its first message leaves, and noted as over when everything is stored.
 */
import { skipInSenderKey, skipInSessions } from './chain-skip.ts';

/** Where the note stands among the keys. */
export const runType = 'gateway-run';
export const runId = 'last';

export interface RunNote {
  readonly run: number;
  /** Messages may have been sent that are not in the stored chains. */
  readonly open: boolean;
  /** The last run that ended without a farewell; -1 when there was none. */
  readonly unclean: number;
}

/** Types whose values tell in which run they were stored. */
const stamped = new Set(['session', 'sender-key']);

interface Stamped {
  readonly run: number;
  readonly value: unknown;
}

const isStamped = (value: unknown): value is Stamped =>
  typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'number' && 'value' in value;

export class Runs {
  readonly #run: number;
  readonly #unclean: number;
  readonly #put: (note: RunNote) => void;
  #open = false;

  constructor(last: RunNote | null, put: (note: RunNote) => void) {
    this.#run = (last?.run ?? 0) + 1;
    this.#unclean = last === null ? -1 : last.open ? last.run : last.unclean;
    this.#put = put;
  }

  /** Before a message leaves. True when the note of it is not stored yet. */
  begin(): boolean {
    if (this.#open) return false;
    this.#open = true;
    this.#note();
    return true;
  }

  /** Everything that was sent is stored. */
  end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#note();
  }

  /** The value as it is stored. */
  stamp(type: string, value: unknown): unknown {
    return stamped.has(type) ? { run: this.#run, value } : value;
  }

  /** The value as it is used: what an unclean run may have sent with, unnoticed by what is stored, is skipped. */
  unstamp(type: string, stored: unknown): unknown {
    if (!stamped.has(type)) return stored;
    const { run, value } = isStamped(stored) ? stored : { run: 0, value: stored };
    if (run > this.#unclean || value === null) return value;
    if (type === 'sender-key') return value instanceof Uint8Array ? skipInSenderKey(value) : value;
    skipInSessions(value);
    return value;
  }

  #note(): void {
    this.#put({ run: this.#run, open: this.#open, unclean: this.#unclean });
  }
}
