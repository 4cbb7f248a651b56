/** Constants of groups, channels, pictures and leads. */
import { fixed } from './kinds.ts';

// Constants of channels.

export const channelSettings = {
  channelsMaxAgeMs: fixed(
    604_800_000,
    'The age at which a login fetches the list of all channels from the platform again. A week is enough, because the platform reports every change, also changes while a session was offline.',
  ),
} as const;

// Constants of groups.

export const groupSettings = {
  groupsMaxAgeMs: fixed(
    604_800_000,
    'The age at which a login fetches the list of all groups from the platform again. A week is enough, because the platform reports every change, also changes while a session was offline. The list of a thousand groups is megabytes.',
  ),
  groupsForceEveryMs: fixed(
    20_000,
    'The time in which the list of groups honours `force` once. Clients of this interface expect 20 s. The platform refuses bursts of such requests with 429.',
  ),
} as const;

// Constants of leads.

export const leadSettings = {
  definitionsPerInstance: fixed(
    1_000,
    'The tags of leads that one instance may have. The same limit holds for the quick replies that the gateway keeps. A further one gets 429. All tags are listed at once. A board with a hundred columns is not readable.',
  ),
} as const;

// Constants of the pictures of people and groups that are looked up in the background.

export const pictureSettings = {
  picturesAtOnce: fixed(
    20,
    'The pictures that one session may look up at once, after a pause. A phone asks for twenty when its list of chats is opened.',
  ),
  pictureEveryMs: fixed(
    3_000,
    'The time until a session may look up one more picture. One in 3 s makes 1,200 an hour, about as many as a person who scrolls through chats now and then. A contact who writes often is looked up once.',
  ),
  pictureKeepMs: fixed(
    172_800_000,
    'The time for which an answer counts, also an answer that there is no picture or that it is hidden. Addresses of pictures work for several days, and the platform reports changes.',
  ),
  picturesWaiting: fixed(
    500,
    'The people and groups of one session that may wait for a look-up. Further ones are looked up at a later message. 500 are 25 minutes of work at the usual pace.',
  ),
  smallPictureBytes: fixed(
    67_108_864,
    'The memory for the pictures of all accounts that the dashboard shows. A picture takes 10 KB at most, so 64 MiB hold those of about 6,500 sessions. The oldest pictures are removed for new ones. The dashboard shows initials in their place.',
  ),
  picturesRemembered: fixed(500, 'The latest answers of one session in memory. All of them are in the database. 500 take 150 KB.'),
} as const;
