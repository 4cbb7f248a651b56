/** Tests the configurations of docs/tls.md with the real proxies in front of a gateway: large bodies, streams and the address of the client. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { generate } from 'selfsigned';
import { root } from '#test/source-tree.ts';
import { testDatabase } from '#test/support/database.ts';
import { freePort, isFree } from '#test/support/ports.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { TestService } from '#test/support/service.ts';
import { until } from '#test/support/until.ts';

const name = 'gateway.example.com';
const page = readFileSync(join(root, 'docs/tls.md'), 'utf8');
const blockOf = (language: string): string => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? '';

const service = await TestService.open((await testDatabase()).url, { TRUSTED_PROXIES: 'loopback', BASE_URL: `https://${name}` });

interface Files {
  readonly folder: string;
  readonly key: string;
  readonly cert: string;
  readonly port: number;
  /** Host and port of the gateway. */
  readonly gateway: string;
}

/** Writes the block of the page with the ports and certificates of the test. Returns the arguments of the proxy, which stays in the foreground. */
type Proxy = (files: Files) => readonly string[];

const nginx: Proxy = ({ folder, key, cert, port, gateway }) => {
  const server = blockOf('nginx')
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${cert};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
    .replace('127.0.0.1:3000', gateway);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${folder}/${one};`).join(' ');
  const whole = `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log; events {} http { access_log off; ${temporary} ${server} }`;
  writeFileSync(join(folder, 'nginx.conf'), whole);
  return ['-e', join(folder, 'error.log'), '-p', folder, '-c', join(folder, 'nginx.conf')];
};

const caddy: Proxy = ({ folder, key, cert, port, gateway }) => {
  const site = blockOf('caddy').replace(`${name} {`, `https://${name}:${port} {\n\ttls ${cert} ${key}`).replace('127.0.0.1:3000', gateway);
  writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n}\n${site}`);
  return ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
};

const ask = (files: Files, method: string, path: string, headers: Record<string, string>, body = '') =>
  new Promise<{ readonly status: number; readonly answer: NodeJS.ReadableStream & { destroy(): void } }>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: files.port, servername: name, ca: readFileSync(files.cert) };
    const sent = request({ ...options, method, path, headers: { host: name, 'content-type': 'application/json', ...headers } });
    sent.once('response', (answer) => resolve({ status: answer.statusCode ?? 0, answer }));
    sent.once('error', reject);
    sent.end(body);
  });

/** Checks that the proxy answers health, passes a body of 20 MB, and passes an event while the stream goes on. */
const passes = async (files: Files): Promise<void> => {
  const health = await ask(files, 'GET', '/health', {});
  assert.match(await text(health.answer), /"status":"ok"/);
  const { token } = await service.instance('shop');
  const large = await ask(
    files,
    'POST',
    '/send/media',
    { token },
    JSON.stringify({ number: '5511999999999', type: 'document', file: 'A'.repeat(20_000_000) }),
  );
  const refusal = await text(large.answer);
  assert.deepEqual([large.status, /not connected/.test(refusal)], [409, true], refusal.slice(0, 300));
  const { answer } = await ask(files, 'GET', `/sse?token=${token}&events=chats`, {});
  let streamed = '';
  answer.on('data', (chunk: Buffer) => void (streamed += chunk.toString()));
  answer.on('error', () => undefined);
  await until(() => streamed !== '', 'the stream begins');
  answer.destroy();
  const wrong = await ask(files, 'GET', '/instance/status', { token: 'wrong' });
  assert.equal(wrong.status, 401, await text(wrong.answer));
};

for (const [program, proxy] of [
  ['nginx', nginx],
  ['caddy', caddy],
] as const) {
  const path = ['/usr/sbin', '/usr/bin', '/usr/local/bin']
    .map((folder) => join(folder, program))
    .find((one) => spawnSync(one, ['version']).error === undefined);
  const reason = path === undefined ? ` (left out: this machine has no ${program})` : '';
  test(`TLS: the configuration of ${program} passes requests, large bodies and the stream${reason}`, { skip: reason !== '' }, async () => {
    const folder = temporaryFolder();
    const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
    });
    const files = {
      folder,
      key: join(folder, 'key.pem'),
      cert: join(folder, 'cert.pem'),
      port: await freePort(),
      gateway: service.address.replace('http://', ''),
    };
    writeFileSync(files.key, key);
    writeFileSync(files.cert, cert);
    const child = spawn(path ?? '', proxy(files), { stdio: ['ignore', 'pipe', 'pipe'], env: { HOME: folder } });
    let printed = '';
    child.stderr.on('data', (chunk: Buffer) => void (printed += chunk.toString()));
    const ended = new Promise((resolve) => void child.once('close', resolve));
    try {
      await until(async () => child.exitCode !== null || !(await isFree(files.port)), `${program} listens`);
      assert.equal(child.exitCode, null, printed);
      await passes(files);
    } finally {
      child.kill('SIGKILL');
      await ended;
      await removeFolder(folder);
    }
  });
}
