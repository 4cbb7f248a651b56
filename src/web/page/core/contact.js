/** The contact with the server: requests and streams report it, and the shell shows when it is lost. */
import { signal } from '@preact/signals';

/** Unix milliseconds of the last answer, by the browser's clock. */
let answeredAt = Date.now();

/** The time of the last answer while the server does not answer, in Unix milliseconds; null while it does. */
export const lostSince = signal(/** @type {number | null} */ (null));

export const hasAnswered = () => {
  answeredAt = Date.now();
  lostSince.value = null;
};

export const isSilent = () => {
  lostSince.value ??= answeredAt;
};
