/** The simulated platform in a process of its own, controlled over its control interface. */
import type { Fault, ReceivedMessage, Stats } from '#src/sandbox/interface.ts';
import type { SentMessage } from '#src/sandbox/store/queue.ts';
import { forkSandbox } from '#src/sandbox-process.ts';
import { loadSettings } from '#config/load.ts';
import { quietLog } from './database.ts';
import type { Phone } from './account.ts';
import { removeFolder, temporaryFolder } from './processes.ts';

/** A page size above the number of messages of any test, so one page is enough. */
const all = 'limit=10000';

export class PlatformProcess implements Phone {
  /** The WebSocket address for the gateway. */
  readonly url: string;
  readonly #control: string;
  readonly #stop: () => Promise<void>;

  private constructor(url: string, control: string, stop: () => Promise<void>) {
    this.url = url;
    this.#control = control;
    this.#stop = stop;
  }

  static async start(): Promise<PlatformProcess> {
    const dataDir = temporaryFolder();
    const settings = loadSettings({ env: { SANDBOX_PORT: '0', DATA_DIR: dataDir }, file: '' });
    const platform = await forkSandbox(settings, quietLog);
    return new PlatformProcess(platform.url, platform.page, async () => {
      await platform.stop();
      await removeFolder(dataDir);
    });
  }

  async scan(input: Parameters<Phone['scan']>[0]): Promise<void> {
    await this.#ask('POST', 'phones/scan', input);
  }

  /** Removes the linked devices on the phone. */
  async logout(number: string): Promise<void> {
    await this.#ask('POST', `phones/${number}/logout`, {});
  }

  fault(fault: Fault): Promise<{ readonly hit: number }> {
    return this.#ask('POST', 'faults', fault);
  }

  stats(): Promise<Stats> {
    return this.#ask('GET', 'stats');
  }

  /** Writes a text as a person. Returns the platform id of the message. */
  async write(from: string, to: string, text: string): Promise<string> {
    return (await this.#ask<{ readonly id: string }>('POST', `contacts/${from}/messages`, { to, text })).id;
  }

  /** Returns the messages that the person received and decrypted, oldest first. */
  received(number: string): Promise<readonly ReceivedMessage[]> {
    return this.#ask('GET', `contacts/${number}/messages?${all}`);
  }

  /** Returns the messages that the person sent, with their delivery status. */
  sentBy(number: string): Promise<readonly SentMessage[]> {
    return this.#ask('GET', `contacts/${number}/sent?${all}`);
  }

  close(): Promise<void> {
    return this.#stop();
  }

  async #ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.#control + path, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the simulated platform answered ${response.status} to ${method} ${path}: ${text}`);
    return JSON.parse(text) as T;
  }
}
