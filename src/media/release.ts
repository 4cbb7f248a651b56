/** Memory that is given back before the collector comes for it. */

/** Smaller ones are not worth the call. */
const least = 4_096;

/**
 * Frees bytes that nobody reads any more; their length is 0 afterwards. The bytes of files are outside of the heap. 32 MiB of them make the engine
 * collect the whole heap, which takes 70 ms. A part of a larger buffer stays, since others may have the rest of it.
 */
export const release = ({ buffer, byteLength }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength && byteLength >= least) buffer.transfer(0);
};
