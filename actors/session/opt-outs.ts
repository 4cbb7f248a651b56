/** Detects opt-outs: contacts who send a stop word of the settings as a whole message. */
import type { Entry, Message } from '../model.ts';
import { asksToStop, type CampaignPolicy } from '../policy/campaign-policy.ts';

const isContact = ({ chatId, fromMe, isGroup }: Message): boolean => !fromMe && !isGroup && /@(s\.whatsapp\.net|lid)$/.test(chatId);

/** Returns the entries with an opt-out behind each such message, so that both are stored together. */
export const withOptOuts = (policy: CampaignPolicy, entries: readonly Entry[]): readonly Entry[] => {
  const leaves = (entry: Entry): boolean => entry.kind === 'message' && isContact(entry.message) && asksToStop(policy, entry.message.text);
  if (!entries.some(leaves)) return entries;
  return entries.flatMap((entry) => {
    if (entry.kind !== 'message' || !leaves(entry)) return [entry];
    const { chatId, timestamp } = entry.message;
    return [entry, { kind: 'optOut', chatId, at: timestamp }];
  });
};
