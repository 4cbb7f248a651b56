/** A disk that can be filled: a small file system in memory. Mounting it requires root on Linux. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const run = (command: string, args: readonly string[]): boolean => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** Disks that have to be unmounted when the test process exits early. */
const mounted = new Set<string>();
process.once('exit', () => {
  for (const root of mounted) run('umount', ['-l', root]);
});

const block = Buffer.alloc(64 * 1024, 1);

export class SmallDisk {
  /** A folder on the disk. */
  readonly folder: string;
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
    this.folder = join(root, 'data');
    mkdirSync(this.folder, { mode: 0o755 });
  }

  /** Mounts a disk. Returns null if mounting is not possible. */
  static open(megabytes: number): SmallDisk | null {
    const root = mkdtempSync(join(tmpdir(), 'dormouse-disk-'));
    if (
      process.platform === 'linux' &&
      process.getuid?.() === 0 &&
      run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', root])
    ) {
      mounted.add(root);
      return new SmallDisk(root);
    }
    rmSync(root, { recursive: true, force: true });
    return null;
  }

  /** Reserves space so that `file` on the disk can grow by `bytes` when the disk is full. */
  keepRoomFor(file: string, bytes: number): void {
    const length = String(statSync(file).size + bytes);
    if (!run('fallocate', ['--keep-size', '--length', length, file])) throw new Error(`no room could be kept for ${file}`);
  }

  /** Fills the remaining space. Files of earlier calls stay. */
  fill(): void {
    const file = openSync(join(this.#root, 'ballast'), 'a');
    try {
      for (;;) writeSync(file, block);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  drain(): void {
    rmSync(join(this.#root, 'ballast'), { force: true });
  }

  /** Unmounts the disk. All users must have ended. */
  close(): void {
    if (mounted.delete(this.#root)) run('umount', ['-l', this.#root]);
    rmSync(this.#root, { recursive: true, force: true });
  }
}
