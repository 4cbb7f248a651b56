/** The log: one JSON line per outcome, constant event names, values as fields; errors without what may be secret in them. */
import { pino, type Logger } from 'pino';

interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: unknown;
  readonly cause?: LoggedError;
}

/** Of an error only what is never a value of ours: a driver's error may carry rows, a request's error its address. */
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

export const createLog = (level: string): Logger =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { error: (error: unknown) => loggable(error) },
    redact: { paths: ['token', 'admintoken', '*.token', '*.admintoken', 'headers', '*.headers'], remove: true },
  });
