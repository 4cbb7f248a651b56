/** Makes the preview of a link: fetches the page and its picture through the address guard, with bounds on time and size. */
import { type Dispatcher, request } from 'undici';
import { type AddressGuard, createAgent, deadline } from '#src/webhooks/address-guard.ts';
import { Slots } from './bounded-work.ts';
import type { Media, PreviewPictures } from './media.ts';

// Finds the tags in the head of a page that link previews need. This code is not an HTML parser.

interface PageFacts {
  readonly title: string;
  readonly description: string;
  /** The address of the picture as the page has it, possibly relative; '' if there is none. */
  readonly image: string;
}

/** Bounds of the parsing for hostile pages. Ordinary pages have some dozens of tags. */
const maxTags = 300;
const maxTagLength = 4_096;

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  ndash: '–',
  mdash: '—',
};

const decodeEntity = (whole: string, name: string): string => {
  if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? whole;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : '';
};

const textOf = (html: string, limit: number): string =>
  html
    .slice(0, limit * 4)
    .replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,8});/gi, decodeEntity)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, limit);

const attributesOf = (tag: string): ReadonlyMap<string, string> => {
  const end = /^(?:[^>"']|"[^"]*"|'[^']*')*/.exec(tag)?.[0] ?? '';
  // The pattern also matches a name without a value. Otherwise the search would start again at each letter of the name.
  const found = end.matchAll(/([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>=]+)))?/g);
  return new Map([...found].map(([, name = '', double, single, bare]) => [name.toLowerCase(), double ?? single ?? bare ?? '']));
};

/** Returns the first value of every named meta tag. */
const metaOf = (head: string): ReadonlyMap<string, string> => {
  const values = new Map<string, string>();
  for (const { index } of head.matchAll(/<meta\s/gi).take(maxTags)) {
    const attributes = attributesOf(head.slice(index + 5, index + 5 + maxTagLength));
    const name = (attributes.get('property') ?? attributes.get('name') ?? '').toLowerCase();
    const content = attributes.get('content')?.trim();
    if (name && content && !values.has(name)) values.set(name, content);
  }
  return values;
};

export const readHead = (html: string): PageFacts => {
  const end = html.search(/<\/head|<body/i);
  const head = end < 0 ? html : html.slice(0, end);
  const meta = metaOf(head);
  const first = (...names: readonly string[]): string => names.map((name) => meta.get(name)).find(Boolean) ?? '';
  const opened = head.search(/<title[\s>]/i);
  const title = opened < 0 ? '' : /^<title[^>]*>([^<]*)/i.exec(head.slice(opened, opened + maxTagLength))?.[1];
  return {
    title: textOf(first('og:title', 'twitter:title') || (title ?? ''), 300),
    description: textOf(first('og:description', 'twitter:description', 'description'), 600),
    image: textOf(first('og:image', 'og:image:url', 'twitter:image', 'twitter:image:src'), 2_048),
  };
};

export interface LinkPreview {
  readonly title: string;
  readonly description: string;
  readonly pictures: PreviewPictures | null;
}

/** The maker of previews. `large` requests a large picture in addition to the small one. No method rejects. */
export interface LinkPreviews {
  /** Makes the preview of a page. Returns null if the page cannot be fetched in time, or has no title. */
  page(url: string, large: boolean): Promise<LinkPreview | null>;
  /** Makes the pictures of a preview. `source`: a picture, or its address. Returns null if `source` is no picture, or cannot be fetched in time. */
  picture(source: string | Uint8Array, large: boolean): Promise<PreviewPictures | null>;
  close(): Promise<void>;
}

interface LinkPreviewOptions {
  readonly guard: AddressGuard;
  readonly media: Pick<Media, 'previewPictures'>;
  readonly userAgent: string;
  /** Time-out for fetching the page and the picture together. In milliseconds. */
  readonly timeoutMs?: number;
  /**
   * The longest wait of a picture for a slot. A usual picture takes some 20 ms, so a hundred pictures can wait. The sum of the three times in these options is
   * shorter than the time limit of a send. In milliseconds.
   */
  readonly turnMs?: number;
  /** Time-out for converting a picture, after the wait for a slot. This time includes the start of a thread and three seconds of decoding. In milliseconds. */
  readonly pictureMs?: number;
}

interface Wanted {
  readonly type: RegExp;
  readonly maxBytes: number;
  /** True if a longer body is an error. The beginning of a page is sufficient; the beginning of a picture is not. */
  readonly whole: boolean;
}

const page: Wanted = { type: /^(?:text\/html|application\/xhtml\+xml)\b/i, maxBytes: 524_288, whole: false };
const picture: Wanted = { type: /^image\/(?!svg)/i, maxBytes: 1_048_576, whole: true };
const maxRedirects = 3;

const read = async (body: Dispatcher.ResponseData['body'], { maxBytes, whole }: Wanted): Promise<Buffer | null> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop destroys the body, which closes the connection.
    if (length > maxBytes) return whole ? null : Buffer.concat(chunks).subarray(0, maxBytes);
  }
  return Buffer.concat(chunks);
};

/** Decodes the text with the encoding that the header or the page names, or with UTF-8 if that encoding is unknown. */
const decode = (bytes: Buffer, contentType: string): string => {
  const named = /charset\s*=\s*["']?([\w-]+)/i;
  const label = named.exec(contentType)?.[1] ?? named.exec(bytes.subarray(0, 1_024).toString('latin1'))?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
};

/** Runs the work within the time-out. Returns null if the work fails or exceeds the time-out. `clear` ends the time-out early. */
const inTime = async <T>(ms: number, work: (signal: AbortSignal, clear: () => void) => Promise<T | null>): Promise<T | null> => {
  const { signal, clear } = deadline(ms);
  try {
    return await work(signal, clear);
  } catch {
    return null;
  } finally {
    clear();
  }
};

/** Makes the function that converts pictures, one at a time. */
const createPictures = (media: LinkPreviewOptions['media'], turnMs: number, pictureMs: number) => {
  // One picture can take hundreds of megabytes. The pool has one thread for previews.
  const slots = new Slots(1);
  return (bytes: Uint8Array, large: boolean): Promise<PreviewPictures | null> =>
    inTime(turnMs, (waiting, clear) =>
      slots.run('', waiting, () => {
        clear();
        return inTime(pictureMs, (signal) => media.previewPictures(bytes, large, signal));
      }),
    );
};

export const createLinkPreviews = ({
  guard,
  media,
  userAgent,
  timeoutMs = 3_000,
  turnMs = 4_000,
  pictureMs = 6_000,
}: LinkPreviewOptions): LinkPreviews => {
  const dispatcher = createAgent(guard, timeoutMs);
  const picturesOf = createPictures(media, turnMs, pictureMs);

  /** Fetches an address. Every redirect is checked like the first request. */
  const get = async (
    url: string,
    wanted: Wanted,
    signal: AbortSignal,
    hops = maxRedirects,
  ): Promise<{ url: string; bytes: Buffer; type: string } | null> => {
    if (guard.checkUrl(url) !== null) return null;
    const headers = { 'user-agent': userAgent, accept: wanted === page ? 'text/html' : 'image/*', 'accept-encoding': 'identity' };
    const answer = await request(url, { dispatcher, headers, signal });
    const [type, location] = [String(answer.headers['content-type'] ?? ''), answer.headers['location']];
    if (answer.statusCode === 200 && wanted.type.test(type) && !answer.headers['content-encoding']) {
      const bytes = await read(answer.body, wanted);
      return bytes && { url, bytes, type };
    }
    await answer.body.dump({ limit: 65_536, signal });
    const next = answer.statusCode >= 300 && answer.statusCode < 400 && typeof location === 'string' ? URL.parse(location, url) : null;
    return next && hops > 0 ? get(next.href, wanted, signal, hops - 1) : null;
  };

  const pictureAt = async (url: string, large: boolean, signal: AbortSignal): Promise<PreviewPictures | null> => {
    const found = await get(url, picture, signal).catch(() => null);
    return found && picturesOf(found.bytes, large);
  };

  return {
    page: (url, large) =>
      inTime(timeoutMs, async (signal) => {
        const found = await get(url, page, signal);
        if (!found) return null;
        const { title, description, image } = readHead(decode(found.bytes, found.type));
        if (!title) return null;
        const address = image ? URL.parse(image, found.url) : null;
        // A page without its picture still has a preview.
        return { title, description, pictures: address && (await pictureAt(address.href, large, signal)) };
      }),
    picture: (source, large) =>
      typeof source === 'string' ? inTime(timeoutMs, (signal) => pictureAt(source, large, signal)) : picturesOf(source, large),
    close: () => dispatcher.destroy(),
  };
};
