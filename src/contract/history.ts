/** The `history` event (contract/events.md): a batch whose body keeps to its limit, whatever the platform told. */

/** Bytes of one body; the rest of 256 KiB is the envelope's. */
const limit = 255 * 1024;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The same item without its contents: long texts cut, objects and lists emptied. What is left of it is found by its id. */
const slim = (item: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      if (typeof value === 'string') return [name, value.slice(0, 100)];
      return [name, typeof value === 'object' && value !== null ? (Array.isArray(value) ? [] : '') : value];
    }),
  );

/** The largest items are slimmed until the whole fits; nearly always that is none. */
const fitted = (items: readonly Readonly<Record<string, unknown>>[]): readonly Readonly<Record<string, unknown>>[] => {
  const sizes = items.map(bytesOf);
  let sum = sizes.reduce((total, size) => total + size + 1, 0);
  if (sum <= limit) return items;
  const fit = [...items];
  const largest = sizes.map((_, at) => at).toSorted((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0));
  for (const at of largest) {
    if (sum <= limit) break;
    fit[at] = slim(fit[at] ?? {});
    sum += bytesOf(fit[at]) - (sizes[at] ?? 0);
  }
  return fit;
};

/** `kind` names both the event and its array. */
export const historyView = (
  kind: string,
  items: readonly Readonly<Record<string, unknown>>[],
  batchNumber: number,
  batchTotal: number,
): Record<string, unknown> => ({ event: kind, batchNumber, batchTotal, [kind]: fitted(items) });
