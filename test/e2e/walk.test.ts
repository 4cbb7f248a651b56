/** The README's walk, word for word: its commands are pasted into one bash, block by block, and every block does what the text promises. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasCurl } from '#test/support/curl.ts';
import { removeFolder, signalTo, temporaryFolder } from '#test/support/processes.ts';
import { root } from '#test/source-tree.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The commands of each step, by its number. */
const stepsOf = (text: string): ReadonlyMap<number, string> => {
  const section = text.slice(text.indexOf('## A walk'), text.indexOf('## The API'));
  return new Map(
    [...section.matchAll(/\*\*(\d+)\. [\s\S]*?```bash\n([\s\S]*?)```/g)].map(([, number, commands = '']) => [Number(number), commands]),
  );
};

/** Listens for a moment; 0 takes a free port. Answers null when the port is taken. */
const tryPort = (port: number): Promise<number | null> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => {
      const taken = (server.address() as AddressInfo).port;
      server.close(() => resolve(taken));
    });
  });

/** The README's ports where they are free; only those that are not are replaced. */
const choosePorts = async (): Promise<ReadonlyMap<number, number>> => {
  const ports = new Map<number, number>();
  for (const wanted of [3000, 3001, 4000]) ports.set(wanted, (await tryPort(wanted)) ?? (await tryPort(0)) ?? 0);
  return ports;
};

const withPorts = (commands: string, ports: ReadonlyMap<number, number>): string =>
  [...ports].reduce(
    (text, [from, to]) => text.replaceAll(`127.0.0.1:${from}`, `127.0.0.1:${to}`).replaceAll(`listen(${from}`, `listen(${to}`),
    commands,
  );

/** `npm run` finds the project here, and the data and logs of the walk stay here too. */
const makeFolder = (): string => {
  const folder = temporaryFolder();
  for (const name of ['actors', 'config', 'src', 'node_modules']) symlinkSync(join(root, name), join(folder, name));
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  return folder;
};

const blockLimit = 60_000;

/** One bash that stays, as a person has it: it is given a block, and answers with what the block printed. */
class Terminal {
  readonly #cwd: string;
  readonly #bash: ChildProcessWithoutNullStreams;
  #output = '';
  #heard: () => void = () => undefined;

  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    this.#cwd = cwd;
    this.#bash = spawn('bash', ['-eu'], { cwd, env, detached: true });
    const hear = (chunk: Buffer): void => {
      this.#output += chunk.toString();
      this.#heard();
    };
    this.#bash.stdout.on('data', hear);
    this.#bash.stderr.on('data', hear);
    this.#bash.once('exit', () => this.#heard());
  }

  /** Rejects when a command of the block failed, or when it does not end. */
  paste(commands: string): Promise<string> {
    const done = `block-${Math.random().toString(36).slice(2)}`;
    this.#output = '';
    if (this.#bash.exitCode !== null) return Promise.reject(new Error('bash has ended'));
    this.#bash.stdin.write(`${commands}\necho ${done}\n`);
    return new Promise((resolve, reject) => {
      const finish = (error: string | null): void => {
        clearTimeout(limit);
        this.#heard = () => undefined;
        if (error === null) resolve(this.#output.slice(0, this.#output.indexOf(done)));
        else reject(new Error(`${error}:\n${commands}\nIt printed:\n${this.#output}\nThe gateway:\n${this.#log()}`));
      };
      const limit = setTimeout(() => finish('this block did not end'), blockLimit);
      this.#heard = () => {
        if (this.#output.includes(done)) finish(null);
        else if (this.#bash.exitCode !== null) finish(`bash ended with ${this.#bash.exitCode} in this block`);
      };
    });
  }

  #log(): string {
    const path = join(this.#cwd, 'gateway.log');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  /** With everything that was started in it. */
  close(): void {
    signalTo(-Number(this.#bash.pid), 'SIGKILL');
  }
}

const steps = stepsOf(readme);
const token = /^[A-Za-z0-9]{20,}$/m;
const received = /"from":"5511999990001"[^}]*"text":"Hello from the gateway"/g;

/** What the README promises of each step, and what must hold beyond it. */
const promises: readonly (readonly [step: number | string, promise: string, ...printed: RegExp[]])[] = [
  [1, 'the gateway gets ready', /\{"restored":0,"total":0\}/],
  [2, 'an instance has a token', token],
  [3, 'the phone links itself by the picture', /"number":"5511999990001".*"name":"My shop".*"device":1/],
  [4, 'it is connected', /^connected$/m],
  [5, 'the webhook is set', /"enabled":true,"url":"http:\/\/127.0.0.1:\d+\/hook"/],
  [6, 'the contact decrypts the text', /"status":"Sent","text":"Hello from the gateway"/, /"envelope":"pkmsg"/, received],
  [7, 'the answer comes by webhook', /^\{.*"EventType":"messages".*"text":"Hello from the contact"/m],
  ['cat stream.log', 'the answer came by the stream', /^data: .*"text":"Hello from the contact"/m],
  [8, 'both messages are found', /\[ 'Hello from the contact', 'Hello from the gateway' \]/],
  [9, 'killed and started again, it is connected', /"total":1\}/, /^connected$/m],
  [
    'curl -fs http://127.0.0.1:3001/stats',
    'there was no new pairing',
    /"pairings":0,"logins":\{"total":1,"failed":0,"double":0,/,
    /"unknown":\{\}/,
  ],
  [6, 'the contact decrypts a text of the restarted gateway', /"status":"Sent"/, new RegExp(`${received.source}.*${received.source}`)],
  [10, 'everything stops'],
  ['test ! -e data/sandbox/gateway.pid', 'the process left nothing that speaks of it'],
];

const reason = hasCurl ? '' : ' (left out: this machine has no curl)';

test(`README: the walk works word for word${reason}`, { skip: reason !== '' }, async () => {
  assert.deepEqual([...steps.keys()], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const folder = makeFolder();
  const ports = await choosePorts();
  const { PATH = '', HOME = '' } = process.env;
  const terminal = new Terminal(folder, { PATH, HOME, PORT: String(ports.get(3000)), SANDBOX_PORT: String(ports.get(3001)) });
  try {
    for (const [step, promise, ...printed] of promises) {
      const commands = typeof step === 'string' ? step : (steps.get(step) ?? '');
      const output = await terminal.paste(withPorts(commands, ports));
      for (const pattern of printed) assert.match(output, pattern, `${promise}, but ${step} printed:\n${output}`);
    }
    for (const port of ports.values()) assert.equal(await tryPort(port), port, `${port} is still in use`);
  } finally {
    terminal.close();
    await removeFolder(folder);
  }
});
