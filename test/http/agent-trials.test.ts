/** Tests trials of agents over HTTP. A trial ends when its caller leaves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asInstance, setUp, until } from './setup.ts';

const body = JSON.stringify({ agent_id: 'a1', messages: [{ role: 'user', text: 'hi' }] });

test('trials: a client that leaves ends its trial, and one that gets its answer ends none', async (t) => {
  const { gateway, address } = await setUp(t);
  const [tried, ended] = [[] as string[], [] as string[]];
  const { promise: unanswered, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof gateway.tryAgent>>>();
  const answered = gateway.tryAgent;
  gateway.tryAgent = (id, trial) => {
    tried.push(trial.key);
    return tried.length === 1 ? answered(id, trial) : unanswered;
  };
  gateway.endTrial = async (_id, key) => {
    ended.push(key);
    return { ok: true, value: null };
  };
  const url = `${await address()}/agent/try`;
  const request = { method: 'POST', headers: { ...asInstance, 'content-type': 'application/json' }, body };
  assert.equal((await fetch(url, request)).status, 200);
  const gone = new AbortController();
  const asked = fetch(url, { ...request, signal: gone.signal });
  await until(() => tried.length === 2);
  gone.abort();
  await assert.rejects(asked, { name: 'AbortError' });
  await until(() => ended.length > 0);
  assert.deepEqual(ended, tried.slice(1));
  resolve({ ok: true, value: { text: '', error: 'no answer in time', tokens: 0, tools: [] } });
});
