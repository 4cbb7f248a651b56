/** Presence of people: online, typing, recording. */
import type { BaileysEventMap, PresenceData } from '@whiskeysockets/baileys';
import type { Entry, PresenceChange } from '#actors/model.ts';
import { chatOf, type Directory, isMe, personOf } from '../wire/directory.ts';
import { isGroup } from '../wire/jid.ts';

/**
 * The library says `available` both for a person who came online and for one who stopped typing. Only the first kind has a field for the time when the
 * person was last seen.
 */
const stateOf = (presence: PresenceData): { readonly state: string; readonly recording: boolean } => {
  const { lastKnownPresence: known } = presence;
  if (known === 'recording') return { state: 'composing', recording: true };
  return { state: known === 'available' && !Object.hasOwn(presence, 'lastSeen') ? 'paused' : known, recording: false };
};

export const fromPresence = ({ id, presences }: BaileysEventMap['presence.update'], directory: Directory): Entry[] => {
  const chatId = chatOf(directory, id).id;
  return Object.entries(presences).map(([participant, presence]): Entry => {
    const change: PresenceChange = {
      chatId,
      isGroup: isGroup(chatId),
      who: personOf(directory, participant),
      fromMe: isMe(directory, participant),
      ...stateOf(presence),
      lastSeen: presence.lastSeen === undefined ? null : presence.lastSeen * 1000,
    };
    return { kind: 'news', lane: chatId, news: { type: 'presence', presence: change } };
  });
};
