/** Tests that the removal of a former account which this process cannot finish is left to the next opening. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginAnew } from '#actors/supervisor/account-change.ts';
import type { Cell } from '#actors/session/cell.ts';
import { instance } from '#test/contract/samples.ts';
import { World } from '#test/fakes/world.ts';

test('account change: a removal that ends with the ownership of the instance keeps its mark', async () => {
  const { ports, time } = new World();
  const saved: object[] = [];
  // These are the only parts that the removal uses.
  const cell = {
    record: instance.record,
    keeper: { save: async (patch: object) => void saved.push(patch) },
    queue: { clear: async () => undefined },
    recorder: { recorded: async () => true, record: () => undefined },
    root: { renewCouriers: () => undefined },
    history: { clear: () => undefined },
  } as unknown as Cell;
  let pieces = 0;
  const rewound: string[] = [];
  const removals = { ...ports.removals, removePiece: async () => (pieces += 1) < 5, rewind: (id: string) => void rewound.push(id) };
  const host = {
    ports: { ...ports, removals },
    campaigns: { pauseAll: async () => undefined, forget: () => undefined },
    mayAct: () => pieces < 2,
    forgetBeside: () => undefined,
  } as unknown as Parameters<typeof beginAnew>[0];
  const identity = { owner: '5511900000002', profileName: '', lid: '' } as unknown as Parameters<typeof beginAnew>[2];
  const begun = beginAnew(host, cell, identity);
  const rejected = assert.rejects(begun, { name: 'StorageUnavailable' });
  await time.pass(1_000);
  await rejected;
  assert.deepEqual(saved, [{ accountLeaves: true }]);
  assert.deepEqual(rewound, [cell.record.id], 'the next removal begins with the first row');
});
