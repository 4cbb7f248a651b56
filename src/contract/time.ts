/** How times are written in the interface: `2026-08-19 17:36:34.345Z`, in UTC, and '' for a time that never was. */
export const timeText = (ms: number | null): string => (ms === null ? '' : new Date(ms).toISOString().replace('T', ' '));
