/** Settings of the people who operate the gateway. */
import { group, integer } from './kinds.ts';

const people = group('People');

export const auditSettings = {
  auditKeepDays: people(
    integer(0, 36_500),
    400,
    'Days for which entries of the audit log are kept; 0 is for ever, up to AUDIT_MAX_ENTRIES. A year and a month, so that a yearly review finds its whole year.',
  ),
  auditMaxEntries: people(
    integer(1_000, 10_000_000),
    100_000,
    'Entries of the audit log that are kept, the latest ones; the entries of instance tokens are counted apart, so that the owner of a token cannot push out what administrators did. 100,000 of each take some 40 MB, and are 270 changes a day for a year.',
  ),
} as const;
