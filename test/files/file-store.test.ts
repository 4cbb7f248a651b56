/** What instances keep: bytes once, names and rights of their own, and nothing left behind. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { instance } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';
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
const auditAll = async (): Promise<{ blobs: number; rows: number }> => {
  const sum = { blobs: 0, rows: 0 };
  for (let part = 0; part < files.parts; part += 1) {
    const found = await files.audit(part);
    sum.blobs += found.blobs;
    sum.rows += found.rows;
  }
  return sum;
};

test('files: what is kept is found by its hash, its message and its name, and read whole or in part', async () => {
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

test('files: what is found by no key is null', async () => {
  const id = await newInstance();
  for (const key of [{ hash: hashOf(some('nothing')) }, { messageId: '' }, { messageId: 'none' }, { madeOf: '', mimetype: 'audio/mpeg' }])
    assert.equal(await files.find(id, key), null, JSON.stringify(key));
  for (const name of ['', '..', '../../etc/passwd', 'a'.repeat(32), `${'a'.repeat(32)}.png/..`, '\0', `%2e%2e%2f${'a'.repeat(26)}`])
    assert.equal(await files.named(name), null, name);
});

test('files: two instances share the bytes, and neither name nor right', async () => {
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

test('files: the same bytes again are the same file, with what is said of them last', async () => {
  const id = await newInstance();
  const first = await files.keep(id, await taken(temporary, some('twice')), { messageId: 'A', filename: 'old.png' });
  const second = await files.keep(id, await taken(temporary, some('twice')), { messageId: 'B' });
  assert.deepEqual(second, first);
  assert.deepEqual(await files.find(id, { messageId: 'B' }), first);
});

test('files: what was made of a file is found by it', async () => {
  const id = await newInstance();
  const source = await files.keep(id, await taken(temporary, some('ogg'), { mimetype: 'audio/ogg' }));
  const mp3 = await files.keep(id, await taken(temporary, some('mp3'), { mimetype: 'audio/mpeg' }), { madeOf: source!.hash });
  assert.deepEqual(await files.find(id, { madeOf: source!.hash, mimetype: 'audio/mpeg' }), mp3);
  assert.equal(await files.find(id, { madeOf: source!.hash, mimetype: 'image/png' }), null);
});

test('files: many at once, of the same and of other bytes, by several instances', async () => {
  const ids = await Promise.all([newInstance(), newInstance(), newInstance()]);
  const all = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => files.keep(ids[n % 3]!, await taken(temporary, some(`many${n % 5}`)))),
  );
  assert.equal(new Set(all.map((kept) => kept?.name)).size, 15);
  await Promise.all(ids.map((id) => files.removeOf(id)));
  assert.deepEqual(await auditAll(), { blobs: 0, rows: 0 });
});

test('files: for an instance that is gone nothing is kept', async () => {
  const id = await newInstance();
  await storage.instances.remove(id, instance.record.epoch);
  const bytes = some('late');
  assert.equal(await files.keep(id, await taken(temporary, bytes)), null);
  assert.ok(!(await below(stored)).includes(hashOf(bytes)));
  assert.deepEqual(await below(waiting), []);
});

test('files: a copy on the disk outlives the removal of the file, until it is released', async () => {
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

test('files: those unused for longest go first, and a use counts', async () => {
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

test('files: what a kill left is found: bytes without a row, rows without bytes, files on their way', async () => {
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

test('files: the sum of their bytes follows what is kept and removed', async () => {
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

test('files: a disk that is not mounted costs no rows; one file that is gone costs its own', async () => {
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
