/** Measures the import of an archive with the messages of one session: its time, and the memory of the command and of the gateway. */
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ArchivedRows } from '#actors/ports.ts';
import { sealLines } from '#src/moving/archive.ts';
import { linesOfFound, linesOfRows } from '#src/moving/archived.ts';
import { noSettings, type FoundSession } from '#src/moving/session.ts';
import { madeCreds } from '#test/support/made-sessions.ts';
import { numberOf } from './bench.ts';
import { adminToken, type GatewayClient } from './clients.ts';
import type { Figure } from './report.ts';
import { eventually, type Workshop } from './workshop.ts';

const passphrase = 'bench passphrase of a fair length';
const chats = 500;
const pieceRows = 200;

async function* rowsOf(messages: number): AsyncIterable<ArchivedRows> {
  const chatOf = (at: number): string => `5511${String(at % chats).padStart(8, '0')}@s.whatsapp.net`;
  for (let at = 0; at < chats; at += pieceRows)
    yield {
      of: 'chats',
      rows: Array.from({ length: Math.min(pieceRows, chats - at) }, (_, one) => ({ chatId: chatOf(at + one), unreadCount: 1 })),
    };
  for (let at = 0; at < messages; at += pieceRows) {
    const row = (one: number) => ({
      id: `r${one.toString(16).padStart(7, '0')}`,
      messageId: `3EB0${one.toString(16).padStart(16, '0')}`,
      chatId: chatOf(one),
      sender: chatOf(one),
      messageType: 'ExtendedTextMessage',
      type: 'text',
      timestamp: 1_700_000_000_000 + one * 1_000,
      text: `A text of a usual length, number ${one} of its kind. `.repeat(3),
      content: { text: `A text of a usual length, number ${one} of its kind. `.repeat(3) },
      raw: Buffer.alloc(200, 7).toString('base64'),
    });
    yield { of: 'messages', rows: Array.from({ length: Math.min(pieceRows, messages - at) }, (_, one) => row(at + one)) };
  }
}

const writeArchive = async (path: string, messages: number): Promise<void> => {
  const session: FoundSession = {
    found: 'session',
    name: 'messages',
    creds: madeCreds(numberOf(5, 999_999)),
    keys: async function* () {},
    settings: noSettings,
    state: 'stopped',
    notes: [],
    rows: () => rowsOf(messages),
  };
  async function* lines(): AsyncIterable<string> {
    yield* linesOfFound(session);
    yield* linesOfRows(rowsOf(messages));
  }
  await pipeline(Readable.from(sealLines(lines(), passphrase, 2)), createWriteStream(path));
};

/** Returns the peak memory of a process in megabytes, or 0 if the process has ended. */
type Peak = (pid: number) => number;

export const importMessages = async (
  workshop: Workshop,
  gateway: GatewayClient,
  messages: number,
  peakOf: Peak,
): Promise<readonly Figure[]> => {
  const [path, secret] = [join(gateway.folder, 'messages.dormouse'), join(gateway.folder, 'passphrase')];
  await writeArchive(path, messages);
  await writeFile(secret, passphrase);
  // The kernel resets the peak to the current memory of the process.
  await writeFile(`/proc/${gateway.pid}/clear_refs`, '5');
  const before = peakOf(gateway.pid);
  const start = performance.now();
  const command = await workshop.start('src/import.ts', {
    args: ['--from', 'dormouse', '--path', path, '--secret-file', secret, '--to', gateway.address],
    env: { ADMIN_TOKEN: adminToken },
  });
  let peak = 0;
  const look = (): true | null => {
    peak = Math.max(peak, peakOf(command.pid));
    return /^Session /m.test(command.output()) ? true : null;
  };
  await eventually(look, 'the import of the messages to end', 600_000);
  const seconds = (performance.now() - start) / 1000;
  if (!command.output().includes(`imported, ${messages} messages and ${chats} chats added`)) throw new Error(command.output());
  const name = `${messages} messages imported`;
  const figure = { baseline: null, judged: 'value' } as const;
  return [
    { name, unit: 's', ours: seconds, ...figure, bound: { most: 120 } },
    { name: `${name}: memory of the command`, unit: 'MB', ours: peak, ...figure, bound: { most: 400 } },
    { name: `${name}: growth of the gateway's peak`, unit: 'MB', ours: peakOf(gateway.pid) - before, ...figure, bound: { most: 200 } },
  ];
};
