/** The logger that Baileys gets: it passes on the sentence of an error and never an object, since those hold keys, nodes and messages. */
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

/** The session reports closes itself, together with their meaning. */
const reportedElsewhere: ReadonlySet<string> = new Set(['stream errored out']);

const ignore = (): void => undefined;

/** The library reports that it could not send an acknowledgement, which the gateway sends later. */
const isHeld = (fields: unknown): boolean =>
  typeof fields === 'object' && fields !== null && 'ackErr' in fields && fields.ackErr === ackHeld;

/** The numbers in a sentence identify people. The rest of the sentence is constant. */
const anonymous = (sentence: string): string => sentence.replace(/\d{5,}/g, '…').slice(0, 160);

interface LoggerHooks {
  /** Errors of requests that fail only because the connection has ended. */
  over?(): boolean;
  /** A record of the shared state that the library has no event for. Its log is the only place where it hands them out. */
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
