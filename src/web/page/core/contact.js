/**
 * The contact with the server. Requests and streams report it, and a heartbeat asks where they are silent. The shell shows when the contact is lost, and
 * what could not be loaded is loaded again when it is back.
 */
import { signal } from '@preact/signals';

/** Unix milliseconds of the last answer, by the browser's clock. */
let answeredAt = Date.now();

/** The time of the last answer while the server does not answer, in Unix milliseconds; null while it does. */
export const lostSince = signal(/** @type {number | null} */ (null));

/** The number of times that a lost contact came back. */
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
 * Calls the listener each time that a lost contact is back. Returns a function that ends this.
 * @param {() => void} listener
 */
export const whenBack = (listener) => {
  const before = returns.peek();
  return returns.subscribe((now) => now !== before && listener());
};

/** Statuses of a proxy that does not reach the server and answers in its place. @type {ReadonlySet<number>} */
export const ofProxies = new Set([502, 504]);

/** The heartbeat asks after this time without an answer, and this often while the contact is lost. In milliseconds. */
const [quietMs, lostMs] = [10_000, 2_000];
/** An answer of a healthy server takes some milliseconds. */
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

/** Asks the server whether it is there, while somebody sees the page. */
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
