/** Upgrades two working nodes. Another release migrates the tables, and then the nodes restart one after the other. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Migration } from '@mikro-orm/migrations';
import { ConcurrentIndexes } from '#src/storage/migrations/concurrent.ts';
import { migrations } from '#src/storage/migrations/list.ts';
import { migrate } from '#src/storage/open.ts';
import type { Account } from '#test/support/account.ts';
import { quietLog } from '#test/support/database.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let nats: NatsServer;
let nodes: Nodes;
let both: readonly GatewayProcess[];
let accounts: readonly Account[];
before(async () => {
  if (withNats.skip !== undefined) return;
  nats = await NatsServer.open();
  nodes = await Nodes.open({ NATS_URL: nats.url });
  both = [nodes.first, await nodes.another('second').start()];
  accounts = [await nodes.scene.paired(), await nodes.scene.paired()];
});
after(async () => {
  await nodes?.close();
  await nats?.stop();
});

class AddColumn extends Migration {
  override up(): void {
    this.addSql(`alter table message add column of_test text not null default ''`);
  }
}
class AddIndex extends ConcurrentIndexes {
  protected override readonly indexes = ['message_of_test on message (text)', 'chat_of_test on chat (last_message_timestamp)'];
}
const steps = [...migrations, { name: '9001-add-column', class: AddColumn }, { name: '9002-add-index', class: AddIndex }];

/** Sends and receives texts of all accounts through any running node, until it is stopped. */
class Traffic {
  readonly sent: string[] = [];
  readonly arrivals = new Map<Account, string[]>(accounts.map((account) => [account, []]));
  /** Answers other than 200, with the phase of the test. */
  readonly refused: { readonly status: number; readonly while: string }[] = [];
  during = '';
  readonly up = new Set(both);
  #isOver = false;
  readonly #running = Promise.all(accounts.map((account, at) => this.#run(account, at)));

  async #run(account: Account, at: number): Promise<void> {
    for (let n = 0; !this.#isOver; n += 1) {
      const [node] = [...this.up].slice((n + at) % this.up.size);
      const text = `out ${at} ${n}`;
      const { during } = this;
      const { status } = await nodes.at(node!, account).send(contact, text);
      if (status === 200) this.sent.push(text);
      // A send that began or ended in a move may have waited for it.
      else this.refused.push({ status, while: during === 'move' ? during : this.during });
      this.arrivals.get(account)?.push(await nodes.scene.write(account, `in ${at} ${n}`));
      await wait(100);
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }
}

test(
  'migrating nodes: both send and receive while the tables are migrated and while they are started anew in turn',
  withNats,
  async (t) => {
    await nodes.settled(accounts);
    const traffic = new Traffic();
    traffic.during = 'migration';
    // Two nodes of the next release start at once.
    await Promise.all([1, 2].map(() => migrate(nodes.server.url, quietLog, { steps })));
    await wait(500);
    for (const node of both) {
      traffic.during = 'move';
      traffic.up.delete(node);
      assert.equal(await node.end('SIGTERM'), 0, node.printed);
      await node.start();
      traffic.up.add(node);
    }
    await nodes.settled(accounts);
    traffic.during = 'after';
    const after = traffic.sent.length;
    await until(() => traffic.sent.length > Math.max(after + 4, 20), 'sends are answered by both nodes');
    await traffic.stop();
    t.diagnostic(`${traffic.sent.length} sends, refused: ${JSON.stringify(traffic.refused)}`);
    assert.deepEqual(
      traffic.refused.filter((one) => one.while !== 'move' || ![409, 503].includes(one.status)),
      [],
      'a send fails only while its session moves, and then nothing was sent',
    );
    await until(() => traffic.sent.every((text) => nodes.scene.readBy(contact).has(text)), 'the contact reads every text');
    for (const [account, ids] of traffic.arrivals) {
      await nodes.scene.stored(nodes.at(nodes.first, account), ids);
      await nodes.scene.told(ids);
    }
    const done = await nodes.admin.rows<{ name: string }>(
      { name: '', text: `select name from mikro_orm_migrations where name like '9%'` },
      [],
    );
    assert.deepEqual(done.map(({ name }) => name).toSorted(), ['9001-add-column', '9002-add-index']);
    assert.equal(nodes.doubleLogins, 0);
    for (const node of both) assert.equal((await node.call('GET', '/health/ready')).status, 200, node.printed);
  },
);
