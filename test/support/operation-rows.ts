/** Runs each row as a test of one operation. Checks the answer, the phones, the stored rows and the event. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { MessageSettings, ReceivedMessage, ShownMessage } from '#src/sandbox/interface.ts';
import type { Account } from './account.ts';
import { contact, Scene } from './scene.ts';
import { until } from './until.ts';

export type Json = Readonly<Record<string, unknown>>;

/** Platform ids of messages in a chat with the contact or in a group. */
export interface Messages {
  /** The message that the API sent. */
  readonly own: string;
  /** The message that the contact wrote. */
  readonly theirs: string;
}

/** A member of the group. The contact is its admin. */
export const member = '5511988880002';

export interface Row {
  readonly title: string;
  readonly call: `${'POST' | 'GET'} /${string}`;
  /** The chat of the messages. `joined` is a group of the contact, and `led` a group of the account. If absent, the chat with the contact. */
  readonly in?: 'joined' | 'led';
  readonly body: (messages: Messages) => Json;
  readonly status?: number;
  /** Returns the expected fields of the answer. */
  readonly answer: (messages: Messages) => Json;
  /** Checks the message that the contact's phone decrypted: the message of the `messageid` in the answer, or else the newest message. */
  readonly phone?: (received: ReceivedMessage, messages: Messages) => void;
  /** Fields of a message that the contact's phone shows afterwards. */
  readonly shows?: readonly [which: keyof Messages, fields: Partial<ShownMessage> | ((shown: ShownMessage) => boolean)];
  /** Settings of a message that the account's own phone shares with its devices afterwards. */
  readonly shared?: readonly [which: keyof Messages, fields: Partial<MessageSettings>];
  /** Fields of a message that a search finds afterwards. */
  readonly stored?: readonly [which: keyof Messages, fields: Json];
  /** Returns the expected webhook event: its type, and fields of its `message` or `event`. */
  readonly event?: (messages: Messages) => readonly [type: string, fields: Json];
}

export const picked = (whole: object | undefined, wanted: object): Json =>
  Object.fromEntries(Object.keys(wanted).map((name) => [name, (whole as Json | undefined)?.[name]]));

export const same = (whole: object | undefined, wanted: object): boolean =>
  JSON.stringify(picked(whole, wanted)) === JSON.stringify(wanted);

export class Operations {
  scene!: Scene;
  account!: Account;
  /** Jids of the two groups. */
  joined = '';
  led = '';

  async open(): Promise<void> {
    this.scene = await Scene.strict();
    this.account = await this.scene.paired();
    const webhook = {
      url: this.scene.receiver.url,
      enabled: true,
      events: ['messages', 'messages_update', 'history', 'presence', 'chats'],
    };
    assert.equal((await this.account.call('POST', '/webhook', webhook)).status, 200);
    const { sandbox } = this.scene.platform;
    const { number } = this.account;
    this.joined = (await sandbox.createGroup({ subject: 'Joined', creator: contact, participants: [number, member] })).jid;
    this.led = (await sandbox.createGroup({ subject: 'Led', creator: number, participants: [contact, member] })).jid;
  }

  chatOf(place: Row['in']): string {
    return place === undefined ? contact : this[place];
  }

  /** Sends one message in each direction. Waits until both are stored and the phone of the contact has the sent message. */
  async stand(place?: Row['in']): Promise<Messages> {
    const chat = this.chatOf(place);
    const sent = await this.account.send(chat, 'mine');
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
    const own = String(sent.body['messageid']);
    const to = place === undefined ? this.account.number : chat;
    const { id: theirs } = await this.scene.platform.sandbox.send(contact, to, { kind: 'text', text: 'theirs' });
    await until(async () => (await this.found(theirs)) !== undefined, 'the message of the contact is stored');
    await until(() => this.shown(place).some(({ id }) => id === own), 'the contact has the own message');
    return { own, theirs };
  }

  shown(place?: Row['in']): readonly ShownMessage[] {
    return this.scene.platform.sandbox.shown(contact, place === undefined ? this.account.number : this.chatOf(place));
  }

  /** Returns the settings of a message on the account's own phone. */
  sharedOf(id: string): MessageSettings | undefined {
    return this.scene.platform.sandbox.settings(this.account.number).messages.find((one) => one.id === id);
  }

  async found(id: string): Promise<Json | undefined> {
    const { body } = await this.account.call('POST', '/message/find', { id });
    return (body['messages'] as readonly Json[])[0];
  }

  told(type: string, fields: object): Promise<unknown> {
    const isTold = (): boolean =>
      this.scene.receiver.posted.some(
        ({ body }) => body['EventType'] === type && same((body['message'] ?? body['event'] ?? body['chat']) as Json | undefined, fields),
      );
    return until(isTold, `the event ${type} ${JSON.stringify(fields)}`);
  }
}

/** Declares a test for each row, on one gateway and one platform. */
export const tryRows = (rows: readonly Row[]): Operations => {
  const bench = new Operations();
  before(() => bench.open());
  after(() => bench.scene.close());
  for (const row of rows) test(`operation ${row.call}: ${row.title}`, () => tryRow(bench, row));
  return bench;
};

const tryRow = async (
  bench: Operations,
  { call, in: place, body, status = 200, answer, phone, shows, shared, stored, event }: Row,
): Promise<void> => {
  const messages = await bench.stand(place);
  const [method = '', path = ''] = call.split(' ');
  const before = bench.scene.platform.sandbox.received(contact).length;
  const answered = await bench.account.call(method, path, body(messages));
  assert.equal(answered.status, status, JSON.stringify(answered.body));
  assert.deepEqual(picked(answered.body, answer(messages)), answer(messages));
  if (phone) {
    const received = await until(() => {
      const all = bench.scene.platform.sandbox.received(contact);
      return (
        all.find(({ id }) => id === answered.body['messageid']) ?? (answered.body['messageid'] === undefined && all.slice(before).at(-1))
      );
    }, 'the arrival at the contact');
    phone(received, messages);
  }
  if (shows) {
    const [which, fields] = shows;
    const isShown = (one: ShownMessage | undefined): boolean =>
      one !== undefined && (typeof fields === 'function' ? fields(one) : same(one, fields));
    const one = (): ShownMessage | undefined => bench.shown(place).find(({ id }) => id === messages[which]);
    await until(
      () => isShown(one()),
      () => `the phone shows ${JSON.stringify(one())}`,
    );
  }
  if (shared) {
    const [which, fields] = shared;
    assert.deepEqual(picked(bench.sharedOf(messages[which]), fields), fields);
  }
  if (stored) {
    const [which, fields] = stored;
    await until(async () => same(await bench.found(messages[which]), fields), `what is stored has ${JSON.stringify(fields)}`);
  }
  if (event) await bench.told(...event(messages));
};
