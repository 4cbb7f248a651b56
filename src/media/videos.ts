/** Prepares videos, round video messages, and videos that play like GIFs. */
import type { MediaKind } from '#actors/model.ts';
import { type Bench, noFacts, type Maker } from './bench.ts';
import { MediaFailure } from './media-failure.ts';
import { type SourceFile, thumbnailSide } from './prepared.ts';
import type { TrackFacts } from './track-facts.ts';
import { convert, look, needFfmpeg, unfit } from './tracks.ts';

const longestEdge = 1_280;
/** Longest round video message that the platform accepts, in seconds, with the fraction that a recorder adds. */
const longestNote = 60.9;

type VideoKind = Extract<MediaKind, 'video' | 'videoplay' | 'ptv'>;

const isVideo = ({ mimetype }: SourceFile): boolean => mimetype.startsWith('video/') || mimetype === 'application/vnd.ms-asf';
const isMp4 = ({ mimetype }: SourceFile): boolean => mimetype === 'video/mp4' || mimetype === 'video/x-m4v';

/** Eight bits and a quarter of the colours: all that every phone decodes. */
const plays = ({ video }: TrackFacts): boolean =>
  video?.codec === 'h264' && (video.pixels === '' || video.pixels === 'yuv420p' || video.pixels === 'yuvj420p');
const sounds = ({ audio }: TrackFacts): boolean => audio === null || audio.codec === 'aac';

const scale = `scale=w='min(${longestEdge},iw)':h='min(${longestEdge},ih)':force_original_aspect_ratio=decrease:force_divisible_by=2`;
const picturesAlone = ['-map', '0:V:0', '-sn', '-dn'] as const;
const asH264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '25', '-pix_fmt', 'yuv420p', '-fpsmax', '30', '-vf', scale] as const;
const asAac = ['-c:a', 'aac', '-b:a', '128k', '-ac', '2'] as const;

const asMp4 = ['-movflags', '+faststart', '-f', 'mp4'] as const;

/** Returns the output options. A playable track is copied. Only the other tracks cost time and quality. */
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
  // Without ffmpeg nothing can be done with a GIF, and nothing else looks into it.
  if (isGif) needFfmpeg(bench, file, as);
  const facts = await look(file, bench);
  if (!facts.video) throw unfit(file, as, ' without pictures');
  if (as === 'ptv' && (facts.seconds ?? 0) > longestNote)
    throw new MediaFailure('tooLarge', `a ptv lasts 60 seconds at most; this one lasts ${Math.round(facts.seconds ?? 0)}`);
  return facts;
};

/** MP4 with H.264 and AAC; a file that is so already stays as it is. */
export const videoMaker =
  (as: VideoKind): Maker =>
  async (file, bench) => {
    const facts = await lookForVideo(file, bench, as);
    const isFit = isMp4(file) && plays(facts) && sounds(facts);
    const made = isFit
      ? { ...file, mimetype: 'video/mp4', facts }
      : await convert(file, needFfmpeg(bench, file, as), outputFor(facts, as), 'video/mp4', bench);
    const { video, seconds } = made.facts;
    const thumbnail = bench.ffmpeg ? await bench.ffmpeg.frame(made.path, thumbnailSide, bench.signal) : null;
    const { path, size, mimetype } = made;
    return { ...noFacts, path, size, mimetype, seconds, width: video?.width ?? null, height: video?.height ?? null, thumbnail };
  };
