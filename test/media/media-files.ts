/** The setting of tests of files: a folder that must be empty at the end, with a workshop and an intake on it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Result } from '#actors/model.ts';
import { openTemporaryFolder, type TemporaryFolder } from '#src/files/blobs.ts';
import { createIntake, type Intake, type IntakeOptions, typeOf } from '#src/media/intake.ts';
import type { SourceFile } from '#src/media/prepared.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';

export const folderFor = async (t: TestContext): Promise<TemporaryFolder> => {
  const root = await mkdtemp(join(tmpdir(), 'dormouse-media-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return openTemporaryFolder(join(root, 'temporary'));
};

export const filesIn = ({ path }: TemporaryFolder): Promise<string[]> => readdir(path);

export const noFiles = async (folder: TemporaryFolder): Promise<void> => assert.deepEqual(await filesIn(folder), [], 'no file is left');

export const intakeFor = (t: TestContext, folder: TemporaryFolder, options: Partial<IntakeOptions> = {}): Intake => {
  const intake = createIntake({
    guard: new AddressGuard({ allow: ['loopback'] }),
    userAgent: 'Dormouse/test',
    folder,
    maxBytes: 1_000_000,
    timeoutMs: 30_000,
    silenceMs: 15_000,
    ...options,
  });
  t.after(() => intake.close());
  return intake;
};

export const valueOf = <T>(result: Result<T>): T => {
  assert.ok(result.ok, result.ok ? '' : result.refusal.message);
  return result.value;
};

/** Returns a refusal as `reason: message`; `done` if there is none. */
export const refusalOf = (result: Result<unknown>): string => (result.ok ? 'done' : `${result.refusal.reason}: ${result.refusal.message}`);

/** Starts a server on loopback for one test. Returns its address. */
export const serve = async (t: TestContext, listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Creates a file beside the temporary folder, like a file of a client. */
export const sourceFile = async (folder: TemporaryFolder, bytes: Uint8Array): Promise<SourceFile> => {
  const name = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const path = join(folder.path, '..', name);
  await writeFile(path, bytes);
  return { path, size: bytes.length, mimetype: await typeOf(path) };
};

export const bytesOf = (path: string): Promise<Buffer> => readFile(path);
