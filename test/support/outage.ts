/** Checks the answers to requests during an outage of the database. Requests that need only memory still work. All other requests fail with the reason. */
import assert from 'node:assert/strict';
import type { GatewayProcess } from './gateway.ts';
import { contact } from './scene.ts';

/** Requests of each kind with the expected status, for a connected instance or for the administrator. */
const requests: readonly (readonly [method: string, path: string, body: object | undefined, status: number, admin?: true])[] = [
  ['GET', '/instance/status', undefined, 200],
  ['GET', '/webhook', undefined, 200],
  ['POST', '/message/find', {}, 503],
  ['POST', '/chat/find', {}, 503],
  ['POST', '/webhook', { enabled: true, url: 'http://127.0.0.1:9/', events: ['messages'] }, 503],
  ['POST', '/instance/updateInstanceName', { name: 'renamed' }, 503],
  ['POST', '/instance/token/rotate', undefined, 503],
  ['POST', '/send/text', { number: contact, text: 'sent into an outage' }, 503],
  ['POST', '/send/text', { number: contact, text: 'sent into an outage', async: true }, 503],
  ['POST', '/instance/hibernate', undefined, 503],
  ['POST', '/instance/create', { name: 'in an outage' }, 503, true],
];

/** Returns the status of an answer, or 0 if no answer arrives in time. */
const statusOf = async (
  gateway: GatewayProcess,
  token: string,
  [method, path, body, , admin]: (typeof requests)[number],
): Promise<number> => {
  try {
    const options = { ms: 30_000, ...(admin ? {} : { token }), ...(body === undefined ? {} : { body }) };
    const { status, body: answer } = await gateway.call(method, path, options);
    if (status !== 200) assert.equal(typeof answer['error'], 'string');
    return status;
  } catch (error) {
    assert.equal((error as Error).name, 'TimeoutError');
    return 0;
  }
};

/** Sends all requests. `token` belongs to a connected instance that is not used afterwards. Calls `before` with the path before each request. */
export const answersInAnOutage = async (
  gateway: GatewayProcess,
  token: string,
  before: (path: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> => {
  const seen: string[] = [];
  for (const request of requests) {
    await before(request[1]);
    seen.push(`${request[0]} ${request[1]}: ${await statusOf(gateway, token, request)}`);
  }
  assert.deepEqual(
    seen,
    requests.map(([method, path, , status]) => `${method} ${path}: ${status}`),
  );
};
