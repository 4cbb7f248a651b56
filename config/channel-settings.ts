/** Settings of channels. */
import { age } from './kinds.ts';
import { group } from './setting.ts';

const channels = group('Channels');

export const channelSettings = {
  channelsMaxAgeMs: channels(
    age(0),
    604_800_000,
    'How old the list of all channels may be at a login before the platform is asked for it again. A week: the platform reports every change by itself, also those that happened while a session was away.',
  ),
} as const;
