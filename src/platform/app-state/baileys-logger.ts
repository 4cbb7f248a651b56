/** The logger for Baileys. It passes on the text of an error and never an object, because objects contain keys, nodes and messages. */
import type { Log } from '#actors/ports.ts';
import { type SharedAction, unreadActionOf } from '../events/library-values.ts';
import { ackHeld } from '../inbound/held-acks.ts';

export interface BaileysLogger {
  level: string;
  child(fields: Record<string, unknown>): BaileysLogger;
  trace(fields: unknown, message?: string): void;
  debug(fields: unknown, message?: string): void;
  info(fields: unknown, message?: string): void;
  warn(fields: unknown, message?: string): void;
  error(fields: unknown, message?: string): void;
}

/** Errors that are logged only at the level debug. The session logs the close of a connection with its cause. */
const reportedElsewhere: ReadonlySet<string> = new Set(['stream errored out']);

const ignore = (): void => undefined;

/** Returns true for the library's report that an acknowledgement was not sent. The gateway delays the acknowledgement on purpose, and sends it later. */
const isHeld = (fields: unknown): boolean =>
  typeof fields === 'object' && fields !== null && 'ackErr' in fields && fields.ackErr === ackHeld;

/** Removes long numbers from a text, because they identify people. */
const anonymous = (sentence: string): string => sentence.replace(/\d{5,}/g, '…').slice(0, 160);

interface LoggerHooks {
  /** Returns true if the connection has ended. Errors of its requests are then expected. */
  over?(): boolean;
  /** Gets a record of the shared state for which the library has no event. The library's log is the only source of such records. */
  unread?(action: SharedAction): void;
}

export const createBaileysLogger = (log: Log, instance: string, { over = () => false, unread }: LoggerHooks = {}): BaileysLogger => {
  const read = (fields: unknown, message?: string): void => {
    const action = unread && unreadActionOf(fields, message);
    if (action) unread(action);
  };
  const logger: BaileysLogger = {
    level: 'error',
    child: () => logger,
    trace: read,
    debug: read,
    info: ignore,
    warn: ignore,
    error: (fields, message) => {
      if (isHeld(fields)) return;
      const sentence = message ?? (typeof fields === 'string' ? fields : '');
      log[reportedElsewhere.has(sentence) || over() ? 'debug' : 'warn'](
        { instance, detail: anonymous(sentence) },
        'platform.library-error',
      );
    },
  };
  return logger;
};
