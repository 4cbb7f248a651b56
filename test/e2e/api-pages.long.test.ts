/** Tests the pages of docs/api. Their commands work unchanged, the answers have the documented fields, and every call is named. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { hasCurl } from '#test/support/curl.ts';
import { adminToken } from '#test/support/gateway.ts';
import { type Document, operationsOf } from '#test/support/openapi.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { Scene } from '#test/support/scene.ts';
import { Terminal } from '#test/support/terminal.ts';
import { root } from '#test/source-tree.ts';

const folder = join(root, 'docs/api');
const pages = readdirSync(folder)
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene?.close());

/** A shell function that fails on the first error response. */
const strictCurl = 'curl() { command curl -sS --fail-with-body "$@"; }';

interface Block {
  readonly commands: string;
  /** A part of the answer; undefined if the page shows none. */
  readonly shown?: unknown;
}

/** Returns the blocks of commands of a page. A block of JSON after a block of commands is a part of its answer. */
const blocksOf = (text: string): readonly Block[] =>
  [...text.matchAll(/```bash\n([\s\S]*?)```(?:\n+```json\n([\s\S]*?)```)?/g)].map(([, commands = '', shown]) =>
    shown === undefined ? { commands } : { commands, shown: JSON.parse(shown) as unknown },
  );

/** Returns the paths of the fields that a page shows and the answer does not have, or has with another type. */
const missing = (shown: unknown, answer: unknown, path = ''): readonly string[] => {
  if (typeof shown !== typeof answer || Array.isArray(shown) !== Array.isArray(answer)) return [path];
  if (typeof shown !== 'object' || shown === null || answer === null) return [];
  return Object.entries(shown).flatMap(([name, one]) =>
    missing(one, (answer as Readonly<Record<string, unknown>>)[name], `${path}.${name}`),
  );
};

const reason = hasCurl ? '' : ' (left out: this machine has no curl)';

for (const { name, text } of pages)
  test(`docs: the commands of api/${name} work unchanged${reason}`, { skip: reason !== '' }, async () => {
    const account = await scene.create();
    await scene.platform.sandbox.putPerson({ number: account.number, business: true });
    await account.pair(scene.platform);
    const own = temporaryFolder();
    const { PATH = '', HOME = '' } = process.env;
    const env = { PATH, HOME, GATEWAY: scene.gateway.address, TOKEN: account.token, ADMIN_TOKEN: adminToken, HOOK: scene.receiver.url };
    const terminal = new Terminal(own, env);
    try {
      await terminal.paste(strictCurl);
      for (const { commands, shown } of blocksOf(text)) {
        const printed = await terminal.paste(commands);
        if (shown === undefined) continue;
        assert.deepEqual(missing(shown, JSON.parse(printed)), [], `${commands}\nprinted:\n${printed}`);
      }
    } finally {
      terminal.close();
      await removeFolder(own);
    }
  });

test('docs: each page of docs/api begins with the purpose of the reader, and has a command', () => {
  for (const { name, text } of pages) {
    assert.match(text, /^# [A-Z][^\n]+\n\nYou want /, name);
    assert.ok(blocksOf(text).length > 0, name);
  }
});

test('docs: the pages of docs/api name every call', async () => {
  const document = (await (await fetch(`${scene.gateway.address}/openapi.json`)).json()) as Document;
  const whole = pages.map(({ text }) => text).join('\n');
  const calls = [...operationsOf(document)].filter(([, { deprecated = false }]) => !deprecated).map(([call]) => call);
  assert.deepEqual(
    calls.filter((call) => !whole.includes(`\`${call}\``)),
    [],
  );
});
