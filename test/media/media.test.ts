/** Tests the pool of threads. Its results are right, and the event loop stays free meanwhile. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { Curve } from '@whiskeysockets/baileys';
import jsqr from 'jsqr';
import { PNG } from 'pngjs';
import sharp from 'sharp';
import { createMedia } from '#src/media/media.ts';

const media = createMedia({ threads: 1 });
after(() => media.close());
const forEver = new AbortController().signal;

const readQr = (dataUrl: string): string | undefined => {
  const png = PNG.sync.read(Buffer.from(dataUrl.replace('data:image/png;base64,', ''), 'base64'));
  return jsqr.default(new Uint8ClampedArray(png.data), png.width, png.height)?.data;
};

test('qrPng: the picture holds the text', async () => {
  const text = `2@${'aZ9+/'.repeat(40)},${'b'.repeat(44)},${'c'.repeat(44)},${'d'.repeat(44)}`;
  assert.equal(readQr(await media.qrPng(text)), text);
});

test('qrPng: a text that no QR code can hold is an error of the call alone', async () => {
  await assert.rejects(media.qrPng('x'.repeat(5000)), /too big/i);
  assert.equal(readQr(await media.qrPng('after')), 'after');
});

test('generatePreKeys: the pairs work with the Signal library and are distinct', async () => {
  const pairs = Buffer.from(await media.generatePreKeys(20));
  assert.equal(pairs.length, 20 * 64);
  const other = Curve.generateKeyPair();
  const secrets = Array.from({ length: 20 }, (_, index) => {
    const [privateKey, publicKey] = [pairs.subarray(index * 64, index * 64 + 32), pairs.subarray(index * 64 + 32, index * 64 + 64)];
    assert.deepEqual(Curve.sharedKey(privateKey, other.public), Curve.sharedKey(other.private, publicKey));
    const signature = Curve.sign(privateKey, Buffer.from('text'));
    assert.ok(Curve.verify(publicKey, Buffer.from('text'), signature));
    return privateKey.toString('hex');
  });
  assert.equal(new Set(secrets).size, 20);
});

test('generatePreKeys: the event loop keeps turning while a batch is generated', async () => {
  let turns = 0;
  let waiting = true;
  const count = (): void => {
    turns += 1;
    if (waiting) setImmediate(count);
  };
  const made = media.generatePreKeys(812);
  count();
  assert.equal((await made).length, 812 * 64);
  waiting = false;
  // Generated on the loop, the batch would take a single turn. A busy machine gives both threads one core, in slices of milliseconds.
  assert.ok(turns > 5, `${turns} turns`);
});

test('preview pictures: a large picture becomes a JPEG that fits', async () => {
  const noise = Buffer.from(Array.from({ length: 400 * 300 * 3 }, (_, index) => (index * 7919) % 251));
  const picture = await sharp(noise, { raw: { width: 400, height: 300, channels: 3 } })
    .resize(1600)
    .png()
    .toBuffer();
  const small = (await media.previewPictures(picture, false, forEver))?.small;
  assert.ok(small && small.length <= 10_240);
  const { format, width, height } = await sharp(small).metadata();
  assert.equal(format, 'jpeg');
  assert.equal(Math.round((Number(width) / Number(height)) * 3), 4);
});

test('preview pictures: other files give no picture', async () =>
  assert.equal(await media.previewPictures(Buffer.from('<html>'), true, forEver), null));

test('preview pictures: a picture with too many pixels gives none, and an AVIF may have a quarter of the pixels', async () => {
  const careful = createMedia({ threads: 1, maxPixels: 1_000_000 });
  const made = async (side: number, format: 'png' | 'avif'): Promise<boolean> => {
    const plain = sharp({ create: { width: side, height: side, channels: 3, background: 'teal' } });
    return (await careful.previewPictures(await plain.toFormat(format, { effort: 1 }).toBuffer(), true, forEver)) !== null;
  };
  assert.deepEqual([await made(1_000, 'png'), await made(1_001, 'png')], [true, false]);
  assert.deepEqual([await made(500, 'avif'), await made(600, 'avif')], [true, false]);
  await careful.close();
});

test('preview pictures: a large picture has the pixels of the small one, without transparency', async () => {
  const halves = sharp({ create: { width: 1_600, height: 800, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } });
  const both = await media.previewPictures(await halves.png().toBuffer(), true, forEver);
  assert.deepEqual([both?.large?.width, both?.large?.height], [800, 400]);
  const { data, info } = await sharp(both?.small).raw().toBuffer({ resolveWithObject: true });
  assert.deepEqual([info.width, info.height, data[0]], [320, 160, 255]);
});

test('preview pictures: an aborted call rejects', async () =>
  assert.rejects(media.previewPictures(Buffer.from('<html>'), false, AbortSignal.abort())));

test('media: an idle pool does not keep a process alive', () => {
  const script = `
    import { createMedia } from ${JSON.stringify(new URL('../../src/media/media.ts', import.meta.url).href)};
    process.stdout.write((await createMedia({ threads: 1 }).qrPng('x')).slice(0, 10));`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', timeout: 60_000 });
  assert.deepEqual([stdout, status], ['data:image', 0]);
});
