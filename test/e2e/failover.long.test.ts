/** Tests a failover of PostgreSQL to a standby under traffic. A synchronous standby has everything, and sessions continue with either kind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '#test/support/account.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { Replicated } from '#test/support/standby.ts';
import { until } from '#test/support/until.ts';

/** Sends and arrivals of one account, one after the other. */
class Traffic {
  readonly #scene: Scene;
  readonly #account: Account;
  /** Sends that were answered with 200. */
  readonly sent: { readonly text: string; readonly isBehind: boolean }[] = [];
  /** Arrivals that the standby has as well. */
  readonly arrived: string[] = [];
  readonly statuses = new Set<number>();
  /** True while the standby does not receive writes. */
  isBehind = false;
  #isOver = false;
  readonly #running: Promise<void>;

  constructor(scene: Scene, account: Account) {
    this.#scene = scene;
    this.#account = account;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    for (let n = 0; !this.#isOver; n += 1) {
      const { isBehind } = this;
      const { status } = await this.#account.send(contact, `out ${n}`);
      this.statuses.add(status);
      if (status === 200) this.sent.push({ text: `out ${n}`, isBehind });
      const id = await this.#scene.write(this.#account, `in ${n}`);
      if (!isBehind) this.arrived.push(id);
      await wait(50);
    }
  }

  /** Waits until `count` more sends were answered with 200. The last of two began after the call. */
  async goesOn(count: number): Promise<void> {
    const before = this.sent.length;
    await until(() => this.sent.length >= before + count, `${count} more sends are answered`);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }
}

const failedOver = async (pair: Replicated, scene: Scene, account: Account, isSynchronous: boolean): Promise<Traffic> => {
  const traffic = new Traffic(scene, account);
  await traffic.goesOn(5);
  if (!isSynchronous) {
    // Writes just before the cut may still be on their way to the database, and to the standby.
    traffic.isBehind = true;
    await traffic.goesOn(2);
    await scene.stored(account, [...traffic.arrived]);
    await scene.told([...traffic.arrived]);
    await pair.caughtUp();
    pair.link.cut('stall');
    await traffic.goesOn(5);
  }
  await pair.failOver();
  traffic.isBehind = false;
  await until(async () => (await scene.gateway.call('GET', '/health/ready')).status === 200, 'the gateway is ready');
  await account.reaches('connected');
  await traffic.goesOn(5);
  await traffic.stop();
  return traffic;
};

for (const [title, isSynchronous] of [
  ['a synchronous standby has everything that was answered', true],
  ['an asynchronous standby that fell behind lost the last messages, and the session goes on', false],
] as const)
  test(`failover: ${title}`, async (t) => {
    const pair = await Replicated.open(isSynchronous);
    t.after(() => pair.close());
    const scene = await Scene.open({ DATABASE_URL: pair.url, ENCRYPTION_KEY: 'ab'.repeat(32) });
    t.after(() => scene.close());
    const account = await scene.paired();
    await scene.works(account);
    const { sent, arrived, statuses } = await failedOver(pair, scene, account, isSynchronous);
    const behind = sent.filter((one) => one.isBehind);
    t.diagnostic(`${sent.length} sends, ${behind.length} of them not copied; answers ${[...statuses].join(' ')}`);
    await until(() => sent.every(({ text }) => scene.readBy(contact).has(text)), 'the contact reads every text that was answered');
    const stored = new Set((await account.messages(contact)).map(({ text }) => text));
    const lost = sent.filter(({ text }) => !stored.has(text));
    assert.deepEqual(
      lost.filter((one) => !one.isBehind),
      [],
    );
    assert.equal(lost.length > 0, !isSynchronous, 'the standby was behind');
    await scene.stored(account, arrived);
    await scene.told(arrived);
    await scene.works(account);
    assert.doesNotMatch(scene.gateway.printed, /unhandledRejection|rashed|surprised/);
  });
