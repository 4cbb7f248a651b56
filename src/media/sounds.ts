/** Prepares audio files and voice messages. */
import { type Bench, noFacts, type Maker } from './bench.ts';
import type { SourceFile } from './prepared.ts';
import type { TrackFacts } from './track-facts.ts';
import { convert, look, needFfmpeg, unfit } from './tracks.ts';

export const voiceType = 'audio/ogg; codecs=opus';

const isSound = ({ mimetype }: SourceFile): boolean => /^(?:audio|video)\//.test(mimetype) || mimetype === 'application/ogg';

/** Containers that phones play, each with the codec that they expect in it. */
const playable: readonly (readonly [RegExp, codec: string, sentAs: string])[] = [
  [/^audio\/mpeg$/, 'mp3', 'audio/mpeg'],
  [/^audio\/mp4$/, 'aac', 'audio/mp4'],
  [/^audio\/aac$/, 'aac', 'audio/aac'],
  [/^(?:audio|application)\/ogg/, 'opus', voiceType],
];

const soundAlone = ['-map', '0:a:0', '-vn', '-sn', '-dn'] as const;
const asAac = [...soundAlone, '-c:a', 'aac', '-b:a', '128k', '-ac', '2', '-movflags', '+faststart', '-f', 'mp4'] as const;
/** An OGG has a random number otherwise, and the same sound would be another file each time: kept and uploaded once for each recipient. */
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

/** For `audio` and `myaudio`: what phones play stays as it is, the rest becomes AAC. */
export const audioMaker: Maker = async (file, bench) => {
  const facts = await lookForSound(file, bench, 'audio');
  // Recorders give files with sound alone the brands of videos.
  const mimetype = facts.video === null ? file.mimetype.replace(/^video\/(mp4|ogg)/, 'audio/$1') : file.mimetype;
  const fit = playable.find(([type, codec]) => type.test(mimetype) && facts.audio?.codec === codec);
  if (fit) return { ...noFacts, path: file.path, size: file.size, mimetype: fit[2], seconds: facts.seconds };
  const made = await convert(file, needFfmpeg(bench, file, 'audio'), asAac, 'audio/mp4', bench);
  return { ...noFacts, path: made.path, size: made.size, mimetype: made.mimetype, seconds: made.facts.seconds };
};

/** For `ptt`: OGG with Opus in one channel. One that is so already stays as it is. */
export const voiceMaker: Maker = async (file, bench) => {
  const facts = await lookForSound(file, bench, 'ptt');
  const isVoice = facts.audio?.codec === 'opus' && facts.audio.channels === 1;
  const isFit = isVoice && /^(?:audio|application)\/ogg/.test(file.mimetype);
  const made = isFit
    ? { ...file, facts }
    : await convert(file, needFfmpeg(bench, file, 'ptt'), isVoice ? voiceInOgg : asVoice, voiceType, bench);
  const waveform = bench.ffmpeg ? await bench.ffmpeg.waveform(made.path, bench.signal) : null;
  return { ...noFacts, path: made.path, size: made.size, mimetype: voiceType, seconds: made.facts.seconds, waveform };
};

/** The sound of any file as an MP3; one that is so already stays as it is. */
export const mp3Maker: Maker = async (file, bench) => {
  const facts = await lookForSound(file, bench, 'MP3');
  if (file.mimetype === 'audio/mpeg' && facts.audio?.codec === 'mp3')
    return { ...noFacts, path: file.path, size: file.size, mimetype: file.mimetype, seconds: facts.seconds };
  const made = await convert(file, needFfmpeg(bench, file, 'MP3'), asMp3, 'audio/mpeg', bench);
  return { ...noFacts, path: made.path, size: made.size, mimetype: made.mimetype, seconds: made.facts.seconds };
};
