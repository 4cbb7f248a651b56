/** The format of times in the interface: `2026-08-19 17:36:34.345Z`, in UTC, and '' for a missing time. */
export const timeText = (ms: number | null): string => (ms === null ? '' : new Date(ms).toISOString().replace('T', ' '));
