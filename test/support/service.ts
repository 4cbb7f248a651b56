/** The whole service inside the test process, on a test database and without a platform. It serves tests of HTTP, storage and receivers together. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { startService, type Service } from '#src/service.ts';
import { settingsWith } from './constants.ts';
import { removeFolder, temporaryFolder } from './processes.ts';
import { quietLog } from './database.ts';

export const adminToken = 'admin-token-of-the-test';
export const version = '9.9.9-test';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // A test states the expected type where it reads the body.
  readonly body: never;
}

export class TestService {
  readonly #env: Readonly<Record<string, string>>;
  #service: Service | null = null;

  private constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  /** Opens a service that is stopped after the tests of the file. The address of the platform has no server. */
  static async open(databaseUrl: string, env: Readonly<Record<string, string>> = {}): Promise<TestService> {
    const dataDir = temporaryFolder();
    const settings = {
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('hex'),
      ADMIN_TOKEN: adminToken,
      ALLOW_PRIVATE_RECEIVERS: 'loopback',
      PLATFORM_URL: 'ws://127.0.0.1:9/',
      PORT: '0',
      // The machine may be busy with other tests, which must not count as overload.
      OVERLOAD_LAG_MS: '0',
    };
    const service = new TestService({ ...settings, ...env });
    after(async () => {
      await service.stop();
      await removeFolder(dataDir);
    });
    await service.start();
    return service;
  }

  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const settings = settingsWith({ ...this.#env, ...env });
    this.#service = await startService(settings, quietLog, version, { restart: () => 'begins' });
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    this.#service = null;
  }

  async restart(env: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.stop();
    await this.start(env);
  }

  get address(): string {
    return this.#service?.address ?? '';
  }

  async call(method: string, path: string, headers: Readonly<Record<string, string>>, body?: unknown): Promise<Reply> {
    const response = await fetch(this.address + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as never };
  }

  /** Sends a request as the administrator. */
  admin(method: string, path: string, body?: unknown): Promise<Reply> {
    return this.call(method, path, { admintoken: adminToken }, body);
  }

  /** Creates an instance. Returns its id and functions that call with its token. */
  async instance(name: string) {
    const { status, body } = await this.admin('POST', '/instance/create', { name });
    assert.equal(status, 200);
    const { token, instance } = body as { readonly token: string; readonly instance: { readonly id: string } };
    return {
      id: instance.id,
      token,
      call: (method: string, path: string, sent?: unknown): Promise<Reply> => this.call(method, path, { token }, sent),
    };
  }
}
