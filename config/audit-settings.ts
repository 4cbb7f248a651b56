/** Settings of the people who operate the gateway. */
import { group, integer } from './kinds.ts';

const people = group('People');

export const auditSettings = {
  auditKeepDays: people(
    integer(0, 36_500),
    400,
    'The days for which entries of the audit log are kept. 0 is for ever, up to AUDIT_MAX_ENTRIES. The default is a year and a month, so that a yearly review finds its whole year.',
  ),
  auditMaxEntries: people(
    integer(1_000, 10_000_000),
    100_000,
    'The latest entries of the audit log that are kept. Entries of instance tokens are counted apart, so that the owner of a token cannot push out entries of administrators. 100,000 entries of each kind take about 40 MB. They hold 270 changes a day for a year.',
  ),
} as const;
