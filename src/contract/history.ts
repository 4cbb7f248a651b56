/** The `history` event (contract/events.md): a batch whose body keeps to its limit, whatever the platform sent. */

/** Bytes of the items of one body; the rest of 256 KiB is for the batch's numbers and the envelope with the instance's name and the server's address. */
const limit = 250 * 1024;

type Item = Readonly<Record<string, unknown>>;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The same item without its contents: long texts cut, objects and lists emptied. What is left of it is found by its id. */
const slim = (item: Item): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      if (typeof value === 'string') return [name, value.slice(0, 100)];
      return [name, typeof value === 'object' && value !== null ? (Array.isArray(value) ? [] : '') : value];
    }),
  );

/** Returns as many fields as fit. Ids come first. */
const fieldsWithin = (item: Item, bytes: number): Item => {
  let room = bytes;
  const fits = ([name, value]: [string, unknown]): boolean => {
    const size = bytesOf({ [name]: value });
    if (size > room) return false;
    room -= size;
    return true;
  };
  return Object.fromEntries(Object.entries(item).filter(fits));
};

/** The largest items are slimmed until the whole fits; nearly always that is none. Where that is not enough, each gets the same share. */
const fitted = (items: readonly Item[]): readonly Item[] => {
  const sizes = items.map(bytesOf);
  let sum = sizes.reduce((total, size) => total + size + 1, 0);
  if (sum <= limit) return items;
  const fit = [...items];
  const largest = sizes.map((_, at) => at).toSorted((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0));
  for (const at of largest) {
    fit[at] = slim(fit[at] ?? {});
    sum += bytesOf(fit[at]) - (sizes[at] ?? 0);
    if (sum <= limit) return fit;
  }
  return fit.map((item) => fieldsWithin(item, Math.floor(limit / items.length) - 3));
};

/** `kind` names both the event and its array. */
export const historyView = (kind: string, items: readonly Item[], batchNumber: number, batchTotal: number): Record<string, unknown> => ({
  event: kind,
  batchNumber,
  batchTotal,
  [kind]: fitted(items),
});
