/** Tests the effect of each command on a session in each of its states. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identity } from '#test/fakes/platform.ts';
import { settle } from '#test/fakes/time.ts';
import { Chart, keepSound, liveChart } from './chart.ts';

const keep = keepSound();

const online = async (): Promise<Chart> => {
  const chart = new Chart('online');
  await settle();
  return chart;
};

/** Ways to every state in which a session can stay. */
const resting: Readonly<Record<string, () => Promise<Chart>>> = {
  'disconnected.idle': async () => new Chart(),
  'disconnected.loggedOut': async () => {
    const chart = await liveChart();
    await chart.end(401);
    return chart;
  },
  'disconnected.refused': async () => {
    const chart = await liveChart();
    await chart.end(403);
    return chart;
  },
  'connecting.admission': async () => {
    const chart = new Chart('offline', { handshakes: { atOnce: 1, perSecond: 1 } });
    await chart.gate.admit('other', new AbortController().signal);
    await chart.connect();
    return chart;
  },
  'connecting.opening': online,
  'connecting.authenticating': async () => {
    const chart = await online();
    chart.link.say({ type: 'platform.handshaken' });
    return chart;
  },
  'connecting.pairing': async () => {
    const chart = new Chart();
    await chart.connect();
    chart.link.say({ type: 'platform.handshaken' }, { type: 'platform.qr', qr: 'one' });
    await settle();
    return chart;
  },
  'connecting.waiting': async () => {
    const chart = await online();
    await chart.end(428);
    return chart;
  },
  connected: () => liveChart(),
  'hibernated.asleep': async () => new Chart('asleep'),
};

/** The final state after each command, by the state before it. */
const outcomes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'instance.disconnect': {
    'disconnected.idle': 'disconnected.idle',
    'disconnected.loggedOut': 'disconnected.idle',
    'disconnected.refused': 'unlinking.opening',
    'connecting.admission': 'disconnected.idle',
    'connecting.opening': 'unlinking.opening',
    'connecting.authenticating': 'unlinking.opening',
    'connecting.pairing': 'disconnected.idle',
    'connecting.waiting': 'unlinking.opening',
    connected: 'disconnected.idle',
    'hibernated.asleep': 'unlinking.opening',
  },
  'instance.hibernate': {
    'disconnected.idle': 'disconnected.idle',
    'disconnected.loggedOut': 'disconnected.loggedOut',
    'disconnected.refused': 'disconnected.refused',
    'connecting.admission': 'hibernated.asleep',
    'connecting.opening': 'hibernated.asleep',
    'connecting.authenticating': 'hibernated.asleep',
    'connecting.pairing': 'hibernated.asleep',
    'connecting.waiting': 'hibernated.asleep',
    connected: 'hibernated.asleep',
    'hibernated.asleep': 'hibernated.asleep',
  },
  'instance.reset': {
    'disconnected.idle': 'disconnected.idle',
    'disconnected.loggedOut': 'disconnected.loggedOut',
    'disconnected.refused': 'disconnected.refused',
    'connecting.admission': 'connecting.admission',
    'connecting.opening': 'connecting.opening',
    'connecting.authenticating': 'connecting.opening',
    'connecting.pairing': 'connecting.opening',
    'connecting.waiting': 'connecting.opening',
    connected: 'connecting.opening',
    'hibernated.asleep': 'hibernated.asleep',
  },
  'instance.rest': {
    'disconnected.idle': 'disconnected.idle',
    'disconnected.loggedOut': 'disconnected.loggedOut',
    'disconnected.refused': 'disconnected.refused',
    'connecting.admission': 'disconnected.idle',
    'connecting.opening': 'disconnected.idle',
    'connecting.authenticating': 'disconnected.idle',
    'connecting.pairing': 'disconnected.idle',
    'connecting.waiting': 'disconnected.idle',
    connected: 'disconnected.idle',
    'hibernated.asleep': 'disconnected.idle',
  },
  'instance.stop': {
    'disconnected.idle': 'disconnected.idle',
    'disconnected.loggedOut': 'disconnected.loggedOut',
    'disconnected.refused': 'disconnected.refused',
    'connecting.admission': 'disconnected.idle',
    'connecting.opening': 'disconnected.idle',
    'connecting.authenticating': 'disconnected.idle',
    'connecting.pairing': 'disconnected.idle',
    'connecting.waiting': 'disconnected.idle',
    connected: 'disconnected.idle',
    'hibernated.asleep': 'hibernated.asleep',
  },
};

type Ending = 'instance.rest' | 'instance.disconnect' | 'instance.hibernate' | 'instance.reset' | 'instance.stop';

for (const [state, reach] of Object.entries(resting)) {
  for (const [command, targets] of Object.entries(outcomes)) {
    test(`command: ${command} in ${state} leads to ${targets[state]}`, async () => {
      const chart = keep(await reach());
      assert.equal(chart.state, state);
      await chart.do(command as Ending);
      assert.equal(chart.state, targets[state]);
      if (!/^(connecting|unlinking)/.test(targets[state] ?? '')) assert.equal(chart.link.state, 'closed');
    });
  }
}

for (const state of ['disconnected.idle', 'disconnected.loggedOut', 'disconnected.refused', 'connecting.waiting', 'hibernated.asleep']) {
  test(`command: instance.connect in ${state} opens a connection`, async () => {
    const chart = keep(await (resting[state] as () => Promise<Chart>)());
    const before = chart.link.opens.length;
    await chart.connect();
    assert.equal(chart.link.opens.length, before + 1);
  });
}

for (const state of ['connecting.admission', 'connecting.opening', 'connecting.authenticating', 'connecting.pairing', 'connected']) {
  test(`command: instance.connect in ${state} joins the attempt under way`, async () => {
    const chart = keep(await (resting[state] as () => Promise<Chart>)());
    const before = chart.link.opens.length;
    await chart.connect();
    assert.equal(chart.state, state);
    assert.equal(chart.link.opens.length, before);
  });
}

test('command: stop of a session in the queue of the gate leaves the queue', async () => {
  const chart = keep(await (resting['connecting.admission'] as () => Promise<Chart>)());
  assert.equal(chart.gate.waiting, 1);
  await chart.do('instance.stop');
  assert.equal(chart.gate.waiting, 0);
  chart.gate.release('other');
  await chart.time.pass(10_000);
  assert.equal(chart.link.opens.length, 0);
});

test('command: disconnect logs out at the platform, deletes the credentials and announces it', async () => {
  const chart = keep(await liveChart());
  await chart.do('instance.disconnect');
  assert.equal(chart.link.logouts, 1);
  assert.deepEqual(chart.link.discarded, [{ how: 'delete', reason: 'disconnected by the user' }]);
  assert.equal(chart.noted.jid, '');
  assert.equal(chart.noted.wanted, 'offline');
  assert.equal(chart.news.at(-1)?.status, 'disconnected');
  assert.equal(chart.news.at(-1)?.loggedOut, true);
});

test('command: hibernate keeps the credentials and announces it, and a connect wakes the session', async () => {
  const chart = keep(await liveChart());
  await chart.do('instance.hibernate');
  assert.equal(chart.link.logouts, 0);
  assert.deepEqual(chart.link.discarded, []);
  assert.equal(chart.noted.wanted, 'asleep');
  assert.deepEqual(chart.news.at(-1), { status: 'hibernated' });
  assert.equal(chart.time.armed, 0);
  await chart.connect();
  await chart.login();
  assert.equal(chart.state, 'connected');
});

test('command: stop closes, and changes neither the stored wish nor the credentials', async () => {
  const chart = keep(await liveChart());
  const notes = chart.notes.length;
  const news = chart.news.length;
  await chart.do('instance.stop');
  assert.equal(chart.link.logouts, 0);
  assert.deepEqual(chart.link.discarded, []);
  assert.equal(chart.notes.length, notes);
  assert.equal(chart.news.length, news);
});

for (const [command, state] of [
  ['instance.disconnect', 'disconnected.loggingOut'],
  ['instance.stop', 'disconnected.closing'],
  ['instance.hibernate', 'hibernated.closing'],
  ['instance.reset', 'connecting.closing'],
] as const) {
  test(`command: while ${command} closes the socket the chart is in ${state}, and a connect opens no second one`, async () => {
    const chart = keep(await liveChart());
    const { promise, resolve } = Promise.withResolvers<void>();
    chart.link.closeGate = promise;
    await chart.do(command);
    assert.equal(chart.state, state);
    assert.ok(chart.actor.getSnapshot().hasTag('closing'));
    await chart.connect();
    assert.equal(chart.state, state);
    assert.equal(chart.link.opens.length, 1);
    resolve();
    await settle();
    assert.ok(!chart.actor.getSnapshot().hasTag('closing'));
    chart.link.closeGate = null;
    if (command !== 'instance.reset') await chart.connect();
    await chart.login();
    assert.equal(chart.state, 'connected');
  });
}

test('command: a link whose close fails does not keep the chart from ending', async () => {
  const chart = keep(await liveChart());
  chart.link.broken.add('close');
  await chart.do('instance.disconnect');
  assert.equal(chart.state, 'disconnected.idle');
});

/* ---------- operations ---------- */

for (const state of Object.keys(resting)) {
  test(`operation: a request in ${state} is ${state === 'connected' ? 'taken' : 'refused'}`, async () => {
    const chart = keep(await (resting[state] as () => Promise<Chart>)());
    let ran = false;
    await chart.request(1, async () => {
      ran = true;
    });
    assert.equal(ran, state === 'connected');
  });
}

test('operation: it is a child actor while it runs, and leaves nothing behind however it ends', async () => {
  const chart = keep(await liveChart());
  const { promise, resolve } = Promise.withResolvers<void>();
  await chart.request(1, () => promise);
  await chart.request(2, () => Promise.reject(new Error('no')));
  await chart.request(3, async () => undefined);
  assert.deepEqual(chart.children.toSorted(), ['link', 'op.1']);
  resolve();
  await settle();
  assert.deepEqual(chart.children, ['link']);
  assert.equal(chart.state, 'connected');
});

test('operation: one that ends after the session closed leaves nothing behind', async () => {
  const chart = keep(await liveChart());
  const { promise, resolve } = Promise.withResolvers<void>();
  await chart.request(1, () => promise);
  await chart.end(428);
  resolve();
  await settle();
  assert.deepEqual(chart.children, []);
  assert.equal(chart.state, 'connecting.waiting');
});

test('operation: its signal aborts when the session leaves connected, and not when the operation has ended by itself', async () => {
  const chart = keep(await liveChart());
  const signals: AbortSignal[] = [];
  const noting = (work: Promise<unknown>) => (signal: AbortSignal) => {
    signals.push(signal);
    return work;
  };
  await chart.request(1, noting(Promise.resolve()));
  await chart.request(2, noting(new Promise(() => undefined)));
  await chart.end(428);
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [false, true],
  );
});

test('operation: thousands of them leave no child actor behind', async () => {
  const chart = keep(await liveChart());
  for (let n = 0; n < 3000; n += 1) {
    chart.actor.send({ type: 'instance.request', n, run: async () => n });
    if (n % 50 === 49) await settle();
  }
  assert.deepEqual(chart.children, ['link']);
  assert.equal(chart.time.armed, 0);
});

test('operation: all of them use one event type, because XState never forgets a type', async () => {
  const types = new Set<string>();
  const chart = keep(await liveChart({}, 1, (event) => void (event.type === '@xstate.event' && types.add(event.event.type))));
  types.clear();
  for (let n = 0; n < 20; n += 1) await chart.request(n, n % 2 === 0 ? async () => n : () => Promise.reject(new Error('no')));
  await settle();
  assert.deepEqual(chart.children, ['link']);
  assert.deepEqual([...types].filter((type) => !type.startsWith('xstate.init') && !type.startsWith('xstate.stop')).toSorted(), [
    'instance.request',
    'operation.ended',
  ]);
});

test('chart: a live session holds no timer and no place in the gate', async () => {
  const chart = keep(new Chart('online', { handshakes: { atOnce: 1, perSecond: 100 } }));
  await settle();
  chart.link.say({ type: 'platform.handshaken' }, { type: 'platform.opened', identity });
  await settle();
  assert.equal(chart.time.armed, 0);
  await chart.gate.admit('other', new AbortController().signal);
});
