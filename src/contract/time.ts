/** The formats of times in the interface. Both are total: a damaged row may hold any number, and must not fail an answer about all rows. */

/** The first and the last moment with a year of four digits, which every client reads. Unix milliseconds. */
const [first, last] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** Returns the time as `2026-08-19T17:36:34.345Z`. A time outside the years 1 to 9999 becomes the nearest one within. */
export const isoTime = (ms: number): string => new Date(Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, first), last)).toISOString();

/** Returns the time as `2026-08-19 17:36:34.345Z`, in UTC, and '' for a missing time. */
export const timeText = (ms: number | null): string => (ms === null ? '' : isoTime(ms).replace('T', ' '));
