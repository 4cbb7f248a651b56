/**
 * The library stores the seeds of skipped group messages as Node writes buffers in JSON, with a list of numbers, but revives buffers only from base64.
 * A group message that arrives after a later one could then not be read. Here the seed becomes a buffer again before it is used.
 */
import { SenderKeyState } from '@whiskeysockets/baileys/lib/Signal/Group/sender-key-state.js';

let repaired = false;

/** Once per process; later calls do nothing. */
export const repairSenderKeys = (): void => {
  if (repaired) return;
  repaired = true;
  const { prototype } = SenderKeyState;
  const remove = prototype.removeSenderMessageKey;
  prototype.removeSenderMessageKey = function (iteration) {
    const key = this.getStructure().senderMessageKeys.find((one) => one.iteration === iteration);
    if (key) key.seed = Buffer.from(key.seed);
    return remove.call(this, iteration);
  };
};
