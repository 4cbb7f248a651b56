/** A session of the bare library with its own multi-file store, paired with the simulated platform. It is a typical source of an import. */
import { useMultiFileAuthState, type AuthenticationCreds, type SignalKeyStore } from '@whiskeysockets/baileys';
import { closeCode, connect, opened, qrOf, type Auth, type Client } from '#test/sandbox/client.ts';
import type { TestPlatform } from './platform.ts';
import { until } from './until.ts';

const jid = (to: string): string => (to.includes('@') ? to : `${to}@s.whatsapp.net`);

export class BareSession {
  readonly folder: string;
  readonly number: string;
  readonly #platform: TestPlatform;
  /** The values that the library stored. Each value is named by the text `type id`. */
  readonly values = new Map<string, unknown>();
  #client: Client | null = null;
  #creds: AuthenticationCreds | null = null;
  #saved: Promise<void> = Promise.resolve();

  constructor(platform: TestPlatform, folder: string, number: string) {
    this.folder = folder;
    this.number = number;
    this.#platform = platform;
  }

  /** Pairs a session by QR code. The session stays connected. */
  static async pair(platform: TestPlatform, folder: string, number: string): Promise<BareSession> {
    const session = new BareSession(platform, folder, number);
    const first = await session.#open();
    await platform.sandbox.scan({ qr: await qrOf(first), number, name: `Person ${number}`, history: { chats: 1, messages: 1 } });
    const code = await closeCode(first);
    if (code !== 515) throw new Error(`the pairing ended with ${code}`);
    await session.end();
    await session.login();
    return session;
  }

  /** Connects with the credentials in the folder. */
  async login(): Promise<void> {
    await opened(await this.#open());
  }

  get client(): Client {
    if (this.#client === null) throw new Error('the session is not open');
    return this.#client;
  }

  get creds(): AuthenticationCreds {
    if (this.#creds === null) throw new Error('the session was never open');
    return this.#creds;
  }

  /** Sends a text, and waits until `reader` has decrypted it. */
  async write(to: string, text: string, reader = to): Promise<void> {
    await this.client.sock.sendMessage(jid(to), { text });
    await until(() => this.#platform.sandbox.received(reader).some((one) => one.text === text), `${reader} reads "${text}"`);
  }

  /** Waits until the session has decrypted this text. */
  reads(text: string): Promise<true> {
    return this.client.wait('messages.upsert', ({ messages }) =>
      messages.some(({ message }) => (message?.conversation || message?.extendedTextMessage?.text) === text),
    );
  }

  /** Ends the connection. All data is on the disk afterwards. */
  async end(): Promise<void> {
    await this.#client?.end();
    await this.#saved;
    this.#client = null;
  }

  #noted(keys: SignalKeyStore): SignalKeyStore {
    return {
      ...keys,
      set: async (data) => {
        for (const [type, entries] of Object.entries(data))
          for (const [id, value] of Object.entries(entries ?? {}))
            if (value) this.values.set(`${type} ${id}`, value);
            else this.values.delete(`${type} ${id}`);
        await keys.set(data);
      },
    };
  }

  async #open(): Promise<Client> {
    const { state, saveCreds } = await useMultiFileAuthState(this.folder);
    this.#creds = state.creds;
    const auth: Auth = { creds: state.creds, keys: this.#noted(state.keys), values: this.values };
    const port = Number(new URL(this.#platform.url).port);
    const client = connect({ port, sandbox: this.#platform.sandbox }, auth);
    client.sock.ev.on('creds.update', () => {
      this.#saved = this.#saved.then(saveCreds);
    });
    this.#client = client;
    return client;
  }
}
