/** Settings of groups, channels, pictures, and of what is kept about chats. */
import { fixed, group, integer, milliseconds } from './kinds.ts';

// Constants of channels.

export const channelSettings = {
  channelsMaxAgeMs: fixed(
    604_800_000,
    'How old the list of all channels may be at a login before the platform is asked for it again. A week: the platform reports every change by itself, also those that happened while a session was away.',
  ),
} as const;

// Settings of groups.

const groups = group('Groups');

export const groupSettings = {
  groupsMaxAgeMs: fixed(
    604_800_000,
    'How old the list of all groups may be at a login before the platform is asked for it again. A week: the platform reports every change by itself, also those that happened while a session was away, and the list of a thousand groups is megabytes.',
  ),
  groupsForceEveryMs: groups(
    milliseconds(0),
    20_000,
    'Time in which `force` of the list of groups is honoured once. 20 s, as integrators know it: the platform refuses bursts of such requests with 429.',
  ),
} as const;

// Settings of what is kept about chats.

const leads = group('Leads');

export const leadSettings = {
  definitionsPerInstance: leads(
    integer(1, 100_000),
    1_000,
    'Tags of leads that one instance may have, and as many quick replies that are kept here; one more is refused with 429. They are listed all at once, and a board with a hundred columns is not readable.',
  ),
} as const;

// Settings of the pictures of people and groups that are looked up in the background.

const pictures = group('Pictures of people and groups');

export const pictureSettings = {
  picturesAtOnce: fixed(
    20,
    'Pictures that one session may look up at once, after a pause. Twenty are what a phone asks for when somebody opens its list of chats.',
  ),
  pictureEveryMs: pictures(
    milliseconds(10),
    3_000,
    'Time until a session may look up one picture more. One in 3 s is 1,200 an hour, as somebody makes who scrolls through chats now and then; who writes often is looked up once.',
  ),
  pictureKeepMs: fixed(
    172_800_000,
    'How long an answer counts, also that there is no picture or that it is hidden. Two days: addresses of pictures work for several days, and the platform reports changes.',
  ),
  picturesWaiting: fixed(
    500,
    'People and groups of one session that may wait to be looked up; who comes beyond that is looked up at a later message. 500 are 25 minutes of work at the usual pace.',
  ),
  smallPictureBytes: fixed(
    67_108_864,
    'Memory for the pictures of all accounts that the dashboard shows. They take 10 KB at most, so that 64 MiB hold those of some 6,500 sessions; without room the oldest go, and initials are shown.',
  ),
  picturesRemembered: fixed(500, 'Answers of one session in memory, the latest first; all of them are in the database. 500 take 150 KB.'),
} as const;
