/** Tests the page about migration from other gateways: its calls, events, commands and links exist. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventTypes } from '#actors/model.ts';
import { buildApp } from '#src/http/app.ts';
import { readers } from '#src/moving/readers.ts';
import { evolutionEvents } from '#src/moving/readers/evolution.ts';
import { wahaEvents } from '#src/moving/readers/waha.ts';
import { multideviceEvents } from '#src/moving/whatsmeow/multidevice.ts';
import { wuzapiEvents } from '#src/moving/whatsmeow/wuzapi.ts';
import { createFakeGateway } from '#test/fakes/gateway.ts';
import { optionsWith } from '#test/http/setup.ts';
import { type Document, operationsOf } from '#test/support/openapi.ts';
import { root } from '#test/source-tree.ts';

const docs = join(root, 'docs');
const read = (name: string): string => readFileSync(join(docs, name), 'utf8');
const page = read('migrating.md');

interface Row {
  readonly heading: string;
  readonly cells: readonly string[];
}

/** Returns the table rows whose second column names a call of this gateway, and all other lines as one text. */
const rowsOf = (text: string): { readonly mapped: readonly Row[]; readonly other: string } => {
  const mapped: Row[] = [];
  const other: string[] = [];
  let [heading, isMapped] = ['', false];
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) heading = line.replace(/^#+ /, '');
    const cells = line.startsWith('|')
      ? line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim())
      : null;
    if (cells === null) isMapped = false;
    else if (cells[1] === 'Here' && cells.length === 3) isMapped = true;
    else if (isMapped && cells[0] !== '---') mapped.push({ heading, cells });
    if (!isMapped) other.push(line);
  }
  return { mapped, other: other.join('\n') };
};

const { mapped, other } = rowsOf(page);
const names = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
const callsIn = (cell: string): readonly string[] => names(cell).filter((name) => /^(?:GET|POST|PUT|PATCH|DELETE) \//.test(name));

test('migrating: every named call of this gateway exists', async () => {
  const app = await buildApp(createFakeGateway(), optionsWith({}));
  const document = (await app.inject({ url: '/openapi.json' })).json<Document>();
  await app.close();
  const ours = new Set([...operationsOf(document).keys(), 'GET /health/ready', 'GET /status', 'GET /sse']);
  const told = [...mapped.flatMap(({ cells }) => cells.slice(1).flatMap(callsIn)), ...callsIn(other)];
  assert.ok(told.length > 200, `${told.length} calls`);
  assert.deepEqual([...new Set(told.filter((call) => !ours.has(call)))], []);
});

test('migrating: a row has a call of this gateway, or the reason why there is none', () => {
  const calls = mapped.filter(({ heading }) => !heading.startsWith('Events of'));
  assert.deepEqual(
    calls.filter(({ cells }) => cells[1] === '' && cells[2] === '').map(({ cells }) => cells[0]),
    [],
  );
});

const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Evolution API': evolutionEvents,
  WAHA: wahaEvents,
  wuzapi: wuzapiEvents,
  'go-whatsapp-web-multidevice': multideviceEvents,
};
for (const [gateway, table] of Object.entries(tables)) {
  test(`migrating: events of ${gateway} are those that an import maps`, () => {
    const told = mapped
      .filter(({ heading }) => heading === `Events of ${gateway}`)
      .flatMap(({ cells: [theirs = '', here = ''] }) => names(theirs).map((name) => [name, names(here)[0]] as const));
    const { '*': _, ...expected } = table;
    assert.deepEqual(Object.fromEntries(told), expected);
  });
}

test('migrating: every named event of this gateway exists', () => {
  const told = mapped.filter(({ heading }) => heading.startsWith('Events of')).flatMap(({ cells }) => names(cells[1] ?? ''));
  assert.deepEqual(
    [...new Set(told)].filter((name) => name !== 'all' && !(eventTypes as readonly string[]).includes(name)),
    [],
  );
});

const optionsOf = (program: string): ReadonlySet<string> =>
  new Set([...readFileSync(join(root, 'src', program), 'utf8').matchAll(/^ {6}'?([a-z-]+)'?: \{ type: '/gm)].map(([, name = '']) => name));

test('migrating: every command has an existing source and existing options, and every source has a command', () => {
  const commands = [...page.matchAll(/npm run (import|export) -- ([^`\n]+)/g)];
  const sources = new Set<string>();
  for (const [command, program = '', args = ''] of commands) {
    const known = optionsOf(`${program}.ts`);
    assert.ok(known.size > 5, program);
    for (const [, option = ''] of args.matchAll(/--([a-z-]+)/g))
      assert.ok(known.has(option) || option === 'help', `${command}: --${option}`);
    const source = /--from (\S+)/.exec(args)?.[1];
    if (source !== undefined) sources.add(source);
  }
  assert.deepEqual([...sources].toSorted(), Object.keys(readers).toSorted());
});

/** Returns GitHub's anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set([
    ...[...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)),
    ...[...text.matchAll(/<a id="([^"]+)"/g)].map(([, id = '']) => id),
  ]);

test('migrating: every link has a target', () => {
  for (const [, target = ''] of page.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^https?:/.test(target)) continue;
    const [file = '', anchor] = target.split('#');
    assert.ok(file === '' || existsSync(join(docs, file)), target);
    if (anchor !== undefined) assert.ok(anchorsOf(file === '' ? page : read(file)).has(anchor), target);
  }
});

test('migrating: the overview links to the page', () => {
  assert.match(readFileSync(join(root, 'README.md'), 'utf8'), /\[docs\/migrating\.md\]\(docs\/migrating\.md\)/);
});
