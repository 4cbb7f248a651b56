/** Small cards: contacts, places, invitations to groups and channels. */
import type { proto } from '@whiskeysockets/baileys';
import { VCard } from 'vcard-creator';
import {
  type ChannelInviteContent,
  type ContactContent,
  done,
  type GroupInviteContent,
  type LocationContent,
  type Place,
} from '#actors/model.ts';
import type { LiveConnection } from '../live-connection.ts';
import { type Composer, plainComposer } from '../composer.ts';

/** Phones open a chat with the number in `waid`. The whole name is the given one: where a family name begins differs between countries. */
const vcardOf = ({ name, phones, organization, email, url }: ContactContent): string => {
  const card = new VCard().addName({ givenName: name });
  if (organization !== '') card.addCompany({ name: organization });
  for (const phone of phones) card.addCustomProperty({ name: 'TEL', params: `type=CELL;type=VOICE;waid=${phone}`, value: `+${phone}` });
  if (email !== '') card.addEmail({ address: email, type: ['internet'] });
  if (url !== '') card.addUrl({ url });
  return card.toString();
};

export const contactComposer = plainComposer<ContactContent>((content) => ({
  contactMessage: { displayName: content.name, vcard: vcardOf(content) },
}));

/** Coordinates may be missing in the place of an event. */
export const placeOf = ({ latitude, longitude, name, address }: Partial<Place>): proto.Message.ILocationMessage => ({
  ...(latitude === undefined ? {} : { degreesLatitude: latitude }),
  ...(longitude === undefined ? {} : { degreesLongitude: longitude }),
  ...(name ? { name } : {}),
  ...(address ? { address } : {}),
});

export const locationComposer = plainComposer<LocationContent>((content) => ({ locationMessage: placeOf(content) }));

export const channelInviteComposer = plainComposer<ChannelInviteContent>(({ channel, name, expiresAt, text }) => ({
  newsletterAdminInviteMessage: {
    newsletterJid: channel,
    newsletterName: name,
    inviteExpiration: expiresAt,
    ...(text && { caption: text }),
  },
}));

const inviteOf = ({ group, code, expiresAt, text }: GroupInviteContent): proto.Message.IGroupInviteMessage => ({
  groupJid: group,
  inviteCode: code,
  inviteExpiration: expiresAt,
  ...(text === '' ? {} : { caption: text }),
});

/** Milliseconds that the picture of a group may take to be found. */
const pictureMs = 5_000;

/** A small picture of the group; null when it has none, or the account may not see it. */
const pictureOf = async (group: string, { sock, previews }: LiveConnection): Promise<Uint8Array | null> => {
  const url = await sock.profilePictureUrl(group, 'preview', pictureMs).catch(() => undefined);
  return url === undefined ? null : ((await previews.picture(url, false))?.small ?? null);
};

/** The invitation shows the name and the picture of the group, as far as the account knows them. */
export const groupInviteComposer: Composer<GroupInviteContent> = {
  async content(content, connection) {
    const [group, picture] = await Promise.all([connection.group(content.group), pictureOf(content.group, connection)]);
    const groupName = group?.subject?.text || connection.directory.groupName(content.group);
    return done({
      groupInviteMessage: {
        ...inviteOf(content),
        ...(groupName === '' ? {} : { groupName }),
        ...(picture === null ? {} : { jpegThumbnail: picture }),
      },
    });
  },
  draft: (content) => ({ groupInviteMessage: inviteOf(content) }),
  isComplete: () => false,
};
