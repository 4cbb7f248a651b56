/** Serves the page's files. The list of files is read once at the start, so that no request can reach other files on the disk. */
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FastifyPluginAsync } from 'fastify';

const folder = new URL('../page/', import.meta.url);

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const security = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

export const page: FastifyPluginAsync = async (app) => {
  for (const name of await readdir(folder)) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    // The file is read for every request. The files are small, and a change is seen at once while the page is developed.
    app.get(name === 'index.html' ? '/' : `/page/${name}`, { schema: { hide: true } }, async (_request, reply) =>
      reply
        .headers(security)
        .type(type)
        .send(await readFile(new URL(name, folder))),
    );
  }
};
