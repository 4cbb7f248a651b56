/** Settings of files: how they are taken from clients, and what making others of them may cost. */
import { integer, milliseconds, text } from './kinds.ts';
import { group } from './setting.ts';

const media = group('Media');

export const mediaSettings = {
  mediaMaxBytes: media(
    integer(1_024, 2_147_483_648),
    67_108_864,
    'Largest file in bytes that is taken from a client, and largest one that is made of it. 64 MiB are over what the platform shows as video, and a file of that size is fetched within MEDIA_FETCH_MS by a line of 10 Mbit/s.',
  ),
  mediaFetchMs: media(
    milliseconds(100, 3_600_000),
    60_000,
    'Longest time for fetching a file from an address. A request waits for it; a client gives up after a minute.',
  ),
  mediaSilenceMs: media(
    milliseconds(100, 600_000),
    10_000,
    'How long the server of such an address may say nothing: until it is connected, until it answers, and between two pieces.',
  ),
  mediaJobs: media(
    integer(1, 64),
    2,
    'Pictures that are converted at once, and as many audio and video files beside them; further ones wait. One for each core of a small machine: each takes a whole core, and a picture of MEDIA_MAX_PIXELS up to 300 MB.',
  ),
  mediaConvertMs: media(
    milliseconds(1_000, 3_600_000),
    120_000,
    'Longest time for converting a file, with the time in which it waits for its turn. Two minutes convert a video of some minutes on 2 cores.',
  ),
  mediaMaxPixels: media(
    integer(1_000_000, 1_000_000_000),
    50_000_000,
    'Most pixels of a picture, of all frames together; one with more is refused before it is unpacked. The cameras of phones make 50 million.',
  ),
  mediaMaxSide: media(
    integer(1_600, 100_000),
    9_999,
    'Longest side of a picture in pixels. The cameras of phones make some 9,000; a picture of one row of millions of pixels takes a thread for seconds. As a document it goes out as it is.',
  ),
  ffmpegPath: media(
    text,
    'ffmpeg',
    'The program that converts audio and video, with `ffprobe` beside it: a path, or a name that is looked for in PATH. Where it is missing, files that need it are answered with 415.',
  ),
} as const;
