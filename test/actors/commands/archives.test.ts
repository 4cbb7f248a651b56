/** Tests exports that are refused or fail: what they stop, what they tell, and what they log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExportRequest } from '#actors/gateway.ts';
import { noProxy, type Result } from '#actors/model.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import { staged, type Stage } from '#test/actors/stage.ts';
import type { World } from '#test/fakes/world.ts';
import { sampleAgent, sampleTrigger } from '#test/fakes/chatbot.ts';

const jidOf = (id: string): string => `55${id.slice(1)}:3@s.whatsapp.net`;
const sessions = [
  { id: 'r1', name: 'first', jid: jidOf('r1') },
  { id: 'r2', name: 'second', jid: jidOf('r2') },
];

const stored = ({ moving }: World): void => {
  for (const { id } of sessions)
    moving.sessions.landed.set(id, { fresh: null, replaces: false, credentials: '{}', keys: [], patch: {}, webhooks: [] });
};

const exported = ({ world, gateway }: Stage, change: Partial<ExportRequest> = {}): Promise<Result<AsyncIterable<Uint8Array>>> =>
  world.answerOf(gateway.exportSessions({ instances: ['r1', 'r2'], passphrase: 'p', stop: true, with: [], ...change }));

const sentence = async (answer: Promise<Result<unknown>>): Promise<string> => {
  const result = await answer;
  return result.ok ? 'exported' : `${result.refusal.reason}: ${result.refusal.message}`;
};

const statuses = (stage: Stage) => ['r1', 'r2'].map((id) => stage.status(id));
const cause = ({ world }: Stage, id: string): string | undefined => world.db.instances.get(id)?.lastDisconnectCause;

test('export: if a later instance is not logged out completely, no session is stopped and the refusal names it', async () => {
  const stage = await staged(sessions, {}, stored);
  stage.link('r2').broken.add('discard');
  stage.link('r2').broken.add('logout');
  await stage.world.answerOf(stage.gateway.disconnect('r2'));
  assert.match(await sentence(exported(stage)), /^unavailable: the instance r2 .*not logged out completely/);
  assert.deepEqual([stage.status('r1'), cause(stage, 'r1')], ['connected', '']);
});

test('export: without stop, a running session is refused before another instance is marked as exported', async () => {
  const stage = await staged([{ ...sessions[0], id: 'r1', wanted: 'offline' }, sessions[1] ?? assert.fail()], {}, stored);
  assert.match(await sentence(exported(stage, { stop: false })), /^conflict: the session of the instance r2 runs/);
  assert.equal(cause(stage, 'r1'), '');
});

test('export: a refusal after the first stop names the stopped sessions, and each has a reason', async () => {
  const stage = await staged(sessions, {}, stored);
  stage.link('r2').closeGate = new Promise(() => undefined);
  const said = await sentence(exported(stage));
  assert.equal(
    said,
    'conflict: the session of the instance r2 is still closing: export it again in a moment. These instances are stopped: r1, r2',
  );
  assert.deepEqual([stage.status('r1'), cause(stage, 'r1'), cause(stage, 'r2')], ['disconnected', 'exported', 'exported']);
});

test('export: if storage fails between two sessions, the log names the stopped sessions', async () => {
  const stage = await staged(sessions, {}, stored);
  const { instances } = stage.world.ports;
  const { update } = instances;
  instances.update = (id, ...rest) => (id === 'r2' ? Promise.reject(new StorageUnavailable('away')) : update(id, ...rest));
  await assert.rejects(exported(stage), StorageUnavailable);
  assert.deepEqual(statuses(stage), ['disconnected', 'connected']);
  const [line] = stage.world.log.of('session.notExported');
  assert.deepEqual([line?.fields['instance'], line?.fields['stopped']], ['r2', ['r1']]);
});

test('export: the archive lists the settings that another server does not take over', async () => {
  const proxy = { ...noProxy, mode: 'internal', fallback: true } as const;
  const record = { id: 'r1', proxy, aiApikey: 'secret', chatbotEnabled: true, chatbotStopMinutes: 5, wanted: 'offline' } as const;
  const stage = await staged([record], {}, (world) => {
    const { db } = world;
    stored(world);
    const chatwoot = {
      accountId: 1,
      inboxId: 2,
      accessToken: 't',
      ignoreGroups: false,
      signMessages: false,
      newConversations: false,
      hook: 'h',
    };
    world.hook({ id: 'w1', instanceId: 'r1', chatwoot });
    world.hook({ id: 'w2', instanceId: 'r1', unreadable: 'private' });
    for (const [of, value] of [
      ['chatbotAgent', sampleAgent],
      ['chatbotTrigger', sampleTrigger],
    ] as const)
      db.definitions.set(`r1 ${of} ${value.id}`, { of, value, instanceId: 'r1', created: 0, updated: 0 } as never);
  });
  const archive = await exported(stage, { instances: ['r1'], stop: false });
  assert.ok(archive.ok);
  await Array.fromAsync(archive.value);
  const { lost } = stage.world.moving.sources;
  assert.deepEqual(
    lost.map((text) => text.split(':')[0]),
    [
      'managed proxy',
      'fallback of the proxy',
      'ai_apikey',
      'chatbot',
      'agents of the chatbot (1)',
      'triggers of the chatbot (1)',
      'Chatwoot',
      'webhooks (1)',
    ],
  );
  assert.doesNotMatch(lost.join(), /secret/);
});

test('export: if the credentials of an instance are missing or damaged, no session is stopped and the refusal names it', async () => {
  const stage = await staged(sessions, {}, stored);
  const { sessions: store } = stage.world.moving;
  const { credentials } = store;
  store.credentials = (id) => (id === 'r2' ? Promise.reject(new Error('cannot be decrypted')) : credentials(id));
  const damaged = await sentence(exported(stage));
  assert.equal(damaged, 'conflict: the credentials of the instance r2 are missing or damaged: export the other instances by their names');
  store.credentials = (id) => (id === 'r2' ? Promise.resolve(null) : credentials(id));
  assert.equal(await sentence(exported(stage)), damaged);
  assert.deepEqual(statuses(stage), ['connected', 'connected']);
  assert.equal(await sentence(exported(stage, { instances: ['r1'] })), 'exported');
});

test('export: if the caller leaves before the end of the archive, the log names the instance', async () => {
  const stage = await staged(sessions, {}, stored);
  const archive = await exported(stage);
  assert.ok(archive.ok);
  for await (const _ of archive.value) break;
  assert.deepEqual(
    stage.world.log.of('session.notExported').map(({ fields }) => fields['instance']),
    ['r1'],
  );
});
