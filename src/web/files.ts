/** The files of the dashboard that the browser loads: the files of `page/`, and modules, a style sheet and a font of packages. There is no build step. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** Modules of packages that the modules of the page may import. All modules import `preact` by this name, so the page loads only one copy. */
export const library = ['preact', 'preact/hooks', 'htm', 'htm/preact', '@preact/signals-core', '@preact/signals', 'uplot'] as const;

/** The browser modules of packages whose main file is not for browsers. */
const moduleOf: Readonly<Partial<Record<(typeof library)[number], string>>> = { uplot: 'uplot/dist/uPlot.esm.js' };

/** Modules that a view loads when it is opened. The document does not request them. */
const later: readonly string[] = ['uplot'];

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const folder = new URL('page/', import.meta.url);
const libraryFile = (name: string): string => `lib/${name.replaceAll('/', '-').replace('@', '')}.js`;

/** Returns the files by name. Requests can only reach the files of this table. */
const readTable = (): ReadonlyMap<string, URL> => {
  const page = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => extname(name) in types && !name.endsWith('tsconfig.json'));
  return new Map([
    ...page.toSorted().map((name) => [`page/${name}`, new URL(name, folder)] as const),
    ...library.map((name) => [libraryFile(name), new URL(import.meta.resolve(moduleOf[name] ?? name))] as const),
    ['lib/uplot.css', new URL(import.meta.resolve('uplot/dist/uPlot.min.css'))],
    ['font/inter.woff2', new URL(import.meta.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'))],
  ]);
};

export interface PageFile {
  readonly type: string;
  readonly etag: string;
  readonly bytes: Buffer;
  /** The compressed bytes; null for fonts, which are compressed already. */
  readonly gzipped: Buffer | null;
}

interface PageDocument extends PageFile {
  /** The Content-Security-Policy of the document. */
  readonly policy: string;
}

const compress = promisify(gzip);

const fileOf = async (type: string, bytes: Buffer): Promise<PageFile> => ({
  type,
  bytes,
  etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
  gzipped: type.startsWith('font/') ? null : await compress(bytes),
});

/**
 * Returns the content security policy. The browser may run and load files of this server only, and send requests to this server only. The
 * import map is the only inline script. The policy allows it by its hash.
 */
const policyOf = (importMap: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' 'sha256-${createHash('sha256').update(importMap).digest('base64')}'`,
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "media-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/**
 * Returns the document, which names the modules that the first view needs. The browser therefore requests all modules at once and does not discover them
 * import by import.
 */
const documentOf = (importMap: string, base: string, names: readonly string[], icons: string): string => {
  const of = (ending: string): readonly string[] => names.filter((name) => name.endsWith(ending)).map((name) => base + name);
  const modules = of('.js').filter(
    (address) => !address.endsWith('/theme.js') && !later.some((name) => address === base + libraryFile(name)),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dormouse</title>
<link rel="icon" href="${base}page/logo.svg" type="image/svg+xml">
<link rel="preload" href="${base}font/inter.woff2" as="font" type="font/woff2" crossorigin>
${of('.css')
  .map((address) => `<link rel="stylesheet" href="${address}">`)
  .join('\n')}
<script src="${base}page/theme.js"></script>
<script type="importmap">${importMap}</script>
${modules.map((address) => `<link rel="modulepreload" href="${address}">`).join('\n')}
<script type="module" src="${base}page/main.js"></script>
</head>
<body>
${icons}
<div id="app"></div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`;
};

/** Returns a hash of the names, times and sizes of all files. */
const versionOf = async (table: ReadonlyMap<string, URL>): Promise<string> => {
  const stats = await Promise.all([...table.values()].map((url) => stat(url)));
  const marks = [...table.keys()].map((name, at) => `${name} ${stats[at]?.mtimeMs} ${stats[at]?.size}`);
  return createHash('sha256').update(marks.join('\n')).digest('base64url').slice(0, 12);
};

export class PageFiles {
  readonly #table = readTable();
  readonly #kept = new Map<string, { readonly changed: number; readonly file: PageFile }>();

  /**
   * Returns the document, which is the same for every view. The addresses of its files contain a version, so browsers may cache the files without a
   * time limit. The version changes with the files on the disk. After such a change, a reload of the page is enough.
   */
  async document(): Promise<PageDocument> {
    const base = `/admin/files/${await versionOf(this.#table)}/`;
    const importMap = JSON.stringify({ imports: Object.fromEntries(library.map((name) => [name, base + libraryFile(name)])) });
    const icons = await readFile(new URL('icons.svg', folder), 'utf8');
    const text = documentOf(importMap, base, [...this.#table.keys()], icons.trim());
    return { ...(await fileOf('text/html; charset=utf-8', Buffer.from(text))), policy: policyOf(importMap) };
  }

  /** Returns a file; null if there is no file of this name. */
  async file(name: string): Promise<PageFile | null> {
    const url = this.#table.get(name);
    if (url === undefined) return null;
    const [known, { mtimeMs: changed }] = [this.#kept.get(name), await stat(url)];
    if (known?.changed === changed) return known.file;
    const file = await fileOf(types[extname(url.pathname)] ?? '', await readFile(url));
    this.#kept.set(name, { changed, file });
    return file;
  }
}
