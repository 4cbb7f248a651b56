/** Tests clients that generators make from the OpenAPI document. They compile, and their calls reach the contact. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { built, type Generator, generators } from './generators.ts';

interface Program {
  readonly tenCalls: (baseUrl: string, token: string, to: string, hook: string) => Promise<readonly string[]>;
  readonly lineOf: (event: unknown) => string;
}

let scene: Scene;
let account: Account;
let document: Readonly<Record<string, unknown>>;
const folder = temporaryFolder();

before(async () => {
  scene = await Scene.open();
  await scene.platform.sandbox.putPerson({ number: contact, name: 'Ana' });
  account = await scene.paired();
  document = (await (await fetch(`${scene.gateway.address}/openapi.json`)).json()) as Readonly<Record<string, unknown>>;
});
after(async () => {
  await scene?.close();
  await removeFolder(folder);
});

for (const generator of Object.keys(generators) as Generator[]) {
  test(`clients: the client of ${generator} compiles, its ten calls work, and it reads an event`, async () => {
    const programs = await built(generator, document, join(folder, generator), [generator]);
    const { tenCalls, lineOf } = (await import(join(programs, `${generator}.js`))) as Program;
    const sent = await tenCalls(scene.gateway.address, account.token, contact, scene.receiver.url);
    assert.equal(new Set(sent).size, 2);
    const received = new Set(scene.platform.sandbox.received(contact).map(({ id }) => id));
    assert.deepEqual(
      sent.filter((id) => !received.has(id)),
      [],
    );
    const text = `to ${generator}`;
    await scene.write(account, text);
    const told = await scene.receiver.wait(({ body }) => (body['message'] as { readonly text?: string } | undefined)?.text === text, text);
    assert.equal(lineOf(told.body), `Ana: ${text}`);
  });
}

/** The largest number of lines of the generated types, which editors and reviewers read. */
const mostLines = 14_850;

test('clients: the types of openapi-typescript are short', () => {
  const lines = readFileSync(join(folder, 'openapi-fetch/client/schema.ts'), 'utf8').split('\n').length;
  assert.ok(lines <= mostLines, `${lines} lines`);
});
