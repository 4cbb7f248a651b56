/** Channels of one account on a running gateway: one that it owns and one that it follows, as the gateway and the platform show them. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { ChannelChange, ChannelView } from '#src/sandbox/interface.ts';
import type { Account } from './account.ts';
import { type Json, posted } from './group-bench.ts';
import { contact, Scene } from './scene.ts';
import { until } from './until.ts';

export class ChannelBench {
  scene!: Scene;
  account!: Account;
  /** The channel of the account. */
  owned = '';
  /** The channel of the contact. The account follows it. */
  followed = '';

  async open(): Promise<void> {
    this.scene = await Scene.open();
    const { sandbox } = this.scene.platform;
    const account = await this.scene.create();
    // The channel exists before the first login, which delivers the list of all channels.
    this.followed = (await sandbox.createChannel({ name: 'Followed', owner: contact, description: 'Of the contact' })).jid;
    await sandbox.changeChannel(this.followed, account.number, { action: 'follow' });
    this.account = await account.pair(this.scene.platform);
    const webhook = { url: this.scene.receiver.url, enabled: true, events: ['messages', 'chats'] };
    assert.equal((await this.account.call('POST', '/webhook', webhook)).status, 200);
    this.owned = String((await this.done('create', { name: 'Owned', description: 'Of the account' }))['id']);
    await until(async () => (await this.list()).length === 2, 'both channels are stored');
  }

  async call(path: string, body: Json, status = 200): Promise<Json> {
    const answered = await this.account.call('POST', `/newsletter/${path}`, body);
    assert.equal(answered.status, status, `${path}: ${JSON.stringify(answered.body)}`);
    return answered.body;
  }

  /** Calls an operation. Returns the object in its answer. */
  async done(path: string, body: Json): Promise<Json> {
    return (await this.call(path, body))['response'] as Json;
  }

  async list(): Promise<readonly Json[]> {
    const { status, body } = await this.account.call('GET', '/newsletter/list');
    assert.equal(status, 200, JSON.stringify(body));
    return body['response'] as readonly Json[];
  }

  async listed(id: string): Promise<Json | undefined> {
    return (await this.list()).find((one) => one['id'] === id);
  }

  /** Returns the channel as the platform stores it. */
  stateOf(id: string): ChannelView {
    return this.scene.platform.sandbox.channel(id);
  }

  roleOf(id: string, number: string): string | undefined {
    return this.stateOf(id).followers.find((one) => one.number === number)?.role;
  }

  /** Changes a channel on the phone of one of its members. */
  onPhone(id: string, by: string, change: ChannelChange): Promise<ChannelView> {
    return this.scene.platform.sandbox.changeChannel(id, by, change);
  }

  chatOf(id: string): Promise<Json | undefined> {
    return this.account.chatOf(id);
  }

  /** Waits for the `chats` event of a channel with these fields. */
  told(id: string, fields: Json): Promise<unknown> {
    return posted(this.scene, 'chats', { chat: { wa_chatid: id, ...fields } });
  }
}

/** Opens the bench before the tests of a file, and closes the bench after the tests. */
export const channelBench = (): ChannelBench => {
  const bench = new ChannelBench();
  before(() => bench.open());
  after(() => bench.scene.close());
  return bench;
};
