/** Tests the decisions of an import: the instance that takes a session, the settings that are taken over, and the refusals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExportRequest, ImportRequest, ImportedSession, RunningGateway } from '#actors/gateway.ts';
import {
  EpochLost,
  SourceProblem,
  StorageUnavailable,
  type ArchivedRows,
  type Arrival,
  type ArrivingSession,
  type MovedWebhook,
} from '#actors/ports.ts';
import { settle, World } from '#test/fakes/world.ts';

const request: ImportRequest = { from: 'folder', secret: '', dryRun: false, into: '', only: [], signal: new AbortController().signal };

const hook: MovedWebhook = {
  url: 'http://receiver.test',
  enabled: true,
  events: ['messages'],
  excludeMessages: [],
  addUrlEvents: false,
  addUrlTypesMessages: false,
  secret: '',
  headers: {},
};

const session = (change: Partial<ArrivingSession> = {}, owner = '551'): ArrivingSession => ({
  name: 'shop',
  identity: { jid: `${owner}:7@s.whatsapp.net`, lid: '9@lid', owner, profileName: 'Shop', isBusiness: false, platform: 'android' },
  credentials: '{"noiseKey":"secret"}',
  keys: [{ type: 'pre-key', id: '1', value: '{}' }],
  token: '',
  proxy: '',
  webhooks: [],
  settings: {},
  lost: [],
  notes: ['stop the source'],
  ...change,
});

const found = (...sessions: readonly ArrivingSession[]): readonly Arrival[] => sessions.map((one) => ({ found: 'session', session: one }));

async function* nothing(): AsyncIterable<Uint8Array> {}

const run = async (world: World, gateway: RunningGateway, change: Partial<ImportRequest> = {}): Promise<readonly ImportedSession[]> => {
  const result = await world.answerOf(gateway.importSessions(nothing(), { ...request, ...change }));
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
};

const outcomes = (sessions: readonly ImportedSession[]) => sessions.map(({ outcome, instance }) => [outcome, instance]);

test('import: a session becomes a new resting instance with its token, webhook and proxy', async () => {
  const world = new World();
  const gateway = await world.start();
  const token = 'a-token-of-the-source';
  world.moving.sources.arrivals = found(
    session({ token, webhooks: [hook], proxy: 'http://u:p@proxy.test:1', settings: { adminField01: 'a' } }),
  );
  const [one] = await run(world, gateway);
  assert.ok(one);
  const { record, status } = gateway.view(one.instance) ?? assert.fail('the instance is there');
  assert.deepEqual([one.outcome, one.token, one.keys, one.notes], ['imported', token, 1, ['stop the source']]);
  assert.deepEqual([status, record.wanted, record.jid, record.name], ['disconnected', 'offline', '551:7@s.whatsapp.net', 'shop']);
  assert.deepEqual([record.adminField01, record.proxy?.mode, record.proxy?.url], ['a', 'custom', 'http://u:p@proxy.test:1']);
  assert.equal(gateway.authenticate(token), one.instance);
  assert.deepEqual(
    gateway.webhooks(one.instance).map(({ url }) => url),
    [hook.url],
  );
  await world.time.pass(600_000);
  assert.equal(world.platform.links.size, 0, 'nothing connects it');
});

test('import: the same import twice changes nothing, also if the instance was renamed', async () => {
  const world = new World();
  const gateway = await world.start();
  world.moving.sources.arrivals = found(session());
  const [first] = await run(world, gateway);
  await gateway.update(first?.instance ?? '', { name: 'renamed' });
  const stored = JSON.stringify([...world.db.instances]);
  assert.deepEqual(outcomes(await run(world, gateway)), [['here', first?.instance]]);
  assert.deepEqual(outcomes(await run(world, gateway, { dryRun: true })), [['here', first?.instance]]);
  assert.equal(JSON.stringify([...world.db.instances]), stored);
});

test('import: a dry run changes nothing, and lists the losses', async () => {
  const world = new World();
  world.register({ id: 'r1', name: 'shop' });
  const gateway = await world.start();
  const before = JSON.stringify([[...world.db.instances], [...world.db.webhooks]]);
  world.moving.sources.arrivals = found(
    session({ webhooks: [{ ...hook, url: 'ftp://x' }], token: 'short' }),
    session({ name: 'other' }, '552'),
  );
  const [first, second] = await run(world, gateway, { dryRun: true });
  assert.deepEqual([first?.outcome, first?.instance, second?.outcome, second?.instance], ['ready', 'r1', 'ready', '']);
  assert.deepEqual(first?.lost, [
    'webhook: it is not taken over, because the address must begin with http:// or https://',
    'token: the instance keeps its own token',
  ]);
  assert.equal(JSON.stringify([[...world.db.instances], [...world.db.webhooks]]), before);
});

test('import: an unpaired instance with the name is filled and keeps its token, webhooks and proxy', async () => {
  const world = new World();
  world.register({ id: 'r1', name: 'shop' });
  world.hook({ id: 'w1', instanceId: 'r1', url: 'http://own.test' });
  const gateway = await world.start();
  world.moving.sources.arrivals = found(session({ token: 'a-token-of-the-source', webhooks: [hook] }));
  const [one] = await run(world, gateway);
  assert.deepEqual([one?.outcome, one?.instance, one?.token], ['imported', 'r1', 'token-r1']);
  assert.deepEqual(one?.lost, ['webhooks: the instance keeps its own webhooks', 'token: the instance keeps its own token']);
  assert.deepEqual(
    gateway.webhooks('r1').map(({ url }) => url),
    ['http://own.test'],
  );
  assert.equal(gateway.view('r1')?.record.jid, '551:7@s.whatsapp.net');
});

const refusals: readonly (readonly [string, (world: World) => void, Partial<ImportRequest>, RegExp])[] = [
  [
    'a paired instance',
    (w) => w.register({ id: 'r1', name: 'shop', jid: '552:1@s.whatsapp.net', owner: '552' }),
    {},
    /has a paired session/,
  ],
  ['an instance of another account', (w) => w.register({ id: 'r1', name: 'shop', owner: '552' }), {}, /had another account/],
  ['an instance that is being emptied', (w) => w.register({ id: 'r1', name: 'shop', accountLeaves: true }), {}, /is being emptied/],
  ['two instances of one name', (w) => ['r1', 'r2'].forEach((id) => w.register({ id, name: 'shop' })), {}, /2 instances have this name/],
  ['an instance that is not there', () => undefined, { into: 'r9' }, /there is no instance/],
];
for (const [title, prepare, change, reason] of refusals)
  test(`import: ${title} takes no session`, async () => {
    const world = new World();
    prepare(world);
    const gateway = await world.start();
    world.moving.sources.arrivals = found(session());
    const [one] = await run(world, gateway, change);
    assert.equal(one?.outcome, 'refused');
    assert.match(one?.reason ?? '', reason);
    assert.equal(world.moving.sessions.landed.size, 0);
  });

test('import: no connect begins while a session is being stored', async () => {
  const world = new World();
  world.register({ id: 'r1', name: 'shop' });
  const gateway = await world.start();
  world.moving.sources.arrivals = found(session());
  let connecting: ReturnType<RunningGateway['connect']> | null = null;
  world.moving.sessions.before = async () => {
    connecting = gateway.connect('r1', {});
    await settle();
  };
  const [one] = await run(world, gateway);
  assert.equal(one?.outcome, 'imported');
  const answer = await connecting!;
  assert.ok(!answer.ok && answer.refusal.reason === 'conflict');
  assert.equal(world.platform.links.get('r1')?.opens.length ?? 0, 0);
  assert.equal(gateway.view('r1')?.record.wanted, 'offline');
});

test('import: no logout and no removal begins while a session is being stored', async () => {
  const world = new World();
  world.register({ id: 'r1', name: 'shop' });
  const gateway = await world.start();
  world.moving.sources.arrivals = found(session());
  const refused: unknown[] = [];
  world.moving.sessions.before = async () => {
    for (const answer of await Promise.all([gateway.disconnect('r1'), gateway.remove('r1')]))
      refused.push(!answer.ok && answer.refusal.reason);
  };
  const [one] = await run(world, gateway);
  assert.deepEqual([one?.outcome, refused], ['imported', ['unavailable', 'unavailable']]);
  await world.time.pass(60_000);
  const { record } = gateway.view('r1') ?? assert.fail('the instance is there');
  assert.deepEqual([record.wanted, record.jid], ['offline', '551:7@s.whatsapp.net']);
  assert.deepEqual(world.platform.of('r1').discarded.length, 1, 'only the import discards');
});

test('import: a new instance exists only together with its session, so that a repetition after a kill keeps the token', async () => {
  const world = new World();
  const gateway = await world.start();
  world.moving.sources.arrivals = found(session({ token: 'a-token-of-the-source' }));
  world.moving.sessions.before = () => new Promise(() => undefined);
  void gateway.importSessions(nothing(), request);
  await settle();
  assert.equal(world.db.instances.size, 0);
  const next = new World();
  for (const record of world.db.instances.values()) next.register(record);
  const restarted = await next.start();
  next.moving.sources.arrivals = world.moving.sources.arrivals;
  assert.deepEqual(
    (await run(next, restarted)).map(({ outcome, token }) => [outcome, token]),
    [['imported', 'a-token-of-the-source']],
  );
});

test('import: a new instance is removed again if its session cannot be stored', async () => {
  const world = new World();
  const gateway = await world.start();
  world.moving.sources.arrivals = found(session());
  world.moving.sessions.before = () => {
    throw new StorageUnavailable('away');
  };
  await assert.rejects(() => gateway.importSessions(nothing(), request), StorageUnavailable);
  assert.equal(gateway.all().length, 0);
  world.moving.sessions.before = () => {
    throw new EpochLost('taken');
  };
  const [one] = await run(world, gateway);
  assert.match(one?.reason ?? '', /another node took the instance meanwhile/);
  assert.equal(gateway.all().length, 0);
});

test('import: refused sessions and a source that breaks off do not undo the other sessions', async () => {
  const world = new World();
  const gateway = await world.start();
  world.moving.sources.receive = async () => ({
    ok: true,
    value: (async function* (): AsyncIterable<Arrival> {
      yield { found: 'refused', name: 'broken', reason: 'it is broken' };
      yield* found(session());
      throw new SourceProblem('The archive is cut off');
    })(),
  });
  const all = await run(world, gateway);
  assert.deepEqual(
    all.map(({ name, outcome }) => [name, outcome]),
    [
      ['broken', 'refused'],
      ['shop', 'imported'],
      ['', 'refused'],
    ],
  );
  assert.equal(all[2]?.reason, 'The archive is cut off');
  assert.deepEqual(
    outcomes(await run(world, gateway, { only: ['shop'] })).map(([outcome]) => outcome),
    ['here', 'refused'],
  );
});

test('export: a running session is refused without stop, and rests after an export with stop', async () => {
  const world = new World();
  const gateway = await world.start();
  world.moving.sources.arrivals = found(session());
  const [{ instance } = { instance: '' }] = await run(world, gateway);
  await world.answerOf(gateway.connect(instance, {}));
  const ask = (stop: boolean) => world.answerOf(gateway.exportSessions({ instances: [], passphrase: 'p', stop, with: [] }));
  const refused = await ask(false);
  assert.ok(!refused.ok && refused.refusal.reason === 'conflict');
  const archive = await ask(true);
  assert.ok(archive.ok);
  const bytes: Uint8Array[] = [];
  for await (const piece of archive.value) bytes.push(piece);
  assert.equal(Buffer.concat(bytes).toString(), 'shop {"noiseKey":"secret"}\n');
  const view = gateway.view(instance);
  assert.deepEqual([view?.status, view?.record.wanted, view?.loggedIn], ['disconnected', 'offline', true]);
  world.assertKept();
});

test('export: an archive ends with an error if a session connects while it is read, and the log names the instance', async () => {
  const world = new World();
  const gateway = await world.start();
  world.moving.sources.arrivals = found(session());
  const [{ instance } = { instance: '' }] = await run(world, gateway);
  const exported = () => world.answerOf(gateway.exportSessions({ instances: [], passphrase: 'p', stop: true, with: [] }));
  const [before, during] = [await exported(), await exported()];
  assert.ok(before.ok && during.ok);
  const { keys } = world.moving.sessions;
  world.moving.sessions.keys = async function* (id) {
    yield* keys.call(world.moving.sessions, id);
    await world.answerOf(gateway.connect(instance, {}));
  };
  await assert.rejects(() => Array.fromAsync(during.value), new RegExp(`instance ${instance} was connected or removed during the export`));
  await assert.rejects(() => Array.fromAsync(before.value), new RegExp(`instance ${instance} was connected or removed during the export`));
  assert.deepEqual(
    world.log.of('session.notExported').map(({ fields }) => fields['instance']),
    [instance, instance],
  );
});

test('import: a source without any session is refused, and one with an unreadable remainder gets a row for it', async () => {
  const world = new World();
  const gateway = await world.start();
  const ask = (only: readonly string[] = []) => world.answerOf(gateway.importSessions(nothing(), { ...request, only }));
  const sentence = async (only?: readonly string[]): Promise<string> => {
    const result = await ask(only);
    return result.ok ? 'taken' : `${result.refusal.reason}: ${result.refusal.message}`;
  };
  world.moving.sources.arrivals = [];
  assert.equal(await sentence(), 'invalid: The source has no session');
  world.moving.sources.arrivals = found(session());
  assert.equal(await sentence(['a', 'b']), 'invalid: The source has no session that is named a or b');
  world.moving.sources.arrivals = [{ found: 'refused', name: 'half', reason: 'its credentials are cut off' }];
  const half = await ask();
  assert.deepEqual(half.ok && half.value.map(({ name, outcome, reason }) => [name, outcome, reason]), [
    ['half', 'refused', 'its credentials are cut off'],
  ]);
});

const pieces: readonly ArchivedRows[] = [
  { of: 'chats', rows: [{ chatId: '1@lid' }] },
  { of: 'messages', rows: [{ messageId: 'm1' }, { messageId: 'm2' }] },
];

async function* rowsOf(...given: readonly ArchivedRows[]): AsyncIterable<ArchivedRows> {
  yield* given;
}

const counts = (sessions: readonly ImportedSession[]) => sessions.map(({ outcome, chats, messages }) => [outcome, chats, messages]);

test('import: chats and messages follow their session without an event, also into an instance that has the session', async () => {
  const world = new World();
  world.hook({ id: 'w1', instanceId: 'r1', url: 'http://own.test' });
  world.register({ id: 'r1', name: 'shop' });
  const gateway = await world.start();
  const rows = () => rowsOf(...pieces);
  world.moving.sources.arrivals = found(session({ rows }));
  assert.deepEqual(counts(await run(world, gateway, { dryRun: true })), [['ready', 0, 0]]);
  assert.deepEqual(world.journal.archived, []);
  assert.deepEqual(counts(await run(world, gateway)), [['imported', 1, 2]]);
  assert.deepEqual(world.journal.archived, pieces);
  assert.deepEqual(counts(await run(world, gateway)), [['here', 1, 2]]);
  await world.time.pass(60_000);
  assert.equal(world.receiver.posts.length, 0);
  world.moving.sources.arrivals = found(session({ rows }, '552'));
  assert.deepEqual(counts(await run(world, gateway)), [['refused', 0, 0]], 'a session that is refused brings no messages');
});

test('import: if the messages break off, the session is kept and the answer says that messages are missing', async () => {
  const world = new World();
  const gateway = await world.start();
  const broken = async function* (): AsyncIterable<ArchivedRows> {
    yield* pieces;
    throw new SourceProblem('The archive is cut off');
  };
  world.moving.sources.arrivals = found(session({ rows: broken }), session({ name: 'other' }, '552'));
  const [first, second] = await run(world, gateway);
  assert.deepEqual([first?.outcome, first?.messages, second?.outcome], ['refused', 2, 'imported']);
  assert.equal(first?.reason, `the instance ${first?.instance} got the session, but not all of its messages: The archive is cut off`);
  assert.equal(gateway.view(first?.instance ?? '')?.record.jid, '551:7@s.whatsapp.net');
  world.moving.sources.arrivals = found(session({ rows: () => rowsOf(...pieces) }));
  assert.deepEqual(counts(await run(world, gateway)), [['here', 1, 2]]);
});

test('import: messages stop when the caller leaves, the instance is removed or another node owns it, and the reason is told', async () => {
  const reasonWith = async (during: (world: World, gateway: RunningGateway, gone: AbortController) => unknown): Promise<string> => {
    const [world, gone] = [new World(), new AbortController()];
    const gateway = await world.start();
    const rows = async function* (): AsyncIterable<ArchivedRows> {
      yield pieces[0] ?? assert.fail();
      await during(world, gateway, gone);
      if (gone.signal.aborted) throw new Error('the file was closed');
      yield pieces[1] ?? assert.fail();
    };
    world.moving.sources.arrivals = found(session({ rows }));
    const [one] = await run(world, gateway, { signal: gone.signal });
    assert.deepEqual([one?.outcome, one?.chats, one?.messages], ['refused', 1, 0]);
    return one?.reason.split(': ')[1] ?? '';
  };
  assert.equal(await reasonWith((_world, _gateway, gone) => gone.abort()), 'the caller is gone');
  assert.equal(
    await reasonWith((world) => {
      world.journal.addArchived = async () => {
        throw new EpochLost('taken');
      };
    }),
    'another node took the instance meanwhile, or it was removed',
  );
  assert.equal(
    await reasonWith(async (world, gateway) => world.answerOf(gateway.remove([...world.db.instances.keys()][0] ?? ''))),
    'the instance does not have the session any more',
  );
});

test('export: an archive contains chats and messages on request', async () => {
  const world = new World();
  const gateway = await world.start();
  world.moving.sources.arrivals = found(session());
  await run(world, gateway);
  const textOf = async (parts: ExportRequest['with']): Promise<string> => {
    const archive = await world.answerOf(gateway.exportSessions({ instances: [], passphrase: 'p', stop: false, with: parts }));
    assert.ok(archive.ok);
    return Buffer.concat(await Array.fromAsync(archive.value)).toString();
  };
  assert.doesNotMatch(await textOf([]), /chats|messages/);
  assert.match(await textOf(['messages']), /chats 0\nmessages 0\n$/);
});
