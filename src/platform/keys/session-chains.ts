/**
 * Bounds Signal sessions. Each turn of a conversation adds a receiving chain, and libsignal deletes none: a session of 400 turns takes 43 KB. Signal's
 * own library keeps the last five chains (`MAX_RECEIVER_CHAINS`), with which late messages of the last five turns are read.
 */
import { createRequire } from 'node:module';

interface Chain {
  readonly chainType: number;
}

interface Entry {
  /** In the order in which they were added. */
  readonly _chains: Record<string, Chain>;
  addChain(key: Buffer, chain: Chain): void;
}

interface Library {
  readonly SessionRecord: { createEntry(): { readonly constructor: { readonly prototype: Entry } } };
}

const kept = 5;
/** libsignal's `chain_type.js`. */
const receiving = 2;

let repaired = false;

/** Once per process; later calls do nothing. */
export const boundSessionChains = (): void => {
  if (repaired) return;
  repaired = true;
  const { SessionRecord } = createRequire(import.meta.resolve('@whiskeysockets/baileys'))('libsignal') as Library;
  const { prototype } = SessionRecord.createEntry().constructor;
  const add = prototype.addChain;
  prototype.addChain = function (key, chain) {
    add.call(this, key, chain);
    const received = Object.entries(this._chains).filter(([, { chainType }]) => chainType === receiving);
    for (const [id] of received.slice(0, -kept)) delete this._chains[id];
  };
};
