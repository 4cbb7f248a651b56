/**
 * Stands between the simulated platform and its clients, in a process of its own: it can hold back what the platform says and let it go at
 * once, so that the pace of the platform is not what is measured. It also writes what contacts send, at a steady pace or as fast as it goes.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Pool } from 'undici';
import { answer } from './probe.ts';
import { now, sentAt } from './tally.ts';

const clients = new Set<Socket>();
let held = false;

/** What clients say goes through at all times. */
const join = (client: Socket, platformPort: number): void => {
  const platform = connect(platformPort, '127.0.0.1');
  for (const [one, other] of [
    [client, platform],
    [platform, client],
  ] as const) {
    one.setNoDelay(true);
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
    // Without back-pressure: what is held waits here, not with the platform.
    one.on('data', (chunk) => other.write(chunk));
  }
  clients.add(client);
  client.on('close', () => clients.delete(client));
  if (held) client.cork();
};

/** Resolves with the port for clients. */
answer('open', async (platformPort: number) => {
  const server = createServer((client) => join(client, platformPort));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
});
answer('hold', () => {
  held = true;
  for (const client of clients) client.cork();
});
/** The moment after which what was held goes out. */
answer('release', () => {
  held = false;
  const moment = now();
  for (const client of clients) client.uncork();
  return moment;
});

interface Texts {
  readonly control: string;
  readonly from: readonly string[];
  readonly to: string;
  readonly count: number;
  /** Absent: every contact sends as fast as the platform takes it. */
  readonly perSecond?: number;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Contacts write in turns; resolves when the platform has taken everything. */
answer('write', async ({ control, from, to, count, perSecond }: Texts) => {
  const pool = new Pool(control, { connections: from.length, pipelining: 1 });
  const write = async (n: number): Promise<void> => {
    const { statusCode, body } = await pool.request({
      path: `/contacts/${from[n % from.length]}/messages`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ to, text: `text number ${n} of the bench, ${sentAt(now())}` }),
    });
    if (statusCode >= 300) throw new Error(`a contact's text was answered with ${statusCode}: ${await body.text()}`);
    await body.dump();
  };
  const inTurns = async (first: number): Promise<void> => {
    for (let n = first; n < count; n += from.length) await write(n);
  };
  const paced = async (rate: number): Promise<void> => {
    const begun = now();
    const writes: Promise<void>[] = [];
    for (let n = 0; n < count; n += 1) {
      const wait = begun + (n * 1000) / rate - now();
      if (wait > 0) await pause(wait);
      writes.push(write(n));
    }
    await Promise.all(writes);
  };
  try {
    await (perSecond === undefined ? Promise.all(from.map((_, first) => inTurns(first))) : paced(perSecond));
  } finally {
    await pool.close();
  }
});
