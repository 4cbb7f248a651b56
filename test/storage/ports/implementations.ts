/**
 * Implementations of a port: the real one, and the fake of the other tests. The same suite tests both, because a fake with other behaviour proves nothing.
 */
import type { InstanceRecord } from '#actors/model.ts';
import type { InstanceStore, SettingStore } from '#actors/ports.ts';
import type { Vault } from '#src/platform/wire/vault-port.ts';
import { instance } from '#test/contract/samples.ts';
import { FakeDatabase, FakeInstances, FakeSettings } from '#test/fakes/storage.ts';
import { createFakeVault } from '#test/fakes/vault.ts';
import { testDatabase } from '#test/support/database.ts';

/** The time of the storage, in Unix milliseconds. */
export const now = 5_000;

export interface Implementation {
  readonly instances: InstanceStore;
  readonly settings: SettingStore;
  readonly vault: Vault;
  /** An instance that is registered for one test only. */
  readonly record: InstanceRecord;
}

let made = 0;
export const freshRecord = (): InstanceRecord => {
  made += 1;
  return { ...instance.record, id: `r${String(made).padStart(14, '0')}`, token: `token ${made}`, epoch: 1, created: made };
};

/** Implementations by name. Each call opens the stores of one test. */
export const implementations = async (): Promise<readonly (readonly [name: string, open: () => Promise<Implementation>])[]> => {
  const storage = await (await testDatabase()).storage({ now: () => now });
  return [
    [
      'fake',
      async () => {
        const db = new FakeDatabase();
        const stores = {
          instances: new FakeInstances(db, () => now),
          settings: new FakeSettings(db),
          vault: createFakeVault(),
          record: freshRecord(),
        };
        await stores.instances.insert(stores.record);
        return stores;
      },
    ],
    [
      'PostgreSQL',
      async () => {
        const record = freshRecord();
        await storage.instances.insert(record);
        return { ...storage, record };
      },
    ],
  ];
};
