/** Finds ffmpeg on this machine, and generates media with it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '#config/programs.ts';

/** True if a missing ffmpeg is a failure. By default tests without ffmpeg are skipped. */
export const isFfmpegRequired = process.env['REQUIRE_FFMPEG'] === 'true';

/** The path of ffmpeg: the program that `FFMPEG_PATH` names, or the one in the search path. Null if ffmpeg is not installed. */
export const ffmpegPath = findProgram(process.env['FFMPEG_PATH'] || 'ffmpeg');

/** Options of `test` that skip a test without ffmpeg, with the reason. */
export const withFfmpeg =
  ffmpegPath === null && !isFfmpegRequired ? { skip: 'this machine has no ffmpeg; FFMPEG_PATH names one' } : ({} as { skip?: string });

const run = promisify(execFile);

/** Generates a media file with ffmpeg from `lavfi` inputs and options of the output. */
export const synthesize = async (path: string, inputs: readonly string[], output: readonly string[]): Promise<void> => {
  if (ffmpegPath === null) throw new Error('REQUIRE_FFMPEG asks for ffmpeg, and there is none');
  const given = inputs.flatMap((input) => ['-f', 'lavfi', '-i', input]);
  await run(ffmpegPath, ['-nostdin', '-v', 'error', '-y', ...given, ...output, path], { timeout: 60_000 });
};
