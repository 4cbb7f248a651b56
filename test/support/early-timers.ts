/**
 * For `node --import`: timers of EARLY_TIMER_MS fire when the process gets SIGWINCH, and not later. Other timers do not change. A test uses this to
 * start work that a gateway does every ten minutes.
 */
const early = Number(process.env['EARLY_TIMER_MS'] ?? 0);
const waiting = new Map<NodeJS.Timeout, () => void>();
const { setTimeout: later, clearTimeout: forget } = globalThis;

process.on('SIGWINCH', () => {
  const all = [...waiting];
  waiting.clear();
  for (const [timer, ring] of all) {
    forget(timer);
    ring();
  }
});

const set = (fn: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): NodeJS.Timeout => {
  if (ms !== early) return later(fn, ms, ...args);
  const ring = (): void => {
    waiting.delete(timer);
    fn(...args);
  };
  const timer = later(ring, ms);
  waiting.set(timer, ring);
  return timer;
};

globalThis.setTimeout = Object.assign(set, later);
globalThis.clearTimeout = (timer) => {
  waiting.delete(timer as NodeJS.Timeout);
  forget(timer);
};
