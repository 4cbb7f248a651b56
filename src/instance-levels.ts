/** A log whose level can be changed for one instance, by the `instance` that its lines name. It costs a comparison while no level is set. */
import type { Log, LogLevel, LogLevels } from '#actors/ports.ts';

/** A log that can be made at another level, as pino's. */
export interface RootLog extends Log {
  child?(bindings: object, options: { readonly level: string }): Log;
}

interface Own {
  readonly level: LogLevel;
  readonly until: number;
  readonly log: Log;
}

/** The log, and the levels of its instances. `now`: Unix milliseconds. */
export function withInstanceLevels(root: RootLog, now: () => number): { readonly log: Log; readonly logLevels: LogLevels } {
  const own = new Map<string, Own>();
  const current = (instance: string): Own | null => {
    const found = own.get(instance);
    if (found === undefined || found.until > now()) return found ?? null;
    own.delete(instance);
    return null;
  };
  const logFor = (fields: object): Log => {
    if (own.size === 0) return root;
    const { instance } = fields as { readonly instance?: unknown };
    return (typeof instance === 'string' ? current(instance)?.log : null) ?? root;
  };
  const log: Log = {
    debug: (fields, event) => logFor(fields).debug(fields, event),
    info: (fields, event) => logFor(fields).info(fields, event),
    warn: (fields, event) => logFor(fields).warn(fields, event),
    error: (fields, event) => logFor(fields).error(fields, event),
  };
  const logLevels: LogLevels = {
    set: (instance, level, until) => void own.set(instance, { level, until, log: root.child?.({}, { level }) ?? root }),
    of: (instance) => {
      const found = current(instance);
      return found === null ? null : { level: found.level, until: found.until };
    },
  };
  return { log, logLevels };
}
