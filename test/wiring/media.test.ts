/** Tests how the service opens and closes the parts that handle files. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '#config/load.ts';
import { openMediaParts } from '#src/wiring/media.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';
import { quietLog } from '#test/support/database.ts';

test('media parts: temporary files of a killed process are removed at the start, and those of this process at the stop', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'dormouse-parts-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const temporary = join(dataDir, 'temporary');
  mkdirSync(temporary);
  writeFileSync(join(temporary, 'left'), 'by a process that was killed');
  const closers: (() => Promise<void>)[] = [];
  const settings = loadSettings({ env: { FFMPEG_PATH: join(dataDir, 'missing') }, file: join(dataDir, '.env') });
  const lines: object[] = [];
  const log = { ...quietLog, debug: (values: object, message: string) => void lines.push({ message, ...values }) };
  const guard = new AddressGuard({ allow: [] });
  const onOpen = (_name: string, close: () => Promise<void>): void => void closers.unshift(close);
  const disk = { freeBytes: 3e9, warning: 'nearly full' };
  const { intake } = await openMediaParts({ settings, dataDir, guard, userAgent: 'Dormouse/test', disk, log, onOpen });
  assert.deepEqual(readdirSync(temporary), []);
  assert.deepEqual(lines, [{ message: 'media.ffmpeg', isThere: false }]);
  assert.ok((await intake.take('aGVsbG8=')).ok);
  assert.equal(readdirSync(temporary).length, 1);
  disk.freeBytes = 2e9;
  assert.ok(!(await intake.take('aGVsbG8=')).ok, 'the disk has no room for 32 files');
  disk.warning = '';
  assert.ok((await intake.take('aGVsbG8=')).ok, 'the operator switched the warning off');
  for (const close of closers) await close();
  assert.deepEqual(readdirSync(temporary), []);
});
