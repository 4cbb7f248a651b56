/** wuzapi: devices in `main.db` and its users in `users.db`, or both in one PostgreSQL database (asternic/wuzapi, `migrations.go` and `helpers.go`). */
import { createDecipheriv } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { SourceDatabase } from '../postgres.ts';
import { type CarriedSettings, type Found, type Reader, SourceFault, type SourceOptions, type SourceState } from '../session.ts';
import { bareUser, deviceJid, type Row, textIn } from './rows.ts';
import { foundDevice, numberOf } from './found.ts';
import { exists, mainSource, WhatsmeowStore, withDatabases } from './store.ts';
import { carriedWebhook, type EventTable, named } from '../settings.ts';

/** Events by their names in `constants.go` of asternic/wuzapi (2026). */
export const wuzapiEvents: EventTable = {
  All: 'all',
  ...named('Message UndecryptableMessage', 'messages'),
  ...named('Receipt ReadReceipt MediaRetry', 'messages_update'),
  ...named('GroupInfo JoinedGroup', 'groups'),
  ...named('Presence ChatPresence', 'presence'),
  ...named('CallOffer CallAccept CallTerminate CallOfferNotice', 'call'),
  ...named('Connected Disconnected ConnectFailure LoggedOut TemporaryBan StreamReplaced', 'connection'),
  ...named('PairSuccess PairError QR QRTimeout PushNameSetting', 'connection'),
  ...named('Picture IdentityChange', 'chats'),
  HistorySync: 'history',
  LabelEdit: 'labels',
  LabelAssociationChat: 'chat_labels',
  NewsletterLiveUpdate: 'newsletter_messages',
};

const userColumns = ['id', 'name', 'token', 'webhook', 'jid', 'connected', 'expiration', 'events', 'proxy_url', 'hmac_key'] as const;

const usersIn = async (database: SourceDatabase): Promise<readonly Row[]> => {
  const existing = await database.columns('users');
  const columns = userColumns.filter((column) => existing.has(column));
  if (!columns.includes('jid')) throw new SourceFault('The database holds no table users of wuzapi');
  return database.rows<Row>(`select ${columns.join()} from users order by ${columns[0]}`);
};

const [nonceLength, tagLength] = [12, 16] as const;

/** Decrypts AES-GCM with the nonce before the ciphertext and the tag after it. Returns null if the key is missing or wrong. */
const unsealed = (sealed: Buffer, key: string | null): string | null => {
  if (key === null || ![16, 24, 32].includes(Buffer.byteLength(key)) || sealed.length < nonceLength + tagLength) return null;
  try {
    const decipher = createDecipheriv(`aes-${Buffer.byteLength(key) * 8}-gcm` as 'aes-256-gcm', key, sealed.subarray(0, nonceLength));
    decipher.setAuthTag(sealed.subarray(-tagLength));
    return Buffer.concat([decipher.update(sealed.subarray(nonceLength, -tagLength)), decipher.final()]).toString();
  } catch {
    return null;
  }
};

const sealedKeyLost =
  'signature of the webhook: its key is sealed; give WUZAPI_GLOBAL_ENCRYPTION_KEY in the file of --passphrase-file, or make one with POST /webhook';

const settingsOf = (user: Row, secret: string | null): CarriedSettings => {
  const sealed = user['hmac_key'];
  const key = Buffer.isBuffer(sealed) && sealed.length > 0 ? unsealed(sealed, secret) : '';
  const source = { url: textIn(user, 'webhook'), events: textIn(user, 'events').split(','), key: key ?? '' };
  const { webhooks, lost } = carriedWebhook(source, wuzapiEvents);
  const expires = Number(user['expiration'] ?? 0) > 0 ? ['expiration of the user: instances do not expire here'] : [];
  return {
    token: textIn(user, 'token'),
    proxy: textIn(user, 'proxy_url'),
    webhooks,
    lost: [...lost, ...(key === null ? [sealedKeyLost] : []), ...expires],
  };
};

/** Reads `connected`, which is 1 while wuzapi uses the device, and stays 1 when wuzapi is killed. */
const stateOf = (user: Row): SourceState => (Number(user['connected'] ?? 0) === 1 ? 'connected' : 'stopped');

/** Finds the device of a user. Rows of old users contain a jid of another form, or a number without its device. */
const deviceOf = (user: Row, devices: ReadonlyMap<string, Row>): Row | undefined => {
  const jid = deviceJid(textIn(user, 'jid'));
  const exact = devices.get(jid);
  if (exact !== undefined || jid === '' || jid.includes(':')) return exact;
  const same = [...devices.values()].filter((device) => numberOf(device) === bareUser(jid));
  return same.length === 1 ? same[0] : undefined;
};

async function* sessionsIn(store: WhatsmeowStore, users: readonly Row[], secret: string | null): AsyncIterable<Found> {
  const devices = new Map((await store.devices()).map((device) => [deviceJid(textIn(device, 'jid')), device]));
  const used = new Set<Row>();
  for (const user of users) {
    const name = textIn(user, 'name') || bareUser(textIn(user, 'jid')) || textIn(user, 'id');
    const device = deviceOf(user, devices);
    if (device === undefined) {
      const reason = textIn(user, 'jid') === '' ? 'the user has no linked phone' : 'the device of the user is gone: the phone ended it';
      yield { found: 'refused', name, reason };
    } else if (used.has(device)) yield { found: 'refused', name, reason: 'another user of wuzapi has the same device' };
    else {
      used.add(device);
      yield await foundDevice(store, device, { name, settings: settingsOf(user, secret), state: stateOf(user) });
    }
  }
  for (const device of devices.values())
    if (!used.has(device)) yield { found: 'refused', name: numberOf(device), reason: 'no user of wuzapi has this device' };
}

const mainFiles = ['dbdata/main.db', 'main.db'];

const read = (options: SourceOptions): AsyncIterable<Found> =>
  withDatabases(options.signal, async function* (open) {
    const source = await mainSource(options, mainFiles);
    const main = await open(source);
    const usersFile = join(dirname(source), 'users.db');
    if (options.url === null && !(await exists(usersFile)))
      throw new SourceFault(`users.db, which holds the names and tokens, is missing beside ${basename(source)}`);
    const users = options.url === null ? await open(usersFile) : main;
    yield* sessionsIn(new WhatsmeowStore(main), await usersIn(users), options.secret);
  });

export const wuzapiReader: Reader = {
  title: 'wuzapi: its dbdata folder, or its PostgreSQL database',
  examples: [
    'npm run import -- --from wuzapi --path ./dbdata',
    'npm run import -- --from wuzapi --url postgres://user:password@localhost/wuzapi',
  ],
  upload: { kind: 'folder', takes: 'a tar archive of the folder dbdata with main.db and users.db' },
  read,
};
