/** Tests the requests between nodes, and the handling of their answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OtherNodes } from '#actors/cluster/other-nodes.ts';
import type { Dropped } from '#actors/delivery/sweeper.ts';
import type { LiveNode } from '#actors/ports.ts';

/** Connects nodes directly to each other. The nodes of `strangers` reply null to every request. */
const meeting = (counts: Readonly<Record<string, Readonly<Record<string, Dropped>>>>, strangers: readonly string[] = []) => {
  const nodes = new Map<string, OtherNodes>();
  const live = [...Object.keys(counts), ...strangers].map((name) => ({ name }) as LiveNode);
  for (const [me, dropped] of Object.entries(counts))
    nodes.set(
      me,
      new OtherNodes({
        me,
        nodes: () => live,
        ask: async (node, question) => (await nodes.get(node)?.answer(question)) ?? null,
        owns: () => false,
        owned: () => [],
        view: () => null,
        rows: () => null,
        globalErrors: () => ({ since: 0, errors: [] }),
        dropped: (webhookId) => dropped[webhookId] ?? {},
        nudge: () => undefined,
        take: async () => false,
        reserveSlot: () => false,
        settled: async () => undefined,
        drain: async () => undefined,
      }),
    );
  return nodes;
};

test('other nodes: dropped events of any node are counted on all nodes, for each webhook', async () => {
  const counts = { onDuty: { w1: { presence: 3, chats: 1 }, w2: { messages: 2 } }, before: { w1: { presence: 4 } }, third: {} };
  for (const node of meeting(counts, ['of an older version']).values())
    assert.deepEqual(await node.dropped(['w2', 'w1', 'w3']), [{ messages: 2 }, { presence: 7, chats: 1 }, {}]);
});
