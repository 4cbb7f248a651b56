/** Prepares audio files, voice messages and videos: reads their tracks, and converts the file with ffmpeg if necessary. */
import { stat } from 'node:fs/promises';
import type { MediaKind } from '#actors/model.ts';
import { type Bench, type Maker, noFacts } from './bench.ts';
import { MediaFailure, tooManyBytes } from './bounded-work.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import { isWholeMp4, type TrackFacts } from './track-facts.ts';
import { type SourceFile, thumbnailSide } from './prepared.ts';

// Parts that audio and video share: reading the tracks of a file, and converting it with ffmpeg.

export const damaged = (mimetype: string): MediaFailure =>
  new MediaFailure('invalid', `the file begins like ${mimetype}, but it is damaged or cannot be decoded`);

const unfit = ({ mimetype }: SourceFile, as: string, hint = ''): MediaFailure =>
  new MediaFailure('notConvertible', `the file is ${mimetype}${hint}, which cannot be sent as ${as}`);

/** Returns ffmpeg for a file that has to be converted. Throws a refusal if this machine has no ffmpeg. */
const needFfmpeg = ({ ffmpeg }: Bench, { mimetype }: SourceFile, as: string): Ffmpeg => {
  if (ffmpeg) return ffmpeg;
  throw new MediaFailure(
    'notConvertible',
    `the file is ${mimetype} in a form that has to be converted for ${as}, which takes ffmpeg, and this server has none`,
  );
};

const mp4s = /^(?:video\/(?:mp4|x-m4v|quicktime|3gpp2?)|audio\/mp4)$/;

const look = async (file: SourceFile, { ffmpeg, media, task }: Bench): Promise<TrackFacts> => {
  if (ffmpeg && mp4s.test(file.mimetype) && !(await isWholeMp4(file.path))) throw damaged(file.mimetype);
  const facts = ffmpeg ? await ffmpeg.facts(file.path, task) : await media.tracks(file.path);
  if (!facts) throw damaged(file.mimetype);
  return facts;
};

/** Converts the file with the given output options. Returns the new file and its facts. */
const convert = async (
  file: SourceFile,
  ffmpeg: Ffmpeg,
  output: readonly string[],
  mimetype: string,
  { limits, task, newPath }: Pick<Bench, 'limits' | 'task' | 'newPath'>,
): Promise<SourceFile & { readonly facts: TrackFacts }> => {
  const { maxBytes } = limits;
  const target = newPath();
  const outcome = await ffmpeg.convert({ path: file.path, target, output, maxBytes }, task);
  if ('missing' in outcome) throw new MediaFailure('notConvertible', `the ffmpeg of this server has no encoder ${outcome.missing}`);
  if (outcome.problem !== null) throw damaged(file.mimetype);
  const { size } = await stat(target);
  if (size >= maxBytes) throw tooManyBytes(maxBytes);
  const facts = await ffmpeg.facts(target, task);
  if (!facts) throw damaged(file.mimetype);
  return { path: target, size, mimetype, facts };
};

// Prepares audio files and voice messages.

const voiceType = 'audio/ogg; codecs=opus';

const isSound = ({ mimetype }: SourceFile): boolean => /^(?:audio|video)\//.test(mimetype) || mimetype === 'application/ogg';

/** Containers that phones play, each with the codec that phones expect in the container, and the type with which the file is sent. */
const playable: readonly (readonly [RegExp, codec: string, sentAs: string])[] = [
  [/^audio\/mpeg$/, 'mp3', 'audio/mpeg'],
  [/^audio\/mp4$/, 'aac', 'audio/mp4'],
  [/^audio\/aac$/, 'aac', 'audio/aac'],
  [/^(?:audio|application)\/ogg/, 'opus', voiceType],
];

const soundAlone = ['-map', '0:a:0', '-vn', '-sn', '-dn'] as const;
const asM4a = [...soundAlone, '-c:a', 'aac', '-b:a', '128k', '-ac', '2', '-movflags', '+faststart', '-f', 'mp4'] as const;
/**
 * Options that make the output deterministic. Otherwise an OGG contains a random number, and the same sound would be stored and uploaded
 * again for each recipient.
 */
const asOgg = ['-fflags', '+bitexact', '-flags:a', '+bitexact', '-f', 'ogg'] as const;
const asVoice = [...soundAlone, '-c:a', 'libopus', '-b:a', '32k', '-application', 'voip', '-ac', '1', '-ar', '48000', ...asOgg] as const;
const voiceInOgg = [...soundAlone, '-c:a', 'copy', ...asOgg] as const;
const asMp3 = [...soundAlone, '-c:a', 'libmp3lame', '-q:a', '4', '-f', 'mp3'] as const;

const lookForSound = async (file: SourceFile, bench: Bench, as: string): Promise<TrackFacts> => {
  if (!isSound(file)) throw unfit(file, as);
  const facts = await look(file, bench);
  if (!facts.audio) throw unfit(file, as, ' without sound');
  return facts;
};

/** Prepares an `audio` or `myaudio`. A format that phones play stays unchanged; other formats become AAC. */
export const audioMaker: Maker = async (file, bench) => {
  const facts = await lookForSound(file, bench, 'audio');
  // Some recorders mark files that have only sound as videos, so the type is corrected.
  const mimetype = facts.video === null ? file.mimetype.replace(/^video\/(mp4|ogg)/, 'audio/$1') : file.mimetype;
  const fit = playable.find(([type, codec]) => type.test(mimetype) && facts.audio?.codec === codec);
  if (fit) return { ...noFacts, path: file.path, size: file.size, mimetype: fit[2], seconds: facts.seconds };
  const made = await convert(file, needFfmpeg(bench, file, 'audio'), asM4a, 'audio/mp4', bench);
  return { ...noFacts, path: made.path, size: made.size, mimetype: made.mimetype, seconds: made.facts.seconds };
};

/** Prepares a `ptt`: OGG with Opus in one channel. Such a file stays unchanged. */
export const voiceMaker: Maker = async (file, bench) => {
  const facts = await lookForSound(file, bench, 'ptt');
  const isVoice = facts.audio?.codec === 'opus' && facts.audio.channels === 1;
  const isFit = isVoice && /^(?:audio|application)\/ogg/.test(file.mimetype);
  const made = isFit
    ? { ...file, facts }
    : await convert(file, needFfmpeg(bench, file, 'ptt'), isVoice ? voiceInOgg : asVoice, voiceType, bench);
  const waveform = bench.ffmpeg ? await bench.ffmpeg.waveform(made.path, bench.task) : null;
  return { ...noFacts, path: made.path, size: made.size, mimetype: voiceType, seconds: made.facts.seconds, waveform };
};

/** Converts the sound of any file to MP3. An MP3 stays unchanged. */
export const mp3Maker: Maker = async (file, bench) => {
  const facts = await lookForSound(file, bench, 'MP3');
  if (file.mimetype === 'audio/mpeg' && facts.audio?.codec === 'mp3')
    return { ...noFacts, path: file.path, size: file.size, mimetype: file.mimetype, seconds: facts.seconds };
  const made = await convert(file, needFfmpeg(bench, file, 'MP3'), asMp3, 'audio/mpeg', bench);
  return { ...noFacts, path: made.path, size: made.size, mimetype: made.mimetype, seconds: made.facts.seconds };
};

// Prepares videos, round video messages, and videos that play like GIFs.

const longestEdge = 1_280;
/** Longest round video message that the platform accepts, with the fraction that a recorder adds. In seconds. */
const longestNote = 60.9;

type VideoKind = Extract<MediaKind, 'video' | 'videoplay' | 'ptv'>;

const isVideo = ({ mimetype }: SourceFile): boolean => mimetype.startsWith('video/') || mimetype === 'application/vnd.ms-asf';
const isMp4 = ({ mimetype }: SourceFile): boolean => mimetype === 'video/mp4' || mimetype === 'video/x-m4v';

/** Returns true for H.264 with eight bits and 4:2:0 colours, the only form that every phone decodes. */
const plays = ({ video }: TrackFacts): boolean =>
  video?.codec === 'h264' && (video.pixels === '' || video.pixels === 'yuv420p' || video.pixels === 'yuvj420p');
const sounds = ({ audio }: TrackFacts): boolean => audio === null || audio.codec === 'aac';

const scale = `scale=w='min(${longestEdge},iw)':h='min(${longestEdge},ih)':force_original_aspect_ratio=decrease:force_divisible_by=2`;
const picturesAlone = ['-map', '0:V:0', '-sn', '-dn'] as const;
const asH264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '25', '-pix_fmt', 'yuv420p', '-fpsmax', '30', '-vf', scale] as const;
const asAac = ['-c:a', 'aac', '-b:a', '128k', '-ac', '2'] as const;

const asMp4 = ['-movflags', '+faststart', '-f', 'mp4'] as const;

/** Returns the output options. Tracks that phones can play are copied, because converting costs time and quality. */
const outputFor = (facts: TrackFacts, as: VideoKind): readonly string[] => [
  ...picturesAlone,
  ...(as === 'videoplay' ? ['-an'] : ['-map', '0:a:0?']),
  ...(plays(facts) ? ['-c:v', 'copy'] : asH264),
  ...(sounds(facts) ? ['-c:a', 'copy'] : asAac),
  ...asMp4,
];

const lookForVideo = async (file: SourceFile, bench: Bench, as: VideoKind): Promise<TrackFacts> => {
  const isGif = as === 'videoplay' && file.mimetype === 'image/gif';
  if (!isVideo(file) && !isGif) throw unfit(file, as);
  // A GIF always needs ffmpeg, because the parser that replaces ffprobe cannot read a GIF.
  if (isGif) needFfmpeg(bench, file, as);
  const facts = await look(file, bench);
  if (!facts.video) throw unfit(file, as, ' without pictures');
  if (as === 'ptv' && (facts.seconds ?? 0) > longestNote)
    throw new MediaFailure('tooLarge', `a ptv lasts 60 seconds at most; this one lasts ${Math.round(facts.seconds ?? 0)}`);
  return facts;
};

/** Prepares a video: MP4 with H.264 and AAC. Such a file stays unchanged. */
export const videoMaker =
  (as: VideoKind): Maker =>
  async (file, bench) => {
    const facts = await lookForVideo(file, bench, as);
    const isFit = isMp4(file) && plays(facts) && sounds(facts);
    const made = isFit
      ? { ...file, mimetype: 'video/mp4', facts }
      : await convert(file, needFfmpeg(bench, file, as), outputFor(facts, as), 'video/mp4', bench);
    const { video, seconds } = made.facts;
    const thumbnail = bench.ffmpeg ? await bench.ffmpeg.frame(made.path, thumbnailSide, bench.task) : null;
    const { path, size, mimetype } = made;
    return { ...noFacts, path, size, mimetype, seconds, width: video?.width ?? null, height: video?.height ?? null, thumbnail };
  };
