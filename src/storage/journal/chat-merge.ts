/** The rules by which two chats of one person, under the LID and under the number, become one. */
import type { Chat, ChatPatch } from '#actors/model.ts';
import { chatColumns, leadNotesField, phoneOf } from '#src/contract/views.ts';

/** Fields of the last message, and settings that the owner may have taken back. The chat with the newer message wins. */
const ofNewer = [
  'lastMessageText',
  'lastMessageType',
  'lastMessageSender',
  'lastMessageTimestamp',
  'archived',
  'ephemeralExpiration',
] as const satisfies readonly (keyof Chat)[];

const union = (one: readonly unknown[], other: readonly unknown[]): readonly unknown[] => [...new Set([...one, ...other])].toSorted();

/** The two values of one field. Texts of `kept` win over those of `twin`, marks of either stay, and the later time counts. */
const merged = (kept: unknown, twin: unknown): unknown => {
  if (Array.isArray(kept) && Array.isArray(twin)) return union(kept, twin);
  if (typeof kept === 'number' && typeof twin === 'number') return Math.max(kept, twin);
  return kept === undefined || kept === null || kept === '' || kept === false ? twin : kept;
};

const joined = (kept: string, twin: string): string => (kept.includes(twin) ? kept : [kept, twin].filter((text) => text !== '').join('\n'));

const mergedExtra = (kept: Chat['extra'], twin: Chat['extra']): Chat['extra'] =>
  Object.fromEntries(
    Object.entries(twin).map(([name, value]) => {
      const known = kept[name];
      const isNote = name === leadNotesField && typeof value === 'string' && typeof known === 'string';
      return [name, isNote ? joined(known, value) : merged(known, value)];
    }),
  );

/** Returns the patch for the chat under the number. `kept` is null if there is no such chat; the new chat then gets everything of `twin`. */
export const mergedPatch = (kept: Chat | null, twin: Chat, chatId: string): ChatPatch => {
  const { id: _id, chatId: chatLid, name: _name, ...others } = twin;
  const addresses = { chatId, chatLid, phone: phoneOf(chatId) };
  if (kept === null) return { ...others, ...addresses };
  const fields = (Object.keys(chatColumns) as (keyof typeof chatColumns)[]).filter((field) => field in others);
  const newer = twin.lastMessageTimestamp > kept.lastMessageTimestamp ? twin : kept;
  return {
    ...Object.fromEntries(fields.map((field) => [field, merged(kept[field], twin[field])])),
    ...Object.fromEntries(ofNewer.map((field) => [field, newer[field]])),
    unreadCount: kept.unreadCount + twin.unreadCount,
    notes: joined(kept.notes, twin.notes),
    extra: mergedExtra(kept.extra, twin.extra),
    ...addresses,
  };
};
