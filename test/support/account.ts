/** One instance of a running gateway with its phone. Tests use it over HTTP only. */
import assert from 'node:assert/strict';
import type { Answer, GatewayProcess } from './gateway.ts';
import type { TestPlatform } from './platform.ts';
import { patience, until } from './until.ts';

/** The part of the simulated platform that scans codes, in any process. */
export type Phone = Pick<TestPlatform, 'scan'>;

/** The fields of an instance that tests read. */
export interface InstanceSeen {
  readonly id: string;
  readonly status: string;
  readonly qrcode: string;
  readonly owner: string;
  readonly profilePicUrl: string;
  readonly lastDisconnect: string;
  readonly lastDisconnectReason: string;
}

export interface MessageSeen {
  readonly messageid: string;
  readonly text: string;
  readonly status: string;
  readonly fromMe: boolean;
}

/** Retries a request while a busy database answers 503. A retry is safe, because a refused request has no effect. */
export const askedOf = (ask: () => Promise<Answer>): Promise<Answer> =>
  until(async () => {
    const answer = await ask();
    return answer.status !== 503 && answer;
  }, 'the database answers');

export class Account {
  readonly gateway: GatewayProcess;
  readonly number: string;
  readonly token: string;

  private constructor(gateway: GatewayProcess, number: string, token: string) {
    this.gateway = gateway;
    this.number = number;
    this.token = token;
  }

  /** Returns the account of an instance that the test itself created. */
  static of(gateway: GatewayProcess, number: string, token: string): Account {
    return new Account(gateway, number, token);
  }

  static async create(gateway: GatewayProcess, number: string): Promise<Account> {
    const created = await askedOf(() => gateway.call('POST', '/instance/create', { body: { name: `shop ${number}` } }));
    assert.equal(created.status, 200, JSON.stringify(created.body));
    return new Account(gateway, number, String(created.body['token']));
  }

  call(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.gateway.call(method, path, { token: this.token, ...(body === undefined ? {} : { body }) });
  }

  /** Returns the chat with this id from `/chat/find`, or undefined if the chat is not stored. */
  async chatOf(id: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { body } = await this.call('POST', '/chat/find', { wa_chatid: `=${id}` });
    return (body['chats'] as readonly Readonly<Record<string, unknown>>[])[0];
  }

  async seen(): Promise<InstanceSeen> {
    const { status, body } = await askedOf(() => this.call('GET', '/instance/status'));
    assert.equal(status, 200, JSON.stringify(body));
    return body['instance'] as InstanceSeen;
  }

  /** Waits until the instance has this status. Returns the instance. */
  async reaches(status: string, ms = patience): Promise<InstanceSeen> {
    let last: InstanceSeen | null = null;
    return until(
      async () => {
        last = await this.seen();
        return last.status === status && last;
      },
      () => `${this.number} is ${status}; it is ${last?.status} (${last?.lastDisconnectReason})`,
      ms,
    );
  }

  /** Requests a QR code and scans it. The session is not connected yet. */
  async scan(platform: Phone, owner: Omit<Parameters<Phone['scan']>[0], 'qrcode' | 'number'> = {}): Promise<void> {
    await this.connects();
    const qrcode = await until(async () => (await this.seen()).qrcode || undefined, `a picture for ${this.number}`);
    await platform.scan({ qrcode, number: this.number, name: `Person ${this.number}`, ...owner });
  }

  async pair(platform: Phone): Promise<this> {
    await this.scan(platform);
    await this.reaches('connected');
    return this;
  }

  /** Finishes an interrupted pairing. The session may connect without a request, or a connect request continues the pairing or shows another QR code. */
  async finishes(platform: Phone): Promise<void> {
    const { status } = await until(async () => {
      const seen = await this.seen();
      return seen.status !== 'connecting' && seen;
    }, 'the pairing that was cut off has an end');
    if (status === 'connected') return;
    await this.connect();
    const { qrcode } = await until(async () => {
      const seen = await this.seen();
      return (seen.status === 'connected' || seen.qrcode !== '') && seen;
    }, 'a connect leads on');
    if (qrcode !== '') await platform.scan({ qrcode, number: this.number, name: `Person ${this.number}` });
    await this.reaches('connected');
  }

  connect(): Promise<Answer> {
    return this.call('POST', '/instance/connect', {});
  }

  send(number: string, text: string): Promise<Answer> {
    return this.call('POST', '/send/text', { number, text });
  }

  /** Connects the session, with retries while a busy database answers 503. Asserts that the request was accepted. */
  async connects(): Promise<void> {
    const { status, body } = await askedOf(() => this.connect());
    assert.equal(status, 200, JSON.stringify(body));
  }

  /** Sends a text, with retries while a busy database answers 503. Asserts that the text was sent. */
  async sends(number: string, text: string): Promise<void> {
    const { status, body } = await askedOf(() => this.send(number, text));
    assert.equal(status, 200, JSON.stringify(body));
  }

  /** Returns the stored messages of a chat, newest first. */
  messages(number: string): Promise<readonly MessageSeen[]> {
    return this.found({ chatid: `${number}@s.whatsapp.net` });
  }

  /** Returns all messages that `/message/find` finds with these fields. */
  found(fields: object): Promise<readonly MessageSeen[]> {
    // A message that arrives between two reads shifts messages to the next page. In that case all pages are read again.
    return until(() => this.#pages(fields), 'the pages of messages fit together');
  }

  /** Reads all pages. Returns undefined if a message is on two pages. */
  async #pages(fields: object): Promise<readonly MessageSeen[] | undefined> {
    const all: MessageSeen[] = [];
    const earlier = new Set<string>();
    for (;;) {
      const find = { ...fields, limit: 1000, offset: all.length };
      const { status, body } = await askedOf(() => this.call('POST', '/message/find', find));
      assert.equal(status, 200, JSON.stringify(body));
      const page = body['messages'] as readonly MessageSeen[];
      if (page.some(({ messageid }) => earlier.has(messageid))) return undefined;
      for (const { messageid } of page) earlier.add(messageid);
      all.push(...page);
      if (body['hasMore'] !== true) return all;
    }
  }
}
