/** Tests traces: a request from HTTP to the answer of the platform, and a message from its arrival to the answer of the receiver. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CollectedSpan, openCollector, valueOf } from '#test/support/collector.ts';
import { adminToken } from '#test/support/gateway.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

test('traces: the steps of a send and of an arrival are linked in one trace each, and contain no personal data', async (t) => {
  const collector = await openCollector();
  t.after(() => collector.close());
  const scene = await Scene.open({ OTLP_ENDPOINT: collector.url });
  t.after(() => scene.close());
  const account = await scene.paired();
  const parent = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };
  const [out, back] = ['a traced text', 'a traced answer'];
  const sent = await scene.gateway.call('POST', '/send/text', {
    token: account.token,
    body: { number: contact, text: out },
    headers: { traceparent: `00-${parent.trace}-${parent.span}-01` },
  });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await scene.write(account, back);
  const posted = await until(() => scene.receiver.posted.find(({ body }) => JSON.stringify(body).includes(back)), 'the answer arrives');
  await scene.gateway.end('SIGTERM');

  const named = (name: string, trace: string): CollectedSpan => {
    const found = collector.spans.find((span) => span.name === name && span.traceId === trace);
    return found ?? assert.fail(`no span ${name} among ${collector.spans.map((span) => span.name).join(', ')}`);
  };
  const request = named('POST /send/text', parent.trace);
  assert.equal(request.parentSpanId, parent.span);
  assert.equal(valueOf(request, 'http.response.status_code'), 200);
  assert.equal(named('platform message.transmit', parent.trace).parentSpanId, request.spanId);

  const [, trace = '', span = ''] = /^00-([\da-f]{32})-([\da-f]{16})-01$/.exec(String(posted.headers['traceparent'])) ?? [];
  const event = named('event messages', trace);
  assert.equal(event.parentSpanId ?? '', '');
  assert.equal(valueOf(event, 'dormouse.event'), posted.id);
  const attempt = named('webhook POST', trace);
  assert.deepEqual([attempt.spanId, attempt.parentSpanId, valueOf(attempt, 'http.response.status_code')], [span, event.spanId, 200]);

  const all = collector.bodies.join('\n');
  for (const secret of [adminToken, account.token, account.number, contact, out, back, scene.receiver.url])
    assert.ok(!all.includes(secret), `a span holds ${secret}`);
});

test('traces: without a collector a webhook carries no trace header', async (t) => {
  const scene = await Scene.open();
  t.after(() => scene.close());
  await scene.works(await scene.paired());
  await until(() => scene.receiver.posted.length > 0, 'a webhook arrives');
  assert.ok(scene.receiver.posted.every(({ headers }) => headers['traceparent'] === undefined));
});
