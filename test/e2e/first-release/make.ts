/**
 * Makes the fixture of the first release: `node test/e2e/first-release/make.ts <folder>`. The folder is a checkout of commit 3a66d80 after `npm ci`.
 *
 * The gateway of that commit is paired with the simulated platform of this tree and used through its API, while its receivers are away. Then its tables
 * are read as JSON. Run it again only when the simulated platform cannot read its own old database any more.
 *
 * A phone leaves 812 one-time keys, which would be nine tenths of the file. All but a few are left out on both sides.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { EmbeddedServer } from '#src/storage/open.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { Account } from '#test/support/account.ts';
import { quietLog } from '#test/support/database.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { openPlatform, type TestPlatform } from '#test/support/platform.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { until } from '#test/support/until.ts';
import { columnsOf, migratorTable, rowsOf, type PinnedRows } from '#test/support/upgrade.ts';
import { answersOf, fixture, waitingOf, type FirstRelease } from './contents.ts';

const [program = ''] = process.argv.slice(2);
const [shop, business, one, two] = ['5511900000001', '5511900000002', '5511988880001', '5511988880002'] as const;
/** An address without a listener. */
const away = 'http://127.0.0.1:9/hook';
const keysKept = 20;
const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

type Call = readonly [path: string, body: object, method?: string];

const callAll = async (account: Account, calls: readonly Call[]): Promise<void> => {
  for (const [path, body, method = 'POST'] of calls) {
    const { status, body: answer } = await account.call(method, path, body);
    assert.ok(status === 200 || status === 201, `${path} answered ${status}: ${JSON.stringify(answer)}`);
  }
};

const webhook = (events: readonly string[]): Call => ['/webhook', { url: away, enabled: true, events, headers: { 'x-own': 'value' } }];

/** Fills a shop with media, groups, leads, a chatbot, a stopped campaign, and a queue. */
const useShop = async (account: Account, { sandbox }: TestPlatform): Promise<void> => {
  const from = async (number: string, content: Parameters<typeof sandbox.send>[2], to: string = shop): Promise<string> =>
    (await sandbox.send(number, to, content)).id;
  await callAll(account, [webhook(['messages', 'messages_update', 'groups'])]);
  for (let i = 0; i < 5; i += 1) {
    await callAll(account, [['/send/text', { number: one, text: `out ${i}`, track_source: 'crm', track_id: `t${i}` }]]);
    await from(one, { kind: 'text', text: `in ${i}` });
  }
  const picture = await from(one, {
    kind: 'image',
    data: png.split(',')[1] ?? '',
    mimetype: 'image/png',
    caption: 'a picture',
  });
  await from(two, { kind: 'poll', name: 'which', options: ['a', 'b'] });
  const { body: sent } = await account.call('POST', '/send/text', { number: one, text: 'before', replyid: picture });
  const { body: group } = await account.call('POST', '/group/create', { name: 'a group', participants: [one, two] });
  const { JID: jid } = group['group'] as { readonly JID: string };
  await from(one, { kind: 'text', text: 'to the group' }, jid);
  await until(
    async () => (await account.call('POST', '/message/find', { id: picture })).body['returnedMessages'] === 1,
    'the picture is stored',
  );
  await callAll(account, [
    ['/message/download', { id: picture }],
    ['/message/edit', { id: sent['messageid'], text: 'after' }],
    ['/message/react', { id: picture, text: '👍' }],
    ['/send/media', { number: one, type: 'document', file: 'data:text/plain;base64,aGVsbG8=', docName: 'a.txt' }],
    ['/send/text', { number: jid, text: 'from the group' }],
    ['/chat/pin', { number: one, pin: true }],
    ['/contact/add', { number: one, name: 'Ana Lima' }],
    ['/instance/updateFieldsMap', { lead_field01: 'Tax' }],
    ['/lead/tags/edit', { name: 'hot', kanban: true, kanbanOrder: 3 }],
    ['/chat/editLead', { id: `${one}@s.whatsapp.net`, lead_name: 'Lead', lead_tags: ['hot'], lead_isTicketOpen: true, lead_field01: '1' }],
    ['/quickreply/edit', { shortCut: 'hello', type: 'text', text: 'Hello you' }],
    ['/agent/edit', { id: '', agent: { name: 'Agent', provider: 'openai', model: 'm', apikey: 'none', basePrompt: 'be kind' } }],
    ['/sender/optout', { numbers: ['5511977770077'], optedOut: true }],
    ['/instance/updateDelaySettings', { msg_delay_min: 3600, msg_delay_max: 3600 }],
  ]);
  const campaign = {
    numbers: [one, two],
    type: 'text',
    text: 'Later',
    folder: 'Later',
    delayMin: 1,
    delayMax: 1,
    scheduled_for: Date.now() + 86_400_000,
  };
  const { body: made } = await account.call('POST', '/sender/simple', campaign);
  await callAll(account, [['/sender/edit', { folder_id: made['folder_id'], action: 'stop' }]]);
  for (const text of queued) await callAll(account, [['/send/text', { number: two, text, async: true }]]);
  await until(() => sandbox.received(two).some(({ text }) => text === queued[0]), 'the first of the queue left');
};

const queued = ['queued 0', 'queued 1'] as const;

/** Fills a business with labels and the history of its phone. */
const useBusiness = async (account: Account, { sandbox }: TestPlatform): Promise<void> => {
  await callAll(account, [webhook(['messages', 'labels', 'chat_labels']), ['/label/edit', { labelid: 'new', name: 'VIP', color: 2 }]]);
  await sandbox.send(one, business, { kind: 'text', text: 'to the business' });
  await until(async () => (await account.messages(one)).length > 0, 'the text is stored');
  await callAll(account, [
    ['/chat/labels', { number: one, labelids: ['1'] }],
    ['/quickreply/edit', { shortCut: 'biz', type: 'text', text: 'Biz', onWhatsApp: true }],
  ]);
};

/** Returns the answers when two reads in a row are equal, so that receipts and pictures have arrived. */
const settledAnswers = async (accounts: readonly Account[]): Promise<FirstRelease['answers']> => {
  const look = async () => Object.fromEntries(await Promise.all(accounts.map(async (one) => [one.number, await answersOf(one)] as const)));
  let last = '';
  return until(async () => {
    await new Promise((resolve) => void setTimeout(resolve, 2000));
    const answers = await look();
    const same = JSON.stringify(answers) === last;
    last = JSON.stringify(answers);
    return same && answers;
  }, 'the answers stay the same');
};

const readTables = async (dataDir: string): Promise<Pick<FirstRelease, 'migrations' | 'tables' | 'sequences'>> => {
  const server = await EmbeddedServer.start({ dataDir, log: quietLog });
  const database = await openDatabase({ url: server.url, log: quietLog, poolSize: 1 });
  const read = <R extends object>(text: string) => database.rows<R>({ name: '', text }, []);
  const columns = await read<{ table: string; name: string }>(
    `select table_name as table, column_name as name from information_schema.columns where table_schema = 'public' and is_generated = 'NEVER' order by 1, ordinal_position`,
  );
  const tables: { table: string; rows: PinnedRows[number]['rows'] }[] = [];
  for (const table of new Set(columns.map((column) => column.table))) {
    const names = columns.filter((column) => column.table === table).map(({ name }) => [name, 0] as const);
    const rows = await rowsOf(database, table, columnsOf(Object.fromEntries(names)));
    if (table !== migratorTable && rows.length > 0) tables.push({ table, rows: table === 'signal_key' ? fewPreKeys(rows) : rows });
  }
  const sequences = await read<{ name: string; last: string }>(
    `select sequencename as name, last_value::text as last from pg_sequences where last_value is not null and sequencename not like 'mikro%'`,
  );
  const migrations = await read<{ name: string }>(`select name from ${migratorTable} order by id`);
  await database.close();
  await server.close(true);
  return {
    migrations: migrations.map(({ name }) => name),
    tables,
    sequences: Object.fromEntries(sequences.map(({ name, last }) => [name, last])),
  };
};

const fewPreKeys = (rows: PinnedRows[number]['rows']): PinnedRows[number]['rows'] => {
  const last = new Map<unknown, number>();
  for (const row of rows)
    if (row['type'] === 'pre-key') last.set(row['instance_id'], Math.max(last.get(row['instance_id']) ?? 0, Number(row['id'])));
  return rows.filter((row) => row['type'] !== 'pre-key' || Number(row['id']) > (last.get(row['instance_id']) ?? 0) - keysKept);
};

const readPlatform = (folder: string): string => {
  const path = join(folder, 'sandbox.sqlite');
  const database = new DatabaseSync(path);
  database.exec(`delete from prekey where id <= (select max(id) - ${keysKept} from prekey as last where last.owner = prekey.owner)`);
  database.exec('pragma journal_mode = delete; vacuum');
  database.close();
  return readFileSync(path).toString('base64');
};

const platformFolder = temporaryFolder();
const platform = await openPlatform(undefined, platformFolder);
await platform.sandbox.putPerson({ number: business, business: true });
for (const number of [one, two]) await platform.sandbox.putPerson({ number, name: `Contact ${number}`, autoDeliver: true });
const gateway = new GatewayProcess({
  platformUrl: platform.url,
  program,
  fresh: true,
  env: { WEBHOOK_SLOW_RETRIES_MS: '1000,600000', LOOKUP_EVERY_MS: '1' },
});
try {
  await gateway.start();
  const globalWebhook = { url: away, events: ['messages'], secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}` };
  assert.equal((await gateway.call('POST', '/globalwebhook', { body: globalWebhook })).status, 200);
  const accounts = [await Account.create(gateway, shop), await Account.create(gateway, business)];
  await accounts[0]!.pair(platform);
  await accounts[1]!.scan(platform, { history: { chats: 2, messages: 3 } });
  await accounts[1]!.reaches('connected');
  await useShop(accounts[0]!, platform);
  await useBusiness(accounts[1]!, platform);
  const answers = await settledAnswers(accounts);
  const waiting = await waitingOf(gateway, accounts);
  assert.equal(await gateway.end('SIGTERM'), 0, gateway.printed);
  await platform.close();
  const folder = gateway.dataDir;
  const files = globSync('files/*/*', { cwd: folder }).map((path) => [path, readFileSync(join(folder, path)).toString('base64')] as const);
  const content: FirstRelease = {
    madeAt: Date.now(),
    ...(await readTables(folder)),
    encryptionKey: readFileSync(join(folder, 'encryption.key'), 'utf8'),
    files: Object.fromEntries(files),
    platform: readPlatform(platformFolder),
    accounts: accounts.map(({ number, token }) => ({ number, token })),
    globalWebhook,
    answers,
    waiting,
    queued: queued.slice(1),
  };
  writeFileSync(fixture, gzipSync(JSON.stringify(content), { level: 9 }));
} finally {
  await gateway.close();
  await removeFolder(platformFolder);
}
