/**
 * Bounds what the library inflates: parts of a history from the own phone, as files or within messages, and frames of the platform. The library names no
 * limit, so that 200 KB can become 200 MB. Its streams are those of the process: nothing else in it inflates more in this format.
 */
import { Inflate } from 'node:zlib';

/** In bytes. Parts of the histories of real phones have up to some ten million. */
const usualMost = 128 * 1024 * 1024;

let most = usualMost;
let repaired = false;

/** The bound is put in place once per process; later calls change it. */
export const boundInflation = (mostBytes = usualMost): void => {
  most = mostBytes;
  if (repaired) return;
  repaired = true;
  const came = new WeakMap<Inflate, number>();
  const { push } = Inflate.prototype;
  Inflate.prototype.push = function (chunk: Uint8Array | null, encoding) {
    const bytes = (came.get(this) ?? 0) + (chunk?.length ?? 0);
    came.set(this, bytes);
    if (bytes <= most) return push.call(this, chunk, encoding);
    this.destroy(new Error('the bytes inflate to more than is allowed'));
    return false;
  };
};
