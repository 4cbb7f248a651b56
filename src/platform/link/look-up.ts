/** Reads the version of today's web client out of the platform's own pages. */
import { request, type Dispatcher } from 'undici';

/** The third part of a version; the first two have been 2 and 3000 for years. */
export type Revision = number;

/** A browser's usual answer to "which program are you". The pages answer other programs with 400. */
const userAgent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36';

/** The service worker, and the page itself where that fails, each as a browser asks for it (Baileys `fetchLatestWaWebVersion`, whatsmeow `update.go`). */
const pages: readonly { readonly path: string; readonly headers: Readonly<Record<string, string>> }[] = [
  { path: '/sw.js', headers: { 'sec-fetch-site': 'none' } },
  {
    path: '/',
    headers: {
      accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'accept-language': 'en-US,en;q=0.9',
      'sec-fetch-dest': 'document',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-site': 'none',
      'sec-fetch-user': '?1',
    },
  },
];

/** With or without escaped quotes. */
const pattern = /\\?"client_revision\\?"\s*:\s*(\d{6,12})\b/;

const read = async (base: URL, { path, headers }: (typeof pages)[number], dispatcher: Dispatcher, ms: number): Promise<Revision> => {
  const answer = await request(new URL(path, base), {
    headers: { ...headers, 'user-agent': userAgent },
    dispatcher,
    signal: AbortSignal.timeout(ms),
  });
  if (answer.statusCode !== 200) {
    await answer.body.dump();
    throw new Error(`${path} answered ${answer.statusCode}`);
  }
  const found = pattern.exec(await answer.body.text())?.[1];
  if (found === undefined) throw new Error(`${path} names no client revision`);
  return Number(found);
};

/** Rejects with a sentence about each page. `ms`: for each page. */
export const lookUpRevision = async (
  base: URL,
  dispatcher: Dispatcher,
  ms: number,
  reason: (error: unknown) => string,
): Promise<Revision> => {
  const failures: string[] = [];
  for (const page of pages) {
    try {
      return await read(base, page, dispatcher, ms);
    } catch (error) {
      failures.push(error instanceof Error && error.message.startsWith(page.path) ? error.message : `${page.path}: ${reason(error)}`);
    }
  }
  throw new Error(failures.join('; '));
};
