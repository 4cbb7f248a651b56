/** Tests speech to text with a real server: requests, answers, and the meaning of each failure for the caller. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Transcriber } from '#src/media/transcriber.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';
import { temporaryFolder } from '#test/support/files.ts';

const key = 'sk-secret-key';
const path = join(await temporaryFolder(), 'voice');
await writeFile(path, 'OggS and some sound');

interface Asked {
  readonly url: string;
  readonly authorization: string;
  readonly form: FormData;
}

/** Starts a server that answers each request by `answer`. It closes after the tests. */
const serve = async (answer: (response: ServerResponse) => void) => {
  const asked: Asked[] = [];
  const hear = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const form = await new Response(body, { headers: { 'content-type': request.headers['content-type'] ?? '' } }).formData();
    asked.push({ url: request.url ?? '', authorization: request.headers.authorization ?? '', form });
    answer(response);
  };
  const server = createServer((request, response) => void hear(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => (server.closeAllConnections(), server.close()));
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
};

const transcriberAt = (url: string, allow: readonly string[] = ['loopback'], timeoutMs = 60_000) => {
  const made = new Transcriber({ guard: new AddressGuard({ allow }), userAgent: 'Test/1', url, model: 'whisper-1', timeoutMs });
  after(() => made.close());
  return made;
};
const voice = { path, name: 'voice.ogg', mimetype: 'audio/ogg' };

test('transcriber: the file is sent to the service with the key, and the text is returned', async () => {
  const { asked, url } = await serve((response) => response.end(JSON.stringify({ text: 'bom dia' })));
  assert.deepEqual(await transcriberAt(url).transcribe(voice, key), { ok: true, value: 'bom dia' });
  const { authorization, form, url: at } = asked[0]!;
  assert.deepEqual([at, authorization, form.get('model')], ['/v1/audio/transcriptions', `Bearer ${key}`, 'whisper-1']);
  const file = form.get('file') as File;
  assert.deepEqual([file.name, file.type, await file.text()], ['voice.ogg', 'audio/ogg', 'OggS and some sound']);
});

const failures: readonly (readonly [title: string, answer: (response: ServerResponse) => void, reason: string, text: RegExp])[] = [
  ['a key that is not taken', (response) => response.writeHead(401).end(`{"error":"bad key ${key}"}`), 'invalid', /does not take the key/],
  ['no credit', (response) => response.writeHead(429).end(), 'limited', /credit/],
  ['a file that is too large', (response) => response.writeHead(413).end(), 'tooLarge', /larger/],
  ['a file that it cannot read', (response) => response.writeHead(400).end(), 'invalid', /refused the file \(400\)/],
  ['a failure of its own', (response) => response.writeHead(502).end(), 'unavailable', /answered 502/],
  ['an answer that is no JSON', (response) => response.end('<html>'), 'unavailable', /gave no transcription/],
  ['an answer without words', (response) => response.end('{"task":"x"}'), 'unavailable', /gave no transcription/],
  [
    'an answer of unknown length that is too long',
    (response) => (response.write(' '.repeat(4_000_000)), response.end(' ')),
    'unavailable',
    /too long|reached/,
  ],
  ['no answer at all', () => undefined, 'unavailable', /no answer in time/],
  ['a connection that breaks', (response) => response.destroy(), 'unavailable', /cannot be reached/],
  ['a redirect', (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(), 'unavailable', /cannot be reached/],
];
for (const [title, answer, reason, text] of failures)
  test(`transcriber: ${title}`, async () => {
    const { url } = await serve(answer);
    const outcome = await transcriberAt(url, undefined, title === 'no answer at all' ? 2_000 : undefined).transcribe(voice, key);
    assert.ok(!outcome.ok);
    assert.equal(outcome.refusal.reason, reason);
    assert.match(outcome.refusal.message, text);
    assert.ok(!outcome.refusal.message.includes(key));
  });

test('transcriber: a forbidden address gets no request, and an invalid key is not sent', async () => {
  const { asked, url } = await serve((response) => response.end('{"text":"x"}'));
  const guarded = await transcriberAt(url, []).transcribe(voice, key);
  assert.match(guarded.ok ? '' : guarded.refusal.message, /not allowed \(loopback\)/);
  const strange = await transcriberAt(url).transcribe(voice, 'a key\r\nx-header: y');
  assert.match(strange.ok ? '' : strange.refusal.message, /is no key/);
  assert.equal(asked.length, 0);
});
