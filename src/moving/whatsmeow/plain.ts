/** Any store of whatsmeow, of a program whose own tables nobody here knows. */
import type { Found, Reader, SourceOptions } from '../session.ts';
import { foundDevice, numberOf } from './found.ts';
import { mainPlace, withDatabases } from './open.ts';
import { WhatsmeowStore } from './store.ts';

const read = (options: SourceOptions): AsyncIterable<Found> =>
  withDatabases(options.signal, async function* (open) {
    const main = await open(await mainPlace(options, ['whatsapp.db', 'main.db', 'gows.db', 'store.db']));
    const keys = options.keys === null ? undefined : await open(options.keys);
    const store = new WhatsmeowStore(main, keys);
    for (const device of await store.devices()) yield await foundDevice(store, device, { name: numberOf(device) });
  });

export const whatsmeowReader: Reader = {
  title: 'a database of whatsmeow (SQLite file or PostgreSQL)',
  examples: [
    'npm run import -- --from whatsmeow --path ./store.db',
    'npm run import -- --from whatsmeow --url postgres://user:password@localhost/bot',
  ],
  upload: { kind: 'file', takes: 'an SQLite database of whatsmeow' },
  read,
};
