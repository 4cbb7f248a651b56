/** Rights of the members of a group over messages of others. The platform passes on what anybody asks for, and leaves the decision to the apps. */
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { includesPerson, type Group } from '#actors/model.ts';
import { type Directory, personOf } from '../wire/directory.ts';
import { isGroup } from '../wire/jid.ts';
import { unwrapped } from './message-kinds.ts';

const { Type } = proto.Message.ProtocolMessage;

/** True if a member deletes or pins a message in a group: then the stored members decide whether it counts. */
export const needsRight = ({ key, message }: WAMessage): boolean => {
  if (key.fromMe || !isGroup(key.remoteJid ?? '')) return false;
  const { protocolMessage, pinInChatMessage } = unwrapped(message) ?? {};
  return protocolMessage?.type === Type.REVOKE || Boolean(pinInChatMessage);
};

/** Admins delete messages of others. Every member pins, or the admins alone where they alone change the group. */
export const hasRight = ({ key, message }: WAMessage, group: Group | null, directory: Directory): boolean => {
  const sender = personOf(directory, key.participant, key.participantAlt);
  const member = group?.members.find((one) => includesPerson([one], sender));
  if (!group || !member) return false;
  const isPin = Boolean(unwrapped(message)?.pinInChatMessage);
  return member.isAdmin || member.isSuperAdmin || (isPin && group.locked !== true);
};
