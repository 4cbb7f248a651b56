/** Tests the loudness of a recording in 64 steps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Waveform } from '#src/media/ffmpeg.ts';

const samples = (values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeInt16LE(value, index * 2);
  return bytes;
};

const drawn = (bytes: Buffer, piece: number): number[] => {
  const waveform = new Waveform();
  for (let at = 0; at < bytes.length; at += piece) waveform.add(bytes.subarray(at, at + piece));
  return [...waveform.finish()];
};

const staircase = samples(
  Array.from({ length: 64 * 1_000 }, (_, index) => (index % 2 === 0 ? 1 : -1) * 500 * (1 + Math.floor(index / 1_000))),
);

test('waveform: the loudest step is 100 and the others are in proportion, for any division into pieces', () => {
  const whole = drawn(staircase, staircase.length);
  assert.deepEqual([whole.length, whole[63], Math.max(...whole), whole[31]], [64, 100, 100, 50]);
  for (const piece of [1, 7, 4_095]) assert.deepEqual(drawn(staircase, piece), whole, `pieces of ${piece} bytes`);
});

test('waveform: silence, a very short sound and an empty one are drawn as well', () => {
  assert.deepEqual(
    drawn(samples(Array.from({ length: 9_000 }, () => 0)), 9_000),
    Array.from({ length: 64 }, () => 0),
  );
  assert.deepEqual(
    drawn(Buffer.alloc(0), 1),
    Array.from({ length: 64 }, () => 0),
  );
  assert.equal(drawn(samples([9, 9, 9]), 6)[0], 100);
});

test('waveform: a recording of hours keeps its form in the same memory', () => {
  const waveform = new Waveform();
  // Twelve hours at 8,000 samples per second, quiet in the first half.
  const [quiet, loud] = [samples(Array.from({ length: 80_000 }, () => 100)), samples(Array.from({ length: 80_000 }, () => -10_000))];
  for (let at = 0; at < 4_320; at += 1) waveform.add(at < 2_160 ? quiet : loud);
  const steps = [...waveform.finish()];
  assert.deepEqual([steps[0], steps[30], steps[33], steps[63]], [1, 1, 100, 100]);
});
