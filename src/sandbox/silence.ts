/** The Signal library prints whole sessions, private keys included, through `console`; nothing else here uses it. */
const methods = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const;

export function silenceSignal(): void {
  const nothing = (): void => undefined;
  for (const method of methods) globalThis.console[method] = nothing;
}
