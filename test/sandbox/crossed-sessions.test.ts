/** Tests Signal sessions of simulated phones that write to each other first at the same moment. Each message can be read in whichever session it arrives. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { lidJid } from '#src/sandbox/address.ts';
import { People, type Person } from '#src/sandbox/people.ts';
import { silenceSignal } from '#src/sandbox/silence.ts';
import { Phones, type EnvelopeType } from '#src/sandbox/signal/phones.ts';
import { Database, Records } from '#src/sandbox/store/database.ts';
import { KeyStore } from '#src/sandbox/store/keys.ts';

silenceSignal();

interface Sealed {
  readonly type: EnvelopeType;
  readonly ciphertext: Uint8Array;
}

let dataDir = '';
let db: Database;
let keys: KeyStore;
let people: People;
let phones: Phones;
let next = 0;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sandbox-sessions-'));
  db = new Database(dataDir);
  keys = new KeyStore(db);
  people = new People(new Records(db), () => undefined);
  phones = new Phones(db, keys, people);
});
after(async () => {
  db.close();
  await rm(dataDir, { recursive: true, force: true });
});

const jidOf = ({ lid }: Person): string => lidJid(lid);

const pair = (): [Person, Person] => {
  next += 2;
  return [people.ensure(`55119888802${next + 10}`), people.ensure(`55119888802${next + 11}`)];
};

/** Begins a new session beside the existing ones. */
const meet = (from: Person, to: Person): Promise<void> =>
  phones.exclusively(from, (signal) => signal.startSession(jidOf(to), phones.bundle(to)));

const write = async (from: Person, to: Person, text: string): Promise<Sealed> => {
  let sealed: Sealed | undefined;
  await phones.exclusively(from, async (signal) => {
    if (!(await signal.hasSession(jidOf(to)))) await signal.startSession(jidOf(to), phones.bundle(to));
    sealed = await signal.encrypt(jidOf(to), Buffer.from(text));
  });
  assert.ok(sealed);
  return sealed;
};

const read = async (by: Person, from: Person, { type, ciphertext }: Sealed): Promise<string> => {
  let text = '';
  await phones.exclusively(by, async (signal) => {
    const { plain } = await signal.decrypt(jidOf(from), type, ciphertext);
    text = Buffer.from(plain).toString();
  });
  return text;
};

/** Returns the names of the sessions in which this phone would write. The library keeps at most one open. */
const openSessions = (of: Person, to: Person): readonly string[] => {
  const record = keys.signal(of.number, 'session', `${to.lid}_1.0`) as {
    readonly _sessions: Readonly<Record<string, { readonly indexInfo: { readonly closed: number } }>>;
  };
  return Object.entries(record._sessions).flatMap(([name, { indexInfo }]) => (indexInfo.closed === -1 ? [name] : []));
};

/** Creates two people who both wrote before either read. Each has closed the session that it began itself. */
const crossed = async (): Promise<[Person, Person]> => {
  const [ana, bruno] = pair();
  const [hers, his] = [await write(ana, bruno, 'hers'), await write(bruno, ana, 'his')];
  assert.equal(await read(ana, bruno, his), 'his');
  assert.equal(await read(bruno, ana, hers), 'hers');
  return [ana, bruno];
};

test('crossed first messages: all later messages can be read, in any order', async () => {
  const [ana, bruno] = await crossed();
  for (let round = 0; round < 12; round += 1) {
    // Several messages are under way at a time, and each side answers before it has read all of them.
    const hers = [await write(ana, bruno, `hers ${round}.0`), await write(ana, bruno, `hers ${round}.1`)] as const;
    const his = [await write(bruno, ana, `his ${round}.0`), await write(bruno, ana, `his ${round}.1`)] as const;
    assert.equal(await read(ana, bruno, his[0]), `his ${round}.0`);
    const answer = await write(ana, bruno, `answer ${round}`);
    for (const [at, one] of hers.entries()) assert.equal(await read(bruno, ana, one), `hers ${round}.${at}`);
    assert.equal(await read(bruno, ana, answer), `answer ${round}`);
    assert.equal(await read(ana, bruno, his[1]), `his ${round}.1`);
  }
});

test('crossed first messages: one message later both write in the same session', async () => {
  const [ana, bruno] = await crossed();
  assert.notDeepEqual(openSessions(ana, bruno), openSessions(bruno, ana));
  assert.equal(await read(bruno, ana, await write(ana, bruno, 'in the session that he had closed')), 'in the session that he had closed');
  assert.equal(openSessions(bruno, ana).length, 1);
  assert.deepEqual(openSessions(bruno, ana), openSessions(ana, bruno));
});

test('a late message of an old session: it is read, and so are all messages of the new one', async () => {
  const [ana, bruno] = await crossed();
  assert.equal(await read(bruno, ana, await write(ana, bruno, 'one')), 'one');
  assert.equal(await read(ana, bruno, await write(bruno, ana, 'two')), 'two');
  const late = await write(ana, bruno, 'late');
  await meet(ana, bruno);
  const fresh = await write(ana, bruno, 'fresh');
  assert.equal(fresh.type, 'pkmsg');
  assert.equal(await read(bruno, ana, fresh), 'fresh');
  assert.equal(await read(bruno, ana, late), 'late');
  for (const text of ['three', 'four']) assert.equal(await read(ana, bruno, await write(bruno, ana, text)), text);
  assert.equal(await read(bruno, ana, await write(ana, bruno, 'five')), 'five');
});

test('a first message that is repeated: its session becomes the open one again', async () => {
  const [ana, bruno] = pair();
  const first = await write(ana, bruno, 'first');
  const second = await write(ana, bruno, 'second');
  assert.equal(await read(bruno, ana, first), 'first');
  const [session] = openSessions(bruno, ana);
  await meet(bruno, ana);
  assert.notDeepEqual(openSessions(bruno, ana), [session]);
  assert.equal(await read(bruno, ana, second), 'second');
  assert.deepEqual(openSessions(bruno, ana), [session]);
});

test('a message that fits no session: the attempt changes nothing', async () => {
  const [ana, bruno] = await crossed();
  const stored = (): string => JSON.stringify(keys.signal(bruno.number, 'session', `${ana.lid}_1.0`));
  const good = await write(ana, bruno, 'good');
  const broken = Buffer.from(good.ciphertext);
  broken.set([(broken.at(-1) ?? 0) ^ 1], broken.length - 1);
  const before = stored();
  await assert.rejects(read(bruno, ana, { type: 'msg', ciphertext: broken }));
  assert.equal(stored(), before);
  assert.equal(await read(bruno, ana, good), 'good');
});
