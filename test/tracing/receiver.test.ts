/** Tests the traced receiver of webhooks: a post is the same as without tracing, beside its `traceparent`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ports } from '#actors/ports.ts';
import { createTracing } from '#src/tracing/traced.ts';

test('tracing: a post under way can be cut as without tracing', async () => {
  const posts: (readonly unknown[])[] = [];
  const receiver = {
    objection: () => null,
    post: async (...given: readonly unknown[]) => {
      posts.push(given);
      return { ok: true, status: 200, ms: 1, error: '' };
    },
  };
  // No span is exported, because the ratio is 0.
  const tracing = createTracing({ endpoint: 'http://127.0.0.1:9', ratio: 0, version: '1.0.0' });
  const ports = tracing.around({ receiver, platform: {}, journal: {} } as unknown as Ports);
  const cuts = new Set<(reason: Error) => void>();
  await ports.receiver.post('http://127.0.0.1:9/', '{}', { 'webhook-id': 'e1' }, cuts as never);
  assert.equal(posts[0]?.[3], cuts);
  await tracing.close();
});
