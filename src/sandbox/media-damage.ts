/** Faults of the media host in a download: the file is gone, the transfer breaks off or is slow, or the bytes are wrong. */
import { createReadStream } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Fault } from './face.ts';
import type { Faults } from './faults.ts';

export const damageKinds = ['mediaGone', 'mediaCut', 'mediaSlow', 'mediaForged'] as const;

/** The next fault for a download, and one use of it less. */
export const takeDamage = (faults: Faults): Fault | undefined => {
  for (const kind of damageKinds) {
    const fault = faults.take(kind);
    if (fault) return fault;
  }
  return undefined;
};

/** Bytes at a time while the host is slow. */
const slowChunk = 16_384;

/** The bytes of a file as the damaged host sends them; `cut` ends without the rest. */
export async function* damaged(
  path: string,
  range: { readonly start: number; readonly end: number },
  fault: Fault | undefined,
): AsyncGenerator<Buffer> {
  const length = range.end - range.start + 1;
  const half = length / 2;
  const forged = fault?.kind === 'mediaForged' ? Math.floor(fault.code ? length - fault.code : half) : -1;
  let sent = 0;
  for await (const chunk of createReadStream(path, { ...range, highWaterMark: slowChunk }) as AsyncIterable<Buffer>) {
    if (fault?.kind === 'mediaSlow') await wait(fault.ms ?? 1000);
    if (fault?.kind === 'mediaCut' && sent + chunk.length > half) {
      yield chunk.subarray(0, Math.max(1, Math.floor(half - sent)));
      throw new Error('cut by a fault');
    }
    if (sent <= forged && forged < sent + chunk.length) chunk[forged - sent]! ^= 0xff;
    sent += chunk.length;
    yield chunk;
  }
}
