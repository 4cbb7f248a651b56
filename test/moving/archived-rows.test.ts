/** Tests chats and messages in an archive: lines of bounded length after the keys of their session, and no unnoticed loss. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArchivedRows, MovedKey } from '#actors/ports.ts';
import { openLines, sealLines } from '#src/moving/archive.ts';
import { linesOfFound, linesOfLeaving, linesOfRows, sessionsIn } from '#src/moving/archived.ts';
import { noSettings, SourceFault, type FoundSession } from '#src/moving/session.ts';
import { encodeCredentials } from '#src/platform/keys/key-codec.ts';
import { madeCreds } from '#test/support/made-sessions.ts';

async function* of<T>(...items: readonly T[]): AsyncIterable<T> {
  yield* items;
}

const pieces: readonly ArchivedRows[] = [
  { of: 'chats', rows: [{ chatId: '1@lid' }, { chatId: '2@lid' }] },
  { of: 'messages', rows: Array.from({ length: 40 }, (_, at) => ({ messageId: `m${at}`, text: 'ü'.repeat(40_000) })) },
];

const found = (name: string): FoundSession => ({
  found: 'session',
  name,
  creds: madeCreds('5511911110001'),
  keys: () => of(),
  settings: noSettings,
  state: 'stopped',
  notes: [],
  rows: () => of(...pieces),
});

const linesOf = async (name: string): Promise<string[]> => [
  ...(await Array.fromAsync(linesOfFound(found(name)))),
  ...(await Array.fromAsync(linesOfRows(of(...pieces)))),
];

const rowsOf = (all: readonly ArchivedRows[]): readonly unknown[] => all.flatMap(({ of: table, rows }) => rows.map((row) => [table, row]));

test('archive: rows are read back after their session in lines of bounded length, also if those of one session are skipped', async () => {
  const lines = [...(await linesOf('a')), ...(await linesOf('b'))];
  assert.ok(lines.every((line) => line.length < 600 << 10));
  const read: unknown[] = [];
  for await (const session of sessionsIn(of(...lines))) {
    assert.ok(session.found === 'session' && session.rows);
    if (session.name === 'a') read.push('skipped');
    else {
      await Array.fromAsync(session.keys());
      read.push(rowsOf(await Array.fromAsync(session.rows())));
    }
  }
  assert.deepEqual(read, ['skipped', rowsOf(pieces)]);
});

test('archive: a session with missing or damaged rows is reported as damaged', async () => {
  const lines = await linesOf('a');
  const read = async (given: readonly string[]): Promise<void> => {
    for await (const session of sessionsIn(of(...given)))
      if (session.found === 'session') {
        await Array.fromAsync(session.keys());
        await Array.fromAsync(session.rows?.() ?? of());
      }
  };
  await read(lines);
  for (const broken of [lines.filter((_, at) => at !== 3), lines.slice(0, -1), lines.with(3, '{"of":"outbox","rows":[]}')])
    await assert.rejects(() => read(broken), /damaged/);
});

test('archive: an exported session has rows on request, and an archive with rows says so in its header', async () => {
  const leaving = {
    name: 'shop',
    token: '',
    proxy: '',
    webhooks: [],
    settings: {},
    lost: [],
    credentials: encodeCredentials(madeCreds('5511911110001')),
    endedAt: null,
    keys: () => of<MovedKey>(),
  };
  const without = await Array.fromAsync(linesOfLeaving(leaving));
  assert.equal(without.length, 2);
  const lines = linesOfLeaving({ ...leaving, rows: () => of(...pieces) });
  const bytes = Buffer.concat(await Array.fromAsync(sealLines(lines, 'correct horse', 2)));
  assert.match(bytes.subarray(0, 40).toString('latin1'), /"version":2/);
  const [session] = await Array.fromAsync(sessionsIn(openLines(of(bytes), 'correct horse')));
  assert.ok(session?.found === 'session' && session.rows !== undefined);
  const usual = Buffer.concat(await Array.fromAsync(sealLines(of(...without), 'correct horse')));
  assert.match(usual.subarray(0, 40).toString('latin1'), /"version":1/);
  const later = Buffer.from(bytes.toString('latin1').replace('"version":2', '"version":3'), 'latin1');
  await assert.rejects(
    () => Array.fromAsync(openLines(of(later), 'correct horse')),
    (error) => error instanceof SourceFault && /A later version of Dormouse made this archive/.test(error.message),
  );
});
