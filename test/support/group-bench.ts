/** Groups of one account on a running gateway: one that it administers and one with plain membership, as the gateway and the platform show them. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { GroupView } from '#src/sandbox/interface.ts';
import type { Account } from './account.ts';
import { contact, Scene } from './scene.ts';
import { until } from './until.ts';

export type Json = Readonly<Record<string, unknown>>;

export const [bia, carl, shy, missing, dora] = [
  '5511988880002',
  '5511988880003',
  '5511988880004',
  '5511988880005',
  '5511988880006',
] as const;
export const jid = (number: string): string => `${number}@s.whatsapp.net`;

/** Returns true if `whole` has every field of `part` with an equal value. */
export const isPart = (whole: unknown, part: unknown): boolean =>
  typeof part === 'object' && part !== null && !Array.isArray(part)
    ? Object.entries(part).every(([name, value]) => isPart((whole as Json | null)?.[name], value))
    : JSON.stringify(whole) === JSON.stringify(part);

/** Waits for a posted event of this type with these fields. */
export const posted = ({ receiver }: Scene, type: string, fields: Json): Promise<unknown> =>
  until(
    () => receiver.posted.some(({ body }) => body['EventType'] === type && isPart(body, fields)),
    () => `the event ${JSON.stringify(fields)}`,
  );

export class GroupBench {
  scene!: Scene;
  account!: Account;
  led = '';
  joined = '';

  async open(): Promise<void> {
    this.scene = await Scene.strict();
    this.account = await this.scene.paired();
    const { sandbox } = this.scene.platform;
    await sandbox.putPerson({ number: shy });
    await sandbox.changeAccount(shy, { privacy: { groupadd: 'none' } });
    await sandbox.putPerson({ number: missing, absent: true });
    const webhook = { url: this.scene.receiver.url, enabled: true, events: ['groups', 'messages', 'chats'] };
    assert.equal((await this.account.call('POST', '/webhook', webhook)).status, 200);
    const { number } = this.account;
    this.led = (await sandbox.createGroup({ subject: 'Led', creator: number, participants: [contact, bia] })).jid;
    this.joined = (await sandbox.createGroup({ subject: 'Joined', creator: contact, participants: [number, bia] })).jid;
    await until(async () => (await this.list()).length === 2, 'both groups are stored');
  }

  async call(path: string, body: Json, status = 200): Promise<Json> {
    const answered = await this.account.call('POST', `/group/${path}`, body);
    assert.equal(answered.status, status, JSON.stringify(answered.body));
    return answered.body;
  }

  async list(body: Json = {}): Promise<readonly Json[]> {
    return (await this.call('list', body))['groups'] as readonly Json[];
  }

  /** Returns the group as the list shows it. */
  async listed(id: string): Promise<Json | undefined> {
    return (await this.list({ limit: 100 })).find((one) => one['JID'] === id);
  }

  /** Returns the group as the platform stores it. */
  stateOf(id: string): GroupView {
    return this.scene.platform.sandbox.groups().find((one) => one.jid === id)!;
  }

  chatOf(id: string): Promise<Json | undefined> {
    return this.account.chatOf(id);
  }

  /** Waits for the `groups` event of a group with these fields. */
  told(id: string, fields: Json): Promise<unknown> {
    return posted(this.scene, 'groups', { event: { JID: id, ...fields } });
  }
}

/** Opens the bench before the tests of a file, and closes the bench after the tests. */
export const groupBench = (): GroupBench => {
  const bench = new GroupBench();
  before(() => bench.open());
  after(() => bench.scene.close());
  return bench;
};
