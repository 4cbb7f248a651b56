/** Tests a full disk of temporary files. The failure is temporary, so the caller may retry, and the file of the client is not refused. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import fs, { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { FilesUnavailable } from '#actors/ports.ts';
import { Ffmpeg } from '#src/media/ffmpeg.ts';
import { createMedia, createSealing, type Media } from '#src/media/media.ts';
import { createWorkshop } from '#src/media/prepare.ts';
import { ffmpegPath, synthesize, withFfmpeg } from '#test/support/ffmpeg.ts';
import { folderFor, intakeFor, noFiles, sourceFile } from './media-files.ts';

const media = createMedia({ threads: 1 });
after(() => media.close());

/** A device of Linux on which each write fails with ENOSPC. */
const fullDevice = '/dev/full';
const skip = existsSync(fullDevice) ? false : 'the system has no full device';
const never = new AbortController().signal;

/** Returns the error of a write to a full disk. */
const full = (): Error => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

const isUnavailable = (error: unknown): boolean => error instanceof FilesUnavailable && error.message.endsWith('(ENOSPC)');

test('full disk: the encryption of a file rejects with an outage of the store, and leaves no copy', { skip }, async (t) => {
  const folder = await folderFor(t);
  const { path } = await sourceFile(folder, randomBytes(1_000));
  const seal: Media['seal'] = (task, signal) => media.seal({ ...task, target: fullDevice }, signal);
  const keys = { iv: randomBytes(16), cipher: randomBytes(32), mac: randomBytes(32) };
  await assert.rejects(createSealing({ seal }, folder, 1).seal(path, keys, never), isUnavailable);
  await noFiles(folder);
});

test('full disk: the intake of a file rejects with an outage of the store, and leaves no file', async (t) => {
  const folder = await folderFor(t);
  const intake = intakeFor(t, folder);
  await using handle = await open(import.meta.filename);
  t.mock.method(Object.getPrototypeOf(handle) as typeof handle, 'writev', () => Promise.reject(full()));
  await assert.rejects(intake.take('aGVsbG8='), isUnavailable);
  await noFiles(folder);
});

/** Makes writes of whole files fail until the end of the test. */
const failWrites = (t: TestContext): void => {
  const mock = t.mock.method(fs, 'writeFile', () => Promise.reject(full()));
  syncBuiltinESMExports();
  t.after(() => {
    mock.mock.restore();
    syncBuiltinESMExports();
  });
};

test('full disk: the conversion of a picture rejects with an outage of the store, and leaves no file', async (t) => {
  const folder = await folderFor(t);
  const source = { ...(await sourceFile(folder, randomBytes(100))), mimetype: 'image/png' };
  const outcome = { problem: null, bytes: new Uint8Array(9), mimetype: 'image/jpeg', width: 1, height: 1, isAnimated: false } as const;
  const picture = async () => ({ ...outcome, thumbnail: new Uint8Array(1) });
  const limits = { maxPixels: 1_000, maxSide: 1_000, maxBytes: 1_000, pictureMs: 1_000, timeoutMs: 30_000 };
  const workshop = createWorkshop({ ...limits, media: { ...media, picture }, folder, ffmpeg: null, jobs: 1 });
  t.after(() => workshop.close());
  failWrites(t);
  await assert.rejects(workshop.prepare(source, 'image'), isUnavailable);
  await noFiles(folder);
});

test('full disk: a conversion by ffmpeg rejects with an outage of the store', skip ? { skip } : withFfmpeg, async (t) => {
  const folder = await folderFor(t);
  const path = join(folder.path, '..', 'tone.wav');
  await synthesize(path, ['sine=d=1'], []);
  const ffmpeg = new Ffmpeg({ program: ffmpegPath ?? '', folder: folder.path, jobs: 1, maxPixels: 1_000, cpuSeconds: 30 });
  for (const format of ['ogg', 'mp4']) {
    const conversion = { path, target: fullDevice, output: ['-f', format], maxBytes: 1_000_000 };
    await assert.rejects(ffmpeg.convert(conversion, { signal: never, run: (_slots, work) => work() }), FilesUnavailable);
  }
});
