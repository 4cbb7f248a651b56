/** Manages the processes and folders of a bench. They are removed when the bench ends, also after an error or a signal. */
import { fork, type ChildProcess } from 'node:child_process';
import { openSync, closeSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { argsFor } from '#test/support/constants.ts';
import type { Question, Reply } from './probe.ts';

export interface Child {
  readonly title: string;
  readonly pid: number;
  /** Returns the output so far. */
  readonly output: () => string;
  /** Sends a question to the probe in the process. Rejects with an error of the probe, or when the process ends. */
  ask<T>(question: string, input?: unknown): Promise<T>;
  /** Returns the first message of the process that is not an answer. */
  said<T>(): Promise<T>;
  end(): Promise<void>;
}

export interface ChildOptions {
  /** The working folder, such as the folder of an earlier child. A new folder if absent. */
  readonly folder?: string;
  readonly args?: readonly string[];
  /** True to run the file of the measured checkout, not of this one. */
  readonly measured?: boolean;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

const endMs = 15_000;
const lifeMs = 60_000;
/** The checkout of this file. */
export const here = resolve(import.meta.dirname, '../..');

/** The processes around the measured one. */
const surroundings: ReadonlySet<string> = new Set(['test/bench/dam.ts', 'test/bench/peers.ts', 'src/sandbox/main.ts']);
/** Makes garbage collections of these processes rare. Such a collection takes both cores for 100 ms, and would count as a delay of the measured process. */
const calm = ['--heap-growing-percent=400', '--v8-pool-size=1'];

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Polls until `look` returns a value other than null. Returns the value. Rejects after `ms` milliseconds. */
export const eventually = async <T>(look: () => Promise<T | null> | T | null, what: string, ms = lifeMs, every = 25): Promise<T> => {
  for (const deadline = Date.now() + ms; ; await pause(every)) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`);
  }
};

/** Sends a signal to a process that may have ended already. Returns true if the process existed. */
const kill = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};

const talkTo = (child: ChildProcess, title: string, logFile: string): Child => {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const said = Promise.withResolvers<unknown>();
  const exited = Promise.withResolvers<void>();
  said.promise.catch(() => undefined);
  let asked = 0;
  let ended: Error | null = null;
  const output = (): string => readFileSync(logFile, 'utf8');
  child.on('message', (message: Reply) => {
    if (!('id' in message)) return said.resolve(message);
    const waiter = waiting.get(message.id);
    waiting.delete(message.id);
    if ('error' in message) waiter?.reject(new Error(`${title}: ${message.error}`));
    else waiter?.resolve(message.value);
  });
  child.once('exit', (code, signal) => {
    ended = new Error(`${title} ended (${code ?? signal}):\n${output().slice(-2000)}`);
    for (const waiter of [...waiting.values(), said]) waiter.reject(ended);
    waiting.clear();
    exited.resolve();
  });
  return {
    title,
    pid: child.pid ?? 0,
    output,
    ask<T>(question: string, input?: unknown): Promise<T> {
      if (ended) return Promise.reject(ended);
      const waiter = Promise.withResolvers<unknown>();
      waiting.set((asked += 1), waiter);
      child.send({ id: asked, ask: question, input } satisfies Question, (error) => error && waiter.reject(error));
      return waiter.promise as Promise<T>;
    },
    said: <T>() => said.promise as Promise<T>,
    async end() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), endMs);
      await exited.promise;
      clearTimeout(timer);
    },
  };
};

export class Workshop {
  /** The checkout whose program is measured. The simulated platform and the receivers always come from this checkout. */
  readonly checkout: string;
  readonly #children = new Set<Child>();
  readonly #folders: string[] = [];
  readonly #last: (() => Promise<unknown>)[] = [];
  #count = 0;
  #closed = false;

  constructor(checkout = here) {
    this.checkout = checkout;
  }

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'dormouse-bench-'));
    this.#folders.push(folder);
    return folder;
  }

  /** Runs a file of the project in a process of its own, with a probe, in an empty environment. */
  async start(entry: string, options: ChildOptions = {}): Promise<Child & { readonly folder: string }> {
    const { args = [], env = {}, measured = false, folder = await this.folder() } = options;
    const root = measured ? this.checkout : here;
    const logFile = join(folder, 'output.log');
    const log = openSync(logFile, 'w');
    if (this.#closed) throw new Error('the bench is over');
    const forked = fork(join(root, entry), args, {
      cwd: folder,
      env: { PATH: process.env['PATH'], ...env },
      execArgv: [
        '--expose-gc',
        ...(surroundings.has(entry) ? calm : []),
        '--import',
        pathToFileURL(join(root, 'test/bench/probe.ts')).href,
        ...argsFor(env, root),
      ],
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    const child = talkTo(forked, `${entry} #${(this.#count += 1)}`, logFile);
    const kept: Child = { ...child, end: () => child.end().finally(() => this.#children.delete(kept)) };
    this.#children.add(kept);
    return { ...kept, folder };
  }

  /** Registers work for the end of the bench, which runs before the processes are ended. */
  atEnd(work: () => Promise<unknown>): void {
    this.#last.push(work);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const work of this.#last.splice(0)) await work();
    await Promise.all([...this.#children].map((child) => child.end()));
    for (const folder of this.#folders.splice(0)) {
      // A gateway that had to be killed leaves its database server behind.
      const server = databaseServerOf(folder);
      if (server !== null && kill(server, 'SIGINT')) await eventually(() => (kill(server, 0) ? null : true), 'the database server');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

/** Returns the process id of the embedded database server below a working folder, or null if no server runs. */
export const databaseServerOf = (folder: string): number | null => {
  try {
    return Number(readFileSync(join(folder, 'data', 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n', 1)[0]) || null;
  } catch {
    return null;
  }
};
