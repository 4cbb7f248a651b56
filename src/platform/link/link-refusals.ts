/** Reasons why the platform makes no pairing code, or links no device with one. */
import type { Close } from '#actors/ports.ts';
import { closeOf, ownCloses } from '../wire/close-cause.ts';
import type { Companion } from './device-name.ts';

/** The code of an `<error>` in the answer to a request; the library keeps it as `data`. */
const codeOf = (error: unknown): number | null => {
  const code = (error as { readonly data?: unknown } | null)?.data;
  return typeof code === 'number' && Number.isFinite(code) ? code : null;
};

/** `device`: what the refused request said about the device; absent for the last step of a pairing. */
export const codeRefusal = (error: unknown, device?: Companion): Close => {
  const code = codeOf(error);
  if (code === null) return closeOf(error);
  if (device === undefined) return { ...ownCloses.linkingRefused, message: `error ${code}` };
  if (code === 400) return { ...ownCloses.deviceNameRefused, message: `"${device.display}"` };
  if (code === 404) return ownCloses.numberRefused;
  if (code === 429) return ownCloses.codesLimited;
  return { ...ownCloses.codeRefused, message: `error ${code}` };
};
