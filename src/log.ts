/**
 * The log: one line per outcome, constant event names, values as fields. Only the type, message, stack, code and causes of an error are logged, because
 * other fields may be secret. A message of the database that quotes a value is left out.
 */
import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Log, LogLevel, LogLevels } from '#actors/ports.ts';
import { framesOf } from '#src/base/stack-frames.ts';

// The output of the log. A full disk or a stalled reader must not end the sessions, so lines that cannot be written are dropped and
// counted.

/** The longest wait for a full pipe. The wait blocks all sessions, so after a lost line it is skipped until a line can be written again. In milliseconds. */
const patience = 1_000;
const pause = 10;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

export class LogOutput {
  readonly #file: number;
  readonly #onRecovered: (lines: number, code: string) => void;
  #lost = 0;
  #code = '';
  /** True if the last line was written only in part. */
  #isTorn = false;

  /**
   * Opens the output on a file descriptor. `onRecovered` is called in a later turn, after the first line that could be written again. It gets
   * the number of lost lines and the error code.
   */
  constructor(file: number, onRecovered: (lines: number, code: string) => void) {
    this.#file = file;
    this.#onRecovered = onRecovered;
  }

  /** Returns the number of lines that were lost since the last written line. */
  get lost(): number {
    return this.#lost;
  }

  /** Writes synchronously, so that a crash loses no line. Never throws. */
  write(line: string): void {
    try {
      this.#writeAll(Buffer.from(this.#isTorn ? `\n${line}` : line));
    } catch (error) {
      this.#lost += 1;
      this.#code = (error as NodeJS.ErrnoException).code ?? '';
      return;
    }
    if (this.#lost > 0) this.#recover();
  }

  #writeAll(bytes: Buffer): void {
    const deadline = performance.now() + (this.#lost > 0 ? 0 : patience);
    for (let written = 0; written < bytes.length;) {
      try {
        written += writeSync(this.#file, bytes, written);
        this.#isTorn = written < bytes.length;
      } catch (error) {
        // `EAGAIN` means that the pipe is full. The write is retried until the deadline.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > deadline) throw error;
        Atomics.wait(sleeper, 0, 0, pause);
      }
    }
  }

  #recover(): void {
    const [lines, code] = [this.#lost, this.#code];
    this.#lost = 0;
    setImmediate(() => this.#onRecovered(lines, code));
  }
}

interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: unknown;
  readonly cause?: LoggedError;
}

/**
 * Returns true for an error of PostgreSQL whose text quotes the refused value: a data exception or a violated constraint. The value may be the text of a
 * message.
 */
const quotesValue = (error: Error, code: unknown): boolean => 'severity' in error && /^2[23]/.test(String(code));

/**
 * Returns the loggable part of an error. The error of a driver may contain rows, and the error of a request may contain its address. These fields are left out.
 */
export const loggable = (error: unknown, depth = 0): LoggedError | string => {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : 'not an error';
  const { code, cause } = error as Error & { code?: unknown };
  const reason = cause === undefined || depth > 3 ? undefined : loggable(cause, depth + 1);
  const isQuoting = quotesValue(error, code);
  return {
    type: error.name,
    message: isQuoting ? 'the database refused a value' : error.message,
    ...(error.stack === undefined ? {} : { stack: isQuoting ? framesOf(error.stack).join('\n') : error.stack }),
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined || typeof reason === 'string' ? {} : { cause: reason }),
  };
};

/** The format of log lines. `auto` writes readable lines to a terminal, and JSON otherwise. */
type LogFormat = 'auto' | 'json' | 'pretty';

/** Makes a stream of readable lines. Lines are written synchronously. A crash therefore loses no line. */
const forPeople = (output: LogOutput): DestinationStream => {
  const destination = new Writable({
    write(line: Buffer, _encoding, done) {
      output.write(line.toString());
      done();
    },
  });
  return pretty({ destination, colorize: process.stdout.isTTY, translateTime: 'HH:MM:ss.l', messageFormat: '{msg}' });
};

export const createLog = (level: string, format: LogFormat = 'json'): Logger => {
  const isPretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY);
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { error: (error: unknown) => loggable(error) },
    redact: { paths: ['token', 'admintoken', '*.token', '*.admintoken', 'headers', '*.headers'], remove: true },
  };
  const output = new LogOutput(process.stdout.fd, (lines, code) => log.warn({ lines, code }, 'log.linesLost'));
  const log: Logger = pino(options, isPretty ? forPeople(output) : output);
  return log;
};

// A log whose level can be changed for one instance. Lines name their instance in the field `instance`. If no instance has a level of its own, a line costs one
// more comparison.

/** A log that can make a child with another level, like pino's. */
export interface RootLog extends Log {
  child?(bindings: object, options: { readonly level: string }): Log;
}

interface Own {
  readonly level: LogLevel;
  readonly until: number;
  readonly log: Log;
}

/** The log levels that were set for single instances, each until a given time. */
class InstanceLevels implements LogLevels {
  readonly #root: RootLog;
  readonly #now: () => number;
  readonly #own = new Map<string, Own>();

  constructor(root: RootLog, now: () => number) {
    this.#root = root;
    this.#now = now;
  }

  set(instance: string, level: LogLevel, until: number): void {
    for (const one of this.#own.keys()) this.#current(one);
    this.#own.set(instance, { level, until, log: this.#root.child?.({}, { level }) ?? this.#root });
  }

  of(instance: string): ReturnType<LogLevels['of']> {
    const found = this.#current(instance);
    return found === null ? null : { level: found.level, until: found.until };
  }

  /** Returns the log for a line with these fields. */
  logFor(fields: object): Log {
    if (this.#own.size === 0) return this.#root;
    const { instance } = fields as { readonly instance?: unknown };
    return (typeof instance === 'string' ? this.#current(instance)?.log : null) ?? this.#root;
  }

  /** Returns the level that applies now. Forgets a level that ended. */
  #current(instance: string): Own | null {
    const found = this.#own.get(instance);
    if (found === undefined || found.until > this.#now()) return found ?? null;
    this.#own.delete(instance);
    return null;
  }
}

/** Returns the log and the levels of instances. `now` returns Unix milliseconds. */
export function withInstanceLevels(root: RootLog, now: () => number): { readonly log: Log; readonly logLevels: LogLevels } {
  const logLevels = new InstanceLevels(root, now);
  const log: Log = {
    debug: (fields, event) => logLevels.logFor(fields).debug(fields, event),
    info: (fields, event) => logLevels.logFor(fields).info(fields, event),
    warn: (fields, event) => logLevels.logFor(fields).warn(fields, event),
    error: (fields, event) => logLevels.logFor(fields).error(fields, event),
  };
  return { log, logLevels };
}
