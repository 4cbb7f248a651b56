/** Channels of one account on a running gateway: one that it owns and one that it follows, as the gateway and the platform show them. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Content, PostView } from '#src/sandbox/interface.ts';
import type { Account } from './account.ts';
import { contact, Scene } from './scene.ts';
import { isPart, type Json } from './group-bench.ts';
import { until } from './until.ts';

export type { Json } from './group-bench.ts';

export class PostBench {
  scene!: Scene;
  account!: Account;
  /** A channel that the account owns and the contact follows. */
  led = '';
  /** A channel that the contact owns. */
  followed = '';

  async open(): Promise<void> {
    this.scene = await Scene.open();
    this.account = await this.scene.paired();
    const webhook = { url: this.scene.receiver.url, enabled: true, events: ['newsletter_messages', 'messages_update'] };
    assert.equal((await this.account.call('POST', '/webhook', webhook)).status, 200);
    const { sandbox } = this.scene.platform;
    this.led = (await sandbox.createChannel({ name: 'Led', owner: this.account.number })).jid;
    this.followed = (await sandbox.createChannel({ name: 'Followed', owner: contact })).jid;
    await sandbox.changeChannel(this.led, contact, { action: 'follow' });
    await sandbox.changeChannel(this.followed, this.account.number, { action: 'follow' });
  }

  async call(path: string, body: Json, status = 200): Promise<Json> {
    const answered = await this.account.call('POST', path, body);
    assert.equal(answered.status, status, `${path}: ${answered.status} ${JSON.stringify(answered.body)}`);
    return answered.body;
  }

  /** Returns a post as the platform stores it. */
  async onPlatform(channel: string, of: { readonly serverId?: unknown; readonly id?: unknown }): Promise<PostView> {
    const all = await this.scene.platform.sandbox.posts(channel);
    const found = all.find((post) => isPart(post, of));
    assert.ok(found, `the platform has the post ${JSON.stringify(of)}`);
    return found;
  }

  /** Returns the server id of the newest post, or 99 in an empty channel. */
  async newest(channel: string): Promise<number> {
    return (await this.scene.platform.sandbox.posts(channel, { limit: 1 }))[0]?.serverId ?? 99;
  }

  async stored(id: unknown): Promise<Json | undefined> {
    const { messages } = await this.call('/message/find', { id });
    return (messages as readonly Json[])[0];
  }

  /** Waits until the stored message has these fields. */
  storedAs(id: unknown, fields: Json): Promise<unknown> {
    return until(async () => isPart(await this.stored(id), fields), `${String(id)} is stored with ${JSON.stringify(fields)}`);
  }

  /** Posts as the owner of a channel, and waits until the post is stored. */
  async arrive(content: Content, channel = this.followed): Promise<{ readonly id: string; readonly serverId: number }> {
    const post = await this.scene.platform.sandbox.post(channel, { content });
    await this.storedAs(post.id, { serverid: post.serverId });
    return post;
  }

  /** Returns the events of a type whose `message` has these fields. */
  told(type: string, fields: Json): readonly Json[] {
    return this.scene.receiver.posted
      .filter(({ body, token }) => token === this.account.token && body['EventType'] === type)
      .map(({ body }) => (body['message'] ?? body['event']) as Json)
      .filter((event) => isPart(event, fields));
  }

  event(type: string, fields: Json): Promise<unknown> {
    return until(() => this.told(type, fields).length > 0, `the event ${type} ${JSON.stringify(fields)}`);
  }
}

export const postBench = (): PostBench => {
  const bench = new PostBench();
  before(() => bench.open());
  after(() => bench.scene.close());
  return bench;
};
