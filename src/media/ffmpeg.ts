/** Runs ffmpeg. It reads only one file, and its time, memory, threads and output are bounded. */
import { spawn } from 'node:child_process';
import { readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FilesUnavailable } from '#actors/ports.ts';
import { type BoundedTask, Slots } from './bounded-work.ts';
import { factsOfProbe, probeEntries, type TrackFacts } from './track-facts.ts';

// Runs a program on a file in its own process group, without the environment of the gateway. An abort kills the program.

interface ChildTask {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** A signal that kills the program. */
  readonly signal: AbortSignal;
  /** Receives the output of the program in chunks. */
  readonly onOutput: (bytes: Buffer) => void;
}

interface ChildEnd {
  readonly code: number | null;
  /** The end of the program's error output. It may contain file names, so it is never shown to users. */
  readonly complaint: string;
}

const longestComplaint = 4_096;

const kill = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended already.
  }
};

/** Process ids of running programs. The programs are killed when this process exits. */
const running = new Set<number>();
process.on('exit', () => {
  for (const pid of running) kill(pid);
});

/**
 * Resolves when the program and all its children have ended. Rejects if the program cannot be started. If the signal killed the program, rejects with the
 * reason of the signal.
 */
const runChild = async ({ program, args, cwd, signal, onOutput }: ChildTask): Promise<ChildEnd> => {
  signal.throwIfAborted();
  const child = spawn(program, args, { cwd, env: { LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject);
  child.once('close', resolve);
  child.stdout.on('data', onOutput);
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => void (complaint = (complaint + chunk.toString('latin1')).slice(-longestComplaint)));
  const { pid } = child;
  const stop = (): void => {
    if (pid !== undefined) kill(pid);
  };
  if (pid !== undefined) running.add(pid);
  signal.addEventListener('abort', stop);
  try {
    const code = await promise;
    signal.throwIfAborted();
    return { code, complaint };
  } finally {
    signal.removeEventListener('abort', stop);
    if (pid !== undefined) running.delete(pid);
  }
};

// The waveform of a voice message: its loudness in 64 steps. The memory is bounded for recordings of any length.

const waveformSteps = 64;
/** The number of full bins at which neighbouring bins are merged in pairs. */
const mostBins = 4_096;
const firstBin = 80;

export class Waveform {
  #bins = new Float64Array(mostBins);
  #count = 0;
  /** Samples in one bin. */
  #width = firstBin;
  #sum = 0;
  #filled = 0;
  #odd: number | null = null;

  /** Adds samples of 16 bits, one channel, little-endian. A chunk may end in the middle of a sample. */
  add(bytes: Buffer): void {
    let at = 0;
    if (this.#odd !== null && bytes.length > 0) {
      this.#sample((bytes.readInt8(0) << 8) | this.#odd);
      at = 1;
      this.#odd = null;
    }
    for (; at + 1 < bytes.length; at += 2) this.#sample(bytes.readInt16LE(at));
    if (at < bytes.length) this.#odd = bytes[at] ?? null;
  }

  #sample(value: number): void {
    this.#sum += Math.abs(value);
    this.#filled += 1;
    if (this.#filled === this.#width) this.#close();
  }

  #close(): void {
    this.#bins[this.#count] = this.#sum / this.#filled;
    this.#count += 1;
    this.#sum = 0;
    this.#filled = 0;
    if (this.#count < mostBins) return;
    for (let at = 0; at < mostBins / 2; at += 1) this.#bins[at] = ((this.#bins[at * 2] ?? 0) + (this.#bins[at * 2 + 1] ?? 0)) / 2;
    this.#count = mostBins / 2;
    this.#width *= 2;
  }

  /** Returns 64 values from 0 to 100. The loudest value is 100; silence gives zeros. Call this function once, after the last sample. */
  finish(): Uint8Array {
    if (this.#filled > 0) this.#close();
    const steps = Array.from({ length: waveformSteps }, (_, step) => {
      const from = Math.floor((step * this.#count) / waveformSteps);
      const to = Math.max(from + 1, Math.floor(((step + 1) * this.#count) / waveformSteps));
      const bins = this.#bins.subarray(from, Math.min(to, this.#count));
      return bins.length === 0 ? 0 : bins.reduce((sum, bin) => sum + bin, 0) / bins.length;
    });
    const loudest = Math.max(...steps);
    return Uint8Array.from(steps, (value) => (loudest === 0 ? 0 : Math.round((value / loudest) * 100)));
  }
}

interface FfmpegOptions {
  /** Absolute path of `ffmpeg`; `ffprobe` is in the same folder. */
  readonly program: string;
  /** The working folder. */
  readonly folder: string;
  /** The largest number of concurrent conversions. The limit for all other runs, which are short, is twice this number. */
  readonly jobs: number;
  readonly maxPixels: number;
  /** The bound of processor time after which a conversion ends by itself. This bound still holds if the gateway is killed. In seconds. */
  readonly cpuSeconds: number;
}

interface Conversion {
  readonly path: string;
  readonly target: string;
  /** Output options of ffmpeg. */
  readonly output: readonly string[];
  /** The output is cut a little after this many bytes. */
  readonly maxBytes: number;
}

/** Containers with their own data. Playlists are excluded, because they make ffmpeg read other files. */
const containers =
  'mov,matroska,ogg,mp3,aac,wav,w64,flac,amr,amrnb,amrwb,avi,gif,asf,flv,mpeg,mpegts,mpegvideo,aiff,caf,ac3,eac3,au,rm,wv,ape,tta,dsf';

const mostOutput = 1_048_576;
const largestAllocation = 536_870_912;
/** The sample rate for a waveform, in hertz. A low rate is sufficient. */
const sampleRate = '8000';

/** Returns the first arguments of every ffmpeg run: no input from a terminal, and bounds that still hold if the gateway is killed. */
const begin = ({ cpuSeconds }: FfmpegOptions): readonly string[] => {
  const bounds = ['-max_alloc', String(largestAllocation), '-timelimit', String(cpuSeconds)];
  return ['-nostdin', '-hide_banner', '-v', 'error', '-y', ...bounds];
};

/** Options that keep both programs from reading any file that the given file names. */
const carefully = ['-protocol_whitelist', 'file,pipe', '-format_whitelist', containers] as const;

/**
 * Runs ffmpeg and ffprobe. If the signal of the task aborts, the program is killed. The call rejects with the reason of the signal when the program has ended.
 */
export class Ffmpeg {
  readonly #options: FfmpegOptions;
  readonly #conversions: Slots;
  readonly #looks: Slots;

  constructor(options: FfmpegOptions) {
    this.#options = options;
    this.#conversions = new Slots(options.jobs, { isStrict: false });
    this.#looks = new Slots(options.jobs * 2, { isStrict: false });
  }

  /** Reads the tracks of a file. Returns null if the file is not playable. */
  async facts(path: string, task: BoundedTask): Promise<TrackFacts | null> {
    const program = join(dirname(this.#options.program), 'ffprobe');
    const args = ['-v', 'error', ...carefully, '-show_entries', probeEntries, '-of', 'json', `file:${path}`];
    const json = await this.#printed(program, args, task);
    return json && factsOfProbe(json.toString());
  }

  /**
   * Converts a file. `unreadable`: ffmpeg failed on the file. `missing`: this build of ffmpeg lacks the named encoder. Rejects with `FilesUnavailable` if the
   * disk is full.
   */
  async convert(
    conversion: Conversion,
    task: BoundedTask,
  ): Promise<{ readonly problem: null | 'unreadable' } | { readonly missing: string }> {
    const { path, target, output, maxBytes } = conversion;
    const made = ['-map_metadata', '-1', ...output, '-threads', '1', '-fs', String(maxBytes), `file:${target}`];
    const args = [...this.#reading(path), ...made];
    const { code, complaint } = await task.run(this.#conversions, () =>
      this.#run(this.#options.program, args, task.signal, () => undefined),
    );
    // ffmpeg exits with 0 even if the last bytes did not fit on the disk.
    if (/No space left on device|Disk quota exceeded/.test(complaint)) throw new FilesUnavailable('the disk of temporary files is full');
    const missing = /Unknown encoder '(\w+)'/.exec(complaint)?.[1];
    return missing === undefined ? { problem: code === 0 ? null : 'unreadable' } : { missing };
  }

  /** Returns the first picture as a JPEG with sides of at most `side` pixels; null if there is none. */
  async frame(path: string, side: number, task: BoundedTask): Promise<Uint8Array | null> {
    const scale = `scale=${side}:${side}:force_original_aspect_ratio=decrease`;
    const made = ['-map', '0:V:0', '-frames:v', '1', '-vf', scale, '-threads', '1', '-c:v', 'mjpeg', '-f', 'mjpeg', 'pipe:1'];
    const jpeg = await this.#printed(this.#options.program, [...this.#reading(path), ...made], task);
    return jpeg && new Uint8Array(jpeg);
  }

  /** Returns the loudness in 64 steps; null if the sound cannot be decoded. */
  async waveform(path: string, task: BoundedTask): Promise<Uint8Array | null> {
    const waveform = new Waveform();
    const made = ['-map', '0:a:0', '-ac', '1', '-ar', sampleRate, '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1'];
    const args = [...this.#reading(path), ...made];
    const { code } = await task.run(this.#looks, () => this.#run(this.#options.program, args, task.signal, (piece) => waveform.add(piece)));
    return code === 0 ? waveform.finish() : null;
  }

  #reading(path: string): readonly string[] {
    return [...begin(this.#options), ...carefully, '-max_pixels', String(this.#options.maxPixels), '-threads', '1', '-i', `file:${path}`];
  }

  #run(program: string, args: readonly string[], signal: AbortSignal, onOutput: (bytes: Buffer) => void): Promise<ChildEnd> {
    return runChild({ program, args, cwd: this.#options.folder, signal, onOutput });
  }

  /** Returns the output of a program; null if the program fails, or if its output is empty or exceeds the bound. */
  async #printed(program: string, args: readonly string[], task: BoundedTask): Promise<Buffer | null> {
    const pieces: Buffer[] = [];
    let length = 0;
    const keep = (piece: Buffer): void => {
      length += piece.length;
      if (length <= mostOutput) pieces.push(piece);
    };
    const { code } = await task.run(this.#looks, () => this.#run(program, args, task.signal, keep));
    return code === 0 && length > 0 && length <= mostOutput ? Buffer.concat(pieces) : null;
  }
}

// Kills programs that a killed gateway left behind. Such programs would continue to write into removed files.

/**
 * Kills every process whose working folder is this folder. A start calls this function before it uses the folder. Returns the number of killed processes. On
 * systems without `/proc` the function returns 0, and the limit on processor time ends a conversion.
 */
export const endLeftoverChildren = async (folder: string): Promise<number> => {
  const real = await realpath(folder).catch(() => folder);
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => pid !== process.pid && (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === real),
  );
  const leftovers = pids.filter((_pid, index) => found[index]);
  for (const pid of leftovers) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended meanwhile.
    }
  }
  return leftovers.length;
};
