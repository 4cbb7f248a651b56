/** Tests `POST /admin/restart` over HTTP: permissions, refusals, and an answer that is sent before the stop. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpOptions, RestartAnswer } from '#src/http/options.ts';
import { demoText } from '#src/http/route.ts';
import { asAdmin, asInstance, setUp } from './setup.ts';

const call = { method: 'POST', url: '/admin/restart' } as const;

interface Attempt {
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: Partial<HttpOptions>;
  readonly accepting?: boolean;
  readonly came?: RestartAnswer;
}

const attempts: readonly (readonly [title: string, attempt: Attempt, status: number, error: string | null, asked: number])[] = [
  ['the administrator asks', {}, 202, null, 1],
  ['no token', { headers: {} }, 401, 'Unauthorized', 0],
  ['a wrong token', { headers: { admintoken: 'wrong' } }, 403, 'Invalid AdminToken Header', 0],
  ['the token of an instance', { headers: asInstance }, 401, 'Unauthorized', 0],
  ['a demo server', { options: { demoServer: true } }, 403, demoText, 0],
  ['a restart is under way', { came: 'underWay' }, 409, 'a restart is under way', 1],
  ['a restart is under way, and the service stops for it', { came: 'underWay', accepting: false }, 409, 'a restart is under way', 1],
  ['the server stops', { came: 'stopping', accepting: false }, 503, 'the server is stopping', 1],
];

for (const [title, { headers = asAdmin, options = {}, accepting = true, came = 'begins' }, status, error, asked] of attempts)
  test(`restart: ${title}, answered with ${status}`, async (t) => {
    let requests = 0;
    const restart = (): RestartAnswer => {
      requests += 1;
      return came;
    };
    const { app, gateway } = await setUp(t, { ...options, restart });
    gateway.accepting = accepting;
    const reply = await app.inject({ ...call, headers });
    assert.deepEqual(
      [reply.statusCode, reply.json(), requests],
      [status, error === null ? { message: 'The service restarts' } : { error }, asked],
    );
  });

test('restart: the stop begins after the answer is sent', async (t) => {
  const { promise: left, resolve } = Promise.withResolvers<string>();
  const restart: HttpOptions['restart'] = (answered) => {
    void answered.then(() => resolve('answered'));
    return 'begins';
  };
  const { address, lines } = await setUp(t, { restart });
  const base = await address();
  const order: string[] = [];
  void left.then(() => order.push(...lines.filter(({ event }) => event === 'http.answered').map(({ fields }) => String(fields['status']))));
  const { status } = await fetch(base + call.url, { method: 'POST', headers: asAdmin });
  assert.equal(status, 202);
  assert.equal(await left, 'answered');
  assert.deepEqual(order, ['202']);
});
