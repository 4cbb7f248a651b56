/** Formats the times of a session's page. */
import { age, t, timeOfDay } from '../texts.js';
import { now } from './live.js';

const day = new Intl.DateTimeFormat(document.documentElement.lang, { day: 'numeric', month: 'short' });
const dayMs = 86_400_000;

/** Formats a time such as `23:24:07`, with its day if it is more than 12 hours away. @param {number} at */
export const timeText = (at) => (Math.abs(now.value - at) > dayMs / 2 ? `${day.format(at)} ${timeOfDay(at)}` : timeOfDay(at));

/** Formats the duration since a time, such as `4 min`. @param {number} at 0: never. */
export const sinceText = (at) => (at === 0 ? t('never') : age(Math.max(0, now.value - at)));

/** Formats the duration until a time. @param {number} at */
export const untilText = (at) => age(Math.max(0, at - now.value + 500));

/** Formats the time in the current state, or the time until the next attempt. @param {{ since: number, retryAt: number | null }} where */
export const clockText = ({ since, retryAt }) => (retryAt === null ? sinceText(since) : t('nextTryIn', { age: untilText(retryAt) }));

/** Formats a duration, such as `1 min 13 s`. @param {number} ms */
export const spanText = (ms) => {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60 || seconds >= 3_600) return age(ms);
  return seconds % 60 === 0 ? age(ms) : `${age(ms)} ${t('ageSeconds', { n: seconds % 60 })}`;
};
