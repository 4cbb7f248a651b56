/**
 * Relays frames between the simulated platform and its clients in a separate process. It can hold the frames of the platform back and release them at once or
 * at a steady pace. A bench therefore does not measure the speed of the platform. The process also writes texts of contacts, at a steady pace or as fast as
 * possible.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Pool } from 'undici';
import { answer } from './probe.ts';
import { now, sentAt } from './tally.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The held bytes of the platform to one client. The first byte is the start of a frame. */
class Held {
  #head: Buffer = Buffer.alloc(0);
  #behind: Buffer[] = [];

  add(chunk: Buffer): void {
    this.#behind.push(chunk);
  }

  get empty(): boolean {
    return this.#head.length === 0 && this.#behind.length === 0;
  }

  takeAll(): Buffer {
    const all = Buffer.concat([this.#head, ...this.#behind.splice(0)]);
    this.#head = Buffer.alloc(0);
    return all;
  }

  takeFrames(most: number): Buffer {
    const taken: Buffer[] = [];
    for (let frame = this.#next(); taken.length < most && frame !== null; frame = this.#next()) {
      taken.push(frame);
      this.#head = this.#head.subarray(frame.length);
    }
    return Buffer.concat(taken);
  }

  /** Returns the number of held frames. */
  frames(): number {
    this.#head = this.takeAll();
    let count = 0;
    for (let at = endOfFrame(this.#head); at <= this.#head.length && at > 0; at += endOfFrame(this.#head.subarray(at))) count += 1;
    return count;
  }

  /** Returns the first held WebSocket frame, or null if the frame is incomplete. */
  #next(): Buffer | null {
    const end = endOfFrame(this.#head);
    if (end <= this.#head.length) return this.#head.subarray(0, end);
    if (this.#behind.length === 0) return null;
    this.#head = this.takeAll();
    return this.#next();
  }
}

const endOfFrame = (bytes: Buffer): number => {
  const short = bytes.length < 4 ? 0 : bytes.readUInt8(1);
  if (short < 126) return 2 + short;
  if (short === 126) return 4 + bytes.readUInt16BE(2);
  throw new Error('a frame of the platform is longer than 64 KB');
};

const clients = new Map<Socket, Held>();
let held = false;

/** Connects a client to the platform. Frames of clients always pass. */
const join = (client: Socket, platformPort: number): void => {
  const platform = connect(platformPort, '127.0.0.1');
  for (const [one, other] of [
    [client, platform],
    [platform, client],
  ] as const) {
    one.setNoDelay(true);
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
  // The relay applies no back-pressure, so held bytes wait in this process and not at the platform.
  client.on('data', (chunk) => platform.write(chunk));
  platform.on('data', (chunk: Buffer) => (held ? clients.get(client)?.add(chunk) : client.write(chunk)));
  clients.set(client, new Held());
  client.on('close', () => clients.delete(client));
};

const letGo = (): void => {
  held = false;
  for (const [client, waiting] of clients) if (!waiting.empty) client.write(waiting.takeAll());
};

/** Opens the relay to the platform. Returns the port for clients. */
answer('open', async (platformPort: number) => {
  const server = createServer((client) => join(client, platformPort));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
});
answer('hold', () => void (held = true));
/** Releases all held frames. Returns the time before the release, in Unix milliseconds. */
answer('release', () => {
  const moment = now();
  letGo();
  return moment;
});
/** Releases the currently held frames at a steady pace, for each client separately. Later frames stay held. */
answer('trickle', async (perSecond: number) => {
  const begun = now();
  const most = Math.max(...[...clients.values()].map((waiting) => waiting.frames()));
  for (let out = 0; out < most;) {
    await pause(1);
    const due = Math.min(most, Math.floor(((now() - begun) * perSecond) / 1000)) - out;
    for (const [client, waiting] of clients) client.write(waiting.takeFrames(due));
    out += due;
  }
});

interface Texts {
  readonly control: string;
  readonly from: readonly string[];
  readonly to: string;
  readonly count: number;
  /** The number of texts per second. If absent, every contact sends as fast as the platform accepts texts. */
  readonly perSecond?: number;
  /** The time after which no more texts are written. In milliseconds. */
  readonly atMost?: number;
}

/** Writes texts of the contacts in turns. Waits until the platform has accepted them. Returns their number. */
answer('write', async ({ control, from, to, count, perSecond, atMost = Infinity }: Texts) => {
  const end = now() + atMost;
  let written = 0;
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
    written += 1;
  };
  const inTurns = async (first: number): Promise<void> => {
    for (let n = first; n < count && now() < end; n += from.length) await write(n);
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
  return written;
});
