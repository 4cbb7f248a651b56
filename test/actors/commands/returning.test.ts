/** Tests the import of a session that returns to an instance which was exported: the newer copy replaces the keys, and an older one does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImportedSession, ImportRequest, RunningGateway } from '#actors/gateway.ts';
import type { ArrivingSession } from '#actors/ports.ts';
import { identity } from '#test/fakes/platform.ts';
import { World } from '#test/fakes/world.ts';

const request: ImportRequest = { from: 'dormouse', secret: '', dryRun: false, into: '', only: [], signal: new AbortController().signal };

const copy = (credentials: string, endedAt?: number): ArrivingSession => ({
  name: 'shop',
  identity,
  credentials,
  keys: [{ type: 'session', id: '1', value: `"of ${credentials}"` }],
  token: '',
  proxy: '',
  webhooks: [],
  settings: {},
  lost: [],
  notes: [],
  ...(endedAt !== undefined && { endedAt }),
});

async function* nothing(): AsyncIterable<Uint8Array> {}

class Stage {
  readonly world = new World();
  gateway!: RunningGateway;
  id = '';

  async import(session: ArrivingSession, change: Partial<ImportRequest> = {}): Promise<ImportedSession> {
    this.world.moving.sources.arrivals = [{ found: 'session', session }];
    const result = await this.world.answerOf(this.gateway.importSessions(nothing(), { ...request, ...change }));
    assert.ok(result.ok, JSON.stringify(result));
    return result.value[0] ?? assert.fail('the import has one session');
  }

  /** Exports the session with `stop`, and returns the time at which its archive says that its last connection ended. */
  async export(): Promise<number> {
    const archive = await this.world.answerOf(this.gateway.exportSessions({ instances: [this.id], passphrase: 'p', stop: true, with: [] }));
    assert.ok(archive.ok, JSON.stringify(archive));
    for await (const _ of archive.value);
    return this.world.moving.sources.endedAt.at(-1) ?? assert.fail('the archive says when the last connection ended');
  }

  /** Connects the session and lets it log in. */
  async connect(): Promise<void> {
    const { platform } = this.world;
    platform.credentials = () => true;
    platform.onOpen = (link) => queueMicrotask(() => link.login());
    await this.world.answerOf(this.gateway.connect(this.id, {}));
    assert.equal(this.view.status, 'connected');
  }

  get stored(): string {
    return this.world.moving.sessions.landed.get(this.id)?.credentials ?? '';
  }

  get view() {
    return this.gateway.view(this.id) ?? assert.fail('the instance is there');
  }
}

/** Starts a gateway with a session that was imported and connected once. */
const used = async (): Promise<Stage> => {
  const stage = new Stage();
  stage.gateway = await stage.world.start();
  stage.id = (await stage.import(copy('"first"'))).instance;
  await stage.connect();
  await stage.world.time.pass(60_000);
  return stage;
};

/** Starts a gateway whose session was exported. The result includes the end of its last connection. */
const left = async (): Promise<Stage & { endedAt: number }> => {
  const stage = await used();
  const endedAt = await stage.export();
  await stage.world.time.pass(60_000);
  return Object.assign(stage, { endedAt });
};

test('import: the newer copy of an exported session replaces its keys, once, and the report says so', async () => {
  const stage = await left();
  const newer = copy('"newer"', stage.endedAt + 30_000);
  const dry = await stage.import(newer, { dryRun: true });
  assert.deepEqual(
    [dry.outcome, dry.reason],
    ['ready', `the instance ${stage.id} would get it in place of its earlier credentials and keys`],
  );
  assert.equal(stage.stored, '"first"');
  const one = await stage.import(newer);
  assert.deepEqual(
    [one.outcome, one.instance, one.reason],
    ['imported', stage.id, `the instance ${stage.id} has it, in place of its earlier credentials and keys`],
  );
  assert.deepEqual(one.notes, [`the keys of the source replace those of the instance ${stage.id}`]);
  assert.equal(stage.stored, '"newer"');
  assert.equal(stage.world.moving.sessions.landed.get(stage.id)?.replaces, true);
  const link = stage.world.platform.of(stage.id);
  assert.deepEqual([link.discarded, link.forgotten], [[], 1], 'no copy is deleted before the other one is stored');
  const { record, status } = stage.view;
  assert.deepEqual([status, record.wanted, record.lastDisconnectCause], ['disconnected', 'offline', '']);
  assert.equal(record.lastDisconnect, stage.endedAt + 30_000);
  const again = await stage.import(newer, { into: stage.id });
  assert.equal(again.outcome, 'here');
});

test('import: a copy that is as old as the exported session, or older, replaces nothing', async () => {
  const stage = await left();
  for (const endedAt of [stage.endedAt, stage.endedAt - 1]) {
    const one = await stage.import(copy('"older"', endedAt));
    assert.equal(one.outcome, 'here');
    assert.match(one.reason, new RegExp(`^already here, as the instance ${stage.id}`));
  }
  assert.equal(stage.stored, '"first"');
});

test('import: an archive that was never connected elsewhere keeps its age when it is exported again', async () => {
  const stage = await left();
  assert.equal(await stage.export(), stage.endedAt);
  const other = new Stage();
  other.gateway = await other.world.start();
  await other.world.time.pass(3_600_000);
  other.id = (await other.import(copy('"first"', stage.endedAt))).instance;
  assert.equal(await other.export(), stage.endedAt);
});

test('import: a newer copy of a session that runs is refused, and the refusal says what to do', async () => {
  const stage = await left();
  await stage.connect();
  const one = await stage.import(copy('"newer"', stage.endedAt + 1));
  assert.deepEqual([one.outcome, one.instance], ['refused', stage.id]);
  const way = `export it with \`stop\` first, and name ${stage.id} with \`into\` to replace its keys`;
  assert.ok(one.reason.endsWith(`runs with older keys of the session: ${way}`), one.reason);
  assert.equal((await stage.import(copy('"same"', stage.endedAt))).outcome, 'here', 'a repetition is no conflict');
  assert.deepEqual([stage.stored, stage.view.status], ['"first"', 'connected']);
});

test('import: no connect begins while the keys are being replaced', async () => {
  const stage = await left();
  const answers: unknown[] = [];
  stage.world.moving.sessions.before = async () => {
    const answer = await stage.gateway.connect(stage.id, {});
    answers.push(!answer.ok && answer.refusal.reason);
  };
  const one = await stage.import(copy('"newer"', stage.endedAt + 1));
  assert.deepEqual([one.outcome, answers, stage.view.record.wanted], ['imported', ['conflict'], 'offline']);
});

test('import: a copy of unknown age replaces an exported session only if the import names the instance', async () => {
  const stage = await left();
  const refused = await stage.import(copy('"folder"'));
  assert.deepEqual([refused.outcome, stage.stored], ['refused', '"first"']);
  assert.ok(refused.reason.endsWith(`whether its keys are newer: name ${stage.id} with \`into\` to replace its keys`), refused.reason);
  const one = await stage.import(copy('"folder"'), { into: 'shop' });
  assert.deepEqual([one.outcome, one.instance, stage.stored], ['imported', stage.id, '"folder"']);
  assert.match(one.reason, /in place of its earlier credentials and keys$/);
  assert.equal((await stage.import(copy('"again"'), { into: 'shop' })).outcome, 'here', 'the session was not exported since');
});

test('import: a name of `into` that no instance has is refused, although another instance has the session', async () => {
  const stage = await left();
  const one = await stage.import(copy('"folder"'), { into: 'no such shop' });
  assert.deepEqual([one.outcome, one.instance, one.reason], ['refused', '', 'there is no instance of this name or id']);
  assert.equal(stage.stored, '"first"');
});

test('import: only a session that is taken over reports the settings that are not', async () => {
  const stage = await left();
  const lost = ['chatbot: its settings stay there'];
  const reported = async (endedAt: number | undefined, change: Partial<ImportRequest> = {}) => {
    const one = await stage.import({ ...copy('"other"', endedAt), lost }, change);
    return [one.outcome, one.lost];
  };
  assert.deepEqual(await reported(stage.endedAt), ['here', []]);
  assert.deepEqual(await reported(undefined), ['refused', []]);
  assert.deepEqual(await reported(stage.endedAt + 1, { dryRun: true }), ['ready', lost]);
  assert.deepEqual(await reported(stage.endedAt + 1), ['imported', lost]);
});
