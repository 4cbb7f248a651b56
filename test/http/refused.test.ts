/** Tests the routes of refused entries over HTTP, which are for administrators only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asAdmin, asInstance, setUp } from './setup.ts';

const one = (id: string) => `/admin/refused/r1/${id}`;
const entry = { instanceId: 'r1', id: 'e1', kind: 'message', error: '22003', tries: 1, at: 1 };

for (const [title, method, url, headers, status, body] of [
  ['are listed', 'GET', '/admin/refused', asAdmin, 200, { entries: [entry], more: false }],
  ['are listed for nobody else', 'GET', '/admin/refused', asInstance, 401, { error: 'Unauthorized' }],
  ['are tried again', 'POST', `${one('e1')}/retry`, asAdmin, 200, { message: 'The entry is stored' }],
  ['that are unknown are not tried', 'POST', `${one('e2')}/retry`, asAdmin, 404, { error: 'there is no such entry' }],
  ['are discarded', 'DELETE', one('e1'), asAdmin, 200, { message: 'The entry is deleted' }],
  ['are discarded for nobody else', 'DELETE', one('e1'), {}, 401, { error: 'Unauthorized' }],
] as const)
  test(`refused entries ${title}: ${status}`, async (t) => {
    const { app } = await setUp(t);
    const reply = await app.inject({ method, url, headers: { ...headers } });
    assert.deepEqual([reply.statusCode, reply.json()], [status, body]);
  });
