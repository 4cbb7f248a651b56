/** Streams that may never say anything again. */

const noop = (): void => undefined;

/** The same values; fails with the reason of the signal as soon as that aborts, also while the source is stuck. */
export async function* untilAborted<T>(source: AsyncIterable<T> | Iterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  let fail: (reason: unknown) => void = noop;
  const abort = (): void => fail(signal.reason);
  signal.addEventListener('abort', abort);
  const next = (): Promise<IteratorResult<T>> => {
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<T>>();
    fail = reject;
    if (signal.aborted) reject(signal.reason);
    else Promise.try(() => iterator.next()).then(resolve, reject);
    return promise;
  };
  try {
    for (let item = await next(); !item.done; item = await next()) yield item.value;
  } finally {
    signal.removeEventListener('abort', abort);
    // Not awaited: a source that is stuck never returns.
    Promise.try(() => iterator.return?.()).catch(noop);
  }
}
