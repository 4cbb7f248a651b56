/** ffmpeg, as far as it is needed here. It reads one file and nothing else, in bounded time, memory, threads and output. */
import { dirname, join } from 'node:path';
import { type ChildEnd, runChild } from './child.ts';
import { Slots } from './slots.ts';
import { factsOfProbe, probeEntries, type TrackFacts } from './track-facts.ts';
import { Waveform } from './waveform.ts';

export interface FfmpegOptions {
  /** Absolute path of `ffmpeg`; `ffprobe` stands beside it. */
  readonly program: string;
  /** The working folder. */
  readonly folder: string;
  /** Conversions at once; looks, which are short, do not wait for them. */
  readonly jobs: number;
  readonly maxPixels: number;
  /** Seconds of the processor after which it ends by itself, should this process be killed. */
  readonly cpuSeconds: number;
}

export interface Conversion {
  readonly path: string;
  readonly target: string;
  /** Output options of ffmpeg. */
  readonly output: readonly string[];
  /** The output is cut a little behind this many bytes. */
  readonly maxBytes: number;
}

/** Containers that hold their own data. Playlists are not among them: they would have other files read. */
const containers =
  'mov,matroska,ogg,mp3,aac,wav,w64,flac,amr,amrnb,amrwb,avi,gif,asf,flv,mpeg,mpegts,mpegvideo,aiff,caf,ac3,eac3,au,rm,wv,ape,tta,dsf';

const mostOutput = 1_048_576;
const largestAllocation = 536_870_912;
/** Enough to draw loudness. */
const sampleRate = '8000';

/** First arguments of every ffmpeg run: no questions, and bounds that hold even if this process is killed meanwhile. */
const begin = ({ cpuSeconds }: FfmpegOptions): readonly string[] => {
  const bounds = ['-max_alloc', String(largestAllocation), '-timelimit', String(cpuSeconds)];
  return ['-nostdin', '-hide_banner', '-v', 'error', '-y', ...bounds];
};

/** Both programs read the file and nothing that it names. */
const carefully = ['-protocol_whitelist', 'file,pipe', '-format_whitelist', containers] as const;

/** Runs ffmpeg and ffprobe. When the signal aborts, each call rejects with the signal's reason after the program was killed and has ended. */
export class Ffmpeg {
  readonly #options: FfmpegOptions;
  readonly #conversions: Slots;
  readonly #looks: Slots;

  constructor(options: FfmpegOptions) {
    this.#options = options;
    this.#conversions = new Slots(options.jobs);
    this.#looks = new Slots(options.jobs * 2);
  }

  /** null when it is nothing that plays. */
  async facts(path: string, signal: AbortSignal): Promise<TrackFacts | null> {
    const program = join(dirname(this.#options.program), 'ffprobe');
    const args = ['-v', 'error', ...carefully, '-show_entries', probeEntries, '-of', 'json', `file:${path}`];
    const json = await this.#printed(program, args, signal);
    return json && factsOfProbe(json.toString());
  }

  /** `unreadable`: it failed on the file. `missing`: this build of ffmpeg lacks an encoder, which is named. */
  async convert(
    conversion: Conversion,
    signal: AbortSignal,
  ): Promise<{ readonly problem: null | 'unreadable' } | { readonly missing: string }> {
    const { path, target, output, maxBytes } = conversion;
    const made = ['-map_metadata', '-1', ...output, '-threads', '1', '-fs', String(maxBytes), `file:${target}`];
    const args = [...this.#reading(path), ...made];
    const { code, complaint } = await this.#conversions.run(signal, () => this.#run(this.#options.program, args, signal, () => undefined));
    const missing = /Unknown encoder '(\w+)'/.exec(complaint)?.[1];
    return missing === undefined ? { problem: code === 0 ? null : 'unreadable' } : { missing };
  }

  /** The first picture, as a JPEG with sides of at most `side` pixels; null when there is none. */
  async frame(path: string, side: number, signal: AbortSignal): Promise<Uint8Array | null> {
    const scale = `scale=${side}:${side}:force_original_aspect_ratio=decrease`;
    const made = ['-map', '0:V:0', '-frames:v', '1', '-vf', scale, '-threads', '1', '-c:v', 'mjpeg', '-f', 'mjpeg', 'pipe:1'];
    const jpeg = await this.#printed(this.#options.program, [...this.#reading(path), ...made], signal);
    return jpeg && new Uint8Array(jpeg);
  }

  /** Loudness in 64 steps; null when it cannot be decoded. */
  async waveform(path: string, signal: AbortSignal): Promise<Uint8Array | null> {
    const waveform = new Waveform();
    const made = ['-map', '0:a:0', '-ac', '1', '-ar', sampleRate, '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1'];
    const args = [...this.#reading(path), ...made];
    const { code } = await this.#looks.run(signal, () => this.#run(this.#options.program, args, signal, (piece) => waveform.add(piece)));
    return code === 0 ? waveform.finish() : null;
  }

  #reading(path: string): readonly string[] {
    return [...begin(this.#options), ...carefully, '-max_pixels', String(this.#options.maxPixels), '-threads', '1', '-i', `file:${path}`];
  }

  #run(program: string, args: readonly string[], signal: AbortSignal, onOutput: (bytes: Buffer) => void): Promise<ChildEnd> {
    return runChild({ program, args, cwd: this.#options.folder, signal, onOutput });
  }

  /** Returns the output of a program up to a bound; null if the program fails. */
  async #printed(program: string, args: readonly string[], signal: AbortSignal): Promise<Buffer | null> {
    const pieces: Buffer[] = [];
    let length = 0;
    const keep = (piece: Buffer): void => {
      length += piece.length;
      if (length <= mostOutput) pieces.push(piece);
    };
    const { code } = await this.#looks.run(signal, () => this.#run(program, args, signal, keep));
    return code === 0 && length > 0 && length <= mostOutput ? Buffer.concat(pieces) : null;
  }
}
