/** The header `Range` (RFC 9110): one range of bytes. Several at once are answered with the whole, as the standard allows. */
import type { ByteRange } from '#actors/gateway.ts';

/** null: the whole. `unsatisfiable`: none of the bytes is there. */
export const rangeOf = (header: string | undefined, size: number): ByteRange | null | 'unsatisfiable' => {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return null;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  // The last byte before the first one is no range at all.
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  return start < size && start <= end ? { start, end } : 'unsatisfiable';
};
