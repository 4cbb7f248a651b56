/** The picture of a voice message: how loud it is, in 64 steps. Memory is bounded for recordings of any length. */

export const waveformSteps = 64;
/** The number of full bins at which two neighbours become one. */
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

  /** Samples of 16 bits, one channel, little-endian; a piece may end in the middle of one. */
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

  /** 64 values from 0 to 100, of which the loudest is 100; zeros for silence. To be called once, after the last sample. */
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
