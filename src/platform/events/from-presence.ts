/** Who is there, who types, who records. */
import type { BaileysEventMap, PresenceData } from '@whiskeysockets/baileys';
import type { Entry } from '#actors/model.ts';
import { addressesOf, chatOf, type Directory, isMe } from '../directory.ts';
import { bare, isGroup } from '../jid.ts';

/**
 * The library says `available` both for who came online and for who stopped typing; only news of the first kind have a field for the time
 * when somebody was last seen.
 */
const stateOf = (presence: PresenceData): { readonly State: string; readonly Media: string } => {
  const { lastKnownPresence: known } = presence;
  if (known === 'recording') return { State: 'composing', Media: 'audio' };
  return { State: known === 'available' && !Object.hasOwn(presence, 'lastSeen') ? 'paused' : known, Media: '' };
};

export const fromPresence = ({ id, presences }: BaileysEventMap['presence.update'], directory: Directory): Entry[] => {
  const chatid = chatOf(directory, id).id;
  return Object.entries(presences).map(([participant, presence]): Entry => {
    const { pn, lid } = addressesOf(directory, participant);
    const event = {
      ...stateOf(presence),
      IsFromMe: isMe(directory, participant),
      IsGroup: isGroup(chatid),
      Chat: chatid,
      chatid,
      Sender: bare(participant),
      sender_pn: pn,
      sender_lid: lid,
      ...(presence.lastSeen === undefined ? {} : { LastSeen: new Date(presence.lastSeen * 1000).toISOString() }),
    };
    return { kind: 'event', type: 'presence', lane: chatid, payload: { event } };
  });
};
