/** Starts the simulated platform of a bench and reads its counters. */
import { request } from 'undici';
import type { Stats } from '#src/sandbox/interface.ts';
import type { Child, Workshop } from './workshop.ts';

export interface BenchSandbox extends Child {
  readonly control: string;
  /** The WebSocket address for clients. */
  readonly url: string;
  /** Makes the phone of `number` scan a QR code, as a text or a picture. */
  scan(number: string, code: { readonly qr: string } | { readonly qrcode: string }): Promise<void>;
}

/** Posts a body. Returns the parsed body of an answer with 2xx, and rejects for any other answer. */
export const postJson = async <T>(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<T> => {
  const { statusCode, body: answer } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (statusCode >= 300) throw new Error(`POST ${new URL(url).pathname} answered ${statusCode}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as T;
};

export const scan = async (control: string, number: string, code: { readonly qr: string } | { readonly qrcode: string }): Promise<void> =>
  void (await postJson(`${control}/phones/scan`, { ...code, number, name: `Bench ${number}` }));

interface Counted {
  readonly fromClients: number;
  readonly acknowledged: number;
}

/** Returns the number of messages that passed the platform since its start. */
export const counted = async ({ control }: BenchSandbox): Promise<Counted> => {
  const { body } = await request(`${control}/stats`);
  return ((await body.json()) as { messages: Counted }).messages;
};

const logins = async ({ control }: BenchSandbox): Promise<Stats['logins']> => {
  const { body } = await request(`${control}/stats`);
  return ((await body.json()) as Pick<Stats, 'logins'>).logins;
};

/** Returns the number of logins of devices that were logged in already. */
export const doubleLogins = async (sandbox: BenchSandbox): Promise<number> => (await logins(sandbox)).double;

/** Returns the time of the last login and of the end of the last connection of each account. In Unix milliseconds, 0 for never. */
export const loginTimes = async (sandbox: BenchSandbox): Promise<Stats['logins']['times']> => (await logins(sandbox)).times;

/** Starts the simulated platform. Without `decrypt` it acknowledges frames of clients without reading them, so its own work is small. */
export const startSandbox = async (workshop: Workshop, { decrypt = false } = {}): Promise<BenchSandbox> => {
  const child = await workshop.start('src/sandbox/main.ts', {
    args: ['--port', '0', '--data', 'data', '--level', 'warn', ...(decrypt ? [] : ['--no-decrypt'])],
  });
  const { port } = await child.said<{ port: number }>();
  const control = `http://127.0.0.1:${port}`;
  return { ...child, control, url: `ws://127.0.0.1:${port}/ws/chat`, scan: (number, code) => scan(control, number, code) };
};
