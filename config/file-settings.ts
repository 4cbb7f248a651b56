/** Settings of files: intake, conversion, storage and expiry, and the transfer of files of messages. */
import { fixed, group, integer, secretText, text, url, wordsOf } from './kinds.ts';

// Settings of kept files: their place, their retention, and the downloads of files of messages.

const files = group('Files');

/** The kind of a time in days. The limit is a century. */
const days = integer(0, 36_500);

export const fileSettings = {
  filesKeepDays: files(
    days,
    30,
    'The days after its last use for which a file is kept. 0 is for ever. A month is longer than the two to three weeks for which the platform keeps media. A file that was removed earlier can be downloaded again.',
  ),
  filesMaxBytes: files(
    integer(0, 1_000_000_000_000_000),
    10_737_418_240,
    'The bytes of all files together, or of each node without a bucket. Beyond it, the files unused for longest are removed first. 0 is no limit. 10 GiB fit on the disk of a small server and hold about 50,000 pictures.',
  ),
  filesBucket: files(
    url('https:', 'http:'),
    null,
    'The address of an S3 bucket, with its name as the first part of the host or as the path: `https://s3.example.com/bucket`. Without a value files are in the data folder, which needs no service. The folder `dormouse/` of the bucket belongs to this gateway alone.',
  ),
  filesBucketRegion: files(
    text,
    'auto',
    'The region of the bucket. Most services take the default, `auto`. AWS needs the name of the region.',
  ),
  filesBucketKeyId: files(text, '', 'The id of the access key of the bucket.'),
  filesBucketSecret: files(secretText, '', 'The secret of the access key of the bucket.'),
  filesBucketSilenceMs: fixed(
    15_000,
    'The time that the bucket may be silent before the answer is 503. A healthy bucket answers in less than a second.',
  ),
  downloadMaxBytes: files(
    integer(1_024, 4_294_967_296),
    268_435_456,
    'The largest file of a message in bytes that is downloaded. 256 MiB are more than phones send, except for documents. The file goes to the disk and never into memory.',
  ),
  downloadMs: fixed(
    300_000,
    'The longest time for a download as a whole. Five minutes bring DOWNLOAD_MAX_BYTES over a line of 8 Mbit/s. Clients stop waiting after 30 s, and find the file when they ask again.',
  ),
  downloadSilenceMs: fixed(15_000, "The time that the platform's media host may be silent, before it answers and between two pieces."),
  downloadPhoneMs: fixed(
    30_000,
    'The time in which the phone may upload a file again that the media host has dropped. A phone that is off never answers.',
  ),
  downloadsAtOnce: fixed(
    8,
    'The downloads of all instances that are open at once. Further ones wait. Instances take turns, and one instance has at most half of the downloads. 8 fill a line of 100 Mbit/s, and leave the processor to the messages.',
  ),
  importMaxBytes: files(
    integer(1_048_576, 1_099_511_627_776),
    1_073_741_824,
    'The largest upload of POST /admin/import in bytes, also after it is unpacked. A session has about 300 KB, so 1 GiB holds about 3,000 sessions.',
  ),
  base64MaxBytes: fixed(
    33_554_432,
    'The largest file in bytes that an answer gives as base64. A larger file is read at its address. The whole text is in memory. A file of 32 MiB is a text of 43 MiB.',
  ),
  transcribeUrl: files(
    url('https:', 'http:'),
    'https://api.openai.com/v1',
    'The service that transcribes speech, in the form of OpenAI. The gateway appends `/audio/transcriptions`. ALLOW_PRIVATE_RECEIVERS applies.',
  ),
  transcribeModel: files(text, 'whisper-1', 'The model that transcribes. Every service of this form has the default.'),
  transcribeMs: fixed(60_000, 'The time that a transcription may take. A voice message of several minutes takes about 10 s.'),
  autoDownload: files(
    wordsOf('image', 'video', 'audio', 'document', 'sticker'),
    [],
    'The kinds of media that are downloaded on arrival, before their event goes out: `image`, `video`, `audio`, `document`, `sticker`, or `all`. The default is `none`, because most integrators read few of the files, and each costs traffic and disk.',
  ),
  autoDownloadMaxBytes: files(
    integer(1, 4_294_967_296),
    16_777_216,
    'The size in bytes above which media is not downloaded on arrival. The platform compresses videos to 16 MiB.',
  ),
  autoDownloadWaitMs: fixed(
    10_000,
    'The time that the event of a message waits for its file. After it the event goes out without the file, and `messages_update` reports the file later. Only events of the same chat wait.',
  ),
  receiptsKeepDays: files(
    days,
    30,
    'The days for which the receipts of each group member for an own message are kept. Later only their counts are kept. 0 keeps them as long as the message. A message to a group of 500 leaves 190 KB of receipts, and no other table grows as fast. After a month, the readers of a message are rarely of interest.',
  ),
  messagesKeepDays: files(
    days,
    180,
    'The days for which messages are kept. 0 is for ever. Half a year covers most questions to a support team. Older messages belong in another database, because the disk fills up without a limit.',
  ),
} as const;

// Settings of the files that clients send, and of their conversion.

const media = group('Media');

export const mediaSettings = {
  mediaMaxBytes: media(
    integer(1_024, 2_147_483_648),
    67_108_864,
    'The largest file in bytes that a client may send, and the largest result of a conversion. 64 MiB are more than the platform shows as video. A line of 10 Mbit/s fetches such a file in about a minute.',
  ),
  mediaFetchMs: fixed(
    60_000,
    'The longest time for fetching a file from an address. A request waits for it, and a client gives up after a minute.',
  ),
  mediaSilenceMs: fixed(
    10_000,
    'The time that the server of a fetched address may be silent: before it is connected, before it answers, and between two pieces.',
  ),
  mediaJobs: media(
    integer(1, 64),
    2,
    'The pictures that are converted at once, and as many audio and video files. Further ones wait. Instances take turns, and one instance has at most half of the conversions while others wait. The default is one for each core of a small machine. Each takes a whole core, and a picture of MEDIA_MAX_PIXELS up to 300 MB.',
  ),
  mediaConvertMs: fixed(
    120_000,
    'The longest time for converting a file, without its time in the queue. Two minutes convert a video of some minutes on 2 cores.',
  ),
  mediaTurnMs: fixed(
    120_000,
    'The longest time that a file waits in the queue for its conversion. A longer wait helps no client, because a client gives up after a minute.',
  ),
  mediaMaxPixels: media(
    integer(1_000_000, 1_000_000_000),
    50_000_000,
    'The largest number of pixels of a picture, for all frames together. A larger picture is refused before it is unpacked. The cameras of phones make 50 million.',
  ),
  mediaMaxSide: fixed(
    9_999,
    'The longest side of a picture in pixels. The cameras of phones make about 9,000. A picture of one row of millions of pixels takes a thread for seconds. A larger picture goes out unchanged if it is sent as a document.',
  ),
  ffmpegPath: media(
    text,
    'ffmpeg',
    'The program that converts audio and video, with `ffprobe` beside it. It is a path, or a name in PATH. Without the program, files that need it get 415.',
  ),
} as const;

// Settings of uploads to the platform.

export const uploadSettings = {
  mediaUploadMs: fixed(
    300_000,
    'The longest time for uploading a file to the platform, retries included. Five minutes carry 64 MiB over a line of 2 Mbit/s.',
  ),
  mediaUploadSilenceMs: fixed(
    15_000,
    'The time for which a media host may accept no bytes of an upload before the next host is tried. A healthy host accepts data every second.',
  ),
  mediaUploadsRemembered: fixed(
    200,
    'The uploads of one session that are reused for the same file within an hour. Each takes half a kilobyte. Up to twice as many may be held.',
  ),
} as const;
