/** Accounts that have a passkey, and browsers of their owners. */
import assert from 'node:assert/strict';
import type { Assertion, RequestOptions } from '#src/sandbox/interface.ts';
import type { Account } from './account.ts';
import type { Answer } from './gateway.ts';
import type { Scene } from './scene.ts';
import { until } from './until.ts';

export interface PasskeySeen {
  readonly stage: string;
  readonly code: string;
  readonly options: RequestOptions | null;
}

type Given = Parameters<Scene['platform']['sandbox']['givePasskey']>[1];

export const passkeyOf = async (account: Account): Promise<PasskeySeen> =>
  (await account.call('GET', '/instance/passkey')).body as unknown as PasskeySeen;

/** Waits until the passkey link of the account reaches a stage. */
export const reachesStage = (account: Account, stage: string): Promise<PasskeySeen> =>
  until(async () => {
    const seen = await passkeyOf(account);
    return seen.stage === stage && seen;
  }, `the passkey is at the stage ${stage}`);

/** Returns an account with a passkey whose phone has scanned the QR code. */
export const scanned = async (scene: Scene, given: Given = {}): Promise<Account> => {
  const account = await scene.create();
  await scene.platform.sandbox.givePasskey(account.number, given);
  await account.scan(scene.platform);
  return account;
};

/** Signs the current challenge, as the browser of the owner does on a page of `origin`. */
export const sign = async (scene: Scene, account: Account, origin?: string): Promise<Assertion> => {
  const { options } = await reachesStage(account, 'assertion');
  assert.ok(options);
  return scene.platform.sandbox.signWithPasskey(account.number, options, origin);
};

export const makeCode = async (account: Account): Promise<string> => {
  await reachesStage(account, 'assertion');
  const { status, body } = await account.call('POST', '/instance/passkey/link', {});
  assert.equal(status, 200, JSON.stringify(body));
  return String(body['code']);
};

/** The browser of an account owner, with a code or a ticket and without a token. */
export class OwnerBrowser {
  readonly #address: string;
  readonly code: string;

  constructor(address: string, code: string) {
    this.#address = address;
    this.code = code;
  }

  async ask(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(this.#address + path, {
      method,
      headers: { 'passkey-code': this.code, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
  }

  /** Reads the options, signs the challenge and sends the assertion. */
  async signs(scene: Scene, account: Account): Promise<Answer> {
    const { status, body } = await this.ask('GET', '/passkey');
    assert.equal(status, 200, JSON.stringify(body));
    const options = body['options'] as RequestOptions;
    return this.ask('POST', '/passkey', await scene.platform.sandbox.signWithPasskey(account.number, options));
  }

  /** Returns the same browser after its code was used. */
  with(ticket: unknown): OwnerBrowser {
    return new OwnerBrowser(this.#address, String(ticket));
  }
}
