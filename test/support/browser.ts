/** A real browser, if this machine has one: Chromium or Chrome without a window, with a temporary profile. */
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

/** True if a missing browser is a failure. By default tests without a browser are skipped. */
export const isBrowserRequired = process.env['REQUIRE_BROWSER'] === 'true';

/** Finds the browser that `CHROMIUM_PATH` names, or else one of the usual places. Returns null if there is none. */
export const findBrowser = (): string | null => {
  const named = process.env['CHROMIUM_PATH'] ?? '';
  return (named === '' ? places : [named]).find(canRun) ?? null;
};

const switches = [
  '--headless',
  // The sandbox of the browser does not work for root and in most containers. The browser opens only pages of the test.
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
  // A browser ends when its pipe is closed, so it does not outlive a killed test.
  '--remote-debugging-pipe',
];

export interface Browser {
  /** Returns the output of the browser, for the message of a failing test. */
  readonly printed: () => string;
  close(): Promise<void>;
}

/** Ids of the browser processes that have to be killed when the test process exits early. */
const running = new Set<number>();
process.once('exit', () => {
  for (const pid of running) signalTo(-pid, 'SIGKILL');
});

/** Starts the browser on a page. The page itself reports its results. */
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
      // The pipes close with the last process of the browser. After that no process writes into the folder.
      await ended;
      running.delete(pid);
      await removeFolder(folder);
    },
  };
};
