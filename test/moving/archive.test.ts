/** Tests the encrypted archive. A changed, truncated or moved part, or another passphrase, is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLines, sealLines } from '#src/moving/archive.ts';
import { linesOfFound, linesOfLeaving, linesOfRows, sessionsIn } from '#src/moving/archived.ts';
import { encodeCredentials, encodeKey } from '#src/platform/keys/key-codec.ts';
import { runId, runType, skipInSessions } from '#src/platform/keys/unclean-runs.ts';
import { noSettings, SourceFault, type FoundSession, type SessionKey } from '#src/moving/session.ts';
import { madeCreds } from '#test/support/made-sessions.ts';

async function* of<T>(...items: readonly T[]): AsyncIterable<T> {
  yield* items;
}

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
};

const passphrase = 'correct horse battery staple';
const sealed = async (lines: readonly string[]): Promise<Buffer> => Buffer.concat(await all(sealLines(of(...lines), passphrase)));
/** Splits the bytes into pieces of odd sizes. */
const pieces = (bytes: Buffer): AsyncIterable<Uint8Array> =>
  of(...Array.from({ length: Math.ceil(bytes.length / 1_009) }, (_, at) => bytes.subarray(at * 1_009, (at + 1) * 1_009)));
const opened = (bytes: Buffer, word = passphrase): Promise<string[]> => all(openLines(pieces(bytes), word));

const lines = ['first', '', 'x'.repeat(200_000), 'ü', 'y'.repeat(65_536)];

test('archive: lines of any length are read back', async () => {
  const bytes = await sealed(lines);
  assert.deepEqual(await opened(bytes), lines);
  assert.ok(!bytes.includes('first'));
  assert.deepEqual(await opened(await sealed([])), []);
});

const broken: readonly (readonly [string, (bytes: Buffer) => Buffer, RegExp])[] = [
  ['cut off within a frame', (bytes) => bytes.subarray(0, bytes.length - 5), /cut off/],
  ['cut off between frames', (bytes) => bytes.subarray(0, bytes.indexOf(0x0a) + 1 + 4 + 65_536 + 16), /cut off/],
  ['cut off within the header', (bytes) => bytes.subarray(0, 20), /no archive/],
  ['empty', () => Buffer.alloc(0), /no archive/],
  ['something else', () => Buffer.from('{"name":"shop"}\n'), /no archive/],
  ['changed', (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.of((bytes.at(-1) ?? 0) ^ 1)]), /changed or damaged/],
  ['followed by a byte', (bytes) => Buffer.concat([bytes, Buffer.of(0)]), /goes on after its end/],
  ['joined with itself', (bytes) => Buffer.concat([bytes, bytes]), /goes on after its end/],
  ['of a later version', (bytes) => Buffer.from(bytes.toString('latin1').replace('"version":1', '"version":9'), 'latin1'), /later version/],
  ['too costly', (bytes) => Buffer.from(bytes.toString('latin1').replace('"N":32768', '"N":67108864'), 'latin1'), /no archive/],
  ['with another cost', (bytes) => Buffer.from(bytes.toString('latin1').replace('"N":32768', '"N":16384'), 'latin1'), /passphrase/],
];
for (const [title, change, reason] of broken)
  test(`archive: one that is ${title} is refused`, async () => {
    const bytes = await sealed(lines);
    await assert.rejects(
      () => opened(change(bytes)),
      (error) => error instanceof SourceFault && reason.test(error.message),
    );
  });

test('archive: another passphrase decrypts nothing', async () => {
  const bytes = await sealed(lines);
  await assert.rejects(() => opened(bytes, 'another passphrase'), /The passphrase is not the one/);
});

test('archive: frames of one archive cannot be decrypted at another position', async () => {
  const bytes = await sealed(['a'.repeat(65_535), 'b'.repeat(65_535), 'c']);
  const head = bytes.indexOf(0x0a) + 1;
  const frame = 4 + 65_536 + 16;
  const swapped = Buffer.concat([
    bytes.subarray(0, head),
    bytes.subarray(head + frame, head + 2 * frame),
    bytes.subarray(head, head + frame),
    bytes.subarray(head + 2 * frame),
  ]);
  await assert.rejects(() => opened(swapped), SourceFault);
});

const found = (name: string, keys: readonly SessionKey[]): FoundSession => ({
  found: 'session',
  name,
  creds: madeCreds('5511911110001'),
  keys: () => of(...keys),
  settings: noSettings,
  state: 'stopped',
  notes: [],
});

const preKey = (id: number): SessionKey => ({
  type: 'pre-key',
  id: String(id),
  value: { public: Buffer.alloc(32, 1), private: Buffer.alloc(32, id % 256) },
});

test('archive: sessions are read back with their keys, also if the keys of one are skipped', async () => {
  const many = Array.from({ length: 120 }, (_, at) => preKey(at + 1));
  const text = [...(await all(linesOfFound(found('a', many)))), ...(await all(linesOfFound(found('b', many.slice(0, 3)))))];
  const names: unknown[] = [];
  for await (const session of sessionsIn(of(...text))) {
    assert.equal(session.found, 'session');
    names.push(session.name, session.name === 'b' && session.found === 'session' ? await all(session.keys()) : null);
  }
  assert.deepEqual(names, ['a', null, 'b', many.slice(0, 3)]);
});

test('archive: the next session is read after a damaged key, and after readers that ended early', async () => {
  const keys = Array.from({ length: 120 }, (_, at) => preKey(at + 1));
  const rows = () => of({ of: 'chats', rows: [{ id: '1' }] } as const, { of: 'chats', rows: [{ id: '2' }] } as const);
  const [head = '', ...others] = await all(linesOfFound({ ...found('a', keys), rows }));
  const first = [head, '{"keys":[["pre-key","1","no JSON"]]}', ...others, ...(await all(linesOfRows(rows())))];
  const text = [...first, ...(await all(linesOfFound(found('b', keys.slice(0, 3)))))];
  const names: unknown[] = [];
  for await (const session of sessionsIn(of(...text))) {
    assert.equal(session.found, 'session');
    if (session.found !== 'session') continue;
    if (session.name === 'a') await assert.rejects(all(session.keys()), /a pre-key/);
    for await (const piece of session.rows?.() ?? []) if (piece.rows.length > 0) break;
    names.push(session.name, session.name === 'b' ? await all(session.keys()) : null);
  }
  assert.deepEqual(names, ['a', null, 'b', keys.slice(0, 3)]);
});

test('archive: a session with a missing line of keys is refused', async () => {
  const text = await all(
    linesOfFound(
      found(
        'a',
        Array.from({ length: 120 }, (_, at) => preKey(at + 1)),
      ),
    ),
  );
  const read = async (given: readonly string[]): Promise<unknown> => {
    for await (const session of sessionsIn(of(...given))) if (session.found === 'session') await all(session.keys());
    return null;
  };
  await assert.rejects(() => read(text.filter((_, at) => at !== 2)), /damaged/);
  await assert.rejects(() => read(text.slice(0, -1)), /damaged/);
  await assert.rejects(() => read(['[]']), /damaged/);
});

const signalSession = () => ({
  _sessions: {
    base: {
      indexInfo: { closed: -1 },
      currentRatchet: { ephemeralKeyPair: { pubKey: 'own' } },
      _chains: { own: { chainType: 1, chainKey: { counter: 3, key: Buffer.alloc(32, 9).toString('base64') } } },
    },
  },
  version: 'v1',
});

test('archive: stored sessions are exported in the format of the library, with chains of an unclean run moved forward', async () => {
  const text = await all(
    linesOfLeaving({
      name: 'a',
      token: '',
      proxy: '',
      webhooks: [],
      settings: {},
      lost: ['chatbot: it is off'],
      credentials: encodeCredentials(madeCreds('5511911110001')),
      endedAt: 7_000,
      keys: () =>
        of(
          { type: 'device-list', id: '1', value: '["0"]' },
          { type: runType, id: runId, value: encodeKey({ run: 4, open: true, unclean: -1 }) },
          { type: 'gateway-token-page', id: '3', value: '["9@lid"]' },
          { type: 'session', id: '1.0', value: encodeKey({ run: 4, value: signalSession() }) },
          { type: 'session', id: '2.0', value: encodeKey({ run: 5, value: signalSession() }) },
        ),
    }),
  );
  const [session] = await all(sessionsIn(of(...text.slice(0, 1), JSON.stringify({ end: 0 }))));
  assert.deepEqual(session?.found === 'session' && session.settings.lost, ['chatbot: it is off']);
  assert.equal(session?.found === 'session' && session.endedAt, 7_000);
  const keys: SessionKey[] = [];
  for await (const one of sessionsIn(of(...text))) if (one.found === 'session') keys.push(...(await all(one.keys())));
  const moved = signalSession();
  skipInSessions(moved);
  assert.deepEqual(
    keys.map(({ type, id, value }) => [type, id, type === 'session' ? value : null]),
    [
      ['session', '1.0', moved],
      ['session', '2.0', signalSession()],
      ['tctoken', '__index', null],
    ],
  );
});
