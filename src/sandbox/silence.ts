/** Switches `console` off, because the Signal library prints sessions with their private keys to it. Nothing else here uses `console`. */
const methods = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const;

export function silenceSignal(): void {
  const nothing = (): void => undefined;
  for (const method of methods) globalThis.console[method] = nothing;
}
