/** Tests modules of the dashboard without a browser: their requests, and the answers that they keep. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { pageModule, pass, server, shown } from './page.ts';

interface Drafts {
  send(
    instance: string,
    chat: { readonly wa_chatid: string },
    draft: { text: string; file: null; key: string },
    answered: null,
  ): Promise<unknown>;
}

test('chats: a message that a person writes names the dashboard as its origin', async () => {
  const { send } = await pageModule<Drafts>('chats/drafts.js');
  const number = '5511999990001@s.whatsapp.net';
  await send('r1', { wa_chatid: number }, { text: 'hi', file: null, key: 'k1' }, null);
  const body = { number, readchat: true, track_source: 'dormouse-dashboard', text: 'hi' };
  assert.deepEqual(server.calls, [{ method: 'POST', path: '/send/text', body }]);
});

interface Kept<T> {
  readonly answer: { readonly value: T | null };
  readonly instead: unknown;
  readonly refresh: () => Promise<void>;
}

interface Loading {
  useAnswer<T>(ask: () => Promise<T>, on: readonly unknown[]): Kept<T>;
  useRefresh(refresh: () => Promise<void>, ms: number): void;
}

interface Api {
  get<T>(path: string): Promise<T>;
}

/** Shows a part that asks for its content every 3 s. `seen` is what the part shows. */
const refreshed = async () => {
  const { useAnswer, useRefresh } = await pageModule<Loading>('instance/load.js');
  const { get } = await pageModule<Api>('core/api.js');
  const seen = { value: null as unknown, isReplaced: false };
  const remove = await shown(() => {
    const used = useAnswer(() => get('/admin/nodes'), []);
    useRefresh(used.refresh, 3_000);
    Object.assign(seen, { value: used.answer.value, isReplaced: used.instead !== null });
    return null;
  });
  return { seen, remove };
};

test('refresh: an answer that takes longer than the interval is shown, and asked for once at a time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 });
  server.answer = () => new Promise((resolve) => void setTimeout(() => resolve({ body: { n: server.calls.length } }), 4_000));
  const { seen, remove } = await refreshed();
  await pass(t.mock.timers, 5_000);
  assert.deepEqual([seen.value, server.calls.length], [{ n: 1 }, 1]);
  await pass(t.mock.timers, 6_000);
  assert.deepEqual([seen.value, server.calls.length], [{ n: 2 }, 2]);
  remove();
});

test('refresh: a request without an answer holds the refresh for 30 s', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 });
  server.answer = () => new Promise(() => undefined);
  const { seen, remove } = await refreshed();
  await pass(t.mock.timers, 29_000);
  assert.equal(server.calls.length, 1);
  server.answer = () => ({ body: {} });
  await pass(t.mock.timers, 5_000);
  assert.deepEqual(seen, { value: {}, isReplaced: false });
  remove();
});

test('refresh: a server that is not ready keeps the last answer on the page, and a refusal replaces it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 });
  const { seen, remove } = await refreshed();
  await pass(t.mock.timers, 1_000);
  server.answer = () => ({ status: 503, body: { error: 'not ready' } });
  await pass(t.mock.timers, 4_000);
  assert.ok(server.calls.length > 1);
  assert.deepEqual(seen, { value: {}, isReplaced: false });
  server.answer = () => ({ status: 404, body: { error: 'gone' } });
  await pass(t.mock.timers, 4_000);
  assert.equal(seen.isReplaced, true);
  remove();
});

interface Rows {
  get(id: string): { readonly name: string } | undefined;
}

interface Sessions {
  readonly Feed: new (rows: Rows) => { start(): void; stop(): void; load(): Promise<void> };
  readonly Rows: new () => Rows;
}

const rowOf = (id: string) => ({ id, name: id, state: 'connected', status: 'connected', reason: '', hour: 'c', number: '', linked: true });

/** Follows the list while a stream reports `change`. The server lists `pages`, and the change arrives before the last page. */
const listed = async (t: TestContext, pages: () => readonly (readonly string[])[], change: readonly unknown[]) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 });
  const { Feed } = await pageModule<Pick<Sessions, 'Feed'>>('sessions/feed.js');
  const { Rows } = await pageModule<Pick<Sessions, 'Rows'>>('sessions/rows.js');
  const rows = new Rows();
  const feed = new Feed(rows);
  let push: (text: string) => void = () => undefined;
  const stream = new ReadableStream({ start: (to) => void (push = (text) => to.enqueue(new TextEncoder().encode(text))) });
  server.answer = async ({ path }) => {
    if (path.endsWith('/stream')) return { body: stream };
    if (!path.includes('?')) return { body: rowOf(path.split('/').at(-1) ?? '') };
    const at = Number(new URLSearchParams(path.split('?')[1]).get('after') ?? 0);
    const page = pages()[at] ?? [];
    if (at === 1) {
      push(`event: moved\ndata: ${JSON.stringify({ changes: [change] })}\n\n`);
      await new Promise((resolve) => void setTimeout(resolve, 100));
    }
    return { body: { rows: page.map(rowOf), next: at === 0 ? '1' : '' } };
  };
  feed.start();
  await pass(t.mock.timers, 1_000);
  return { feed, rows };
};

test('list: a session that moves to an earlier page while the list is loaded stays in the list', async (t) => {
  let pages = [['r1'], ['r2', 'r3']];
  const { feed, rows } = await listed(t, () => pages, ['r3', 'disconnected', 1, '', 'disconnected', true, true]);
  pages = [['r1'], ['r2']];
  const done = feed.load();
  await pass(t.mock.timers, 1_000);
  await done;
  assert.equal(rows.get('r3')?.name, 'r3');
  assert.match(server.calls.at(-1)?.path ?? '', /sort=name/);
  feed.stop();
});

test('list: a session that is created while the list is loaded appears after the load', async (t) => {
  const { feed, rows } = await listed(t, () => [['r1'], ['r2']], ['r9', 'connected', 1, '', 'connected', false, true]);
  await pass(t.mock.timers, 1_000);
  assert.equal(rows.get('r9')?.name, 'r9');
  feed.stop();
});

interface EntryPage {
  readonly entries: readonly { readonly id: number }[];
  readonly next: number | null;
}

interface AuditLog {
  useEntries(query: string): { readonly entries: EntryPage['entries']; readonly showEarlier: () => Promise<void> };
}

interface Contact {
  isSilent(): void;
  hasAnswered(): void;
}

test('audit log: no entry is missing between the pages after a lost contact is back', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 });
  const { useEntries } = await pageModule<AuditLog>('views/audit.js');
  const { isSilent, hasAnswered } = await pageModule<Contact>('core/contact.js');
  let last = 6;
  server.answer = ({ path }) => {
    const before = Number(new URLSearchParams(path.split('?')[1]).get('before') ?? last + 1);
    const entries = [1, 2].map((back) => ({ id: before - back })).filter(({ id }) => id > 0);
    return { body: { entries, next: entries.at(-1)?.id ?? null } };
  };
  let log: ReturnType<AuditLog['useEntries']> | undefined;
  const remove = await shown(() => {
    log = useEntries('');
    return null;
  });
  const ids = () => log?.entries.map(({ id }) => id);
  const loseContact = async () => {
    isSilent();
    hasAnswered();
    await pass(t.mock.timers, 500);
  };
  await pass(t.mock.timers, 500);
  assert.deepEqual(ids(), [6, 5]);
  last = 8;
  await loseContact();
  assert.deepEqual(ids(), [8, 7], 'a single page shows the newest entries');
  await log?.showEarlier();
  last = 12;
  await loseContact();
  assert.deepEqual(ids(), [8, 7, 6, 5]);
  remove();
});

interface SignIn {
  readonly session: { value: object | null };
  readonly isKept: { readonly value: boolean };
  signIn(token: string): Promise<void>;
}

interface Router {
  guardLeaving(guard: { isNeeded(): boolean; ask(): Promise<boolean> }): void;
}

for (const [person, user, isSent] of [
  ['the same person', 'ana', true],
  ['another person', 'bia', false],
] as const)
  test(`sign-in: a request of a kept form is ${isSent ? 'sent again' : 'refused'} when ${person} signs in`, async () => {
    const { session, isKept, signIn } = await pageModule<SignIn>('core/session.js');
    const { guardLeaving } = await pageModule<Router>('core/router.js');
    const { get } = await pageModule<Api>('core/api.js');
    guardLeaving({ isNeeded: () => true, ask: async () => true });
    session.value = { signedIn: true, user: 'ana', role: 'operator' };
    server.answer = () => ({ status: 401, body: {} });
    const outcome = get('/admin/nodes').then(
      () => 'sent',
      () => 'refused',
    );
    await pause(20);
    assert.deepEqual([isKept.value, server.calls.length], [true, 1]);
    await assert.rejects(signIn('wrong'));
    server.answer = () => ({ body: { signedIn: true, user, role: 'operator' } });
    await signIn('right');
    assert.deepEqual([await outcome, isKept.value], [isSent ? 'sent' : 'refused', false]);
    assert.equal(server.calls.filter(({ path }) => path === '/admin/nodes').length, isSent ? 2 : 1);
  });
