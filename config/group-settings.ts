/** Settings of groups. */
import { age, milliseconds } from './kinds.ts';
import { group } from './setting.ts';

const groups = group('Groups');

export const groupSettings = {
  groupsMaxAgeMs: groups(
    age(0),
    604_800_000,
    'How old the list of all groups may be at a login before the platform is asked for it again. A week: the platform reports every change by itself, also those that happened while a session was away, and the list of a thousand groups is megabytes.',
  ),
  groupsForceEveryMs: groups(
    milliseconds(0),
    20_000,
    'Time in which `force` of the list of groups is honoured once. 20 s, as integrators know it: the platform refuses bursts of such requests with 429.',
  ),
} as const;
