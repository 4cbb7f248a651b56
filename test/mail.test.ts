/** Tests mails over SMTP to a real server on loopback: content, encryption, refusals, silence, and forbidden addresses. */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createMailer } from '#src/mail/mailer.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';
import { mailLogin, openMailServer } from '#test/support/alert-channels.ts';

const mail = {
  id: 'abc',
  from: 'Gateway <gateway@test.example>',
  to: ['ana@test.example', 'bea@test.example'],
  subject: 'Dormouse: 2 sessions, Olá',
  text: 'line one\n.\nline two',
};
const mailer = (timeoutMs = 60_000) => createMailer({ guard: new AddressGuard({ allow: ['loopback'] }), timeoutMs });
const place = { host: '127.0.0.1', security: 'none' as const, ...mailLogin };

const server = async (t: TestContext, options: Parameters<typeof openMailServer>[0] = {}) => {
  const opened = await openMailServer(options);
  t.after(() => opened.close());
  return opened;
};

test('mail: all recipients get the whole text, after a login', async (t) => {
  const { port, mails } = await server(t);
  assert.deepEqual(await mailer().send({ ...place, port }, mail), { sent: true, error: '' });
  const [got] = mails;
  assert.deepEqual([got?.from, got?.to, got?.user, got?.isEncrypted], ['gateway@test.example', mail.to, mailLogin.user, false]);
  assert.match(got?.text ?? '', /^From: Gateway <gateway@test\.example>\r\n/m);
  assert.match(got?.text ?? '', /^Message-ID: <abc@dormouse>\r\n/m);
  assert.match(got?.text ?? '', /\r\n\r\nline one\r\n\.\r\nline two/);
});

test('mail: no login is sent to a server that requires none', async (t) => {
  const { port, mails } = await server(t, { authOptional: true });
  assert.deepEqual(await mailer().send({ ...place, port, user: '', password: '' }, mail), { sent: true, error: '' });
  assert.equal(mails[0]?.user, '');
});

test('mail: with startTls no password is sent before encryption begins, and a server without STARTTLS is refused', async (t) => {
  const plain = await server(t);
  const refused = await mailer().send({ ...place, port: plain.port, security: 'startTls' }, mail);
  assert.ok(!refused.sent);
  assert.match(refused.error, /encryption|TLS|connection/);
  // The certificate of the test server has no trusted issuer.
  const encrypted = await server(t, { disabledCommands: [] });
  const untrusted = await mailer().send({ ...place, port: encrypted.port, security: 'startTls' }, mail);
  assert.deepEqual(untrusted, { sent: false, error: 'the certificate of the mail server is not trusted' });
  assert.deepEqual([plain.mails, encrypted.mails], [[], []]);
});

test('mail: the errors for a wrong password and for a refused recipient do not quote the server', async (t) => {
  const { port } = await server(t, {
    onRcptTo: ({ address }, _session, done) => done(address.startsWith('bea') ? null : new Error(`no ${address} here`)),
  });
  assert.deepEqual(await mailer().send({ ...place, port, password: 'guessed-secret' }, mail), {
    sent: false,
    error: 'the mail server does not take the user and the password (535)',
  });
  const refused = await mailer().send({ ...place, port }, { ...mail, to: ['ana@test.example'] });
  assert.deepEqual(refused, { sent: false, error: 'the mail server does not take the sender or a recipient (550)' });
});

test('mail: a server that accepts one of two recipients has sent the mail, and the refused one is reported', async (t) => {
  const { port, mails } = await server(t, {
    onRcptTo: ({ address }, _session, done) => done(address.startsWith('bea') ? null : new Error(`no ${address} here`)),
  });
  assert.deepEqual(await mailer().send({ ...place, port }, mail), {
    sent: true,
    error: 'the mail server did not take 1 of 2 recipients',
  });
  assert.deepEqual(mails[0]?.to, ['bea@test.example']);
});

test('mail: an attempt fails at the time-out if the server is silent, and at once if no server listens', async (t) => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  t.after(() => silent.close());
  const began = performance.now();
  assert.deepEqual(await mailer(500).send({ ...place, port }, mail), { sent: false, error: 'the mail server gave no answer in time' });
  assert.ok(performance.now() - began < 30_000);
  await new Promise((resolve) => silent.close(resolve));
  const away = await mailer().send({ ...place, port }, mail);
  assert.deepEqual(away, { sent: false, error: 'the mail server refuses connections at this port' });
});

test('mail: a port without TLS and a server that closes the connection have their own error texts', async (t) => {
  const { port } = await server(t);
  assert.deepEqual(await mailer().send({ ...place, port, security: 'tls' }, mail), {
    sent: false,
    error: 'the mail server does not speak TLS at this port',
  });
  for (const hangUp of ['end', 'resetAndDestroy'] as const) {
    const brief = createServer((socket) => void socket.on('error', () => undefined)[hangUp]());
    await new Promise<void>((resolve) => void brief.listen(0, '127.0.0.1', resolve));
    t.after(() => brief.close());
    const gone = await mailer().send({ ...place, port: (brief.address() as AddressInfo).port }, mail);
    assert.deepEqual(gone, { sent: false, error: 'the mail server closed the connection' });
  }
});

test('mail: no connection is made to forbidden addresses', async (t) => {
  const { port, mails } = await server(t, { authOptional: true });
  const strict = createMailer({ guard: new AddressGuard({ allow: [] }), timeoutMs: 2_000 });
  for (const host of ['127.0.0.1', 'localhost', '::1', '169.254.169.254']) {
    const refused = await strict.send({ ...place, host, port }, mail);
    assert.ok(!refused.sent && /not allowed .*ALLOW_PRIVATE_RECEIVERS/.test(refused.error), `${host}: ${JSON.stringify(refused)}`);
  }
  // This guard resolves a public name to a private address.
  const guard = new AddressGuard({ allow: [], resolve: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]) });
  const hidden = await createMailer({ guard, timeoutMs: 2_000 }).send({ ...place, host: 'mail.example', port }, mail);
  assert.ok(!hidden.sent);
  assert.deepEqual(mails, []);
});
