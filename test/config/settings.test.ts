/** Tests the settings: their sources, their errors, and the page that documents them. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { withSettings } from '#config/describe.ts';
import { settingsInForce } from '#config/in-force.ts';
import { baseUrlOf, type Environment, loadSettings, SettingsError, type SettingSources, type UnknownSetting } from '#config/load.ts';
import { nameOf, settable, table } from '#config/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'settings-'));
after(() => rmSync(folder, { recursive: true }));
const nowhere = join(folder, 'missing.env');
const load = (env: Environment) => loadSettings({ env, file: nowhere });
const problems = (env: Environment): string[] => {
  try {
    load(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof SettingsError);
    return error.message.split('\n').slice(1);
  }
};

test('settings: without any source every default applies, and the settings are frozen', () => {
  const settings = load({});
  assert.equal(settings.host, '127.0.0.1');
  assert.equal(settings.port, 3000);
  assert.equal(settings.databaseUrl, null);
  assert.equal(settings.baseUrl, 'http://127.0.0.1:3000');
  assert.deepEqual(settings.webhookQuickRetriesMs, [0, 1500, 5000]);
  assert.ok(Object.isFrozen(settings));
});

test('settings: every default is accepted and parsed by its own kind', () => {
  for (const [key, { kind, value }] of Object.entries(settable)) {
    const { parse, show } = kind as { parse(text: string): unknown; show(value: unknown): string };
    if (value !== null) assert.deepEqual(parse(show(value)), value, key);
  }
});

test('settings: the file fills in what the environment leaves out', () => {
  const file = join(folder, 'one.env');
  writeFileSync(file, 'PORT=4000\nHOST="10.0.0.1" # inside\nLOG_LEVEL=debug\n');
  const settings = loadSettings({ env: { PORT: '5000' }, file });
  assert.deepEqual([settings.host, settings.port, settings.logLevel], ['10.0.0.1', 5000, 'debug']);
});

test('settings: each way of starting has its own defaults, and file and environment override them', () => {
  const file = join(folder, 'two.env');
  writeFileSync(file, 'PORT=4000\n');
  const { port, host, dataDir } = loadSettings({
    env: { HOST: '10.0.0.2' },
    file,
    preset: { PORT: '1', HOST: '10.0.0.1', DATA_DIR: './elsewhere' },
  });
  assert.deepEqual([port, host, dataDir], [4000, '10.0.0.2', './elsewhere']);
});

test('settings: neither the environment nor a file sets a constant, and both attempts are reported', () => {
  const file = join(folder, 'constant.env');
  writeFileSync(file, 'CRASH_LIMIT=7\n');
  const unknown: UnknownSetting[] = [];
  const env = { CRASH_LIMIT: '8', RECONNECT_MIN_MS: '9', CIRCUIT_FAILURES: '' };
  const { crashLimit, reconnectMinMs } = loadSettings({ env, file, onUnknown: (one) => unknown.push(one) });
  assert.deepEqual([crashLimit, reconnectMinMs], [table.crashLimit.value, table.reconnectMinMs.value]);
  assert.deepEqual(unknown, [
    { name: 'CRASH_LIMIT', inFile: true, constant: true, meant: null },
    { name: 'RECONNECT_MIN_MS', inFile: false, constant: true, meant: null },
  ]);
});

test('settings: an empty value counts as absent', () => {
  assert.equal(load({ PORT: '', ADMIN_TOKEN: ' ' }).port, 3000);
  assert.equal(load({ ADMIN_TOKEN: ' ' }).adminToken, null);
});

test('settings: one message lists every problem and no value', () => {
  const secret = 'hunter2 hunter2';
  const found = problems({ PORT: 'abc', ADMIN_TOKEN: secret, ENCRYPTION_KEY: secret, DATABASE_URL: secret });
  assert.deepEqual(
    found.map((line) => /^- ([A-Z_]+) must /.exec(line)?.[1]),
    ['PORT', 'DATABASE_URL', 'ADMIN_TOKEN', 'ENCRYPTION_KEY'],
  );
  assert.ok(!found.join().includes('hunter2'));
});

test('settings: a short admin token ends the start with a sentence on its length', () => {
  const [problem = '', ...others] = problems({ ADMIN_TOKEN: 'fifteen-letters' });
  assert.match(problem, /^- ADMIN_TOKEN must be at least 16 visible ASCII characters/);
  assert.deepEqual(others, []);
  assert.equal(load({ ADMIN_TOKEN: 'sixteen-letters!' }).adminToken, 'sixteen-letters!');
});

test('settings: unknown names in the file are reported with the similar setting, and never with their values', () => {
  const file = join(folder, 'unknown.env');
  writeFileSync(
    file,
    'ADMIN_TOKE=hunter2hunter2hunter2\n PORT =4001\nport=1\nWEBHOOK_TIMOUT=5\nFAVOURITE_COLOUR=blue\nPOSTGRES_PASSWORD=x\n',
  );
  const unknown: UnknownSetting[] = [];
  const { port } = loadSettings({ env: { ALSO_NOT_OURS: '1' }, file, onUnknown: (one) => unknown.push(one) });
  assert.equal(port, 4001);
  assert.deepEqual(Object.fromEntries(unknown.map(({ name, meant }) => [name, meant])), {
    ADMIN_TOKE: 'ADMIN_TOKEN',
    port: 'PORT',
    WEBHOOK_TIMOUT: 'WEBHOOK_TIMEOUT_MS',
    FAVOURITE_COLOUR: null,
  });
});

test('settings: a file that cannot be read is a problem', () => {
  assert.throws(() => loadSettings({ env: {}, file: folder }), /cannot be read \(EISDIR\)/);
});

const key = Buffer.alloc(32, 7);
const values: readonly (readonly [name: string, text: string, expected: unknown])[] = [
  ['PORT', '0', 0],
  ['PORT', '65536', undefined],
  ['PORT', '1e3', undefined],
  ['PORT', '-1', undefined],
  ['DEMO_SERVER', 'TRUE', true],
  ['DEMO_SERVER', '0', false],
  ['DEMO_SERVER', 'maybe', undefined],
  ['LOG_LEVEL', 'loud', undefined],
  ['BASE_URL', 'https://api.example.com/', 'https://api.example.com'],
  ['BASE_URL', 'api.example.com', undefined],
  ['PLATFORM_URL', 'https://example.com', undefined],
  ['PLATFORM_URL', 'wss://example.com/ws', 'wss://example.com/ws'],
  ['PLATFORM_URL', 'ws://127.0.0.1:3001/ws', 'ws://127.0.0.1:3001/ws'],
  ['PLATFORM_URL', 'ws://localhost:3001/ws', 'ws://localhost:3001/ws'],
  ['PLATFORM_URL', 'ws://[::1]:3001/ws', 'ws://[::1]:3001/ws'],
  ['PLATFORM_URL', 'ws://web.whatsapp.com/ws/chat', undefined],
  ['PLATFORM_URL', 'ws://192.168.0.2:3001/ws', undefined],
  ['PLATFORM_URL', 'ws://127.0.0.1.example.com/ws', undefined],
  ['DATABASE_URL', 'postgres://u:p@db/x', 'postgres://u:p@db/x'],
  ['DATABASE_URL', 'mysql://db/x', undefined],
  ['WEBHOOK_QUICK_RETRIES_MS', '0, 10,20', [0, 10, 20]],
  ['WEBHOOK_QUICK_RETRIES_MS', '0,,20', undefined],
  // A Node timer fires at once if its delay is longer than 24.8 days.
  ['SHUTDOWN_MS', '2147483647', 2_147_483_647],
  ['SHUTDOWN_MS', '2147483648', undefined],
  ['WEBHOOK_SLOW_RETRIES_MS', '5000,2147483648', undefined],
  ['HIBERNATE_AFTER_MS', '2419200000', 2_419_200_000],
  ['ENCRYPTION_KEY', key.toString('hex'), key],
  ['ENCRYPTION_KEY', key.toString('base64'), key],
  ['ENCRYPTION_KEY', key.toString('base64url'), key],
  ['ENCRYPTION_KEY', key.subarray(1).toString('base64'), undefined],
  ['ALLOW_PRIVATE_RECEIVERS', 'none', []],
  ['ALLOW_PRIVATE_RECEIVERS', 'true', ['private', 'loopback']],
  ['ALLOW_PRIVATE_RECEIVERS', 'private, 127.0.0.1,fd00::/8', ['private', '127.0.0.1', 'fd00::/8']],
  ['ALLOW_PRIVATE_RECEIVERS', '10.0.0.0/33', undefined],
  ['ALLOW_PRIVATE_RECEIVERS', 'everything', undefined],
  ['CAMPAIGN_QUIET_HOURS', 'none', null],
  ['CAMPAIGN_QUIET_HOURS', '21:30-08:00', { from: 1_290, to: 480 }],
  ['CAMPAIGN_QUIET_HOURS', '24:00-08:00', undefined],
  ['CAMPAIGN_QUIET_HOURS', '08:00-08:00', undefined],
  ['CAMPAIGN_TIME_ZONE', 'America/Sao_Paulo', 'America/Sao_Paulo'],
  ['CAMPAIGN_TIME_ZONE', 'Brazil', undefined],
  ['CAMPAIGN_STOP_WORDS', 'STOP, no more', ['stop', 'no more']],
  ['CAMPAIGN_STOP_WORDS', 'none', []],
  ['CAMPAIGN_STOP_WORDS', 'stop,,', undefined],
];

for (const [name, text, expected] of values)
  test(`settings: ${name}=${name === 'ENCRYPTION_KEY' ? `${text.length} characters` : text} is ${expected === undefined ? 'refused' : 'read'}`, () => {
    if (expected === undefined) return assert.equal(problems({ [name]: text }).length, 1);
    const found = Object.entries(load({ [name]: text })).find(([candidate]) => nameOf(candidate) === name);
    assert.deepEqual(found?.[1], expected);
  });

const addresses: readonly (readonly [host: string, expected: string])[] = [
  ['127.0.0.1', 'http://127.0.0.1:80'],
  ['0.0.0.0', 'http://127.0.0.1:80'],
  ['::', 'http://127.0.0.1:80'],
  ['::1', 'http://[::1]:80'],
  ['gateway.local', 'http://gateway.local:80'],
];
for (const [host, expected] of addresses)
  test(`baseUrlOf: a server on ${host} reaches itself at ${expected}`, () => assert.equal(baseUrlOf(host, 80), expected));

test('docs: the table of settings is the one of the program', () => {
  const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
  assert.equal(page, withSettings(page), 'run: node config/describe.ts');
});

const fileOf = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const namesIn = (file: string, pattern: RegExp): string[] => [...fileOf(file).matchAll(pattern)].map(([, name = '']) => name);

/** Names of settings in a compose file. Those that begin with `POSTGRES_` belong to the database beside the gateway. */
const composed = /^ +((?!POSTGRES_)[A-Z][A-Z_]+):/gm;
const naming: readonly (readonly [file: string, pattern: RegExp])[] = [
  ['.env.example', /^#?([A-Z_]+)=/gm],
  ['docker-compose.yml', composed],
  ['docker-compose.cluster.yml', composed],
  ['deploy/kubernetes.yml', /name: ([A-Z][A-Z_]+)\b/g],
];
for (const [file, pattern] of naming)
  test(`settings: ${file} names settings that exist`, () => {
    const known = new Set(Object.keys(settable).map(nameOf));
    const names = namesIn(file, pattern);
    assert.ok(names.length > 3, 'the pattern finds the settings');
    assert.deepEqual(
      names.filter((name) => !known.has(name)),
      [],
    );
  });

for (const name of ['docker-compose.yml', 'docker-compose.cluster.yml'])
  test(`settings: ${name} asks for a password of the database, and leaves the embedded server out of the image`, () => {
    const text = fileOf(name);
    const asked = text.match(/\$\{POSTGRES_PASSWORD:\?[^}]+\}/g) ?? [];
    // The password is in the address of the database and in the database itself.
    assert.equal(asked.length, 2);
    assert.equal(text.split('${POSTGRES_PASSWORD').length - 1, asked.length, 'no place has a password of its own');
    assert.match(text, /args: \{ WITH_POSTGRES: 'false' \}/);
  });

test('settings: the compose file of several nodes passes on all settings of nodes and of the bucket', () => {
  const passed = new Set([...namesIn('docker-compose.cluster.yml', composed), 'NODE_NAME']);
  const wanted = Object.entries(settable).filter(([key, { group }]) => group === 'Several nodes' || key.startsWith('filesBucket'));
  const names = wanted.map(([key]) => nameOf(key));
  assert.ok(names.includes('DRAIN_MS') && names.includes('FILES_BUCKET_REGION'));
  assert.deepEqual(
    names.filter((name) => !passed.has(name)),
    [],
  );
});

const behindProxy = ['BASE_URL', 'TRUSTED_PROXIES', 'FILES_BUCKET', 'FILES_BUCKET_KEY_ID', 'FILES_BUCKET_SECRET'];
for (const [file, pattern] of naming.slice(2))
  test(`settings: ${file} sets what nodes behind a proxy need`, () => {
    const names = new Set(namesIn(file, pattern));
    assert.deepEqual(
      behindProxy.filter((name) => !names.has(name)),
      [],
    );
  });

test('settings: a line of the file without = is named by its number, and a value of several lines is one value', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-env-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, '.env');
  writeFileSync(file, `# comment\nPORT=3001\n\nPORT 4000\nNATS_PREFIX='a\nb'\n  HOST\n`);
  const odd: number[] = [];
  const { port } = loadSettings({ env: {}, file, onOddLine: (line) => odd.push(line) });
  assert.deepEqual([port, odd], [3001, [4, 7]]);
});

test('settings: the advice about passwords is shown for addresses that contain one', () => {
  assert.throws(
    () => loadSettings({ env: { BASE_URL: 'example.com' }, file: '/nowhere' }),
    ({ message }: Error) => message.endsWith('BASE_URL must be an address that starts with http:// or https://'),
  );
  assert.throws(
    () => loadSettings({ env: { DATABASE_URL: 'example.com' }, file: '/nowhere' }),
    ({ message }: Error) => /in a password are written as/.test(message),
  );
});

const inForce = (env: Environment, text = '', preset: Environment = {}) => {
  const file = join(folder, 'in-force.env');
  writeFileSync(file, text);
  let sources: SettingSources = new Map();
  const settings = loadSettings({ env, file, preset, onSources: (found) => (sources = found) });
  const all = settingsInForce(settings, sources);
  return (name: string) => all.find((one) => one.name === name);
};

test('settings in force: each shows the source of its value', () => {
  const of = inForce({ PORT: '5000', HOST: '' }, 'HOST=10.0.0.1\nLOG_LEVEL=debug\n', { DATA_DIR: './elsewhere' });
  const seen = ['PORT', 'HOST', 'LOG_LEVEL', 'DATA_DIR', 'BASE_URL', 'DISK_FREE_PERCENT'].map((name) => [
    of(name)?.source,
    of(name)?.value,
  ]);
  assert.deepEqual(seen, [
    ['environment', '5000'],
    // An empty text of the environment hides the value of the file.
    ['default', '127.0.0.1'],
    ['file', 'debug'],
    ['program', './elsewhere'],
    ['program', 'http://127.0.0.1:5000'],
    ['default', '10'],
  ]);
  assert.equal(of('PORT')?.default, '3000');
});

test('settings in force: no secret is shown, and no credentials or keys in an address', () => {
  const secret = 'a-secret-of-24-characters';
  const env = {
    ADMIN_TOKEN: secret,
    ENCRYPTION_KEY: 'ab'.repeat(32),
    DATABASE_URL: `postgres://me:${secret}@db.example.com/x`,
    FILES_BUCKET_SECRET: secret,
    BASE_URL: `https://me:${secret}@gate.example.com/path?key=${secret}`,
  };
  const of = inForce(env);
  const all = Object.keys(settable).map((key) => of(nameOf(key)));
  assert.ok(!JSON.stringify(all).includes(secret));
  assert.ok(!JSON.stringify(all).includes('abab'));
  for (const name of ['ADMIN_TOKEN', 'ENCRYPTION_KEY', 'DATABASE_URL', 'FILES_BUCKET_SECRET'])
    assert.deepEqual([of(name)?.secret, of(name)?.isSet, of(name)?.value], [true, true, ''], name);
  assert.equal(of('BASE_URL')?.value, 'https://***@gate.example.com/path?***');
  assert.equal(of('ENCRYPTION_KEY_OLD')?.isSet, false);
});
