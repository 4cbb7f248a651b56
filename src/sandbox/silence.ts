/**
 * Switches `console` off, because the Signal library prints sessions with their private keys to it. The sandbox itself does not use
 * `console`.
 */
const methods = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const;

export function silenceSignal(): void {
  const nothing = (): void => undefined;
  for (const method of methods) globalThis.console[method] = nothing;
}
