/** Tests the stored files of instances. Equal bytes are stored once, each instance has its own names, and no bytes stay behind. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { RemoteFiles } from '#actors/cluster/other-nodes.ts';
import { decode, encode } from '#actors/cluster/wire.ts';
import { FilesUnavailable, type FileRows, type FileStore, type KeptFile } from '#actors/ports.ts';
import type { BlobStore } from '#src/files/blobs.ts';
import { createFileStore } from '#src/files/file-store.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { createFileRows } from '#src/storage/stores/files.ts';
import { instance } from '#test/contract/samples.ts';
import { quietLog, testDatabase, waitsForLock } from '#test/support/database.ts';
import { until } from '#test/support/until.ts';
import { baseUrl, below, bytesOf, openTestFiles, taken } from '#test/support/files.ts';

const database = await testDatabase();
const storage = await database.storage();
const { files, temporary, folder, clock } = await openTestFiles(storage);
const stored = join(folder, 'files');
const waiting = join(folder, 'temporary');

let made = 0;
const newInstance = async (): Promise<string> => {
  const id = `r${(made += 1)}`;
  await storage.instances.insert({ ...instance.record, id, token: id });
  return id;
};
const some = (text: string): Buffer => Buffer.from(text.repeat(100));
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const auditOf = async (files: FileStore): Promise<{ blobs: number; rows: number }> => {
  const sum = { blobs: 0, rows: 0 };
  for (let part = 0; part < files.parts; part += 1) {
    const found = await files.audit(part);
    sum.blobs += found.blobs;
    sum.rows += found.rows;
  }
  return sum;
};
const auditAll = () => auditOf(files);

test('files: a stored file is found by its hash, its message and its name, and is read whole or in part', async () => {
  const id = await newInstance();
  const bytes = some('kept');
  const kept = await files.keep(id, await taken(temporary, bytes, { filename: 'a.PNG' }), { messageId: 'M1' });
  assert.ok(kept);
  assert.match(kept.name, /^[0-9a-f]{32}\.png$/);
  assert.deepEqual(kept, {
    name: kept.name,
    url: `${baseUrl}/files/${kept.name}`,
    hash: hashOf(bytes),
    size: bytes.length,
    mimetype: 'image/png',
    filename: 'a.PNG',
  });
  for (const key of [{ hash: kept.hash }, { messageId: 'M1' }]) assert.deepEqual(await files.find(id, key), kept);
  assert.deepEqual(await files.named(kept.name), kept);
  assert.deepEqual(await bytesOf(files, kept), bytes);
  assert.deepEqual(await bytesOf(files, kept, { start: 2, end: 5 }), bytes.subarray(2, 6));
  assert.deepEqual(await below(waiting), [], 'the taken file is gone');
});

test('files: a lookup with an unknown key or an invalid name returns null', async () => {
  const id = await newInstance();
  for (const key of [{ hash: hashOf(some('nothing')) }, { messageId: '' }, { messageId: 'none' }, { madeOf: '', mimetype: 'audio/mpeg' }])
    assert.equal(await files.find(id, key), null, JSON.stringify(key));
  for (const name of ['', '..', '../../etc/passwd', 'a'.repeat(32), `${'a'.repeat(32)}.png/..`, '\0', `%2e%2e%2f${'a'.repeat(26)}`])
    assert.equal(await files.named(name), null, name);
});

test('files: two instances share the stored bytes, but neither names nor permissions', async () => {
  const [one, other] = [await newInstance(), await newInstance()];
  const bytes = some('shared');
  const first = await files.keep(one, await taken(temporary, bytes));
  assert.equal(await files.find(other, { hash: hashOf(bytes) }), null, 'the other one has to fetch it itself');
  const second = await files.keep(other, await taken(temporary, bytes));
  assert.ok(first && second && first.name !== second.name);
  assert.equal((await below(stored)).filter((name) => name === first.hash).length, 1);
  assert.equal(await files.removeOf(one), 1);
  assert.equal(await files.named(first.name), null);
  assert.deepEqual(await bytesOf(files, second), bytes, 'the other one keeps it');
  assert.equal(await files.removeOf(other), 1);
  assert.equal(await files.removeOf(other), 0);
  assert.ok(!(await below(stored)).includes(first.hash), 'nobody keeps it');
});

test('files: repeated bytes are the same file, with the latest name and type', async () => {
  const id = await newInstance();
  const first = await files.keep(id, await taken(temporary, some('twice')), { messageId: 'A', filename: 'old.png' });
  const second = await files.keep(id, await taken(temporary, some('twice')), { messageId: 'B' });
  assert.deepEqual(second, first);
  assert.deepEqual(await files.find(id, { messageId: 'B' }), first);
});

test('files: a converted file is found by the hash of its source', async () => {
  const id = await newInstance();
  const source = await files.keep(id, await taken(temporary, some('ogg'), { mimetype: 'audio/ogg' }));
  const mp3 = await files.keep(id, await taken(temporary, some('mp3'), { mimetype: 'audio/mpeg' }), { madeOf: source!.hash });
  assert.deepEqual(await files.find(id, { madeOf: source!.hash, mimetype: 'audio/mpeg' }), mp3);
  assert.equal(await files.find(id, { madeOf: source!.hash, mimetype: 'image/png' }), null);
});

test('files: simultaneous writes of equal and different bytes by several instances leave no bytes behind', async () => {
  const ids = await Promise.all([newInstance(), newInstance(), newInstance()]);
  const all = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => files.keep(ids[n % 3]!, await taken(temporary, some(`many${n % 5}`)))),
  );
  assert.equal(new Set(all.map((kept) => kept?.name)).size, 15);
  await Promise.all(ids.map((id) => files.removeOf(id)));
  assert.deepEqual(await auditAll(), { blobs: 0, rows: 0 });
});

test('files: a file for a removed instance is not stored', async () => {
  const id = await newInstance();
  await storage.instances.remove(id, instance.record.epoch);
  const bytes = some('late');
  assert.equal(await files.keep(id, await taken(temporary, bytes)), null);
  assert.ok(!(await below(stored)).includes(hashOf(bytes)));
  assert.deepEqual(await below(waiting), []);
});

test('files: a local copy outlives the removal of its file, until the copy is released', async () => {
  const id = await newInstance();
  const bytes = some('lent');
  const kept = await files.keep(id, await taken(temporary, bytes));
  const copy = await files.localCopy(kept!);
  await files.removeOf(id);
  assert.deepEqual(await readFile(copy!.path), bytes);
  await copy!.release();
  await copy!.release();
  assert.deepEqual(await below(waiting), []);
  assert.equal(await files.localCopy(kept!), null);
  assert.equal(await files.read(kept!), null);
});

test('files: the least recently used files are removed first, and a lookup counts as use', async () => {
  const id = await newInstance();
  const keep = async (text: string) => files.keep(id, await taken(temporary, some(text)));
  await files.removeUnused(clock.now + 1, 1000);
  const old = await keep('old');
  clock.now += 7_200_000;
  const newer = await keep('newer');
  clock.now += 7_200_000;
  await files.find(id, { hash: old!.hash });
  assert.equal(await files.removeUnused(clock.now, 1000), 1);
  assert.deepEqual([await files.named(newer!.name), await files.named(old!.name)], [null, old]);
});

test('files: the audit removes the remains of a killed process: bytes without a row, rows without bytes, temporary files', async () => {
  const id = await newInstance();
  const [kept, lost] = [
    await files.keep(id, await taken(temporary, some('stays'))),
    await files.keep(id, await taken(temporary, some('lost'))),
  ];
  const orphan = hashOf(some('orphan'));
  await writeFile(join(stored, orphan.slice(0, 2), orphan), some('orphan'));
  const cut = join(stored, kept!.hash.slice(0, 2), `.${orphan}`);
  await writeFile(cut, 'half of a copy');
  await writeFile(join(stored, lost!.hash.slice(0, 2), lost!.hash), 'cut');
  await writeFile(join(waiting, 'download'), 'half');
  const again = await openTestFiles(storage, folder);
  assert.deepEqual(await below(waiting), []);
  assert.equal(again.files.bytes, null, 'nobody has looked yet');
  assert.deepEqual(await auditAll(), { blobs: 2, rows: 1 });
  assert.deepEqual(await bytesOf(files, kept!), some('stays'));
  assert.equal(await files.named(lost!.name), null);
  assert.deepEqual(
    (await below(stored)).filter((name) => [orphan, `.${orphan}`, lost!.hash].includes(name)),
    [],
  );
});

test('files: the sum of the stored bytes changes with each stored and removed file', async () => {
  const id = await newInstance();
  await auditAll();
  const before = files.bytes!;
  const bytes = some('counted');
  await files.keep(id, await taken(temporary, bytes));
  await files.keep(id, await taken(temporary, bytes));
  assert.equal(files.bytes, before + bytes.length);
  await files.removeOf(id);
  assert.equal(files.bytes, before);
});

test('files: no row is removed while the disk is not mounted, and a lost file loses only its own row', async () => {
  const id = await newInstance();
  const kept = await files.keep(id, await taken(temporary, some('mounted')));
  const place = join(stored, kept!.hash.slice(0, 2));
  await rename(place, `${place}.away`);
  await mkdir(place);
  assert.deepEqual(await auditAll(), { blobs: 0, rows: 0 });
  await rm(place, { recursive: true });
  await rename(`${place}.away`, place);
  assert.deepEqual(await files.named(kept!.name), kept);
  await rm(join(place, kept!.hash));
  assert.equal(await files.named(kept!.name), null);
  assert.equal(await storage.fileRows.named(kept!.name), null);
});

test('files: a node without a bucket keeps the row of a file on another node, and reads its bytes from that node', async () => {
  const [id, bytes] = [await newInstance(), randomBytes(600_000)];
  const [a, b] = [await openTestFiles(storage, undefined, false), await openTestFiles(storage, undefined, false)];
  const kept = await a.files.keep(id, await taken(a.temporary, bytes));
  assert.ok(kept);
  assert.equal(await b.files.named(kept.name), null);
  assert.equal(await b.files.holder(kept.name), id);
  const there = new RemoteFiles({ files: a.files, owns: () => true, ask: async () => null });
  const here = new RemoteFiles({
    files: b.files,
    owns: () => false,
    ask: async (owner, args) => (owner === id ? decode(encode(await there.answer(...(args as [unknown])))) : null),
  });
  assert.deepEqual(await here.named(kept.name), kept);
  for (const range of [undefined, { start: 5, end: 300_000 }]) {
    const stream = await here.read(kept, range);
    assert.ok(stream);
    assert.ok(Buffer.concat(await Array.fromAsync(stream)).equals(range ? bytes.subarray(5, 300_001) : bytes));
  }
  assert.equal(await here.named(`${'0'.repeat(32)}.png`), null);
  assert.deepEqual(await a.files.named(kept.name), kept, 'nothing was removed');
  await auditOf(b.files);
  assert.deepEqual(await a.files.named(kept.name), kept, 'nor by the look at every part');
});

/** Returns two nodes that share rows and bytes, as with a bucket. `change` replaces methods of the stores of the second node. */
const twoNodes = async (change: { rows?: (own: FileRows) => Partial<FileRows>; blobs?: (own: BlobStore) => Partial<BlobStore> }) => {
  const { files: one, blobs, temporary } = await openTestFiles(storage);
  const [rows, shared] = [storage.fileRows, blobs];
  const changed = { rows: { ...rows, ...change.rows?.(rows) }, blobs: { ...shared, ...change.blobs?.(shared) } };
  const chance = { hex: (count: number) => randomBytes(count).toString('hex') };
  const other = createFileStore({ ...changed, baseUrl, isComplete: true, chance, now: () => 1_000_000 });
  const orphan = await taken(temporary, randomBytes(2_000));
  const bytes = await readFile(orphan.path);
  await shared.put(orphan.hash, orphan.path);
  return { one, other, shared, bytes, taken: () => taken(temporary, bytes), part: Number.parseInt(orphan.hash.slice(0, 2), 16) };
};

test('files: an audit removes no bytes that another node has just stored', async () => {
  const id = await newInstance();
  let keep = async (): Promise<unknown> => null;
  const nodes = await twoNodes({
    rows: (own) => ({
      startingWith: async (prefix) => {
        const found = await own.startingWith(prefix);
        await keep();
        return found;
      },
    }),
  });
  let kept: KeptFile | null = null;
  keep = async () => (kept = await nodes.one.keep(id, await nodes.taken()));
  assert.deepEqual(await nodes.other.audit(nodes.part), { blobs: 0, rows: 0 });
  assert.ok(kept);
  assert.deepEqual(await bytesOf(nodes.one, kept), nodes.bytes);
});

test('files: a file that is stored again while unused ones are removed stays', async () => {
  const id = await newInstance();
  const bytes = randomBytes(2_000);
  const kept = await files.keep(id, await taken(temporary, bytes));
  assert.ok(kept);
  const { name } = kept;
  for (const remove of [
    () => storage.fileRows.removeUnused(clock.now + 1, 1_000),
    () => storage.fileRows.removeNamed([name], clock.now + 1),
  ]) {
    await database.admin.rows({ name: '', text: 'update file set used = $1 where name = $2' }, [clock.now, name]);
    let removal: Promise<readonly { readonly hash: string }[]> | null = null;
    await database.admin.transaction(async (holder) => {
      await holder.rows({ name: '', text: 'update file set used = $1 where name = $2' }, [clock.now + 10, name]);
      removal = remove();
      await until(async () => (await waitsForLock(database.admin, 'delete from file')) > 0, 'the removal waits for the row');
    });
    assert.ok(!(await removal!).some(({ hash }) => hash === kept.hash));
    assert.ok(await storage.fileRows.named(name));
  }
});

test('files: the lock on bytes is held during a removal that takes longer than an idle transaction may', async (t) => {
  const limits = { statement: 300, connection: 10_000 };
  const sweeps = await openDatabase({ url: database.url, log: quietLog, poolSize: 1, limits });
  t.after(() => sweeps.close());
  const rows = createFileRows(database.admin, sweeps);
  const slow = async (): Promise<void> => void (await database.admin.rows({ name: '', text: 'select pg_sleep(1)' }, []));
  assert.equal(await rows.whileUnkept(hashOf(some('slowly removed')), slow), true);
});

test('files: an audit keeps the row of a file that another node stores while the blobs are listed', async () => {
  const id = await newInstance();
  let keep = async (): Promise<unknown> => null;
  const nodes = await twoNodes({
    blobs: (own) => ({
      list: async (prefix) => {
        const found = await own.list(prefix);
        await keep();
        return found;
      },
    }),
  });
  // A part without any blob keeps its rows in any case, so the file belongs to the part of the orphan.
  let bytes = randomBytes(2_000);
  while (Number.parseInt(hashOf(bytes).slice(0, 2), 16) !== nodes.part) bytes = randomBytes(2_000);
  let kept: KeptFile | null = null;
  keep = async () => (kept = await nodes.one.keep(id, await taken(temporary, bytes)));
  assert.deepEqual(await nodes.other.audit(nodes.part), { blobs: 1, rows: 0 });
  assert.ok(kept);
  assert.deepEqual(await bytesOf(nodes.one, kept), bytes);
});

test('files: a write fails if the audit of another node removes its bytes before the row exists, and a retry succeeds', async () => {
  const id = await newInstance();
  let meanwhile = async (): Promise<unknown> => null;
  const nodes = await twoNodes({
    blobs: (own) => ({
      size: async (hash) => {
        const size = await own.size(hash);
        await meanwhile();
        meanwhile = async () => null;
        return size;
      },
    }),
  });
  meanwhile = async () => assert.deepEqual(await nodes.one.audit(nodes.part), { blobs: 1, rows: 0 });
  await assert.rejects(nodes.other.keep(id, await nodes.taken()), FilesUnavailable);
  assert.equal(await nodes.one.find(id, { hash: hashOf(nodes.bytes) }), null);
  const kept = await nodes.other.keep(id, await nodes.taken());
  assert.ok(kept);
  assert.deepEqual(await bytesOf(nodes.one, kept), nodes.bytes);
});

test('files: a node without a bucket frees only its own folder, and removes bytes whose rows other nodes removed', async () => {
  const id = await newInstance();
  const [a, b] = [await openTestFiles(storage, undefined, false), await openTestFiles(storage, undefined, false)];
  a.clock.now = b.clock.now = 10;
  const old = await a.files.keep(id, await taken(a.temporary, randomBytes(1_000)));
  b.clock.now = 20;
  const mine = await b.files.keep(id, await taken(b.temporary, randomBytes(2_000)));
  const younger = await b.files.keep(id, await taken(b.temporary, randomBytes(3_000)));
  assert.ok(old && mine && younger);
  await auditOf(b.files);
  assert.equal(b.files.bytes, 5_000);
  assert.equal(await b.files.removeUnusedHere(100, 1), 1);
  assert.deepEqual(await a.files.named(old.name), old, 'the oldest of all has its bytes elsewhere');
  assert.ok([2_000, 3_000].includes(b.files.bytes ?? 0));
  assert.equal(await b.files.removeUnusedHere(100, 5), 1);
  assert.equal(await b.files.removeUnusedHere(100, 5), 0);
  assert.equal(b.files.bytes, 0);
  assert.equal(await b.files.removeUnused(100, 5), 1, 'the node on duty removes what is too old, wherever it is');
  assert.equal(await a.blobs.size(old.hash), 1_000);
  assert.deepEqual(await auditOf(a.files), { blobs: 1, rows: 0 });
  assert.equal(await a.blobs.size(old.hash), null);
});
