/**
 * Fresh credentials with the one-time keys that the platform asks for at the first login. They are made elsewhere (a worker), because
 * Baileys would make them on the event loop and stop it for an eighth of a second.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { type AuthenticationCreds, initAuthCreds, type KeyPair } from '@whiskeysockets/baileys';
import { encodeCredentials, encodeKeyPair } from './key-codec.ts';
import type { KeyChange, Vault } from '../wire/vault.ts';

/** Keys that Baileys uploads if the platform has none (INITIAL_PREKEY_COUNT). */
const initialCount = 812;
/** Keys in one write: encrypting and sending them must not hold the event loop. */
const chunk = 116;

/** Key pairs by id, out of one block: 64 bytes a pair, private before public, the first pair has id 1. */
export interface FreshPreKeys {
  get(id: string): KeyPair | undefined;
  /** Forgets a used key. */
  delete(id: string): void;
}

const freshPreKeys = (block: Uint8Array): FreshPreKeys => {
  const used = new Set<string>();
  return {
    get(id) {
      const at = (Number(id) - 1) * 64;
      if (!Number.isInteger(at) || at < 0 || at + 64 > block.length || used.has(id)) return undefined;
      return { private: Buffer.from(block.subarray(at, at + 32)), public: Buffer.from(block.subarray(at + 32, at + 64)) };
    },
    delete: (id) => void used.add(id),
  };
};

const storePreKeys = async (keys: FreshPreKeys, write: (changes: readonly KeyChange[]) => Promise<void>): Promise<void> => {
  for (let from = 1; from <= initialCount; from += chunk) {
    const changes: KeyChange[] = [];
    for (let id = from; id < from + chunk && id <= initialCount; id += 1) {
      const pair = keys.get(String(id));
      if (pair !== undefined) changes.push({ type: 'pre-key', id: String(id), value: encodeKeyPair(pair) });
    }
    await write(changes);
    await turn();
  }
};

/** The credentials are stored after the last key, so that keys without credentials can exist after a crash but never the reverse. */
export const makeCredentials = async (options: {
  readonly vault: Vault;
  readonly instance: string;
  readonly epoch: number;
  readonly preKeys: (count: number) => Promise<Uint8Array>;
}): Promise<{ readonly creds: AuthenticationCreds; readonly fresh: FreshPreKeys }> => {
  const { vault, instance, epoch } = options;
  const fresh = freshPreKeys(await options.preKeys(initialCount));
  await turn();
  const creds: AuthenticationCreds = { ...initAuthCreds(), nextPreKeyId: initialCount + 1, firstUnuploadedPreKeyId: 1 };
  await turn();
  await storePreKeys(fresh, (keys) => vault.write(instance, epoch, { keys }));
  await vault.write(instance, epoch, { credentials: encodeCredentials(creds), keys: [] });
  return { creds, fresh };
};
