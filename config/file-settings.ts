/** Settings of kept files: where they are, for how long, and how those of messages are fetched. */
import { integer, milliseconds, secretText, text, url, wordsOf } from './kinds.ts';
import { group } from './setting.ts';

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
  filesBucketSilenceMs: files(
    milliseconds(100, 600_000),
    15_000,
    'How long the bucket may say nothing before the answer is 503. Such a service answers in under a second.',
  ),
  downloadMaxBytes: files(
    integer(1_024, 4_294_967_296),
    268_435_456,
    'Largest file of a message in bytes that is downloaded. 256 MiB are over what phones send but for documents; the file goes to the disk and never into memory.',
  ),
  downloadMs: files(
    milliseconds(1_000, 3_600_000),
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
  downloadsAtOnce: files(
    integer(1, 1_000),
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
  transcribeMs: files(
    milliseconds(1_000, 600_000),
    60_000,
    'How long a transcription may take. A voice message of several minutes takes some 10 s.',
  ),
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
