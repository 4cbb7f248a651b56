/** Tests that a quiet process gives memory back to the system after a burst. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { IdleMemory } from '#src/idle-memory.ts';
import { root } from '#test/source-tree.ts';

const megabyte = 1024 * 1024;

/** Returns a memory watch on a simulated process, and the modes that the watch has set. */
const watched = () => {
  const state = { rss: 400 * megabyte, busy: 0.05 };
  const modes: boolean[] = [];
  const memory = new IdleMemory({ rss: () => state.rss, busyShare: () => state.busy, setMode: (saves) => void modes.push(saves) });
  const look = (times: number): void => {
    for (let time = 0; time < times; time += 1) memory.look();
  };
  return { state, modes, memory, look };
};

test('idle memory: three quiet checks switch the memory-saving mode on, and two more switch it off', () => {
  const { modes, memory, look } = watched();
  look(2);
  assert.deepEqual(modes, []);
  look(1);
  assert.deepEqual(modes, [true]);
  look(2);
  assert.deepEqual(modes, [true, false]);
  memory.close();
});

test('idle memory: a busy event loop never switches the memory-saving mode on, and switches it off at once', () => {
  const { state, modes, memory, look } = watched();
  state.busy = 0.5;
  look(10);
  assert.deepEqual(modes, []);
  state.busy = 0.05;
  look(3);
  state.busy = 0.5;
  look(1);
  assert.deepEqual(modes, [true, false]);
  memory.close();
});

test('idle memory: a quiet process that has not grown since the last time keeps its mode', () => {
  const { state, modes, memory, look } = watched();
  look(3);
  state.rss = 250 * megabyte;
  look(100);
  assert.equal(modes.length, 2, 'once');
  state.rss = 340 * megabyte;
  look(100);
  assert.equal(modes.length, 2, 'it grew by less than a quarter and 32 MB');
  state.rss = 350 * megabyte;
  look(1);
  assert.deepEqual(modes.slice(2), [true]);
  memory.close();
  assert.equal(modes.at(-1), false, 'a closed watch leaves no mode behind');
});

/** The source of a program that fills 200 MB, drops nearly all of them, and runs the checks. It prints its memory before and after. In bytes. */
const program = `
  import { setTimeout as wait } from 'node:timers/promises';
  import { IdleMemory } from '#src/idle-memory.ts';
  const memory = new IdleMemory({ busyShare: () => 0 });
  let kept = [];
  for (let round = 0; round < 12; round += 1) {
    kept = Array.from({ length: 300_000 }, (_, i) => ({ i, pair: [i, i], text: 'x' + i }));
    await wait(5);
  }
  kept.length = 1_000;
  const before = process.memoryUsage.rss();
  const isBack = () => before - process.memoryUsage.rss() > 60 * 1024 * 1024;
  for (const ms of [0, 0, 10_000, 60_000, 0]) {
    memory.look();
    // On a busy machine the garbage collector needs longer than the pause between two checks.
    for (const end = Date.now() + ms; Date.now() < end && !isBack();) await wait(100);
  }
  memory.close();
  console.log(JSON.stringify({ before, after: process.memoryUsage.rss(), kept: kept.length }));
`;

test('idle memory: a real process returns the memory of a burst to the system', () => {
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { cwd: root, encoding: 'utf8' });
  const { before, after } = JSON.parse(printed) as { readonly before: number; readonly after: number };
  assert.ok(before - after > 60 * megabyte, `${before} bytes before and ${after} after`);
});
