/** Opens the checkout to compare with: an existing folder, or a revision of Git in a temporary worktree. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface Checkout {
  readonly folder: string;
  /** Removes a temporary worktree. Idempotent. */
  remove(): void;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

const lockOf = (folder: string): Lock => JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock;

/** Returns the packages of the other checkout that this checkout lacks or has in another version. Additional packages do no harm. */
export const missingPackages = (theirs: Lock, ours: Lock): readonly string[] =>
  Object.entries(theirs.packages)
    .filter(([path, { version }]) => path !== '' && ours.packages[path]?.version !== version)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

const worktreeOf = (revision: string, ours: string): Checkout => {
  const commit = git(ours, 'rev-parse', '--verify', `${revision}^{commit}`);
  const parent = mkdtempSync(join(tmpdir(), 'dormouse-compare-'));
  const folder = join(parent, commit.slice(0, 12));
  const remove = (): void => {
    if (existsSync(folder)) git(ours, 'worktree', 'remove', '--force', folder);
    rmSync(parent, { recursive: true, force: true });
  };
  try {
    git(ours, 'worktree', 'add', '--detach', folder, commit);
    const missing = missingPackages(lockOf(folder), lockOf(ours));
    if (missing.length > 0) {
      throw new Error(
        `${revision} needs other packages (${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ', …' : ''}): ` +
          `make a checkout of it, run npm ci there, and give its folder instead`,
      );
    }
    symlinkSync(join(ours, 'node_modules'), join(folder, 'node_modules'));
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
};

/**
 * Opens the other checkout. Throws an explanation if the name is neither a folder with packages nor a revision that works with the packages of this checkout.
 */
export const checkoutOf = (name: string, ours: string): Checkout => {
  if (!existsSync(join(name, 'package.json'))) return worktreeOf(name, ours);
  const folder = resolve(name);
  if (!existsSync(join(folder, 'node_modules'))) throw new Error(`${folder} has no packages: run npm ci there`);
  return { folder, remove: () => undefined };
};
