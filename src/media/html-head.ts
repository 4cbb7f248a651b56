/** Finds what a page says of itself in its head: the few tags that link previews are made of. Not an HTML parser. */

export interface PageFacts {
  readonly title: string;
  readonly description: string;
  /** The address as it stands in the page, possibly relative; '' if there is none. */
  readonly image: string;
}

/** Bounds on what a hostile page can make us look at: pages that mean well have some dozens of tags. */
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
  // A name without a value is matched too: it would be tried again from each of its letters otherwise.
  const found = end.matchAll(/([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>=]+)))?/g);
  return new Map([...found].map(([, name = '', double, single, bare]) => [name.toLowerCase(), double ?? single ?? bare ?? '']));
};

/** The first value of every named meta tag. */
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
