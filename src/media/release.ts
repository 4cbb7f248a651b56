/** Frees memory before the garbage collector runs. */

/** The smallest buffer that is freed. Freeing smaller buffers is not worth the call. In bytes. */
const least = 4_096;

/**
 * Frees bytes that are no longer needed. Their length is 0 afterwards. The bytes of files are outside of the heap. After each 32 MiB of such bytes, V8
 * collects the whole heap, which takes 70 ms. A view of a larger buffer is not freed, because other code may use the remaining bytes of the buffer.
 */
export const release = ({ buffer, byteLength }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength && byteLength >= least) buffer.transfer(0);
};
