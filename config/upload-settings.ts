/** Settings of uploads to the platform. */
import { integer, milliseconds } from './kinds.ts';
import { group } from './setting.ts';

const media = group('Media');

export const uploadSettings = {
  mediaUploadMs: media(
    milliseconds(1_000, 3_600_000),
    300_000,
    'Longest time for uploading a file to the platform, retries included. Five minutes carry 64 MiB over a line of 2 Mbit/s.',
  ),
  mediaUploadSilenceMs: media(
    milliseconds(100, 600_000),
    15_000,
    'How long a media host may take nothing of an upload before another one is tried. A healthy one takes something every second.',
  ),
  mediaUploadsRemembered: media(
    integer(1, 100_000),
    200,
    'Uploads of one session that are used again for the same file within an hour. Each takes half a kilobyte; twice as many may be held.',
  ),
} as const;
