/** Tests the decisions on files of messages: the fetch, the conversion of sound, the transcription, and the announced address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DownloadWish } from '#actors/views.ts';
import { done, refuse, type Message } from '#actors/model.ts';
import type { MediaFacts, TakenFile } from '#actors/ports.ts';
import { Downloads, type Wanted } from '#actors/supervisor/files.ts';
import { message } from '#test/contract/samples.ts';
import { createFakeFiles } from '#test/fakes/files.ts';
import { FakeTime } from '#test/fakes/time.ts';

const facts: MediaFacts = { hash: '', kind: 'ptt', size: 5, mimetype: 'audio/ogg; codecs=opus', filename: '' };

class Desk {
  count = 0;
  fetches: Wanted[] = [];
  told: string[] = [];
  transcribed: string[] = [];
  convert: 'works' | 'cannot' | 'fails' = 'works';
  apiKey = '';
  waiting = 0;
  readonly time = new FakeTime();
  facts: MediaFacts = facts;
  messages = new Map<string, Message>();
  answer: ((taken: TakenFile) => ReturnType<ConstructorParameters<typeof Downloads>[0]['fetch']>) | null = null;
  readonly store = createFakeFiles({ baseUrl: 'http://g', hex: () => String((this.count += 1)).padStart(32, '0'), now: () => this.count });
  readonly downloads = new Downloads({
    ports: {
      files: this.store.files,
      messages: { byId: async (_: string, id: string) => this.messages.get(id) ?? null } as never,
      mediaFacts: ({ raw }) => (raw === null ? null : this.facts),
      sounds: {
        toMp3: async (_, path) => {
          if (this.convert === 'cannot') return refuse('notConvertible', 'there is no ffmpeg');
          if (this.convert === 'fails') throw new Error('ffmpeg crashed');
          return done(this.store.taken(`mp3 of ${path}`, { mimetype: 'audio/mpeg' }));
        },
        transcribe: async ({ mimetype }, key) => {
          this.transcribed.push(`${mimetype} ${key}`);
          return key === 'bad' ? refuse('invalid', 'the key is not taken') : done('words');
        },
      },
      downloadsWaiting: () => this.waiting,
      time: this.time,
    },
    fetch: async (_, wanted) => {
      this.fetches.push(wanted);
      const taken = this.store.taken('voice', { mimetype: 'audio/ogg' });
      return this.answer === null ? done(taken) : this.answer(taken);
    },
    tell: async (_, { messageId }, { url }) => void this.told.push(`${messageId} ${url}`),
    apiKey: () => this.apiKey,
  });

  constructor() {
    this.add({ messageId: 'M' });
  }

  add(change: Partial<Message> & { readonly messageId: string }): void {
    this.messages.set(change.messageId, { ...message, raw: Buffer.of(1), ...change });
  }

  get(wish: Partial<DownloadWish> = {}, isPatient = true) {
    const whole = { messageId: 'M', quoted: false, mp3: 'no', transcribe: false, apiKey: '', ...wish } as const;
    return this.downloads.download('r1', whole, isPatient);
  }

  /** Holds all fetches until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.answer = async (taken) => (await promise, done(taken));
    return resolve;
  }
}

const kept = async (desk: Desk, wish: Partial<DownloadWish>) => {
  const outcome = await desk.get(wish);
  assert.ok(outcome.ok, JSON.stringify(outcome));
  return outcome.value;
};

test('downloads: sound is converted to MP3 once, and the MP3 is kept beside the original', async () => {
  const desk = new Desk();
  const [one, two] = [await kept(desk, { mp3: 'can' }), await kept(desk, { mp3: 'must' })];
  assert.deepEqual([one.file.mimetype, two.file.name, two.cached], ['audio/mpeg', one.file.name, true]);
  const original = await kept(desk, {});
  assert.deepEqual([original.file.mimetype, desk.fetches.length], ['audio/ogg', 1]);
  assert.deepEqual([...desk.store.loose], [], 'every copy was released');
});

test('downloads: without an MP3 encoder the original is returned, unless MP3 is required', async () => {
  const desk = new Desk();
  desk.convert = 'cannot';
  assert.equal((await kept(desk, { mp3: 'can' })).file.mimetype, 'audio/ogg');
  const refused = await desk.get({ mp3: 'must' });
  assert.equal(refused.ok ? '' : refused.refusal.reason, 'notConvertible');
});

test('downloads: a conversion that crashes leaves no copy behind, and the next one runs', async () => {
  const desk = new Desk();
  desk.convert = 'fails';
  await assert.rejects(desk.get({ mp3: 'can' }), /crashed/);
  assert.deepEqual([...desk.store.loose], []);
  desk.convert = 'works';
  assert.equal((await kept(desk, { mp3: 'can' })).file.mimetype, 'audio/mpeg');
});

test('downloads: a transcription uses the given key, else the key of the instance, and is absent without a key', async () => {
  const desk = new Desk();
  assert.equal((await kept(desk, { transcribe: true })).transcription, undefined);
  desk.apiKey = 'own';
  assert.equal((await kept(desk, { transcribe: true })).transcription, 'words');
  await kept(desk, { transcribe: true, apiKey: 'given', mp3: 'can' });
  assert.deepEqual(desk.transcribed, ['audio/ogg own', 'audio/mpeg given']);
  const refused = await desk.get({ transcribe: true, apiKey: 'bad' });
  assert.equal(refused.ok ? '' : refused.refusal.message, 'the key is not taken');
  desk.facts = { ...facts, kind: 'document' };
  assert.equal((await kept(desk, { transcribe: true, apiKey: 'given' })).transcription, undefined, 'a document says nothing');
});

test('downloads: a failed fetch fails for all requests that wait for it, and the next request fetches again', async () => {
  const desk = new Desk();
  desk.answer = async (taken) => (await taken.discard(), refuse('notSent', 'the session is gone'));
  const both = await Promise.all([desk.get(), desk.get()]);
  assert.deepEqual(
    both.map((outcome) => outcome.ok),
    [false, false],
  );
  assert.equal(desk.fetches.length, 1);
  desk.answer = null;
  assert.ok((await desk.get()).ok);
});

test('downloads: a client whose file waits too long for its turn is refused, and finds the file when it asks again', async () => {
  const desk = new Desk();
  const release = desk.hold();
  desk.waiting = 1;
  const [client, service] = [desk.get({}, false), desk.get()];
  await desk.time.pass(24_000);
  const again = desk.get({}, false);
  await desk.time.pass(1_000);
  const refused = await client;
  assert.deepEqual(refused.ok ? {} : [refused.refusal.reason, refused.refusal.retryAfter], ['unavailable', 30]);
  release();
  assert.ok((await again).ok && (await service).ok, 'others wait on');
  const found = await kept(desk, {});
  assert.deepEqual([found.cached, desk.fetches.length], [true, 1], 'the file kept its place in the line');
});

test('downloads: a client waits for a slow download while no file of the instance waits for its turn', async () => {
  const desk = new Desk();
  const release = desk.hold();
  const client = desk.get({}, false);
  await desk.time.pass(60_000);
  release();
  assert.ok((await client).ok);
});

test('downloads: a message whose address is known is not announced again', async () => {
  const desk = new Desk();
  const { file } = await kept(desk, {});
  desk.add({ messageId: 'M', fileUrl: file.url });
  await kept(desk, {});
  assert.deepEqual(desk.told, [`M ${file.url}`]);
});

test('downloads: bytes that were lost are fetched again', async () => {
  const desk = new Desk();
  const { file } = await kept(desk, {});
  desk.store.lose(file.hash);
  const again = await kept(desk, {});
  assert.deepEqual([again.cached, desk.fetches.length], [false, 2]);
});

test('downloads: the quoted message itself is used if it is stored in the same chat, and otherwise the quotation', async () => {
  const desk = new Desk();
  desk.add({ messageId: 'M', quoted: 'Q' });
  await kept(desk, { quoted: true });
  desk.add({ messageId: 'Q', chatId: 'another@s.whatsapp.net' });
  await kept(desk, { quoted: true });
  desk.add({ messageId: 'Q' });
  await kept(desk, { quoted: true });
  assert.deepEqual(
    desk.fetches.map((wanted) => [wanted.message.messageId, wanted.quoted]),
    [
      ['M', true],
      ['M', true],
      ['Q', false],
    ],
  );
  assert.deepEqual(
    desk.told.map((line) => line.split(' ')[0]),
    ['Q'],
    'a quotation is no file of the message that quotes',
  );
});
