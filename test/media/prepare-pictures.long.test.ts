/** Tests the preparation of pictures: unchanged ones, converted ones, and decompression bombs. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { deflateSync, crc32 } from 'node:zlib';
import { after, test, type TestContext } from 'node:test';
import sharp, { type Sharp } from 'sharp';
import type { MediaKind } from '#actors/model.ts';
import type { TemporaryFolder } from '#src/files/blobs.ts';
import { createMedia } from '#src/media/media.ts';
import { createWorkshop, type WorkshopOptions } from '#src/media/prepare.ts';
import type { MediaWorkshop, SourceFile } from '#src/media/prepared.ts';
import { bytesOf, filesIn, folderFor, noFiles, refusalOf, sourceFile, valueOf } from './media-files.ts';

const media = createMedia({ threads: 2 });
after(() => media.close());

const maxPixels = 50_000_000;
const workshopFor = (t: TestContext, folder: TemporaryFolder, options: Partial<WorkshopOptions> = {}): MediaWorkshop => {
  const given = {
    media,
    folder,
    ffmpeg: null,
    jobs: 2,
    timeoutMs: 30_000,
    pictureMs: 30_000,
    maxBytes: 10_000_000,
    maxPixels,
    maxSide: 9_999,
  };
  const workshop = createWorkshop({ ...given, ...options });
  t.after(() => workshop.close());
  return workshop;
};

const plain = (width: number, height: number, alpha = 1): Sharp =>
  sharp({ create: { width, height, channels: 4, background: { r: 200, g: 30, b: 90, alpha } } });

/** Makes a picture that does not compress. Each seed gives another picture. */
const noise = (width: number, height: number, channels: 3 | 4 = 3, seed = 1): Sharp => {
  const words = new Uint32Array(Math.ceil((width * height * channels) / 4));
  let state = seed * 2_654_435_761;
  for (let at = 0; at < words.length; at += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[at] = state;
  }
  return sharp(Buffer.from(words.buffer, 0, width * height * channels), { raw: { width, height, channels } });
};

const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length >> 1);

const frames = async (count: number, side: number, make: (index: number) => Sharp = (index) => plain(side, side, (index % 9) / 9)) => {
  const all = await Promise.all(Array.from({ length: count }, (_, index) => make(index).ensureAlpha().raw().toBuffer()));
  return sharp(Buffer.concat(all), { raw: { width: side, height: side * count, channels: 4, pageHeight: side } });
};

const images: readonly (readonly [what: string, make: () => Sharp, same: boolean, mimetype: string, width: number, height: number])[] = [
  ['a JPEG that fits', () => plain(1_600, 900).jpeg(), true, 'image/jpeg', 1_600, 900],
  ['a PNG that fits', () => plain(20, 30).png(), true, 'image/png', 20, 30],
  ['a JPEG that is too wide', () => plain(3_200, 800).jpeg(), false, 'image/jpeg', 1_600, 400],
  ['a PNG that is too high', () => plain(100, 3_200).png(), false, 'image/png', 50, 1_600],
  ['a JPEG that is stored on its side', () => plain(40, 20).jpeg().withMetadata({ orientation: 6 }), false, 'image/jpeg', 20, 40],
  ['a WebP', () => plain(60, 40, 0.5).webp(), false, 'image/jpeg', 60, 40],
  ['a GIF', () => plain(60, 40).gif(), false, 'image/jpeg', 60, 40],
  ['an AVIF', () => plain(64, 48).avif({ effort: 0 }), false, 'image/jpeg', 64, 48],
  ['a TIFF', () => plain(60, 40).tiff(), false, 'image/jpeg', 60, 40],
  ['a side of 9,999 pixels', () => plain(9_999, 400).png(), false, 'image/png', 1_600, 64],
];
for (const [what, make, same, mimetype, width, height] of images) {
  test(`image: ${what} ${same ? 'stays as it is' : `becomes ${mimetype} of ${width} × ${height}`}`, async (t) => {
    const folder = await folderFor(t);
    const source = await sourceFile(folder, await make().toBuffer());
    const made = valueOf(await workshopFor(t, folder).prepare(source, 'image'));
    assert.deepEqual([made.path === source.path, made.mimetype, made.width, made.height], [same, mimetype, width, height]);
    const { format, width: actual, orientation } = await sharp(await bytesOf(made.path)).metadata();
    assert.deepEqual([`image/${format}`, actual, orientation ?? 1, made.size], [mimetype, width, 1, (await bytesOf(made.path)).length]);
    const small = await sharp(made.thumbnail ?? Buffer.alloc(0)).metadata();
    assert.deepEqual([small.format, Math.max(small.width, small.height)], ['jpeg', 32]);
    assert.equal((await filesIn(folder)).length, same ? 0 : 1);
    await made.discard();
    await made.discard();
    await noFiles(folder);
    assert.equal((await bytesOf(source.path)).length, source.size, 'the source stays');
  });
}

const stickers: readonly (readonly [
  what: string,
  make: () => Sharp | Promise<Sharp>,
  same: boolean,
  isAnimated: boolean,
  limit: number,
])[] = [
  ['a WebP of the right size', () => plain(512, 512).webp(), true, false, 102_400],
  ['a WebP of another size', () => plain(300, 100).webp(), false, false, 102_400],
  ['a PNG', () => plain(300, 600, 0.5).png(), false, false, 102_400],
  ['a JPEG of noise', () => noise(700, 700).jpeg({ quality: 90 }), false, false, 102_400],
  ['a GIF that moves', async () => (await frames(12, 80)).gif(), false, true, 59_000],
  ['a WebP that moves', async () => (await frames(5, 512)).webp(), true, true, 59_000],
];
for (const [what, make, same, isAnimated, limit] of stickers) {
  test(`sticker: ${what} ${same ? 'stays as it is' : 'becomes one that fits'}`, async (t) => {
    const folder = await folderFor(t);
    const source = await sourceFile(folder, await (await make()).toBuffer());
    const made = valueOf(await workshopFor(t, folder).prepare(source, 'sticker'));
    const { format, width, height, pageHeight, pages } = await sharp(await bytesOf(made.path), { animated: true }).metadata();
    assert.deepEqual([made.path === source.path, made.mimetype, format], [same, 'image/webp', 'webp']);
    assert.deepEqual([made.width, made.height, width, pageHeight ?? height], [512, 512, 512, 512]);
    assert.deepEqual([made.isAnimated, (pages ?? 1) > 1], [isAnimated, isAnimated]);
    assert.ok(made.size <= limit, `${made.size} bytes`);
    await made.discard();
    await noFiles(folder);
  });
}

/** Returns a PNG that declares `side` × `side` pixels and contains only zeros, compressed to a thousandth. */
const bomb = (side: number): Buffer => {
  const chunk = (name: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 0], 8);
  const pixels = deflateSync(Buffer.alloc((side + 1) * side), { level: 9 });
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};

/** Returns an AVIF of one picture whose header claims other sides (the box `ispe`). `brand` is the type that the file claims. */
const claiming = async (side: number, brand = 'avif'): Promise<Buffer> => {
  const bytes = await plain(64, 64).avif({ effort: 0 }).toBuffer();
  for (let at = bytes.indexOf('ispe'); at >= 0; at = bytes.indexOf('ispe', at + 1)) {
    bytes.writeUInt32BE(side, at + 8);
    bytes.writeUInt32BE(side, at + 12);
  }
  for (let at = bytes.indexOf('avif'); at >= 0 && at < 64; at = bytes.indexOf('avif', at + 1)) bytes.write(brand, at, 'latin1');
  return bytes;
};

const refused: readonly (readonly [what: string, as: MediaKind, make: () => Promise<Uint8Array>, refusal: RegExp])[] = [
  ['a bomb', 'image', async () => bomb(9_000), /^tooLarge: the picture has 9000 × 9000 pixels; 50000000 are allowed$/],
  ['an AVIF that claims 60,000 × 60,000 pixels', 'image', () => claiming(60_000), /^(tooLarge|invalid): /],
  ['an AVIF that claims 60,000 × 60,000 pixels', 'sticker', () => claiming(60_000), /^(tooLarge|invalid): /],
  ['an AVIF that claims more than it holds', 'image', () => claiming(3_000), /^invalid: .*damaged$/],
  ['a HEIC that claims 60,000 × 60,000 pixels', 'image', () => claiming(60_000, 'heic'), /^notConvertible: the file is image\/heic/],
  ['a HEIC', 'sticker', () => claiming(64, 'heic'), /^notConvertible: the file is image\/heic/],
  ['a bomb', 'sticker', async () => bomb(9_000), /^tooLarge: the picture has 9000 × 9000 pixels/],
  [
    'more frames than fit',
    'sticker',
    async () => (await frames(200, 8, (index) => noise(8, 8, 3, index + 1))).gif().toBuffer(),
    /^tooLarge: the picture has 200 frames of 512 × 512/,
  ],
  ['half a picture', 'image', async () => half(await noise(300, 300).png().toBuffer()), /^invalid: .*image\/png, but it is damaged$/],
  ['half a picture', 'sticker', async () => half(await noise(300, 300).jpeg().toBuffer()), /^invalid: .*damaged$/],
  ['a text', 'image', async () => Buffer.from('hello'), /^notConvertible: the file is text\/plain, which cannot be sent as image/],
  [
    'a drawing',
    'image',
    async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    /^notConvertible: the file is image\/svg\+xml/,
  ],
  [
    'a page',
    'sticker',
    async () => Buffer.from('<html></html>'),
    /^notConvertible: the file is text\/html, which cannot be sent as sticker/,
  ],
  [
    'a side of 10,000 pixels',
    'image',
    () => plain(10_000, 40).png().toBuffer(),
    /^tooLarge: the picture has 10000 × 40 pixels; a side may have 9999/,
  ],
  [
    'noise that moves',
    'sticker',
    async () => (await frames(16, 512, (index) => noise(512, 512, 3, index + 1))).webp({ lossless: true, effort: 0 }).toBuffer(),
    /^tooLarge: .* 500 KiB of a sticker/,
  ],
];
for (const [what, as, make, refusal] of refused) {
  test(`${as}: ${what} is refused, and nothing is left`, async (t) => {
    const folder = await folderFor(t);
    const source = await sourceFile(folder, await make());
    assert.match(refusalOf(await workshopFor(t, folder).prepare(source, as)), refusal);
    await noFiles(folder);
  });
}

test('image: an AVIF, which uses more memory per pixel, may have a quarter of the pixels', async (t) => {
  const folder = await folderFor(t);
  const workshop = workshopFor(t, folder, { maxPixels: 40_000 });
  const pictures = [plain(100, 101).avif({ effort: 0 }), plain(100, 101).png()];
  const [avif, png] = await Promise.all(pictures.map(async (picture) => sourceFile(folder, await picture.toBuffer())));
  assert.ok(avif && png);
  assert.equal(refusalOf(await workshop.prepare(avif, 'image')), 'tooLarge: the picture has 100 × 101 pixels; 10000 are allowed');
  assert.equal(valueOf(await workshop.prepare(png, 'image')).width, 100);
});

test('sticker: areas outside of the picture are transparent, also if it had no transparency', async (t) => {
  const folder = await folderFor(t);
  const source = await sourceFile(folder, await plain(300, 100).jpeg().toBuffer());
  const made = valueOf(await workshopFor(t, folder).prepare(source, 'sticker'));
  const { data, info } = await sharp(await bytesOf(made.path))
    .raw()
    .toBuffer({ resolveWithObject: true });
  assert.equal(info.channels, 4);
  assert.deepEqual([data[3], data[(256 * 512 + 256) * 4 + 3]], [0, 255]);
});

const products: readonly (readonly [what: string, make: () => Sharp, same: boolean, width: number, height: number])[] = [
  ['a JPEG that fits', () => plain(800, 600).jpeg(), true, 800, 600],
  ['a PNG that fits', () => plain(20, 30).png(), false, 20, 30],
  ['a WebP', () => plain(20, 30).webp(), false, 20, 30],
  ['a PNG that is too wide', () => plain(3_200, 800).png(), false, 1_600, 400],
];
for (const [what, make, same, width, height] of products)
  test(`product: ${what} ${same ? 'stays' : 'becomes a JPEG'} of ${width} × ${height}`, async (t) => {
    const folder = await folderFor(t);
    const file = await sourceFile(folder, await make().toBuffer());
    const made = valueOf(await workshopFor(t, folder).portrait(file, 'product'));
    assert.deepEqual([made.mimetype, made.width, made.height, made.path === file.path], ['image/jpeg', width, height, same]);
    assert.equal((await sharp(made.path).metadata()).format, 'jpeg');
    await made.discard();
  });

test('thumbnail: a vector drawing has none', async (t) => {
  const folder = await folderFor(t);
  const thumbnail = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>');
  const source = await sourceFile(folder, await plain(10, 10).png().toBuffer());
  assert.match(refusalOf(await workshopFor(t, folder).prepare(source, 'image', { thumbnail })), /^invalid: the thumbnail is no picture/);
});

test('image: a file with a wrong type is damaged, and its type is not trusted', async (t) => {
  const folder = await folderFor(t);
  const source: SourceFile = { ...(await sourceFile(folder, Buffer.from('<svg/>'))), mimetype: 'image/png' };
  assert.match(refusalOf(await workshopFor(t, folder).prepare(source, 'image')), /^invalid: .*damaged$/);
});

test('thumbnail: a given one replaces the generated one, and a file that is no picture is refused', async (t) => {
  const folder = await folderFor(t);
  const workshop = workshopFor(t, folder);
  const source = await sourceFile(folder, await plain(100, 100).jpeg().toBuffer());
  const wish = await plain(200, 100).png().toBuffer();
  for (const thumbnail of [wish, (await sourceFile(folder, wish)).path]) {
    const { width, height } = await sharp(valueOf(await workshop.prepare(source, 'image', { thumbnail })).thumbnail ?? wish).metadata();
    assert.deepEqual([width, height], [200, 100]);
  }
  assert.match(
    refusalOf(await workshop.prepare(source, 'image', { thumbnail: Buffer.from('no') })),
    /^invalid: the thumbnail is no picture/,
  );
});

test('document: it stays unchanged, and its type comes from its content, or from the caller if the content is unclear', async (t) => {
  const folder = await folderFor(t);
  const workshop = workshopFor(t, folder);
  const rows: readonly (readonly [bytes: Uint8Array, wish: string, mimetype: string])[] = [
    [Buffer.from('%PDF-1.7\n'), 'image/png', 'application/pdf'],
    [Buffer.from('a,b\n1,2\n'), 'text/csv', 'text/csv'],
    [Buffer.from('a,b\n1,2\n'), '', 'text/plain'],
    [Buffer.from('a,b\n1,2\n'), 'text/csv\r\nx: y', 'text/plain'],
    [Buffer.from([0, 1, 2, 200]), 'application/x-own; version=1', 'application/x-own; version=1'],
  ];
  for (const [bytes, wish, mimetype] of rows) {
    const source = await sourceFile(folder, bytes);
    const made = valueOf(await workshop.prepare(source, 'document', { mimetype: wish }));
    assert.deepEqual([made.path, made.size, made.mimetype, made.thumbnail], [source.path, bytes.length, mimetype, null]);
  }
  const picture = valueOf(await workshop.prepare(await sourceFile(folder, await plain(400, 300).webp().toBuffer()), 'document'));
  assert.equal((await sharp(picture.thumbnail ?? Buffer.alloc(0)).metadata()).width, 32);
  await noFiles(folder);
});

test('workshop: an abort during the wait or the work, and a stop, are refusals and leave no file', async (t) => {
  const folder = await folderFor(t);
  const workshop = workshopFor(t, folder, { jobs: 1 });
  const large = await sourceFile(folder, await noise(3_000, 3_000).png({ compressionLevel: 1 }).toBuffer());
  const controllers = [new AbortController(), new AbortController()];
  const given = controllers.map(({ signal }) => workshop.prepare(large, 'image', { signal }));
  const stopped = workshop.prepare(large, 'image');
  for (const controller of controllers) controller.abort();
  for (const result of given) assert.equal(refusalOf(await result), 'unavailable: the file was not waited for any longer');
  await workshop.close();
  assert.equal(refusalOf(await stopped), 'unavailable: the server is stopping');
  await noFiles(folder);
  assert.equal(valueOf(await workshopFor(t, folder).prepare(large, 'image')).width, 1_600, 'the pool works on');
});

test('workshop: a picture that takes too long is refused, and leaves no file when its conversion ends', async (t) => {
  const folder = await folderFor(t);
  const large = await sourceFile(folder, await noise(3_000, 3_000).png({ compressionLevel: 1 }).toBuffer());
  assert.match(refusalOf(await workshopFor(t, folder, { timeoutMs: 50 }).prepare(large, 'image')), /^limited: .*in time$/);
  await noFiles(folder);
  const began = Date.now();
  await valueOf(await workshopFor(t, folder).prepare(large, 'image')).discard();
  const took = Date.now() - began;
  // The library works on in its own threads, while the thread that asked has ended.
  for (const part of [0.2, 0.4, 0.6, 0.8]) {
    const result = await workshopFor(t, folder, { timeoutMs: took * part }).prepare(large, 'image');
    if (result.ok) await result.value.discard();
  }
  await wait(took * 2);
  await noFiles(folder);
});
