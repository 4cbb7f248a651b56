/** The log: one line per outcome, constant event names, values as fields; errors without what may be secret in them. */
import { Writable } from 'node:stream';
import { type DestinationStream, pino, type Logger } from 'pino';
import pretty from 'pino-pretty';
import { LogOutput } from './log-output.ts';

interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: unknown;
  readonly cause?: LoggedError;
}

/** Returns the loggable part of an error. A driver's error may carry rows, a request's error its address, so only fields without values are kept. */
const loggable = (error: unknown, depth = 0): LoggedError | string => {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : 'not an error';
  const { code, cause } = error as Error & { code?: unknown };
  const reason = cause === undefined || depth > 3 ? undefined : loggable(cause, depth + 1);
  return {
    type: error.name,
    message: error.message,
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined || typeof reason === 'string' ? {} : { cause: reason }),
  };
};

/** The format of log lines. `auto`: for people in a terminal, JSON otherwise. */
export type LogFormat = 'auto' | 'json' | 'pretty';

/** Lines for people, written at once, so that a crash loses none. */
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
