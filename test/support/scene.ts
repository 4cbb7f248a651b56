/** The setting of tests with kills and outages: the simulated platform, a receiver of webhooks, and a gateway that is stopped and started. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { Account, askedOf } from './account.ts';
import { type Answer, type CallOptions, GatewayProcess } from './gateway.ts';
import { openPlatform, type TestPlatform } from './platform.ts';
import { StanzaPeer } from '#test/second-opinion/stanza-peer.ts';
import { openReceiver, type Receiver } from './receivers.ts';
import { until } from './until.ts';

/** Settings with retries and back-off of fractions of a second. The time-out of a send is longer than usual, because a busy machine acknowledges late. */
const clock = {
  RECONNECT_MIN_MS: '100',
  RECONNECT_MAX_MS: '800',
  HANDSHAKES_AT_ONCE: '10',
  HANDSHAKES_PER_SECOND: '50',
  SEND_TIMEOUT_MS: '40000',
  WEBHOOK_QUICK_RETRIES_MS: '0,50,100',
  WEBHOOK_SLOW_RETRIES_MS: '200,400,800,1600,3200,6400',
  CIRCUIT_FAILURES: '1000',
};

export const contact = '5511988880001';

export class Scene {
  /** Scenes that the test files of this process share, by kind. Null if no scene is shared. */
  static #kept: Map<'plain' | 'strict', Promise<Scene>> | null = null;
  /** Settings of the shared scenes. */
  static #common: Readonly<Record<string, string>> = {};

  readonly platform: TestPlatform;
  readonly receiver: Receiver;
  readonly gateway: GatewayProcess;
  /** The check that refuses malformed stanzas, or null without a check. */
  #peer: StanzaPeer | null = null;
  #people = 0;

  private constructor(platform: TestPlatform, receiver: Receiver, gateway: GatewayProcess) {
    this.platform = platform;
    this.receiver = receiver;
    this.gateway = gateway;
  }

  /** Opens a scene with a strict check of stanzas between gateway and platform. `close` asserts that no stanza was refused. */
  static strict(): Promise<Scene> {
    return Scene.#shared('strict', () => Scene.#strict());
  }

  static async #strict(): Promise<Scene> {
    const peer = new StanzaPeer();
    // The answer to a connect request waits long enough for the code of a slow platform.
    const scene = await Scene.#on(await openPlatform((from, stanza) => peer.hear(from, stanza)), { CONNECT_ANSWER_MS: '40000' });
    scene.#peer = peer;
    return scene;
  }

  /** Opens a scene. `env` adds settings to the shortened times. `dataDir` is the data folder of the gateway, which the caller removes. */
  static async open(env: Readonly<Record<string, string>> = {}, dataDir?: string): Promise<Scene> {
    const opened = async (settings: Readonly<Record<string, string>>): Promise<Scene> => Scene.#on(await openPlatform(), settings, dataDir);
    const isCommon = Object.entries(env).every(([name, value]) => Scene.#common[name] === value);
    return isCommon && dataDir === undefined ? Scene.#shared('plain', () => opened({ ...Scene.#common, ...env })) : opened(env);
  }

  /** Shares scenes from now on: each kind is opened once in this process and closed after the last test. `settings` must include those of every file. */
  static keep(settings: Readonly<Record<string, string>> = {}): void {
    Scene.#kept = new Map();
    Scene.#common = settings;
    after(async () => {
      const kept = [...(Scene.#kept?.values() ?? [])];
      Scene.#kept = null;
      for (const opened of kept) await (await opened.catch(() => null))?.close();
    });
  }

  /** Opens a scene, or returns the shared scene of the last file without its instances and events. */
  static async #shared(kind: 'plain' | 'strict', open: () => Promise<Scene>): Promise<Scene> {
    if (Scene.#kept === null) return open();
    const earlier = Scene.#kept.get(kind);
    const scene = earlier ?? open();
    Scene.#kept.set(kind, scene);
    if (earlier) await (await earlier).#renew();
    return scene;
  }

  static async #on(platform: TestPlatform, env: Readonly<Record<string, string>> = {}, dataDir?: string): Promise<Scene> {
    const receiver = await openReceiver();
    const scene = new Scene(platform, receiver, new GatewayProcess({ platformUrl: platform.url, env: { ...clock, ...env } }, dataDir));
    const { gateway } = scene;
    try {
      await gateway.start();
      await scene.#hear();
      return scene;
    } catch (error) {
      await scene.close();
      throw error;
    }
  }

  /** Points the global webhook to the receiver. */
  async #hear(): Promise<void> {
    const webhook = { url: this.receiver.url, events: ['messages', 'connection'] };
    const { status, body } = await askedOf(() => this.gateway.call('POST', '/globalwebhook', { body: webhook }));
    assert.equal(status, 200, JSON.stringify(body));
  }

  /** Deletes the instances, users and events of the last file. */
  async #renew(): Promise<void> {
    const { gateway } = this;
    const ask = async (method: string, path: string, options: CallOptions = {}): Promise<Answer['body']> => {
      const { status, body } = await askedOf(() => gateway.call(method, path, options));
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    };
    for (const { token } of (await ask('GET', '/instance/all')) as unknown as readonly { readonly token: string }[])
      await ask('DELETE', '/instance', { token });
    for (const { id } of (await ask('GET', '/admin/users'))['users'] as readonly { readonly id: string }[])
      await ask('POST', '/admin/users/delete', { body: { id } });
    this.receiver.forget();
    this.receiver.answer(200);
    await this.#hear();
  }

  /** Creates a further gateway with the same platform and receiver and its own data folder, without starting it. */
  another(env: Readonly<Record<string, string>>): GatewayProcess {
    return new GatewayProcess({ platformUrl: this.platform.url, env: { ...clock, ...env } });
  }

  create(): Promise<Account> {
    this.#people += 1;
    return Account.create(this.gateway, `55119000${String(this.#people).padStart(5, '0')}`);
  }

  async paired(): Promise<Account> {
    return (await this.create()).pair(this.platform);
  }

  logins({ number }: Account): number {
    return this.platform.sandbox.stats().logins.byNumber[number] ?? 0;
  }

  /** Writes a text as the contact. Returns the platform id of the message. */
  async write(account: Account, text: string): Promise<string> {
    return (await this.platform.sandbox.send(contact, account.number, { kind: 'text', text })).id;
  }

  /** Returns the texts that the contact decrypted. */
  readBy(number: string): ReadonlySet<string> {
    return new Set(this.platform.sandbox.received(number).map(({ text }) => text));
  }

  /** Asserts that texts arrive in both directions, and that the contact can decrypt them. */
  async works(account: Account): Promise<void> {
    const out = `out of ${account.number} ${Math.random()}`;
    await account.sends(contact, out);
    await until(() => this.readBy(contact).has(out), 'the contact reads the text');
    await this.stored(account, [await this.write(account, `back to ${account.number}`)]);
  }

  /** Waits until the messages with these ids are stored, each of them once. */
  async stored(account: Account, ids: readonly string[], ms?: number): Promise<void> {
    let missing = ids;
    await until(
      async () => {
        const all = (await account.messages(contact)).map(({ messageid }) => messageid);
        assert.equal(new Set(all).size, all.length, 'no message is stored twice');
        missing = ids.filter((id) => !all.includes(id));
        return missing.length === 0;
      },
      () => `${ids.length} messages are stored; ${missing.length} are not`,
      ms,
    );
  }

  /** Waits until each of these messages arrived by webhook. Repeated posts of a message must be the same event. */
  async told(ids: readonly string[], ms?: number): Promise<void> {
    const events = (id: string) =>
      new Set(
        this.receiver.posted
          .filter(({ body }) => (body['message'] as { readonly messageid?: string } | undefined)?.messageid === id)
          .map((posted) => posted.id),
      );
    await until(
      () => ids.every((id) => events(id).size > 0),
      () => `${ids.length} messages are told; ${ids.filter((id) => events(id).size === 0).length} are not`,
      ms,
    );
    for (const id of ids) assert.equal(events(id).size, 1, 'one message is one event');
  }

  /** Closes the scene. A shared scene stays open for the next file. */
  async close(): Promise<void> {
    for (const kept of Scene.#kept?.values() ?? []) if ((await kept.catch(() => null)) === this) return;
    await this.gateway.close();
    await this.receiver.close();
    await this.platform.close();
    await this.#peer?.finished();
  }
}
