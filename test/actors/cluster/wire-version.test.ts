/** Tests the program version that a command of another node needs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Addition, additions, decode, versionFor, wireVersion } from '#actors/cluster/wire.ts';

const known: readonly Addition[] = [
  { version: 2, method: 'send', field: '1.content.kind', value: 'hologram' },
  { version: 3, method: 'send', field: '2.priority' },
  { version: 4, method: 'perform', field: '1', value: 'group.paint' },
  { version: 2, method: 'paint' },
];

const commands: readonly (readonly [title: string, method: string, args: readonly unknown[], needed: number])[] = [
  ['a command of the first version', 'send', ['r1', { content: { kind: 'text' } }, {}], 1],
  ['a kind of content that is new', 'send', ['r1', { content: { kind: 'hologram' } }, {}], 2],
  ['a field that is new', 'send', ['r1', { content: { kind: 'text' } }, { priority: 0 }], 3],
  ['a new field that is left out', 'send', ['r1', { content: { kind: 'text' } }, { priority: undefined }], 1],
  ['several new things: the newest', 'send', ['r1', { content: { kind: 'hologram' } }, { priority: 1 }], 3],
  ['an operation that is new', 'perform', ['r1', 'group.paint', {}], 4],
  ['another operation', 'perform', ['r1', 'group.get', {}], 1],
  ['a method that is new', 'paint', ['r1'], 2],
  ['arguments that end before the field', 'send', ['r1', null], 1],
];
for (const [title, method, args, needed] of commands)
  test(`wire version: ${title} needs ${needed}`, () => assert.equal(versionFor(method, args, known), needed));

test('wire version: the version of the program is that of its newest addition', () =>
  assert.equal(wireVersion, Math.max(1, ...additions.map(({ version }) => version))));

test('wire version: a form of a later version is refused, and not read as another form', () => {
  const sent = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
  assert.throws(() => decode(sent({ $as: 'hologram', value: 1 })), /form hologram is not known/);
  assert.throws(() => decode(sent({ $as: 'toString', value: 1 })), /not known/);
});
