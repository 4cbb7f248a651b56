/** Tests the event stream in a real browser with `EventSource`, over broken connections, a killed gateway, and an ended token. */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { findBrowser, isBrowserRequired, openBrowser, type Browser } from '#test/support/browser.ts';
import { Relay } from '#test/support/relay.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const path = findBrowser();
const reason = path === null && !isBrowserRequired ? ' (left out: this machine has no Chromium; CHROMIUM_PATH names one)' : '';
const inBrowser = (name: string, run: () => Promise<void>): void => {
  test(`EventSource: ${name}${reason}`, { skip: reason !== '' }, run);
};

/** The types of events on a stream. The page also listens to types that no stream gets. */
const types = 'connection,history,messages,messages_update,call,contacts,presence,groups,labels,chats,chat_labels';
const listened = [...types.split(','), 'newsletter_messages', 'sender', 'message'];

/** An event that the page reported. `what` is the type of an event, or `open`, `lost` (the page reconnects), or `closed` (it does not). */
interface Said {
  /** The number of the post, from 1. */
  readonly n: number;
  /** Name of the stream. */
  readonly name: string;
  readonly what: string;
  readonly id?: string;
  readonly data?: { readonly type: string; readonly data: Readonly<Record<string, unknown>> };
}

/** The script of the page. It reports events one after the other. A cut of the relay breaks a report too, which is then posted again with its number. */
const script = `
  const { streams, listened } = JSON.parse(document.querySelector('script').dataset.wanted);
  let told = Promise.resolve();
  let last = 0;
  const post = (body) =>
    fetch('/said', { method: 'POST', body }).catch(() => new Promise((resolve) => setTimeout(resolve, 50)).then(() => post(body)));
  const say = (what) => {
    const body = JSON.stringify({ n: (last += 1), ...what });
    told = told.then(() => post(body));
  };
  for (const [name, url] of Object.entries(streams)) {
    const source = new EventSource(url);
    source.onopen = () => say({ name, what: 'open' });
    source.onerror = () => say({ name, what: source.readyState === EventSource.CLOSED ? 'closed' : 'lost' });
    for (const what of listened)
      source.addEventListener(what, (event) => say({ name, what, id: event.lastEventId, data: JSON.parse(event.data) }));
  }`;
const pageOf = (streams: Readonly<Record<string, string>>): string =>
  `<!doctype html><meta charset="utf-8"><script data-wanted='${JSON.stringify({ streams, listened })}'>${script}</script>`;

const said: Said[] = [];
let page = '';
let scene: Scene;
let account: Account;
/** The relay that also serves the page, so that its streams have the origin of the page. */
let near: Relay;
let far: Relay;
let browser: Browser;

const hear = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const one = JSON.parse(await text(request)) as Said;
  if (one.n > said.length) said.push(one);
  response.end();
};
const servePage = (request: IncomingMessage, response: ServerResponse): boolean => {
  if (request.url?.startsWith('/sse')) return false;
  if (request.url === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  // The page posts a report again if the connection breaks.
  else if (request.url === '/said') hear(request, response).catch(() => undefined);
  else response.writeHead(404).end();
  return true;
};

before(async () => {
  if (reason !== '') return;
  assert.ok(path !== null, 'REQUIRE_BROWSER asks for a browser, and there is none');
  scene = await Scene.open({ LOG_LEVEL: 'trace', SEND_TIMEOUT_MS: '60000' });
  account = await scene.create();
  const target = () => scene.gateway.address;
  [near, far] = [await Relay.open(target, servePage), await Relay.open(target)];
  const query = `/sse?token=${account.token}&events=`;
  page = pageOf({
    near: `${near.address}${query}${types}`,
    far: `${far.address}${query}messages&events=connection`,
    wrong: `${near.address}${query}messages,nonsense`,
    stranger: `${near.address}/sse?token=nobody&events=messages`,
  });
  browser = openBrowser(path, `${near.address}/page`);
});

after(async () => {
  await browser?.close();
  await near?.close();
  await far?.close();
  await scene?.close();
});

/** The longest wait for the browser, long enough for a busy machine. In milliseconds. */
const patience = 90_000;

const heardOn = (name: string): readonly Said[] => said.filter((one) => one.name === name);
const say = (one: Said): string => `${one.name} ${one.what}`;
const hears = (what: string, fits: () => boolean): Promise<boolean> =>
  until(fits, () => `${what}; it heard ${said.map(say).join(', ')}; it printed:\n${browser.printed().slice(-1000)}`, patience);
const timesOf = (name: string, messageId: string): number =>
  heardOn(name).filter(({ what, data }) => what === 'messages' && data?.data['messageid'] === messageId).length;
const write = (body: string): Promise<string> => scene.write(account, body);

/** Checks that each message came once on both streams, and that no event came twice. */
const once = async (ids: readonly string[]): Promise<void> => {
  await hears('the messages come', () => ids.every((id) => timesOf('near', id) > 0 && timesOf('far', id) > 0));
  for (const name of ['near', 'far']) {
    for (const id of ids) assert.equal(timesOf(name, id), 1);
    const events = heardOn(name).flatMap(({ id }) => id ?? []);
    assert.equal(new Set(events).size, events.length, 'no event came twice');
  }
};

const opened = (name: string): number => heardOn(name).filter(({ what }) => what === 'open').length;

/** Returns the request that reopened the stream. Checks that the request names the last event that the page had received by then. */
const cameBack = (name: 'near' | 'far', relay: Relay) => {
  const heard = heardOn(name);
  const lost = heard.findLastIndex((one, at) => one.what === 'lost' && heard[at - 1]?.what !== 'lost');
  const last = heard.slice(0, lost).findLast(({ id }) => id !== undefined)?.id;
  assert.ok(last, 'events came before the stream was lost');
  const back = relay.passed.findLast((passed) => passed.status === 200);
  assert.equal(back?.headers['last-event-id'], last);
  return back;
};

const printsNoToken = (): void => {
  assert.match(scene.gateway.printed, /stream\.opened/);
  assert.ok(!scene.gateway.printed.includes(account.token), 'the log holds the token');
};

inBrowser('events of all eleven types arrive in the listeners of their types, and no others', async () => {
  const { sandbox } = scene.platform;
  await hears('both streams are open', () => opened('near') === 1 && opened('far') === 1);
  await account.scan(scene.platform, { history: { chats: 1, messages: 2 } });
  await account.reaches('connected');
  await account.call('POST', '/instance/presence', { presence: 'available' });
  await write('Oi');
  const { id } = (await account.send(contact, 'Hello')).body;
  await sandbox.presence(contact, { state: 'composing', to: account.number });
  await sandbox.call(contact, account.number, { step: 'offer' });
  await sandbox.createGroup({ subject: 'Team', creator: contact, participants: [account.number] });
  await sandbox.change(account.number, { kind: 'label', labelId: '8', name: 'New', color: 3 });
  await sandbox.change(account.number, { kind: 'chatLabel', labelId: '8', chat: contact, on: true });
  await sandbox.change(account.number, { kind: 'archive', chat: contact, on: true });
  await sandbox.change(account.number, { kind: 'contact', number: contact, name: 'Ana' });
  assert.ok(id);

  await hears('every type comes', () => types.split(',').every((type) => heardOn('near').some(({ what }) => what === type)));
  await hears('two messages come from afar', () => heardOn('far').filter(({ what }) => what === 'messages').length === 2);
  for (const name of ['near', 'far'])
    for (const { what, id: event, data } of heardOn(name).slice(1)) {
      assert.deepEqual([data?.type, typeof event, typeof data?.data], [what, 'string', 'object'], name);
      assert.ok(event !== '');
    }
  assert.deepEqual(new Set(heardOn('near').map(({ what }) => what)), new Set(['open', ...types.split(',')]));
  assert.deepEqual(new Set(heardOn('far').map(({ what }) => what)), new Set(['open', 'messages', 'connection']));
});

inBrowser('a stream with a wrong list of events or a wrong token is closed for good', async () => {
  await hears('both are refused', () => [...heardOn('wrong'), ...heardOn('stranger')].length === 2);
  assert.deepEqual([...heardOn('wrong'), ...heardOn('stranger')].map(say), ['wrong closed', 'stranger closed']);
  const refused = near.passed.filter(({ status }) => status !== 200).map(({ status }) => status);
  assert.deepEqual(refused.toSorted(), [400, 401]);
});

inBrowser('a browser reconnects after a broken connection, and no event is lost or repeated', async () => {
  for (const relay of [near, far]) relay.cut();
  await hears('both streams are lost', () => ['near', 'far'].every((name) => heardOn(name).at(-1)?.what === 'lost'));
  const missed = [await write('one'), await write('two'), await write('three')];
  await scene.told(missed);
  for (const relay of [near, far]) relay.mend();
  await once([...missed, await write('four')]);
  assert.ok(!cameBack('near', near).text.includes('gap') && !cameBack('far', far).text.includes('gap'));
});

inBrowser('a browser reconnects after a kill of the gateway, is told of the gap, and gets no event twice', async () => {
  const before = { near: opened('near'), far: opened('far') };
  printsNoToken();
  await scene.gateway.end('SIGKILL');
  await hears('the stream is lost', () => heardOn('near').at(-1)?.what === 'lost');
  await scene.gateway.start();
  await account.reaches('connected');
  await hears('the streams are open again', () => opened('near') > before.near && opened('far') > before.far);
  await once([await write('after the kill')]);
  for (const back of [cameBack('near', near), cameBack('far', far)])
    assert.match(back.text, /^: gap: the events after the given Last-Event-ID are not kept any more$/m);
});

inBrowser('a replaced token ends the stream, and the old token is refused for good', async () => {
  const { status, body } = await account.call('POST', '/instance/token/rotate');
  assert.equal(status, 200, JSON.stringify(body));
  await hears('both streams are closed', () => ['near', 'far'].every((name) => heardOn(name).at(-1)?.what === 'closed'));
  for (const relay of [near, far]) {
    const last = relay.passed.at(-1);
    assert.deepEqual([last?.status, last?.text], [401, '{"error":"Unauthorized"}']);
  }
  printsNoToken();
  assert.ok(!scene.gateway.printed.includes(String(body['token'])));
});
