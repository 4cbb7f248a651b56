/** PostgreSQL fails over to a standby under sends and arrivals: a synchronous one has everything, and sessions go on with either. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { contact, Scene } from '#test/support/scene.ts';
import { Replicated } from '#test/support/standby.ts';
import { until } from '#test/support/until.ts';

for (const [title, isSynchronous] of [
  ['a synchronous standby has everything that was answered', true],
  ['an asynchronous standby that fell behind lost the last messages, and the session goes on', false],
] as const)
  test(`failover: ${title}`, async (t) => {
    const pair = await Replicated.open(isSynchronous);
    const scene = await Scene.open({ DATABASE_URL: pair.url, ENCRYPTION_KEY: 'ab'.repeat(32) }).catch(async (error: unknown) => {
      await pair.close();
      throw error;
    });
    try {
      const account = await scene.paired();
      await scene.works(account);
      const traffic = { goes: true, isBehind: false };
      const sent: { readonly text: string; readonly isBehind: boolean }[] = [];
      const arrived: string[] = [];
      const statuses = new Set<number>();
      const running = (async () => {
        for (let n = 0; traffic.goes; n += 1) {
          const { isBehind } = traffic;
          const { status } = await account.send(contact, `out ${n}`);
          statuses.add(status);
          if (status === 200) sent.push({ text: `out ${n}`, isBehind });
          const id = await scene.write(account, `in ${n}`);
          if (!isBehind) arrived.push(id);
          await wait(50);
        }
      })();
      await wait(1_500);
      if (!isSynchronous) {
        // What was stored in the last moment before the cut may be on its way to the standby.
        traffic.isBehind = true;
        await wait(1_000);
        pair.link.cut('stall');
        await wait(1_000);
      }
      await pair.failOver();
      traffic.isBehind = false;
      await until(async () => (await scene.gateway.call('GET', '/health/ready')).status === 200, 'the gateway is ready');
      await account.reaches('connected');
      await wait(1_000);
      traffic.goes = false;
      await running;
      t.diagnostic(
        `${sent.length} sends, ${sent.filter(({ isBehind }) => isBehind).length} of them not copied; answers ${[...statuses].join(' ')}`,
      );
      await until(() => sent.every(({ text }) => scene.readBy(contact).has(text)), 'the contact reads every text that was answered');
      const stored = new Set((await account.messages(contact)).map(({ text }) => text));
      assert.deepEqual(
        sent.filter(({ text, isBehind }) => !isBehind && !stored.has(text)),
        [],
      );
      if (!isSynchronous)
        assert.ok(
          sent.some(({ text, isBehind }) => isBehind && !stored.has(text)),
          'the standby was behind',
        );
      await scene.stored(account, arrived);
      await scene.told(arrived);
      await scene.works(account);
      assert.doesNotMatch(scene.gateway.printed, /unhandledRejection|rashed|surprised/);
    } finally {
      await scene.close();
      await pair.close();
    }
  });
