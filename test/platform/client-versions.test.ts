/** Tests the client version of connections: its lookup, its storage, and the effect of a refusal. */
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { DEFAULT_CONNECTION_CONFIG, type WAVersion } from '@whiskeysockets/baileys';
import { Agent } from 'undici';
import { type ClientVersions, createClientVersions, lookUpRevision } from '#src/platform/link/client-versions.ts';
import { FakeTime, settle } from '#test/fakes/time.ts';
import { quietLog } from './setup.ts';

const day = 86_400_000;
const compiled = DEFAULT_CONNECTION_CONFIG.version;

/** The version that the platform publishes, the database, and versions over both. */
class Stage {
  readonly time = new FakeTime();
  readonly stored = new Map<string, string>();
  /** The version on the page; null if the page cannot be read. */
  published: number | null = 1_050_000_000;
  looks = 0;
  versions: ClientVersions = this.open();

  open(fixed: string | null = null): ClientVersions {
    this.versions = createClientVersions({
      fixed,
      settings: { get: async (name) => this.stored.get(name) ?? null, set: async (name, value) => void this.stored.set(name, value) },
      lookUp: async () => {
        this.looks += 1;
        if (this.published === null) throw new Error('/sw.js answered 500');
        return this.published;
      },
      everyMs: day,
      time: this.time,
      log: quietLog,
    });
    return this.versions;
  }

  async start(fixed: string | null = null): Promise<void> {
    await this.open(fixed).start();
    await settle();
  }

  async next(): Promise<number> {
    return (await this.versions.next())[2];
  }

  async refuse(revision: number): Promise<void> {
    await this.time.pass(60_000);
    this.versions.refused([2, 3000, revision] as WAVersion);
    await settle();
  }
}

test('client version: a configured version is used, and nothing is looked up', async () => {
  const stage = new Stage();
  await stage.start('2.3000.7');
  await stage.refuse(7);
  assert.deepEqual([await stage.versions.next(), stage.looks], [[2, 3000, 7], 0]);
  assert.deepEqual(stage.versions.view(), { version: '2.3000.7', source: 'setting', checkedAt: 0, error: '' });
});

test('client version: the first lookup is waited for, its result is stored, and another one follows a day later', async () => {
  const stage = new Stage();
  await stage.open().start();
  assert.equal(await stage.next(), 1_050_000_000);
  assert.equal(stage.versions.view().source, 'lookedUp');
  await stage.time.pass(day - 1);
  assert.equal(stage.looks, 1);
  stage.published = 1_050_000_001;
  await stage.time.pass(1);
  await settle();
  assert.deepEqual([stage.looks, await stage.next()], [2, 1_050_000_001]);
});

test('client version: the stored version is used after a restart without internet access', async () => {
  const stage = new Stage();
  await stage.start();
  stage.versions.close();
  stage.published = null;
  await stage.time.pass(2 * day);
  await stage.start();
  const { version, error } = stage.versions.view();
  assert.deepEqual([version, error], ['2.3000.1050000000', '/sw.js answered 500']);
});

test('client version: without a successful lookup the built-in version is used, and the lookup is retried within the hour', async () => {
  const stage = new Stage();
  stage.published = null;
  await stage.start();
  assert.deepEqual([await stage.next(), stage.versions.view().source], [compiled[2], 'builtIn']);
  stage.published = 1_050_000_000;
  await stage.time.pass(3_600_000);
  await settle();
  assert.equal(await stage.next(), 1_050_000_000);
});

test('client version: a refusal causes a lookup at once, at most every ten seconds', async () => {
  const stage = new Stage();
  await stage.start();
  stage.published = 1_060_000_000;
  await stage.refuse(1_050_000_000);
  stage.versions.refused([2, 3000, 1_050_000_000]);
  await settle();
  assert.deepEqual([stage.looks, await stage.next()], [2, 1_060_000_000]);
});

test('client version: a new version that is refused is replaced by the last one that worked', async () => {
  const stage = new Stage();
  await stage.start();
  stage.versions.accepted([2, 3000, 1_050_000_000]);
  stage.published = 1_060_000_000;
  await stage.time.pass(day);
  await settle();
  assert.equal(await stage.next(), 1_060_000_000);
  await stage.refuse(1_060_000_000);
  assert.deepEqual([await stage.next(), stage.versions.view().source], [1_050_000_000, 'rolledBack']);
  stage.published = 1_060_000_001;
  await stage.time.pass(day);
  await settle();
  assert.equal(await stage.next(), 1_060_000_001, 'a newer one is tried');
});

test('client version: when every version is refused, the newest one is tried again and again', async () => {
  const stage = new Stage();
  await stage.start();
  await stage.refuse(1_050_000_000);
  assert.equal(await stage.next(), compiled[2]);
  await stage.refuse(compiled[2]);
  assert.equal(await stage.next(), 1_050_000_000);
});

/** Starts a stand-in for the pages of the platform. */
async function pages(answers: Readonly<Record<string, (headers: IncomingHttpHeaders) => readonly [number, string]>>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const [status, body] = answers[request.url ?? '']?.(request.headers) ?? [404, ''];
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dispatcher = new Agent();
  const base = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const close = async (): Promise<void> => {
    await dispatcher.close();
    server.close();
  };
  return { asked, look: () => lookUpRevision(base, dispatcher, 60_000, () => 'away').finally(close) };
}

for (const [title, text] of [
  ['plain', '{"client_revision":1043857760,"x":1}'],
  ['escaped', '\\"client_revision\\":1043857760,'],
  ['spaced', '"client_revision": 1043857760}'],
] as const) {
  test(`look-up: reads the service worker (${title}), as a browser asks for it`, async () => {
    const stand = await pages({ '/sw.js': (headers) => (headers['sec-fetch-site'] === 'none' ? [200, text] : [400, '']) });
    assert.equal(await stand.look(), 1_043_857_760);
    assert.deepEqual(stand.asked, ['/sw.js']);
  });
}

test('look-up: falls back to the page', async () => {
  const stand = await pages({
    '/sw.js': () => [200, 'nothing'],
    '/': (headers) => (headers['sec-fetch-mode'] === 'navigate' ? [200, '"client_revision":1043857761,'] : [400, '']),
  });
  assert.equal(await stand.look(), 1_043_857_761);
});

test('look-up: it reports the fault of each page', async () => {
  const stand = await pages({ '/sw.js': () => [200, '"client_revision":"x"'], '/': () => [503, ''] });
  await assert.rejects(stand.look(), { message: '/sw.js names no client revision; / answered 503' });
});
