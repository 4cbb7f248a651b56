/** Shared parts of audio and video preparation: reading a file's tracks, and asking ffmpeg for another file. */
import { stat } from 'node:fs/promises';
import type { Bench } from './bench.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import { MediaFailure, tooManyBytes } from './media-failure.ts';
import { isWholeMp4 } from './mp4-facts.ts';
import type { SourceFile } from './prepared.ts';
import type { TrackFacts } from './track-facts.ts';

export const damaged = (mimetype: string): MediaFailure =>
  new MediaFailure('invalid', `the file begins like ${mimetype}, but it is damaged or cannot be decoded`);

export const unfit = ({ mimetype }: SourceFile, as: string, hint = ''): MediaFailure =>
  new MediaFailure('notConvertible', `the file is ${mimetype}${hint}, which cannot be sent as ${as}`);

/** For what cannot go out as it is. */
export const needFfmpeg = ({ ffmpeg }: Bench, { mimetype }: SourceFile, as: string): Ffmpeg => {
  if (ffmpeg) return ffmpeg;
  throw new MediaFailure(
    'notConvertible',
    `the file is ${mimetype} in a form that has to be converted for ${as}, which takes ffmpeg, and this server has none`,
  );
};

const mp4s = /^(?:video\/(?:mp4|x-m4v|quicktime|3gpp2?)|audio\/mp4)$/;

export const look = async (file: SourceFile, { ffmpeg, media, signal }: Bench): Promise<TrackFacts> => {
  if (ffmpeg && mp4s.test(file.mimetype) && !(await isWholeMp4(file.path))) throw damaged(file.mimetype);
  const facts = ffmpeg ? await ffmpeg.facts(file.path, signal) : await media.tracks(file.path, signal);
  if (!facts) throw damaged(file.mimetype);
  return facts;
};

/** Makes another file with options for the output; answers with it and with what is in it. */
export const convert = async (
  file: SourceFile,
  ffmpeg: Ffmpeg,
  output: readonly string[],
  mimetype: string,
  { limits, signal, newPath }: Pick<Bench, 'limits' | 'signal' | 'newPath'>,
): Promise<SourceFile & { readonly facts: TrackFacts }> => {
  const { maxBytes } = limits;
  const target = newPath();
  const outcome = await ffmpeg.convert({ path: file.path, target, output, maxBytes }, signal);
  if ('missing' in outcome) throw new MediaFailure('notConvertible', `the ffmpeg of this server has no encoder ${outcome.missing}`);
  if (outcome.problem !== null) throw damaged(file.mimetype);
  const { size } = await stat(target);
  if (size >= maxBytes) throw tooManyBytes(maxBytes);
  const facts = await ffmpeg.facts(target, signal);
  if (!facts) throw damaged(file.mimetype);
  return { path: target, size, mimetype, facts };
};
