/** Tests the search for programs that a killed gateway left behind. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { test } from 'node:test';
import { endLeftoverChildren } from '#src/media/ffmpeg.ts';
import { folderFor } from './media-files.ts';

const seesProcesses = { skip: existsSync('/proc/self/cwd') ? false : 'this system does not show its processes as files' };

test('leftovers: programs in the folder are ended, and others are not', seesProcesses, async (t) => {
  const [folder, elsewhere] = [await folderFor(t), await folderFor(t)];
  const start = (cwd: string) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { cwd, stdio: 'ignore' });
    t.after(() => child.kill('SIGKILL'));
    return once(child, 'spawn').then(() => child);
  };
  const [left, other] = [await start(folder.path), await start(elsewhere.path)];
  const ended = once(left, 'exit');
  assert.equal(await endLeftoverChildren(folder.path), 1);
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  assert.equal(other.exitCode, null);
  assert.equal(other.signalCode, null);
});
