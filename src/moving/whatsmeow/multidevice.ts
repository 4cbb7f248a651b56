/** go-whatsapp-web-multidevice: devices in `whatsapp.db`, names and webhooks in `chatstorage.db`, Signal keys in a separate database if `DB_KEYS_URI` names one. */
import { dirname, join, resolve } from 'node:path';
import type { SourceDatabase } from '../postgres.ts';
import { type CarriedSettings, type Found, noSettings, type Reader, type SourceOptions } from '../session.ts';
import { bareUser, deviceJid, type Row, textIn } from './rows.ts';
import { foundDevice, numberOf } from './found.ts';
import { exists, fileIn, mainSource, WhatsmeowStore, withDatabases } from './store.ts';
import { carriedWebhook, type EventTable, named } from '../settings.ts';

/** Events by the names in `docs/webhook-payload.md` of aldinokemal/go-whatsapp-web-multidevice (2026-08). */
export const multideviceEvents: EventTable = {
  ...named('message message.reaction message.edited', 'messages'),
  ...named('message.ack message.revoked message.deleted', 'messages_update'),
  ...named('group.participants group.joined', 'groups'),
  chat_presence: 'presence',
  'label.edit': 'labels',
  'label.association': 'chat_labels',
  'newsletter.message': 'newsletter_messages',
  'call.offer': 'call',
};

const slotColumns = ['device_id', 'display_name', 'jid', 'ad_jid', 'webhook_url', 'webhook_secret', 'webhook_events'] as const;

/** Reads the slots, which are the rows of the table `devices`. Returns none for versions without this table. */
const slotsIn = async (database: SourceDatabase): Promise<readonly Row[]> => {
  const existing = await database.columns('devices');
  const columns = slotColumns.filter((column) => existing.has(column));
  return columns.includes('jid') ? database.rows<Row>(`select ${columns.join()} from devices order by device_id`) : [];
};

/** Finds the slot of a device. Slots of older versions contain only the number, which two devices may share. */
const slotOf = (device: Row, slots: readonly Row[]): Row | null => {
  const jid = deviceJid(textIn(device, 'jid'));
  const exact = slots.find((slot) => [textIn(slot, 'ad_jid'), textIn(slot, 'jid')].map(deviceJid).includes(jid));
  const same = slots.filter((slot) => textIn(slot, 'ad_jid') === '' && bareUser(textIn(slot, 'jid')) === numberOf(device));
  return exact ?? (same.length === 1 ? (same[0] ?? null) : null);
};

const globalNotes = [
  'webhooks of the environment (WHATSAPP_WEBHOOK): set them with POST /globalwebhook',
  'proxy of the environment (WHATSAPP_PROXY): set it with POST /instance/proxy',
];

const settingsOf = (slot: Row): CarriedSettings => {
  const list = textIn(slot, 'webhook_events');
  const source = {
    url: textIn(slot, 'webhook_url'),
    events: list === '' ? ['all'] : list.toLowerCase().split(','),
    key: textIn(slot, 'webhook_secret'),
  };
  const { webhooks, lost } = carriedWebhook(source, { ...multideviceEvents, all: 'all' });
  return { ...noSettings, webhooks, lost: [...lost, ...globalNotes] };
};

async function* sessionsIn(store: WhatsmeowStore, slots: readonly Row[]): AsyncIterable<Found> {
  for (const device of await store.devices()) {
    const slot = slotOf(device, slots);
    const settings = slot === null ? { ...noSettings, lost: globalNotes } : settingsOf(slot);
    const name = slot === null ? '' : textIn(slot, 'display_name') || textIn(slot, 'device_id');
    yield await foundDevice(store, device, { name: name || numberOf(device), settings });
  }
}

const mainFiles = ['storages/whatsapp.db', 'whatsapp.db'];

const read = (options: SourceOptions): AsyncIterable<Found> =>
  withDatabases(options.signal, async function* (open) {
    const source = await mainSource(options, mainFiles);
    const main = await open(source);
    const keys = options.keys === null ? undefined : await open(options.keys);
    // If the operator configured a database, the slots are still in a file. `path` names its folder.
    const folder = options.url === null ? dirname(source) : options.path === null ? null : resolve(options.path);
    const file = folder === null ? null : join(folder, 'chatstorage.db');
    const slots = file !== null && (await exists(file)) ? await slotsIn(await open(await fileIn(file, []))) : [];
    yield* sessionsIn(new WhatsmeowStore(main, keys), slots);
  });

export const multideviceReader: Reader = {
  title: 'go-whatsapp-web-multidevice: its storages folder',
  examples: [
    'npm run import -- --from multidevice --path ./storages',
    'npm run import -- --from multidevice --path ./storages --keys ./storages/keys.db',
    'npm run import -- --from multidevice --url postgres://user:password@localhost/gowa --path ./storages',
  ],
  upload: { kind: 'either', takes: 'a file whatsapp.db, or a tar archive of the folder storages' },
  read,
};
