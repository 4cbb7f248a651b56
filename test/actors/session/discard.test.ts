/** Tests credentials that cannot be removed. The removal is retried, and until it succeeds the session is not shown as logged out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageUnavailable } from '#actors/ports.ts';
import { identity } from '#test/fakes/platform.ts';
import { Chart, keepSound, liveChart } from './chart.ts';

const keep = keepSound();

/** Makes the link unable to remove its credentials until the returned function is called. */
const jam = (chart: Chart): (() => void) => {
  chart.link.broken.add('discard');
  return () => void chart.link.broken.delete('discard');
};

const ways = [
  ['a disconnect', 'deleting', 'delete', 'disconnected.idle', (chart: Chart) => chart.do('instance.disconnect')],
  ['a logout on the phone', 'settingAside', 'setAside', 'disconnected.loggedOut', (chart: Chart) => chart.end(401)],
] as const;

for (const [title, state, how, target, begin] of ways) {
  test(`discard: after ${title} it is retried with growing pauses, and the session counts as logged out when it succeeds`, async () => {
    const chart = keep(await liveChart());
    const { length: news } = chart.news;
    const mend = jam(chart);
    await begin(chart);
    const pauses: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      assert.equal(chart.state, `disconnected.${state}Later`);
      const { retryInMs } = chart.context;
      pauses.push(retryInMs);
      assert.equal(chart.log.of('session.notDiscarded').length, n + 1);
      assert.equal(chart.log.of('session.notDiscarded').at(-1)?.fields['retryInMs'], retryInMs);
      await chart.time.pass(retryInMs);
    }
    for (const [n, pause] of pauses.entries()) {
      const whole = Math.min(300_000, 1000 * 2 ** n);
      assert.ok(pause >= whole / 2 && pause <= whole, `pause ${n} was ${pause} ms`);
    }
    assert.deepEqual([chart.noted.jid, chart.noted.wanted, chart.news.length], [identity.jid, undefined, news]);
    mend();
    await chart.time.pass(chart.context.retryInMs);
    assert.equal(chart.state, target);
    assert.deepEqual([chart.noted.jid, chart.noted.wanted, chart.news.length], ['', 'offline', news + 1]);
    assert.deepEqual(
      chart.link.discarded.map((one) => one.how),
      [how],
    );
    assert.equal(chart.time.armed, 0);
  });

  for (const command of ['connect', 'disconnect'] as const) {
    test(`discard: after ${title} a ${command} retries at once, and opens no connection`, async () => {
      const chart = keep(await liveChart());
      const mend = jam(chart);
      await begin(chart);
      const give = (): Promise<void> => (command === 'connect' ? chart.connect() : chart.do('instance.disconnect'));
      await give();
      assert.match(chart.state, /Later$/);
      assert.equal(chart.log.of('session.notDiscarded').length, 2);
      mend();
      await give();
      assert.equal(chart.state, command === 'connect' ? target : 'disconnected.idle');
      assert.equal(chart.link.opens.length, 1);
    });
  }

  test(`discard: after ${title} a stop does not wait for it, and keeps all that the next start needs`, async () => {
    const chart = keep(await liveChart());
    jam(chart);
    await begin(chart);
    await chart.do('instance.stop');
    assert.equal(chart.state, 'disconnected.idle');
    assert.deepEqual([chart.noted.jid, chart.noted.wanted, chart.time.armed], [identity.jid, undefined, 0]);
  });
}

test('discard: a chart that starts with an interrupted logout logs in, logs out and deletes the credentials', async () => {
  const chart = keep(new Chart('unlinked'));
  await chart.time.pass(1);
  assert.equal(chart.state, 'unlinking.opening');
  await chart.login();
  assert.equal(chart.state, 'disconnected.idle');
  assert.deepEqual([chart.link.logouts, chart.link.discarded.length, chart.noted.wanted], [1, 1, 'offline']);
});

test('unlink: if storage is away when the credentials are read, the read is repeated within the limit', async () => {
  const chart = keep(new Chart('asleep'));
  let away = true;
  const paired = chart.link.paired.bind(chart.link);
  chart.link.paired = () => (away ? Promise.reject(new StorageUnavailable('away')) : paired());
  await chart.do('instance.disconnect');
  assert.equal(chart.state, 'unlinking.waiting');
  away = false;
  await chart.time.pass(chart.context.retryInMs);
  assert.equal(chart.state, 'unlinking.opening');
  await chart.login();
  assert.deepEqual([chart.state, chart.link.logouts], ['disconnected.idle', 1]);
  assert.deepEqual(chart.log.of('session.stillLinked'), []);
});
