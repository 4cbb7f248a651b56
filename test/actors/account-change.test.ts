/** Tests that an unfinished removal of a former account is left to the next opening. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginAnew } from '#actors/supervisor/account-change.ts';
import type { Cell } from '#actors/session/cell.ts';
import { instance } from '#test/contract/samples.ts';
import { World } from '#test/fakes/world.ts';

const begunAnew = async (goesOn: (pieces: number) => { readonly mayAct: boolean; readonly isCurrent: boolean }) => {
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
    mayAct: () => goesOn(pieces).mayAct,
    forgetBeside: () => undefined,
  } as unknown as Parameters<typeof beginAnew>[0];
  const identity = { owner: '5511900000002', profileName: '', lid: '' } as unknown as Parameters<typeof beginAnew>[2];
  const begun = beginAnew(host, cell, identity, () => goesOn(pieces).isCurrent);
  const rejected = assert.rejects(begun, { name: 'StorageUnavailable' });
  await time.pass(1_000);
  await rejected;
  assert.deepEqual(saved, [{ accountLeaves: true }]);
  assert.deepEqual(rewound, [cell.record.id], 'the next removal begins with the first row');
  return pieces;
};

test('account change: a removal that ends with the ownership of the instance keeps its mark', async () =>
  assert.equal(await begunAnew((pieces) => ({ mayAct: pieces < 2, isCurrent: true })), 2));

test('account change: a removal ends with its connection, so that a logout stays', async () => {
  assert.equal(await begunAnew((pieces) => ({ mayAct: true, isCurrent: pieces < 2 })), 2);
  // The connection is given up during the last batch.
  assert.equal(await begunAnew((pieces) => ({ mayAct: true, isCurrent: pieces < 5 })), 5);
});
