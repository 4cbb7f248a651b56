/** The content of the fixture of the first release, and the answers of a gateway about its data. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Account } from '#test/support/account.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';
import type { PinnedRows } from '#test/support/upgrade.ts';

export const fixture = join(import.meta.dirname, 'database.json.gz');

export type Json = Readonly<Record<string, unknown>>;

export interface FirstRelease {
  /** In Unix milliseconds. */
  readonly madeAt: number;
  /** Names of the migrations of the first release. */
  readonly migrations: readonly string[];
  readonly tables: PinnedRows;
  /** Last values of the sequences, by name. */
  readonly sequences: Readonly<Record<string, string>>;
  /** The key of these simulated accounts, as text. */
  readonly encryptionKey: string;
  /** Kept files: paths below the data folder, with their bytes in base64. */
  readonly files: Readonly<Record<string, string>>;
  /** The database of the simulated platform, in base64. */
  readonly platform: string;
  readonly accounts: readonly { readonly number: string; readonly token: string }[];
  readonly globalWebhook: Json;
  /** The answers of the first release, by account and call. */
  readonly answers: Readonly<Record<string, Json>>;
  /** Ids of the deliveries that waited. */
  readonly waiting: readonly string[];
  /** Texts in the queue of asynchronous sends. */
  readonly queued: readonly string[];
}

export const readFixture = (): FirstRelease => JSON.parse(gunzipSync(readFileSync(fixture)).toString()) as FirstRelease;

const gets = [
  '/instance/status',
  '/webhook',
  '/labels',
  '/lead/tags',
  '/quickreply/showall',
  '/chat/totalcount',
  '/agent/list',
  '/trigger/list',
  '/sender/listfolders',
  '/sender/optout',
];

/** Fields of an instance that describe its connection at the time of the answer. */
const moving = new Set(['status', 'connected', 'loggedIn', 'currentTime', 'updated', 'lastDisconnect', 'lastDisconnectReason', 'qrcode']);

const settled = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, one]) => (moving.has(name) ? [] : [[name, settled(one)]])));
};

const answered = async (account: Account, method: string, path: string, body?: unknown): Promise<readonly [string, unknown]> => {
  const answer = await account.call(method, path, body);
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return [path, path === '/instance/status' ? settled(answer.body) : answer.body];
};

/** Returns the answers of the API about an account, without the state of its connection. */
export const answersOf = async (account: Account): Promise<Json> => {
  const answers = new Map<string, unknown>();
  for (const path of gets) answers.set(...(await answered(account, 'GET', path)));
  answers.set(...(await answered(account, 'POST', '/chat/find', { limit: 1000, sort: 'wa_chatid' })));
  answers.set(...(await answered(account, 'POST', '/message/find', { limit: 1000 })));
  answers.set(...(await answered(account, 'POST', '/contacts/list', { limit: 1000, contactScope: 'all' })));
  for (const { id } of answers.get('/sender/listfolders') as readonly { readonly id: string }[]) {
    const [path, list] = await answered(account, 'POST', '/sender/listmessages', { folder_id: id, limit: 1000 });
    answers.set(`${path} ${id}`, list);
  }
  return Object.fromEntries(answers);
};

/** Returns the ids of the waiting deliveries of all webhooks, sorted. */
export const waitingOf = async (gateway: GatewayProcess, accounts: readonly Account[]): Promise<readonly string[]> => {
  const lists = [
    gateway.call('GET', '/globalwebhook/deliveries?limit=500'),
    ...accounts.map((account) => account.call('GET', '/webhook/deliveries?limit=500')),
  ];
  const deliveries = (await Promise.all(lists)).flatMap(({ body }) => body['deliveries'] as readonly Readonly<Record<string, string>>[]);
  return deliveries
    .filter(({ state }) => state === 'waiting' || state === 'parked')
    .map(({ webhook, id }) => `${webhook} ${id}`)
    .toSorted();
};

/** Returns the paths at which `now` lacks a value of `before` or has another value. New fields are no difference. */
export const lostOf = (before: unknown, now: unknown, path = ''): readonly string[] => {
  if (typeof before !== 'object' || before === null || typeof now !== 'object' || now === null)
    return Object.is(before, now) ? [] : [`${path}: ${JSON.stringify(before)} became ${JSON.stringify(now)}`];
  const [old, current] = [before as Json, now as Json];
  const more =
    Array.isArray(before) && Array.isArray(now) && now.length > before.length ? [`${path}: ${now.length - before.length} more`] : [];
  return [...Object.keys(old).flatMap((name) => lostOf(old[name], current[name], `${path}.${name}`)), ...more];
};
