/** Tests the image of the compose files. It is built with buildah on a minimal system, and started with a database of its own. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'node:test';
import { findProgram } from '#config/programs.ts';
import { root } from '#test/source-tree.ts';
import { isolated, machineBase, npmSetting, withoutBareMachine } from '#test/support/bare-machine.ts';
import { ExternalServer } from '#test/support/external-server.ts';
import { freePort } from '#test/support/ports.ts';
import { until } from '#test/support/until.ts';

const left = withoutBareMachine || (findProgram('buildah') === null ? ' (left out: this machine has no buildah)' : '');
const script = join(root, 'test/support/image.sh');
const ofImage = ['.npmrc', 'Dockerfile', 'LICENSE', 'actors', 'config', 'package-lock.json', 'package.json', 'src'];

const adminToken = 'admin-token-of-the-image';

/** The time limit of the build and of the test of its image. On a slow machine beside other tests they take four minutes. In milliseconds. */
const making = 600_000;

/** Rejects when the answer is not 2xx. */
const call = async <Answer>(url: string, headers: Readonly<Record<string, string>>, body?: object): Promise<Answer> => {
  const json = { 'content-type': 'application/json', ...headers };
  const answer = await fetch(url, body === undefined ? { headers } : { method: 'POST', headers: json, body: JSON.stringify(body) });
  const text = await answer.text();
  assert.ok(answer.ok, `${url}: ${text}`);
  return JSON.parse(text) as Answer;
};

interface Connected {
  readonly instance: { readonly qrcode: string; readonly status: string };
}

/** Pairs a session, sends a text, and returns what the simulated contact decrypted. */
const sendText = async (gateway: string, platform: string): Promise<string> => {
  const { token } = await call<{ readonly token: string }>(`${gateway}/instance/create`, { admintoken: adminToken }, { name: 'image' });
  await call(`${gateway}/instance/connect`, { token }, {});
  const seen = async () => (await call<Connected>(`${gateway}/instance/status`, { token })).instance;
  const qrcode = await until(async () => (await seen()).qrcode || undefined, 'a picture');
  await call(`${platform}/phones/scan`, {}, { qrcode, number: '5511999990001', name: 'Image' });
  await until(async () => (await seen()).status === 'connected', 'the session is connected');
  await call(`${gateway}/send/text`, { token }, { number: '5511988887777', text: 'from a container' });
  return JSON.stringify(await call(`${platform}/contacts/5511988887777/messages`, {}));
};

/** Runs the container until `act` is done. */
const inContainer = async (
  env: NodeJS.ProcessEnv,
  settings: Readonly<Record<string, string>>,
  act: (printed: () => string) => Promise<void>,
): Promise<void> => {
  const given = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const container = spawn('setpriv', [...isolated, script, 'run', ...given], { env });
  let printed = '';
  for (const stream of [container.stdout, container.stderr]) stream.on('data', (part: Buffer) => (printed += part.toString()));
  const closed = once(container, 'close');
  try {
    await act(() => {
      assert.equal(container.exitCode, null, printed);
      return printed;
    });
  } finally {
    container.kill('SIGKILL');
    await closed;
  }
};

const tryImage = async (folder: string): Promise<void> => {
  const context = join(folder, 'context');
  mkdirSync(context);
  for (const name of ofImage) cpSync(join(root, name), join(context, name), { recursive: true, verbatimSymlinks: true });
  const env = { ...process.env, STORE: folder, REGISTRY: await npmSetting('registry') };
  const run = (...args: readonly string[]) =>
    promisify(execFile)('setpriv', [...isolated, script, ...args], { env, maxBuffer: 16 * 1024 * 1024 });
  await run('build', await machineBase(), context);
  const [megabytes, ...unwanted] = (await run('packages')).stdout.trim().split('\n');
  assert.ok(Number(megabytes) < 150, `the packages take ${megabytes} MB`);
  assert.deepEqual(unwanted, []);

  const database = await ExternalServer.open();
  const [port, sandbox] = [await freePort(), await freePort()];
  const settings = {
    HOST: '127.0.0.1',
    PORT: `${port}`,
    SANDBOX_PORT: `${sandbox}`,
    SANDBOX_HOST: '0.0.0.0',
    DATABASE_URL: database.url,
    ADMIN_TOKEN: adminToken,
  };
  const gateway = `http://127.0.0.1:${port}`;
  try {
    await inContainer(env, settings, async (printed) => {
      const isReady = () =>
        fetch(`${gateway}/health/ready`).then(
          ({ ok }) => ok,
          () => printed() === undefined,
        );
      await until(isReady, () => `the container is ready: ${printed()}`);
      assert.match(printed(), /"setting":"SANDBOX_HOST".*"sandbox.open"/);
      assert.match(await sendText(gateway, `http://127.0.0.1:${sandbox}`), /from a container/);
    });
  } finally {
    await database.close();
  }
};

test('image: it has the Node version of the tests', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly dependencies: { readonly node: string };
  };
  const bases = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
  assert.deepEqual(bases, Array(2).fill(`node:${dependencies.node}-slim`));
});

test(`image: it is small, becomes ready, pairs and sends a text${left}`, { skip: left !== '', timeout: making }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-image-'));
  try {
    await tryImage(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
