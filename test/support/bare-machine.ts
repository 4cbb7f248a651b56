/** A machine with only the requirements of the README: a minimal Debian or Ubuntu with Git, curl, Node.js and npm. */
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '#config/programs.ts';
import { root } from '#test/source-tree.ts';
import { isRunning } from './processes.ts';

export interface MachineUser {
  readonly name: 'root' | 'maker';
  /** The installed versions of Node.js and npm. */
  readonly node: string;
  readonly npm: string;
  /** True if the user installs the packages. An installation takes most of the time of a test, so the other users see those of this checkout. */
  readonly installs: boolean;
}

/** One user for each major version of Node that the README allows. The oldest and the newest version install, once as root and once not. */
export const machineUsers: readonly MachineUser[] = [
  { name: 'root', node: '20.20.2', npm: '10.8.2', installs: true },
  { name: 'maker', node: '22.23.3', npm: '10.9.9', installs: false },
  { name: 'root', node: '24.21.0', npm: '11.21.2', installs: false },
  { name: 'maker', node: '26.10.0', npm: '12.2.0', installs: true },
];

const script = join(root, 'test/support/bare-machine.sh');

/**
 * Arguments of `setpriv` for a program in its own namespaces of mounts and processes. When the program or this process ends, the kernel kills the
 * remaining processes and removes the mounts. So no folder is ever deleted while a file system is mounted below it.
 */
export const isolated = ['--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];

const reasonAgainst = (): string => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux may change the root folder';
  if (findProgram('debootstrap') === null || findProgram('apt-get') === null) return 'this machine has no debootstrap or no apt';
  return spawnSync('setpriv', [...isolated, 'true']).status === 0 ? '' : 'this machine allows no namespaces';
};

const reason = reasonAgainst();
/** The addition to titles of skipped tests, with the reason. Empty if such a machine can be created. */
export const withoutBareMachine = reason === '' ? '' : ` (left out: ${reason})`;

const run = promisify(execFile);

/** Returns the release of this machine, and the address of its package mirror. The address is empty if apt has no lists. */
const distribution = async (): Promise<readonly [suite: string, mirror: string]> => {
  const { stdout: suite } = await run('sh', ['-c', '. /etc/os-release; printf %s "$VERSION_CODENAME"']);
  const { stdout } = await run('apt-get', [
    'indextargets',
    '--format',
    '$(CODENAME) $(REPO_URI)',
    'Created-By: Packages',
    'Component: main',
  ]);
  const line = stdout.split('\n').find((one) => one.startsWith(`${suite} `));
  return [suite, line?.slice(suite.length + 1) ?? ''];
};

const isOwn = (folder: string): boolean => {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found?.uid === 0 && (found.mode & 0o022) === 0;
};

/** Removes the incomplete bases of killed processes. */
const sweep = (prefix: string): void => {
  for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(prefix)))
    if (!isRunning(Number(name.slice(prefix.length)))) rmSync(join(tmpdir(), name), { recursive: true, force: true });
};

/** Returns the folder of the base system. It is created once for each script, and kept in the temporary folder for later runs. */
const openBase = async (): Promise<string> => {
  const versions = machineUsers.flatMap(({ node, npm }) => [node, npm]);
  const recipe = createHash('sha256').update(readFileSync(script)).update(versions.join()).digest('hex').slice(0, 12);
  const base = join(tmpdir(), `dormouse-machine-${recipe}`);
  if (isOwn(base)) return base;
  const prefix = 'dormouse-machine-making-';
  sweep(prefix);
  const folder = join(tmpdir(), `${prefix}${process.pid}`);
  mkdirSync(folder, { mode: 0o755 });
  try {
    const args = [...isolated, script, 'make', join(folder, 'base'), ...(await distribution()), ...versions];
    const env = { ...process.env, NODE_PLATFORM: `linux-${process.arch}` };
    await run('setpriv', args, { env, maxBuffer: 64 * 1024 * 1024 });
    mkdirSync(join(folder, 'npm-cache'));
    chownSync(join(folder, 'npm-cache'), 1000, 1000);
    renameSync(folder, base);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return base;
};

/** Names of environment variables with the proxies through which this machine reaches the package registry. */
const routes = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];

export const npmSetting = async (name: string): Promise<string> => (await run('npm', ['config', 'get', name])).stdout.trim();

/** Returns the whole environment of the user. For Node.js 26 it also has the path of a library that only this user needs. */
const environmentOf = async ({ node }: MachineUser): Promise<Readonly<Record<string, string>>> => ({
  ...Object.fromEntries(routes.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
  PATH: `/opt/node-${node}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
  HOME: '/srv/user',
  ...(Number.parseInt(node, 10) >= 26 ? { LD_LIBRARY_PATH: '/opt/libatomic' } : {}),
  NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
  npm_config_cache: '/srv/npm-cache',
  npm_config_registry: await npmSetting('registry'),
});

let opened: Promise<string> | null = null;

/** Returns the folder of the base system, which never changes. */
export const machineBase = async (): Promise<string> => join(await (opened ??= openBase()), 'base');

/** A command of a user on its own machine with a fresh copy of this project. */
export class BareMachine {
  #printed = '';
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#closed = once(child, 'close');
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part: Buffer) => (this.#printed += part.toString()));
  }

  /** Starts the command and does not wait for its end. `env` is added to the environment of the user. */
  static async start(user: MachineUser, command: string, env: Readonly<Record<string, string>>): Promise<BareMachine> {
    const base = await machineBase();
    const cache = user.name === 'root' ? await npmSetting('cache') : join(base, '..', 'npm-cache');
    mkdirSync(cache, { recursive: true });
    const modules = user.installs ? '' : join(root, 'node_modules');
    const args = [...isolated, script, 'run', base, cache, user.name, command, modules];
    const child = spawn('setpriv', args, { env: { ...(await environmentOf(user)), ...env } });
    const files = spawn('sh', ['-c', 'git ls-files -z --cached --others --exclude-standard | tar -cf - --null -T -'], { cwd: root });
    files.stdout.pipe(child.stdin);
    return new BareMachine(child);
  }

  /** Returns both output streams since the start. */
  get printed(): string {
    return this.#printed;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Ends the machine with all its processes. */
  async close(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }
}
