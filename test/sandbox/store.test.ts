/** Tests the bounds of the messages and files that the simulated platform stores. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Media, sha256 } from '#src/sandbox/media.ts';
import { Random } from '#src/sandbox/random.ts';
import { Database } from '#src/sandbox/store/database.ts';
import { MessageStore } from '#src/sandbox/store/messages.ts';

const phones = ['5511988880081', '5511988880082'] as const;
const kept = 10;
/** Messages of each phone between two deletions of its older messages. */
const between = 1000;

let dataDir = '';
let database: Database;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sandbox-store-'));
  database = new Database(dataDir);
});
after(async () => {
  database.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Stores messages of all phones in turns. */
const write = (store: MessageStore, from: number, to: number): void =>
  database.atomically(() => {
    for (let index = from; index < to; index += 1)
      for (const owner of phones)
        store.put({
          owner,
          id: `M${index}`,
          chat: 'c',
          author: '',
          at: index,
          attempts: 0,
          confirmed: 'none',
          extra: { addressing: 'pn' },
        });
  });

const counts = (store: MessageStore): number[] => phones.map((owner) => store.latest(owner, 10 * between).length);

test('messages: the history of every phone is bounded, also over restarts', () => {
  const store = new MessageStore(database, kept);
  write(store, 0, 2 * between);
  for (const count of counts(store)) assert.ok(count <= kept + between, `${count} messages are stored`);
  for (const owner of phones) assert.equal(store.latest(owner, 1)[0]?.id, `M${2 * between - 1}`);
  const again = new MessageStore(database, kept);
  write(again, 2 * between, 2 * between + 1);
  assert.deepEqual(counts(again), [kept, kept]);
});

test('media: a file that is stored again takes no more room', async () => {
  const file = Buffer.alloc(60, 'a');
  const room = 100;
  const media = new Media(dataDir, new Random(), room);
  const stored = await Promise.all([media.keep(file), media.keep(file)]);
  const token = sha256(file).toString('base64url');
  await writeFile(media.part(token), file);
  assert.deepEqual(new Set([...stored, media.keepNow(file), await media.adopt(token)]).size, 1);
  await new Media(dataDir, new Random(), room).keep(file);
  await media.keep(Buffer.alloc(room - file.length, 'b'));
  await assert.rejects(media.keep(Buffer.alloc(1, 'c')), /the media folder is full/);
});
