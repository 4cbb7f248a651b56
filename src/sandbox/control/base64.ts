/** Parses base64 input, bare or in a data URL. */
import { SandboxError } from '../face.ts';

const dataUrl = /^data:([^;,]*)((?:;[^;,]*)*),/;

/** Returns the base64 without white space, and the media type of a data URL (else ''). Throws a 400 for any other input. */
export const parseBase64 = (input: string, field: string): { readonly mimetype: string; readonly data: string } => {
  const head = dataUrl.exec(input.slice(0, 256));
  if (input.startsWith('data:') && !head?.[2]?.endsWith(';base64')) throw new SandboxError(400, `${field} must be a base64 data URL`);
  const data = input.slice(head?.[0].length ?? 0).replace(/\s+/g, '');
  if (data === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw new SandboxError(400, `${field} must be base64 or a base64 data URL`);
  return { mimetype: head?.[1] ?? '', data };
};
