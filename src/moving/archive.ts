/**
 * The archive format of this gateway: sessions as lines of JSON, sealed with a passphrase. The first line is a plain-text header. Frames follow. A frame has
 * its length in four bytes, and a text of at most 64 KB under AES-256-GCM. The nonce is the number of the frame and marks the last frame. A dropped, moved or
 * missing frame is therefore detected. The key is derived from the passphrase by scrypt.
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { SourceFault } from './session.ts';

/** Reads a given number of bytes from a stream. */
export class Pieces {
  readonly #source: AsyncIterator<Uint8Array>;
  #held = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns the next bytes; null if the stream has fewer bytes left. */
  async take(bytes: number): Promise<Buffer | null> {
    const parts = [this.#held];
    let size = this.#held.length;
    while (size < bytes) {
      const { value, done } = await this.#source.next();
      if (done === true) break;
      parts.push(Buffer.from(value));
      size += value.length;
    }
    const whole = parts.length === 1 ? this.#held : Buffer.concat(parts);
    const taken = whole.length >= bytes ? whole.subarray(0, bytes) : null;
    this.#held = taken === null ? whole : whole.subarray(bytes);
    return taken;
  }

  /** Returns the bytes up to the end of a line; null if the line has no end, or is longer than `most` bytes. */
  async line(most: number): Promise<Buffer | null> {
    const bytes: Buffer[] = [];
    for (;;) {
      const one = await this.take(1);
      if (one === null || bytes.length > most) return null;
      bytes.push(one);
      if (one[0] === 0x0a) return Buffer.concat(bytes);
    }
  }

  close(): void {
    void this.#source.return?.();
  }
}

const magic = 'dormouse archive';
const frameBytes = 64 * 1024;
const tagBytes = 16;
/** The largest length of a line, in bytes. */
const longestLine = 32 << 20;
const longestHeader = 1024;
/**
 * The second version has chats and messages after the keys of a session. An archive without chats and messages has the first version, which every release
 * reads.
 */
const versions = [1, 2] as const;
type ArchiveVersion = (typeof versions)[number];
/** The cost of scrypt: 32 MB and some 70 ms. An archive may require at most 128 MB. */
const cost = { N: 1 << 15, r: 8, p: 1 };
const mostCost = 1 << 17;

interface Header {
  readonly is: typeof magic;
  readonly version: ArchiveVersion;
  readonly N: number;
  readonly salt: string;
}

const derive = (passphrase: string, { N, salt }: Pick<Header, 'N' | 'salt'>): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const options = { N, r: cost.r, p: cost.p, maxmem: 256 * N * cost.r };
    scrypt(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), 32, options, (error, key) => (error ? reject(error) : resolve(key)));
  });

const nonceOf = (count: number, isLast: boolean): Buffer => {
  const nonce = Buffer.alloc(12);
  nonce[0] = isLast ? 1 : 0;
  nonce.writeUInt32BE(count, 8);
  return nonce;
};

/** Seals lines of text with a passphrase. Yields the bytes of the archive. */
export async function* sealLines(lines: AsyncIterable<string>, passphrase: string, version: ArchiveVersion = 1): AsyncIterable<Uint8Array> {
  const header: Header = { is: magic, version, N: cost.N, salt: randomBytes(16).toString('base64') };
  const head = Buffer.from(`${JSON.stringify(header)}\n`);
  const key = await derive(passphrase, header);
  let count = 0;
  const frame = (bytes: Uint8Array, isLast: boolean): Buffer => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(count, isLast)).setAAD(head);
    count += 1;
    const sealed = Buffer.concat([Buffer.alloc(4), cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
    sealed.writeUInt32BE(sealed.length - 4, 0);
    return sealed;
  };
  yield head;
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const line of lines) {
    const bytes = Buffer.from(`${line}\n`);
    waiting.push(bytes);
    size += bytes.length;
    if (size <= frameBytes) continue;
    const whole = Buffer.concat(waiting);
    let at = 0;
    for (; whole.length - at > frameBytes; at += frameBytes) yield frame(whole.subarray(at, at + frameBytes), false);
    waiting = [whole.subarray(at)];
    size = whole.length - at;
  }
  yield frame(Buffer.concat(waiting), true);
}

const cutOff = new SourceFault('The archive is cut off');

const headerOf = (line: Buffer | null): Header => {
  const notOurs = new SourceFault('This is no archive of Dormouse');
  let header: Partial<Header>;
  try {
    header = JSON.parse(line?.toString('utf8') ?? '') as Partial<Header>;
  } catch {
    throw notOurs;
  }
  const { is, N = 0, salt = '' } = header;
  if (is !== magic) throw notOurs;
  const version = versions.find((known) => known === header.version);
  if (version === undefined) throw new SourceFault('A later version of Dormouse made this archive');
  if (!Number.isInteger(N) || N < 2 || N > mostCost || (N & (N - 1)) !== 0 || typeof salt !== 'string') throw notOurs;
  return { is, version, N, salt };
};

async function* openFrames(bytes: AsyncIterable<Uint8Array>, passphrase: string): AsyncIterable<Buffer> {
  const pieces = new Pieces(bytes);
  try {
    const head = await pieces.line(longestHeader);
    const key = await derive(passphrase, headerOf(head));
    for (let count = 0, isLast = false; !isLast; count += 1) {
      const length = (await pieces.take(4))?.readUInt32BE(0);
      if (length === undefined || length < tagBytes || length > frameBytes + tagBytes) throw cutOff;
      const sealed = await pieces.take(length);
      if (sealed === null) throw cutOff;
      const open = (last: boolean): Buffer | null => {
        const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(count, last), { authTagLength: tagBytes });
        decipher.setAAD(head ?? Buffer.alloc(0)).setAuthTag(sealed.subarray(length - tagBytes));
        try {
          return Buffer.concat([decipher.update(sealed.subarray(0, length - tagBytes)), decipher.final()]);
        } catch {
          return null;
        }
      };
      const usual = open(false);
      const text = usual ?? open(true);
      isLast = usual === null;
      if (text === null)
        throw new SourceFault(count === 0 ? 'The passphrase is not the one of this archive' : 'The archive was changed or damaged');
      // Bytes after the last frame have no seal, so an attacker may have added them.
      if (isLast && (await pieces.take(1)) !== null)
        throw new SourceFault('The archive goes on after its end: it was changed, or two were joined');
      yield text;
    }
  } finally {
    pieces.close();
  }
}

/** Opens lines that `sealLines` sealed. Throws `SourceFault` for a wrong passphrase, and for an archive that was changed, cut off or extended. */
export async function* openLines(bytes: AsyncIterable<Uint8Array>, passphrase: string): AsyncIterable<string> {
  let rest = Buffer.alloc(0);
  for await (const frame of openFrames(bytes, passphrase)) {
    rest = Buffer.concat([rest, frame]);
    for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
      yield rest.toString('utf8', 0, end);
      rest = rest.subarray(end + 1);
    }
    if (rest.length > longestLine) throw new SourceFault('The archive has a line that is too long');
  }
  if (rest.length > 0) throw cutOff;
}
