/** Runs only the journal of a checkout in a separate process, without platform and HTTP, with one commit after the other. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Entry } from '#actors/model.ts';
import type * as storageModule from '#src/storage/open.ts';
import type * as samplesModule from '#test/contract/samples.ts';
import { quiet } from './fill.ts';
import { answer } from './probe.ts';

let storage: storageModule.Storage;
let samples: typeof samplesModule;
let count = 0;

const arrived = (): Entry => {
  const n = (count += 1);
  const chatId = `55119800000${n % 20}@s.whatsapp.net`;
  const message = { ...samples.message, messageId: `BENCH${n}`, id: `r${n.toString(16).padStart(7, '0')}`, chatId, timestamp: n };
  const chat = { chatId, lastMessageText: message.text, lastMessageTimestamp: n, lastMessageType: message.messageType };
  return { kind: 'message', message, chat, unread: true };
};

answer('open', async (checkout: string) => {
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(checkout, path)).href);
  const { openStorage } = (await load('src/storage/open.ts')) as typeof storageModule;
  samples = (await load('test/contract/samples.ts')) as typeof samplesModule;
  storage = await openStorage({ databaseUrl: null, dataDir: 'data', encryptionKey: randomBytes(32), log: quiet });
  await storage.instances.insert(samples.instance.record);
  await storage.webhooks.save({ ...samples.webhook, instanceId: samples.instance.record.id }, 1);
});
answer('commit', async ({ commits, each }: { commits: number; each: number }) => {
  const { id, owner, epoch } = samples.instance.record;
  for (let n = 0; n < commits; n += 1)
    await storage.journal.commit({ id, owner, epoch }, Array.from({ length: each }, arrived), () => [samples.webhook.id]);
});

process.once('SIGTERM', () => {
  void storage?.close().finally(() => process.exit(0));
});
