/** Serves the API reference (Scalar): a page that reads an OpenAPI document in the browser. All of its files come from this server. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { gunzip, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * Scripts are files of this server, without `unsafe-eval`. Scalar writes `style` attributes, which no nonce and no hash can allow, so its
 * documentation asks for `unsafe-inline` in `style-src`. The page can send requests and load pictures from this server only, so a style cannot
 * send data to another server.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface ReferenceOptions {
  /** The path of the page, without a slash at its end. */
  readonly prefix: `/${string}`;
  readonly title: string;
  /** The address of the OpenAPI document, relative to the page. */
  readonly document: string;
  /**
   * The address of the dashboard, relative to the page. If it is set, the page offers to send requests with the session of the dashboard.
   */
  readonly dashboard?: string;
}

/** Makes the page. The title and the addresses are constants of the program, so they are not escaped. */
const pageOf = ({ title, document, dashboard }: ReferenceOptions): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="reference.css">
<script defer src="scalar.js"></script>
<script defer src="reference.js"></script>
</head>
<body>
<div id="reference" data-document="${document}"${dashboard === undefined ? '' : ` data-dashboard="${dashboard}"`}></div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`;

interface Served {
  readonly type: string;
  readonly gzipped: Buffer;
  readonly etag: string;
}

const served = (type: string, gzipped: Buffer): Served => ({
  type,
  gzipped,
  // The tag is weak, because it names both the plain and the compressed form.
  etag: `W/"${createHash('sha256').update(gzipped).digest('base64url').slice(0, 22)}"`,
});

const send = async ({ headers }: FastifyRequest, reply: FastifyReply, { type, gzipped, etag }: Served): Promise<FastifyReply> => {
  void reply.type(type).headers({
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    etag,
  });
  if (headers['if-none-match']?.includes(etag)) return reply.code(304).send();
  if (/\bgzip\b/.test(headers['accept-encoding'] ?? '')) return reply.header('content-encoding', 'gzip').send(gzipped);
  return reply.send(await promisify(gunzip)(gzipped));
};

/** Makes a file on its first request. A failure is not cached, so the next request tries again. */
const whenAsked = (type: string, make: () => Promise<Buffer>): (() => Promise<Served>) => {
  let kept: Promise<Served> | undefined;
  return () => {
    const made = (kept ??= make().then((bytes) => served(type, bytes)));
    made.catch(() => (kept = undefined));
    return made;
  };
};

/**
 * Returns the script of the API reference, compressed with gzip. Rejects if the package cannot be read. The package contains the script as a text in a module.
 * The import of this module needs 100 ms and 35 MB. A thread imports the module, compresses the script (4.9 MB to 1.4 MB) and ends.
 */
const readBundle = async (): Promise<Buffer> => {
  const thread = new Worker(new URL('./bundle-thread.ts', import.meta.url));
  try {
    // If the thread fails, it emits an `error` event, and the promise rejects.
    const [bytes] = (await once(thread, 'message')) as [Uint8Array];
    return Buffer.from(bytes);
  } finally {
    await thread.terminate();
  }
};

const compress = promisify(gzip);
const fileOf = (type: string, name: string) =>
  whenAsked(type, async () => compress(await readFile(new URL(`page/${name}`, import.meta.url))));

/** Installs the routes of the page and of its files. */
export const addReference = (app: FastifyInstance, options: ReferenceOptions): void => {
  const { prefix } = options;
  const javascript = 'text/javascript; charset=utf-8';
  const script = whenAsked(javascript, readBundle);
  const files = {
    '': whenAsked('text/html; charset=utf-8', () => compress(pageOf(options))),
    'scalar.js': script,
    'reference.js': fileOf(javascript, 'reference.js'),
    'reference.css': fileOf('text/css; charset=utf-8', 'reference.css'),
  };
  const schema = { hide: true };
  // The redirect is relative, so it also works behind a proxy that adds a path prefix.
  app.get(prefix, { schema }, (_request, reply) => reply.redirect(`${prefix.slice(prefix.lastIndexOf('/') + 1)}/`));
  for (const [name, file] of Object.entries(files)) {
    app.get(`${prefix}/${name}`, { schema }, async (request, reply) => {
      // The browser requests the script next, so its preparation starts with the page. A failure is reported by the request for the script.
      if (name === '') void script().catch(() => undefined);
      return send(request, reply, await file());
    });
  }
};
