/** Pictures and media arrive as base64, bare or in a data URL; this is the one place that takes them apart. */
import { SandboxError } from '../face.ts';

const dataUrl = /^data:([^;,]*)((?:;[^;,]*)*),/;

/** `data` is bare base64 without white space; `mimetype` is what a data URL said, '' otherwise. Throws a 400 for anything else. */
export const parseBase64 = (input: string, field: string): { readonly mimetype: string; readonly data: string } => {
  const head = dataUrl.exec(input.slice(0, 256));
  if (input.startsWith('data:') && !head?.[2]?.endsWith(';base64')) throw new SandboxError(400, `${field} must be a base64 data URL`);
  const data = input.slice(head?.[0].length ?? 0).replace(/\s+/g, '');
  if (data === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw new SandboxError(400, `${field} must be base64 or a base64 data URL`);
  return { mimetype: head?.[1] ?? '', data };
};
