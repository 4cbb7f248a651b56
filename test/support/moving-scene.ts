/** Steps of tests of imports: pairs a session of the bare library, imports it, and checks the outcome. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Account } from './account.ts';
import { BareSession } from './bare-library.ts';
import { runCommand, type Ran } from './commands.ts';
import { removeFolder, temporaryFolder } from './processes.ts';
import { contact, Scene } from './scene.ts';
import { until } from './until.ts';
import { endAfterTests } from './together.ts';

export const stranger = '5511988880002';

export interface InstanceRow {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly status: string;
  readonly owner: string;
}

/** A session that has sent and received messages, and its group. */
export interface Used {
  readonly bare: BareSession;
  readonly group: string;
  /** Ids of messages that the session has not received yet. */
  readonly waiting: readonly string[];
}

export class MovingScene {
  readonly scene: Scene;
  readonly folder = temporaryFolder();

  private constructor(scene: Scene) {
    this.scene = scene;
  }

  static async open(env: Readonly<Record<string, string>> = {}): Promise<MovingScene> {
    return new MovingScene(await Scene.open(env));
  }

  /** Pairs a session, exchanges messages with a contact and in a group, stops the session, and sends it messages that wait. */
  async used(number: string, name = number): Promise<Used> {
    const { platform } = this.scene;
    const { sandbox } = platform;
    const bare = await BareSession.pair(platform, join(this.folder, 'bare', name), number);
    await sandbox.send(contact, number, { kind: 'text', text: `first of the contact to ${number}` });
    await bare.reads(`first of the contact to ${number}`);
    await bare.write(contact, `answer of ${number}`);
    const { jid: group } = await sandbox.createGroup({ subject: 'Friends', creator: contact, participants: [number, stranger] });
    await bare.write(group, `to the group of ${number}`, stranger);
    // The shared settings of the account come from the platform after the import.
    await sandbox.change(number, { kind: 'contact', number: contact, name: `Contact of ${number}` });
    await bare.end();
    const { id } = await sandbox.send(contact, number, { kind: 'text', text: `while ${number} was away` });
    return { bare, group, waiting: [id] };
  }

  import(args: readonly string[]): Promise<Ran> {
    return runCommand(this.scene.gateway, 'import.ts', args);
  }

  async instances(): Promise<readonly InstanceRow[]> {
    const { body } = await this.scene.gateway.call('GET', '/instance/all');
    return body as unknown as readonly InstanceRow[];
  }

  async accountNamed(name: string): Promise<Account> {
    const row = (await this.instances()).find((one) => one.name === name);
    assert.ok(row, `there is an instance ${name}`);
    return Account.of(this.scene.gateway, row.owner, row.token);
  }

  readBy(number: string, text: string): Promise<true | undefined> {
    return until(
      () => this.scene.platform.sandbox.received(number).some((one) => one.text === text) || undefined,
      `${number} reads "${text}"`,
    );
  }

  /** Asserts that the imported session has the waiting messages, and that earlier contacts and groups can read its new messages. */
  async goesOn(account: Account, { group, waiting }: Used): Promise<void> {
    const { sandbox } = this.scene.platform;
    const { number } = account;
    await this.scene.stored(account, waiting);
    for (const [to, readers] of [
      [contact, [contact]],
      [group, [contact, stranger]],
    ] as const) {
      const text = `${number} after the import ${to}`;
      await account.sends(to, text);
      for (const reader of readers) await this.readBy(reader, text);
    }
    await until(async () => {
      const { body } = await account.call('GET', '/contacts');
      return JSON.stringify(body).includes(`Contact of ${number}`);
    }, 'the contact has its name of the phone');
    const late = await sandbox.send(stranger, number, { kind: 'text', text: `of a stranger to ${number}` });
    await until(
      async () => (await account.messages(stranger)).some(({ messageid }) => messageid === late.id),
      'the text of a stranger is stored',
    );
    const said = await sandbox.send(contact, group, { kind: 'text', text: `in the group of ${number}` });
    await until(async () => {
      const { body } = await account.call('POST', '/message/find', { chatid: group, limit: 100 });
      return (body['messages'] as readonly { readonly messageid: string }[]).some(({ messageid }) => messageid === said.id);
    }, 'the text of the group is stored');
  }

  async close(): Promise<void> {
    await this.scene.close();
    await removeFolder(this.folder);
    // Every pairing of the library leaves a timer of 30 s running.
    endAfterTests();
  }
}
