/** fazer-ai/baileys-api: one Redis hash for each connection. The key of the hash contains the phone number. */
import { entriesOf, keysInFields, readDump, readJson, sessionOfFields } from '../library-form.ts';
import { type CarriedSettings, type Found, noSettings, type Reader, SourceFault, type SourceOptions } from '../session.ts';
import { recordOf, textOf, webhookOf } from '../settings.ts';
import { neededPath } from './folder.ts';

const keyOf = /connections:([^:]+):authState$/;

/** Reads the settings. The webhook of fazer-ai/baileys-api gets all events of the library. */
const settingsOf = (text: unknown): CarriedSettings => {
  const metadata = typeof text === 'string' ? recordOf(readJson(text, 'the settings of the session')) : {};
  const webhook = webhookOf({
    url: textOf(metadata['webhookUrl']),
    events: ['all'],
    excludeMessages: metadata['groupsEnabled'] === false ? ['isGroupYes'] : [],
  });
  const lost =
    textOf(metadata['webhookVerifyToken']) === ''
      ? []
      : ['webhookVerifyToken: deliveries are signed instead, with a secret of the webhook'];
  return { ...noSettings, webhooks: webhook === null ? [] : [webhook], lost: webhook === null ? [] : lost };
};

async function* read(options: SourceOptions): AsyncIterable<Found> {
  const dump = await readDump(neededPath(options));
  const keys = Object.keys(dump).filter((key) => keyOf.test(key));
  if (keys.length === 0) throw new SourceFault('The dump has no key `…:connections:<number>:authState` of baileys-api');
  for (const key of keys) {
    const hash = dump[key] ?? {};
    const name = keyOf.exec(key)?.[1] ?? '';
    if (hash['import-candidates'] !== undefined)
      yield { found: 'refused', name, reason: 'its own import has not ended: its Noise key is a guess until it has connected there once' };
    else yield sessionOfFields(hash['creds'], () => keysInFields(entriesOf(hash)), { name, settings: settingsOf(hash['metadata']) });
  }
}

export const fazerReader: Reader = {
  title: 'fazer-ai/baileys-api: a dump of Redis',
  examples: ['npm run import -- --from fazer-ai --path ./redis.json'],
  upload: { kind: 'file', takes: 'a dump of Redis' },
  read,
};
