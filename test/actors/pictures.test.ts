/** Tests the look-ups of pictures that change: a change during a look-up is not lost, and the former picture is not kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, Picture } from '#actors/model.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import type { Outcome } from '#actors/ports.ts';
import { Pictures } from '#actors/session/pictures.ts';
import { message as sample } from '#test/contract/samples.ts';
import { settle, testPolicy, World } from '#test/fakes/world.ts';

const chatId = '551@s.whatsapp.net';
const written: Entry = {
  kind: 'message',
  message: { ...sample, chatId, isGroup: false, fromMe: false },
  chat: { chatId },
  unread: true,
};
const shown = (url: string): Outcome<Picture> => ({ ok: true, value: { state: 'there', url } });

/** Opens the look-ups of one session. `answers` are the answers of the platform, in their order. */
const opened = (...answers: readonly (Outcome<Picture> | Promise<Outcome<Picture>>)[]) => {
  const world = new World();
  const { id, epoch } = world.register({ id: 'r1' });
  const asked: string[] = [];
  const left = [...answers];
  const pictures = new Pictures({
    claim: () => ({ instanceId: id, epoch }),
    ports: world.ports,
    policy: testPolicy.pictures,
    workers: supervisedWorkers(world.ports, testPolicy, {}),
    ask: async (_id, kind) => {
      asked.push(kind);
      return left.shift() ?? null;
    },
    record: () => undefined,
  });
  const stored = (kind: 'preview' | 'image') => world.db.pictures.get(`r1 ${kind} ${chatId}`)?.url;
  return { world, pictures, asked, stored };
};

test('pictures: a picture that changes during its first look-up is looked up again', async () => {
  const first = Promise.withResolvers<Outcome<Picture>>();
  const { pictures, asked, stored } = opened(first.promise, shown('new'));
  pictures.note([written]);
  await settle();
  pictures.changed(chatId);
  first.resolve(shown('old'));
  await settle();
  assert.deepEqual(asked, ['preview', 'preview']);
  assert.equal(stored('preview'), 'new');
});

test('pictures: a picture that changes during the look-up of a change is looked up again', async () => {
  const second = Promise.withResolvers<Outcome<Picture>>();
  const { pictures, asked, stored } = opened(shown('first'), second.promise, shown('third'));
  pictures.note([written]);
  await settle();
  pictures.changed(chatId);
  await settle();
  pictures.changed(chatId);
  second.resolve(shown('second'));
  await settle();
  assert.deepEqual([asked.length, stored('preview')], [3, 'third']);
});

test('pictures: the answer of a client whose picture changes meanwhile is not kept', async () => {
  const first = Promise.withResolvers<Outcome<Picture>>();
  const { pictures, stored } = opened(first.promise, shown('new'));
  const looked = pictures.look(chatId, 'image', false);
  await settle();
  pictures.changed(chatId);
  first.resolve(shown('old'));
  assert.deepEqual(await looked, { ok: true, value: { state: 'there', url: 'old' } });
  assert.equal(stored('image'), undefined);
  assert.deepEqual(await pictures.look(chatId, 'image', false), { ok: true, value: { state: 'there', url: 'new' } });
  assert.equal(stored('image'), 'new');
});

test('pictures: a change of a picture that nobody looked up is not looked up', async () => {
  const { pictures, asked } = opened();
  pictures.changed(chatId);
  await settle();
  assert.deepEqual(asked, []);
});

test('pictures: a change while the first look-up waits does not end the look-up', async () => {
  const { world, pictures, asked, stored } = opened({ ok: false, refusal: { reason: 'notSent', message: 'away' } }, shown('new'));
  pictures.note([written]);
  await settle();
  pictures.changed(chatId);
  await world.time.pass(30_000);
  assert.deepEqual([asked.length, stored('preview')], [2, 'new']);
});
