/** A real browser, when this machine has one: Chromium or Chrome without a window, with a profile of its own that goes with it. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import type { Duplex } from 'node:stream';
import { removeFolder, signalTo, temporaryFolder } from './processes.ts';

const places = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const canRun = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The suite needs no browser; a check that brings one says so, and then its absence is a failure. */
export const isBrowserRequired = process.env['REQUIRE_BROWSER'] === 'true';

/** Finds the browser that `CHROMIUM_PATH` names, or else one of the usual places. Returns null if there is none. */
export const findBrowser = (): string | null => {
  const named = process.env['CHROMIUM_PATH'] ?? '';
  return (named === '' ? places : [named]).find(canRun) ?? null;
};

const switches = [
  '--headless',
  // Its sandbox does not work for root and in most containers; it opens a page of the test and nothing else.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-breakpad',
  '--password-store=basic',
  '--use-mock-keychain',
  // A browser whose pipe is closed ends: it does not outlive a test that is killed.
  '--remote-debugging-pipe',
];

export interface Browser {
  /** The output of the browser, for the message of a failing test. */
  readonly printed: () => string;
  close(): Promise<void>;
}

/** Process ids that a test process must still end when it is ended from outside. */
const running = new Set<number>();
process.once('exit', () => {
  for (const pid of running) signalTo(-pid, 'SIGKILL');
});

/** Starts it on a page; what happens there is the page's to tell. */
export const openBrowser = (path: string, url: string): Browser => {
  const folder = temporaryFolder();
  const child = spawn(path, [...switches, `--user-data-dir=${folder}/profile`, url], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const pid = child.pid ?? 0;
  running.add(pid);
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  let printed = '';
  child.stderr?.on('data', (chunk: Buffer) => void (printed += chunk.toString()));
  for (const pipe of child.stdio.slice(3)) (pipe as Duplex).on('error', () => undefined).resume();
  return {
    printed: () => printed,
    async close() {
      signalTo(-pid, 'SIGKILL');
      // The pipes end with the last of its processes, and none writes into the folder any more.
      await ended;
      running.delete(pid);
      await removeFolder(folder);
    },
  };
};
