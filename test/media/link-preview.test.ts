/** Tests link previews: the metadata of a page, fetched with limits. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import sharp from 'sharp';
import { createLinkPreviews, readHead } from '#src/media/link-preview.ts';
import { createMedia, type Media } from '#src/media/media.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';

const heads: readonly (readonly [what: string, html: string, title: string, description: string, image: string])[] = [
  ['a title alone', '<html><head><title>\n A &amp; B </title></head>', 'A & B', '', ''],
  [
    'og before twitter before plain',
    '<title>t</title><meta name="twitter:title" content="tw"><meta property="og:title" content="og">',
    'og',
    '',
    '',
  ],
  [
    'any order, quotes and case',
    `<META content='It&#39;s "so"' PROPERTY=og:title /><meta content=d name=description>`,
    'It\'s "so"',
    'd',
    '',
  ],
  ['a bracket inside a value', '<meta property="og:title" content="a > b < c">', 'a > b < c', '', ''],
  [
    'the first value wins',
    '<meta property="og:image" content="/1.png"><meta property="og:image" content="/2.png"><title>x</title>',
    'x',
    '',
    '/1.png',
  ],
  ['nothing after the head', '<head></head><body><title>no</title><meta property="og:title" content="no">', '', '', ''],
  ['entities out of range', '<title>&#x110000;&#0;&unknown;&#128512;</title>', '&unknown;😀', '', ''],
];
for (const [what, html, title, description, image] of heads)
  test(`readHead: ${what}`, () => assert.deepEqual(readHead(html), { title, description, image }));

test('readHead: hostile pages cost no more than others', () => {
  for (const html of [
    '<meta "<" '.repeat(50_000),
    '<meta '.repeat(80_000),
    '<title'.repeat(80_000),
    `<meta ${'a="'.repeat(150_000)}`,
    `<meta ${'x'.repeat(4_090)}`.repeat(120),
  ]) {
    const started = process.cpuUsage();
    readHead(html);
    assert.ok(process.cpuUsage(started).user < 500_000, html.slice(0, 10));
  }
});

const media = createMedia({ threads: 1 });
const options = { guard: new AddressGuard({ allow: ['loopback'] }), media, userAgent: 'Dormouse/test' };
const previews = createLinkPreviews(options);
const servers: Server[] = [];
after(async () => {
  await Promise.all([previews.close(), media.close()]);
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const serve = async (pages: Readonly<Record<string, RequestListener>>): Promise<string> => {
  const server = createServer((request, response) =>
    (pages[request.url ?? ''] ?? ((_request, answer) => answer.writeHead(404).end()))(request, response),
  );
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const html =
  (text: string, type = 'text/html; charset=utf-8'): RequestListener =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': type }).end(Buffer.from(text, type.includes('8859') ? 'latin1' : 'utf8'));
const redirect =
  (location: string): RequestListener =>
  (_request, response) =>
    void response.writeHead(302, { location }).end();

test('page: a preview has title, description and a fitting picture', async () => {
  const picture = await sharp({ create: { width: 1200, height: 630, channels: 3, background: 'teal' } })
    .png()
    .toBuffer();
  const base = await serve({
    '/post': html('<title>Post</title><meta name="description" content="About"><meta property="og:image" content="/image.png">'),
    '/image.png': (_request, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end(picture),
  });
  const found = await previews.page(`${base}/post`, false);
  assert.deepEqual([found?.title, found?.description], ['Post', 'About']);
  assert.ok(found?.pictures && found.pictures.small.length <= 10_240);
  assert.equal(found.pictures.large, null);
  const large = (await previews.page(`${base}/post`, true))?.pictures?.large;
  assert.deepEqual([large?.width, large?.height], [800, 420]);
  const alone = await previews.picture(`${base}/image.png`, true);
  assert.deepEqual([alone?.large?.width, alone?.small], [800, found.pictures.small], 'the address of a picture is one');
  assert.deepEqual(await previews.picture(picture, false), { small: found.pictures.small, large: null }, 'bytes of a picture too');
  for (const source of [`${base}/post`, `${base}/missing.png`, Buffer.from('<html>')])
    assert.equal(await previews.picture(source, true), null);
});

test('page: a page without its picture is still a preview', async () => {
  const base = await serve({
    '/lost': html('<title>Lost</title><meta property="og:image" content="/missing.png">'),
    '/big': html('<title>Big</title><meta property="og:image" content="/big.png">'),
    '/big.png': (_request, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(1_100_000)),
  });
  for (const path of ['/lost', '/big']) assert.equal((await previews.page(base + path, false))?.pictures, null, path);
});

test('page: three redirects are followed, a fourth and a forbidden one are not', async () => {
  const base = await serve({
    '/0': redirect('/1'),
    '/1': redirect('/2'),
    '/2': redirect('/3'),
    '/3': redirect('/4'),
    '/4': html('<title>End</title>'),
    '/out': redirect('http://169.254.169.254/latest/'),
    '/file': redirect('file:///etc/passwd'),
  });
  assert.equal((await previews.page(`${base}/1`, false))?.title, 'End');
  for (const path of ['/0', '/out', '/file']) assert.equal(await previews.page(base + path, false), null, path);
});

test('page: other encodings are read, and only the beginning of a long page', async () => {
  const base = await serve({
    '/latin': html('<title>Olá</title>', 'text/html; charset=iso-8859-1'),
    '/long': html(`<title>Long</title>${'x'.repeat(3_000_000)}`),
  });
  assert.equal((await previews.page(`${base}/latin`, false))?.title, 'Olá');
  assert.equal((await previews.page(`${base}/long`, false))?.title, 'Long');
});

test('page: a page that is not HTML, has no title, fails or never answers gives no preview', async () => {
  const base = await serve({
    '/json': html('{"title":"x"}', 'application/json'),
    '/untitled': html('<p>hello</p>'),
    '/broken': (_request, response) => void response.destroy(),
    '/silent': () => undefined,
  });
  const impatient = createLinkPreviews({ ...options, timeoutMs: 200 });
  for (const path of ['/json', '/untitled', '/broken', '/missing', '/silent'])
    assert.equal(await impatient.page(base + path, false), null, path);
  assert.equal(await impatient.page('no address', false), null);
  await impatient.close();
});

/** A maker of pictures whose calls end only by their signals. It counts the calls under way. */
const stuck = () => {
  const counts = { now: 0, most: 0, begun: 0 };
  const previewPictures: Media['previewPictures'] = (_picture, _large, signal) => {
    counts.now += 1;
    counts.begun += 1;
    counts.most = Math.max(counts.most, counts.now);
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => {
        counts.now -= 1;
        reject(signal.reason as Error);
      }),
    );
  };
  return { counts, previewPictures };
};

test('picture: pictures are made one at a time, and each ends in time', async () => {
  const media = stuck();
  const busy = createLinkPreviews({ ...options, media, pictureMs: 20 });
  const all = await Promise.all(Array.from({ length: 3 }, () => busy.picture(Buffer.from('x'), false)));
  assert.deepEqual([all, media.counts], [[null, null, null], { now: 0, most: 1, begun: 3 }]);
  await busy.close();
});

test('picture: a picture that waits too long for its turn is left out', async () => {
  const media = stuck();
  const busy = createLinkPreviews({ ...options, media, pictureMs: 200, turnMs: 20 });
  const all = await Promise.all(Array.from({ length: 3 }, () => busy.picture(Buffer.from('x'), false)));
  assert.deepEqual([all, media.counts.begun], [[null, null, null], 1]);
  await busy.close();
});

test('page: a picture that takes too long does not cost the preview', async () => {
  const base = await serve({
    '/slow': html('<title>Slow</title><meta property="og:image" content="/slow.png">'),
    '/slow.png': (_request, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end('x'),
  });
  const busy = createLinkPreviews({ ...options, media: stuck(), pictureMs: 20 });
  assert.deepEqual(await busy.page(`${base}/slow`, false), { title: 'Slow', description: '', pictures: null });
  await busy.close();
});
