/** Tests the camera of the simulated phone: the pictures that it reads, and its errors for others. */
import assert from 'node:assert/strict';
import { randomBytes, randomFillSync } from 'node:crypto';
import { after, test } from 'node:test';
import { PNG } from 'pngjs';
import QRCode from 'qrcode';
import { Camera } from '#src/sandbox/control/camera.ts';
import { until } from '#test/support/until.ts';

const camera = new Camera();
after(() => camera.close());

const key = () => randomBytes(32).toString('base64');
const ticket = () => `2@${randomBytes(90).toString('base64')},${key()},${key()},${key()}`;

/** Returns a QR code somewhere in a larger picture, as on a screenshot. */
const onScreen = async (text: string, width: number, height: number): Promise<string> => {
  const code = PNG.sync.read(await QRCode.toBuffer(text, { scale: 4 }));
  const screen = new PNG({ width, height });
  screen.data.fill(0xf0);
  PNG.bitblt(code, screen, 0, 0, code.width, code.height, width - code.width - 40, 30);
  return PNG.sync.write(screen).toString('base64');
};

/** Returns a picture whose header claims a wrong size. */
const claiming = (width: number, height: number): string => {
  const file = PNG.sync.write(new PNG({ width: 4, height: 4 }));
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  return file.toString('base64');
};

// The picture is awaited before the first test is declared, because the runner may end between two tests while a file still waits.
const whole = await QRCode.toBuffer(ticket());

const pictures: readonly (readonly [string, (text: string) => Promise<string>])[] = [
  ['a data URL', (text) => QRCode.toDataURL(text)],
  ['bare base64', async (text) => (await QRCode.toBuffer(text)).toString('base64')],
  ['one pixel a module', (text) => QRCode.toDataURL(text, { scale: 1 })],
  ['low error correction without a margin', (text) => QRCode.toDataURL(text, { errorCorrectionLevel: 'L', margin: 0, scale: 3 })],
  ['light on dark', (text) => QRCode.toDataURL(text, { color: { dark: '#ffffffff', light: '#000000ff' } })],
  ['a large picture', (text) => QRCode.toDataURL(text, { width: 1200 })],
  ['a screenshot', (text) => onScreen(text, 1600, 900)],
];

for (const [title, draw] of pictures) {
  test(`camera: reads ${title}`, async () => {
    const text = ticket();
    assert.equal(await camera.read(await draw(text)), text);
  });
}

const refused: readonly (readonly [string, string, RegExp])[] = [
  ['text', 'hello', /must be a PNG picture/],
  ['another picture format', Buffer.from('/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP', 'base64').toString('base64'), /must be a PNG picture/],
  ['half a picture', whole.subarray(0, whole.length / 2).toString('base64'), /damaged PNG/],
  ['a header alone', whole.subarray(0, 30).toString('base64'), /damaged PNG|no QR/],
  ['a picture of no size', claiming(0, 10), /at most 10 million pixels/],
  ['a picture that claims gigabytes', claiming(60_000, 60_000), /at most 10 million pixels/],
  ['a picture that claims more than it has', claiming(3000, 3000), /damaged PNG/],
  ['an empty picture', PNG.sync.write(new PNG({ width: 300, height: 300 })).toString('base64'), /no QR code was found/],
];

for (const [title, picture, error] of refused) {
  test(`camera: refuses ${title}`, async () => {
    await assert.rejects(camera.read(picture), { status: 400, message: error });
  });
}

test('camera: gives up a difficult picture after its time limit, and reads the next one', async (t) => {
  const noise = new PNG({ width: 3000, height: 3000 });
  randomFillSync(noise.data);
  const hard = PNG.sync.write(noise, { deflateLevel: 0, filterType: 0 }).toString('base64');
  // The time limit is too short for a picture full of noise.
  const hasty = new Camera(2_000);
  t.after(() => hasty.close());
  await assert.rejects(hasty.read(hard), { status: 400, message: 'no QR code was found in the picture in time' });
  const text = ticket();
  const easy = await QRCode.toDataURL(text);
  // On a busy machine a thread that restarts may need the whole limit.
  await until(async () => (await hasty.read(easy).catch(() => '')) === text, 'the next picture is read');
});
