/** Tests every route with wrong input: a clear error in the usual format, never a 500, and no call to the simulated world. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { mediaBodyLimit } from '#src/sandbox/control/contents.ts';
import { SandboxError } from '#src/sandbox/interface.ts';
import { callerCheck } from '#src/sandbox/control/guard.ts';
import { serve } from './serve.ts';

const { sandbox, call, surprises } = await serve({ after });
const ana = '5511988880001';
const messages = `/contacts/${ana}/messages`;
const group = '/groups/120363000000000001@g.us';
const channel = '/channels/120363000000000001@newsletter';
const to = '5511900000001';

/** Method, path, body, status, and the expected error. */
const requests: readonly (readonly [string, string, unknown, number, RegExp])[] = [
  ['POST', '/phones/scan', undefined, 400, /^qrcode or qr is required$/],
  ['POST', '/phones/scan', {}, 400, /^qrcode or qr is required$/],
  ['POST', '/phones/scan', '', 400, /^qrcode or qr is required$/],
  ['POST', '/phones/scan', '{"qr":', 400, /^the body is not valid JSON$/],
  ['POST', '/phones/scan', '{"__proto__":{"qr":"2@,"}}', 400, /^the body is not valid JSON$/],
  ['POST', '/phones/scan', '[]', 400, /^body must be object$/],
  ['POST', '/phones/scan', '"text"', 400, /^body must be object$/],
  ['POST', '/phones/scan', 'null', 400, /^qrcode or qr is required$/],
  ['POST', '/phones/scan', { qr: {} }, 400, /^qr must be the text inside the QR code$/],
  ['POST', '/phones/scan', { qr: 'a,', number: '+55 11' }, 400, /^number must be an international number/],
  ['POST', '/phones/scan', { qr: 'a,', number: '1'.repeat(16) }, 400, /^number must be an international number/],
  ['POST', '/phones/scan', { qr: 'a,', name: '' }, 400, /^name must be a name/],
  ['POST', '/phones/scan', { qrcode: 'hello' }, 400, /^qrcode must be a PNG picture$/],
  ['POST', '/phones/scan', { qrcode: 'data:image/png,abc' }, 400, /^qrcode must be a base64 data URL$/],
  ['POST', '/phones/scan', { qr: 'a,', history: { chats: 1 } }, 400, /^messages is required$/],
  ['POST', '/phones/scan', { qr: 'a,', history: { chats: 1e9, messages: 1 } }, 400, /^history\.chats must be <= 5000$/],
  ['POST', '/phones/code', { number: ana }, 400, /^code is required$/],
  ['POST', '/phones/code', { number: ana, code: 'ABC' }, 400, /^code must be a pairing code of 8 characters$/],
  ['POST', '/phones/code', { code: 'ABCD1234' }, 400, /^number is required$/],
  ['POST', '/phones/ana/logout', undefined, 400, /^number must be an international number/],
  ['PUT', '/phones/123', {}, 400, /^number must be an international number/],
  ['PUT', `/phones/${ana}`, { autoDeliver: 'perhaps' }, 400, /^autoDeliver must be/],
  ['PUT', `/phones/${ana}`, { name: 'n'.repeat(101) }, 400, /^name must be a name of 1 to 100/],
  ['POST', messages, undefined, 400, /^to is required$/],
  ['POST', messages, { to }, 400, /^text is required$/],
  ['POST', messages, { to, text: '' }, 400, /^text must be a text of 1/],
  ['POST', messages, { to, text: null }, 400, /^text must be a text of 1/],
  ['POST', messages, { to, text: ['a', 'b'] }, 400, /^text must be/],
  ['POST', messages, { to: 'x@s.whatsapp.net', text: 'a' }, 400, /^to must be an international number/],
  ['POST', messages, { to, text: 'a', addressing: 'both' }, 400, /^addressing must be one of pn,lid$/],
  ['POST', messages, { to, type: 'hologram' }, 400, /^type must be one of text,image/],
  ['POST', messages, { to, type: 7 }, 400, /^type must be one of text,image/],
  ['POST', messages, { to, type: 'image' }, 400, /^data is required$/],
  ['POST', messages, { to, type: 'image', data: 'ä' }, 400, /^data must be base64/],
  ['POST', messages, { to, type: 'image', data: 'data:image/png;base64,' }, 400, /^data must be base64/],
  ['POST', messages, { to, type: 'reaction', emoji: 'x' }, 400, /^messageId is required$/],
  ['POST', messages, { to, type: 'poll', name: 'q', options: ['one'] }, 400, /^options must be a list of 2 to 12 options$/],
  ['POST', messages, { to, type: 'location', latitude: 91, longitude: 0 }, 400, /^latitude must be <= 90$/],
  ['GET', `${messages}?limit=0`, undefined, 400, /^limit must be a number from 1/],
  ['GET', `${messages}?limit=many`, undefined, 400, /^limit must be a number from 1/],
  ['GET', `${messages}?after=NOBODY`, undefined, 404, /^no message NOBODY$/],
  ['POST', `/contacts/${ana}/receipts`, {}, 400, /^type is required$/],
  ['POST', `/contacts/${ana}/receipts`, { type: 'seen' }, 400, /^type must be one of delivered,read,played$/],
  ['POST', `/contacts/${ana}/receipts`, { type: 'read', ids: [] }, 400, /^ids must be a list/],
  ['POST', `/contacts/${ana}/presence`, { state: 'asleep' }, 400, /^state must be one of composing/],
  ['POST', '/groups', { subject: 's', creator: ana }, 400, /^participants is required$/],
  ['POST', '/groups', { subject: 's', creator: ana, participants: [] }, 400, /^participants must be a list of 1/],
  ['POST', '/groups', { subject: 's', creator: ana, participants: ['x'] }, 400, /^participants\.0 must be an international number/],
  ['POST', '/groups', { subject: 's', creator: ana, participants: [to], addressing: 'x' }, 400, /^addressing must be one of pn,lid$/],
  ['POST', '/groups/nobody', { by: ana, action: 'add', participants: [to] }, 400, /^jid must be the jid of a group/],
  ['POST', group, { by: ana }, 400, /^action is required$/],
  [
    'POST',
    group,
    { by: ana, action: 'paint' },
    400,
    /^action must be one of add,remove,promote,demote,approve,reject,subject,description,announce,locked,approval,adminAdd,ephemeral,invite$/,
  ],
  ['POST', group, { by: ana, action: 'add' }, 400, /^participants is required$/],
  ['POST', group, { by: ana, action: 'subject' }, 400, /^text is required$/],
  ['POST', group, { action: 'locked', on: true }, 400, /^by is required$/],
  ['POST', '/channels', { name: 'n' }, 400, /^owner is required$/],
  ['POST', '/channels', { name: '', owner: ana }, 400, /^name must be a name/],
  ['GET', '/channels/120363000000000001@newsletter', undefined, 404, /^no channel/],
  ['POST', '/channels/nobody', { by: ana, action: 'follow' }, 400, /^jid must be the jid of a channel/],
  ['POST', channel, { by: ana, action: 'paint' }, 400, /^action must be one of follow,unfollow,mute/],
  ['POST', channel, { by: ana, action: 'inviteAdmin' }, 400, /^who is required$/],
  ['POST', channel, { by: ana, action: 'reactions', value: 'SOME' }, 400, /^value must be one of ALL,BASIC,NONE$/],
  ['POST', `${channel}/facts`, { country: 'brazil' }, 400, /^country must be two capital letters/],
  ['POST', '/faults', {}, 400, /^kind is required$/],
  ['POST', '/faults', { kind: 'earthquake' }, 400, /^kind must be one of close,/],
  ['POST', '/faults', { kind: 'close', code: 'x' }, 400, /^code must be a status code$/],
  ['POST', '/faults', { kind: 'delay', ms: -1 }, 400, /^ms must be a time/],
  ['GET', '/nothing', undefined, 404, /^nothing is at \/nothing$/],
  ['GET', '/page/../../control/app.ts', undefined, 404, /^nothing is at/],
  ['GET', '/page/..%2F..%2Finterface.ts', undefined, 404, /^nothing is at/],
  ['GET', '/%zz', undefined, 400, /^the address is not a valid URL$/],
  ['GET', `/contacts/${'1'.repeat(3000)}/messages`, undefined, 414, /./],
  ['DELETE', '/phones', undefined, 405, /^\/phones does not know the method DELETE$/],
  ['POST', '/stats', {}, 405, /^\/stats does not know the method POST$/],
  ['GET', '/phones/scan', undefined, 405, /^\/phones\/scan does not know the method GET$/],
];

for (const [method, path, body, status, error] of requests) {
  const shown = body === undefined ? '' : ` ${typeof body === 'string' ? body : JSON.stringify(body)}`;
  test(`control: ${method} ${path.slice(0, 60)}${shown.slice(0, 90)} answers ${status}`, async () => {
    const answer = await call(method, path, body);
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    assert.deepEqual(Object.keys(answer.body as object), ['error']);
    assert.match((answer.body as { error: string }).error, error);
    assert.deepEqual(sandbox.calls, []);
  });
}

test('control: a wrong method names the right ones', async () => {
  assert.equal((await call('DELETE', '/phones')).headers.allow, 'GET, HEAD');
  assert.equal((await call('GET', `/phones/${ana}/logout`)).headers.allow, 'POST');
});

test('control: only JSON is accepted, because a foreign page could send other types without a preflight request', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const { status, body } = await call('POST', '/faults', '{"kind":"close"}', { 'content-type': type });
    assert.equal(status, 415);
    assert.deepEqual(body, { error: 'the body must be JSON, with the header content-type: application/json' });
  }
  assert.deepEqual(sandbox.calls, []);
});

test('control: bodies are limited; routes that take media have a higher limit', async () => {
  const large = { text: 'a'.repeat(2 * 1024 * 1024), to };
  assert.equal((await call('POST', '/faults', large)).status, 413);
  assert.deepEqual((await call('POST', messages, large)).status, 400);
  const header = { 'content-length': String(mediaBodyLimit + 1) };
  const { status, body } = await call('POST', messages, '{', header);
  assert.equal(status, 413);
  assert.deepEqual(body, { error: 'the body is too large' });
});

/** Headers, and whether a caller with them is accepted. */
const callers: readonly (readonly [Readonly<Record<string, string>>, number])[] = [
  [{ host: 'localhost' }, 200],
  [{ host: 'localhost:3001' }, 200],
  [{ host: 'dormouse.localhost:3001' }, 200],
  [{ host: '127.0.0.1:3001' }, 200],
  [{ host: '127.9.9.9' }, 200],
  [{ host: '[::1]:3001' }, 200],
  [{ host: '127.0.0.1:3001', origin: 'http://127.0.0.1:3001' }, 200],
  [{ host: 'example.com' }, 403],
  [{ host: 'localhost.example.com' }, 403],
  [{ host: '127.0.0.1.example.com' }, 403],
  [{ host: 'localhost@example.com' }, 403],
  [{ host: 'example.com/localhost' }, 403],
  [{ host: '10.0.0.1:3001' }, 403],
  [{ host: '127.0.0.1:3001', origin: 'http://example.com' }, 403],
  [{ host: '127.0.0.1:3001', origin: 'http://127.0.0.1:3000' }, 403],
  [{ host: '127.0.0.1:3001', origin: 'null' }, 403],
];

for (const [headers, status] of callers) {
  test(`control: a caller with ${JSON.stringify(headers)} gets ${status}`, async () => {
    for (const path of ['/stats', '/', '/docs/', '/nothing']) {
      const answer = await call('GET', path, undefined, headers);
      assert.equal(answer.status === 403, status === 403, `${path}: ${answer.status}`);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
  });
}

test('control: opened to a network it answers under every name, and to no page of another origin', async () => {
  const check = callerCheck(true);
  await check({ headers: { host: 'sandbox:3001', origin: 'http://sandbox:3001' } });
  await assert.rejects(check({ headers: { host: 'sandbox:3001', origin: 'http://example.com' } }), { status: 403 });
});

test('control: an error of the world keeps its status and text; an unexpected error is a 500 and is reported', async (t) => {
  const logout = t.mock.method(sandbox, 'logout');
  logout.mock.mockImplementation(() => Promise.reject(new SandboxError(409, 'the phone has no linked device')));
  const refused = await call('POST', `/phones/${ana}/logout`);
  assert.deepEqual([refused.status, refused.body], [409, { error: 'the phone has no linked device' }]);
  assert.deepEqual(surprises, []);
  const surprise = new Error('key 0123 leaked');
  logout.mock.mockImplementation(() => Promise.reject(surprise));
  const broken = await call('POST', `/phones/${ana}/logout`);
  assert.deepEqual([broken.status, broken.body], [500, { error: 'internal error' }]);
  assert.deepEqual(surprises, [surprise]);
});
