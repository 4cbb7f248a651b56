/** Reads audio and video files without ffmpeg, in the threads of the pool. Parsing a hostile file may be slow. */
import { open } from 'node:fs/promises';
import { parseFile } from 'music-metadata';
import { mp4Facts, type TrackFacts, wholeMs } from './track-facts.ts';

/** The library's names of codecs, with ffmpeg's names. */
const codecs: readonly (readonly [RegExp, string])[] = [
  [/AAC/, 'aac'],
  [/^Opus$/i, 'opus'],
  [/^Vorbis/i, 'vorbis'],
  [/Layer 3$/, 'mp3'],
];

const codecOf = (name: string | undefined): string => codecs.find(([pattern]) => pattern.test(name ?? ''))?.[1] ?? '';

/** Returns true if the first box is that of an MP4. For such files the library reports no video track and no size. */
const isMp4 = async (path: string): Promise<boolean> => {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
    return buffer.toString('latin1', 4) === 'ftyp';
  } finally {
    await file.close();
  }
};

/** Reads the facts of a file. Returns null if the file cannot be read. */
export const trackFacts = async (path: string): Promise<TrackFacts | null> => {
  if (await isMp4(path)) return mp4Facts(path);
  const found = await parseFile(path, { duration: true, skipCovers: true }).catch(() => null);
  if (!found) return null;
  const { duration, hasAudio, hasVideo, codec, numberOfChannels } = found.format;
  const seconds = duration !== undefined && duration > 0 ? wholeMs(duration) : null;
  const audio = hasAudio === true ? { codec: codecOf(codec), channels: numberOfChannels ?? null } : null;
  const video = hasVideo === true ? { codec: '', pixels: '', width: null, height: null } : null;
  return audio || video ? { seconds, audio, video } : null;
};
