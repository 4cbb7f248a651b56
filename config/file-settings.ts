/** Settings of files: how they are taken and made, where they are kept and for how long, and how those of messages are fetched and sent. */
import { fixed, group, integer, milliseconds, secretText, text, url, wordsOf } from './kinds.ts';

// Settings of kept files: where they are, for how long, and how those of messages are fetched.

const files = group('Files');

/** Longest time that can be said in days: a century. */
const days = integer(0, 36_500);

export const fileSettings = {
  filesKeepDays: files(
    days,
    30,
    'Days after its last use for which a file is kept; 0 is for ever. The platform drops media after two to three weeks, so that a month outlives it; a file that was removed earlier can be downloaded again.',
  ),
  filesMaxBytes: files(
    integer(0, 1_000_000_000_000_000),
    10_737_418_240,
    'Bytes of all files together, without a bucket of those of each node; beyond it those unused for longest go first. 0 is no limit. 10 GiB fit on the disk of a small server and hold some 50,000 pictures.',
  ),
  filesBucket: files(
    url('https:', 'http:'),
    null,
    'Address of a bucket that speaks S3, with its name as the first part of the host or as the path: `https://s3.example.com/bucket`. Absent, files are in the data folder, which needs no service. Its `dormouse/` belongs to this gateway alone.',
  ),
  filesBucketRegion: files(text, 'auto', 'Region of the bucket. `auto` is what most services take; AWS wants its own name.'),
  filesBucketKeyId: files(text, '', 'Id of the access key of the bucket.'),
  filesBucketSecret: files(secretText, '', 'Secret of the access key of the bucket.'),
  filesBucketSilenceMs: fixed(
    15_000,
    'How long the bucket may say nothing before the answer is 503. Such a service answers in under a second.',
  ),
  downloadMaxBytes: files(
    integer(1_024, 4_294_967_296),
    268_435_456,
    'Largest file of a message in bytes that is downloaded. 256 MiB are over what phones send but for documents; the file goes to the disk and never into memory.',
  ),
  downloadMs: fixed(
    300_000,
    'Longest time for a download as a whole. Five minutes bring DOWNLOAD_MAX_BYTES over a line of 8 Mbit/s; clients stop waiting after 30 s and find it kept when they ask again.',
  ),
  downloadSilenceMs: files(
    milliseconds(100, 600_000),
    15_000,
    "How long the platform's media host may say nothing: until it answers, and between two pieces.",
  ),
  downloadPhoneMs: files(
    milliseconds(100, 600_000),
    30_000,
    'How long the phone gets to hand in again what the media host has dropped. It has to upload the file; a phone that is off never answers.',
  ),
  downloadsAtOnce: fixed(
    8,
    'Downloads under way at once, of all instances; further ones wait. 8 fill a line of 100 Mbit/s, and leave the processor to the messages.',
  ),
  importMaxBytes: files(
    integer(1_048_576, 1_099_511_627_776),
    1_073_741_824,
    'Largest upload of POST /admin/import in bytes, also after it is unpacked. A session has some 300 KB, so that 1 GiB holds about 3,000 of them.',
  ),
  base64MaxBytes: files(
    integer(1_024, 536_870_911),
    33_554_432,
    'Largest file in bytes that an answer gives as base64; a larger one is read at its address. The text is in memory as a whole: 32 MiB are 43 MB of it.',
  ),
  transcribeUrl: files(
    url('https:', 'http:'),
    'https://api.openai.com/v1',
    'Service that transcribes speech, in the form of OpenAI: `/audio/transcriptions` is added. Subject to ALLOW_PRIVATE_RECEIVERS.',
  ),
  transcribeModel: files(text, 'whisper-1', 'Model that transcribes. The one that every service of this form has.'),
  transcribeMs: fixed(60_000, 'How long a transcription may take. A voice message of several minutes takes some 10 s.'),
  autoDownload: files(
    wordsOf('image', 'video', 'audio', 'document', 'sticker'),
    [],
    'Kinds of media that are downloaded as they arrive, before their event goes out: `image`, `video`, `audio`, `document`, `sticker`, or `all`. None: most integrators read few of the files, and each costs traffic and disk.',
  ),
  autoDownloadMaxBytes: files(
    integer(1, 4_294_967_296),
    16_777_216,
    'Larger media is not downloaded by itself. 16 MiB are what the platform compresses videos to.',
  ),
  autoDownloadWaitMs: files(
    milliseconds(0, 60_000),
    10_000,
    'How long the event of a message waits for its file; then it goes out without, and `messages_update` tells of the file. Only events of the same chat wait with it.',
  ),
  receiptsKeepDays: files(
    days,
    30,
    'Days for which it is kept who in a group got, read and played an own message; then only how many did. 0 is as long as the message. A message to a group of 500 leaves 190 KB of receipts and no other table grows as fast; nobody asks who read a message of last month.',
  ),
  messagesKeepDays: files(
    days,
    180,
    'Days for which messages are kept; 0 is for ever. Half a year answers what support is asked; a longer memory belongs into a database of its own, and without an end the disk fills up.',
  ),
} as const;

// Settings of files: how they are taken from clients, and what making others of them may cost.

const media = group('Media');

export const mediaSettings = {
  mediaMaxBytes: media(
    integer(1_024, 2_147_483_648),
    67_108_864,
    'Largest file in bytes that is taken from a client, and largest one that is made of it. 64 MiB are over what the platform shows as video, and a file of that size is fetched in about a minute by a line of 10 Mbit/s.',
  ),
  mediaFetchMs: fixed(
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
  mediaConvertMs: fixed(
    120_000,
    'Longest time for converting a file, with the time in which it waits for its turn. Two minutes convert a video of some minutes on 2 cores.',
  ),
  mediaMaxPixels: media(
    integer(1_000_000, 1_000_000_000),
    50_000_000,
    'Most pixels of a picture, of all frames together; one with more is refused before it is unpacked. The cameras of phones make 50 million.',
  ),
  mediaMaxSide: fixed(
    9_999,
    'Longest side of a picture in pixels. The cameras of phones make some 9,000; a picture of one row of millions of pixels takes a thread for seconds. As a document it goes out as it is.',
  ),
  ffmpegPath: media(
    text,
    'ffmpeg',
    'The program that converts audio and video, with `ffprobe` beside it: a path, or a name that is looked for in PATH. Where it is missing, files that need it are answered with 415.',
  ),
} as const;

// Settings of uploads to the platform.

export const uploadSettings = {
  mediaUploadMs: fixed(
    300_000,
    'Longest time for uploading a file to the platform, retries included. Five minutes carry 64 MiB over a line of 2 Mbit/s.',
  ),
  mediaUploadSilenceMs: fixed(
    15_000,
    'How long a media host may take nothing of an upload before another one is tried. A healthy one takes something every second.',
  ),
  mediaUploadsRemembered: fixed(
    200,
    'Uploads of one session that are used again for the same file within an hour. Each takes half a kilobyte; twice as many may be held.',
  ),
} as const;
