/** The camera of the simulated phone, which reads the QR code in a picture. It works in a thread, because a difficult picture would block the process. */
import { Piscina } from 'piscina';
import { SandboxError } from '../interface.ts';
import { parseBase64 } from './contents.ts';
import type { CameraResult } from './camera-worker.ts';

/** The largest number of pixels of a picture. A screenshot of a large screen is smaller. Reading a picture needs 8 bytes per pixel. */
const maxPixels = 10_000_000;
/**
 * The time-out of a picture in milliseconds, including the start of the thread and the pictures before it in the queue. An ordinary picture is
 * read in milliseconds, and a picture full of noise in seconds. With eight phones on a busy machine the last picture waited for more than 5 s.
 */
const patienceMs = 20_000;
const idleMs = 30_000;
const maxWaiting = 16;
const signature = Buffer.from('89504e470d0a1a0a', 'hex');

/** Checks the size in the header before decoding, because a small file can decode to gigabytes. */
const checkPng = (file: Buffer): void => {
  if (file.length < 24 || !file.subarray(0, 8).equals(signature)) throw new SandboxError(400, 'qrcode must be a PNG picture');
  const pixels = file.readUInt32BE(16) * file.readUInt32BE(20);
  if (pixels === 0 || pixels > maxPixels) {
    throw new SandboxError(400, `qrcode must be a picture of at most ${maxPixels / 1e6} million pixels`);
  }
};

export class Camera {
  readonly #patience: number;
  readonly #pool: Piscina<Uint8Array, CameraResult> = new Piscina({
    filename: new URL('./camera-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: maxWaiting,
    idleTimeout: idleMs,
    env: {},
  });

  constructor(patience = patienceMs) {
    this.#patience = patience;
  }

  /** Returns the text inside the QR code of a PNG picture (data URL or base64). Rejects with a 400 that names the fault of the picture. */
  async read(picture: string): Promise<string> {
    const file = Buffer.from(parseBase64(picture, 'qrcode').data, 'base64');
    checkPng(file);
    const result = await this.#look(file);
    if ('problem' in result) throw new SandboxError(400, result.problem);
    return result.text;
  }

  /** Ends the thread, and abandons pictures under way. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #look(file: Buffer): Promise<CameraResult> {
    if (this.#pool.queueSize >= maxWaiting) throw new SandboxError(503, 'the camera is busy');
    const signal = AbortSignal.timeout(this.#patience);
    try {
      return await this.#pool.run(file, { signal });
    } catch (error) {
      if (signal.aborted) return { problem: 'no QR code was found in the picture in time' };
      throw error;
    }
  }
}
