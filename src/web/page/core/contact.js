/**
 * The contact with the server. Requests and streams report answers and failures, and a heartbeat asks the server when both are silent. The shell shows that
 * the contact is lost. Views whose requests failed load again when the contact is back.
 */
import { signal } from '@preact/signals';

/** Unix milliseconds of the last answer, by the browser's clock. */
let answeredAt = Date.now();

/** The time of the last answer before the contact was lost; null while the server answers. In Unix milliseconds. */
export const lostSince = signal(/** @type {number | null} */ (null));

/** Counts how often a lost contact came back. */
const returns = signal(0);

export const hasAnswered = () => {
  answeredAt = Date.now();
  if (lostSince.peek() === null) return;
  lostSince.value = null;
  returns.value += 1;
};

export const isSilent = () => {
  lostSince.value ??= answeredAt;
};

/**
 * Calls the listener each time that a lost contact is back. Returns a function that removes the listener.
 * @param {() => void} listener
 */
export const whenBack = (listener) => {
  const before = returns.peek();
  return returns.subscribe((now) => now !== before && listener());
};

/** Statuses of a proxy that does not reach the server and answers in its place. @type {ReadonlySet<number>} */
export const ofProxies = new Set([502, 504]);

/** The heartbeat asks after `quietMs` without an answer, and every `lostMs` while the contact is lost. In milliseconds. */
const [quietMs, lostMs] = [10_000, 2_000];
/** The time-out of a heartbeat, in milliseconds. A healthy server answers within some milliseconds. */
const patienceMs = 8_000;

const beat = async () => {
  try {
    const response = await fetch('/health/live', { cache: 'no-store', signal: AbortSignal.timeout(patienceMs) });
    if (ofProxies.has(response.status)) isSilent();
    else hasAnswered();
  } catch {
    isSilent();
  }
};

/** Starts the heartbeat, which pauses while the page is hidden. */
export const startHeartbeat = () => {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const next = async () => {
    clearTimeout(timer);
    const isDue = lostSince.peek() !== null || Date.now() - answeredAt >= quietMs;
    if (isDue && !document.hidden) await beat();
    clearTimeout(timer);
    timer = setTimeout(next, lostMs);
  };
  document.addEventListener('visibilitychange', () => void next());
  void next();
};
