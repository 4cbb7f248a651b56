/** Composers of contents without a file: texts with the preview of their first link, polls, contacts, locations, invitations and events. */
import { generateWAMessageContent, prepareWAMessageMedia, proto, type WAUrlInfo } from '@whiskeysockets/baileys';
import { VCard } from 'vcard-creator';
import {
  type ChannelInviteContent,
  type ContactContent,
  done,
  type EventContent,
  type EventEditContent,
  type EventFacts,
  type GroupInviteContent,
  type LocationContent,
  type Message,
  type Place,
  type PollContent,
  refuse,
  type Result,
  type TextContent,
} from '#actors/model.ts';
import type { PreviewPictures } from '#src/media/media.ts';
import { unwrapped } from '../../events/message-kinds.ts';
import { isLid, shortMessageId } from '../../wire/jid.ts';
import { ifKnown } from '../../wire/outcomes.ts';
import { sealEdit } from '../../wire/stanza-codec.ts';
import { type Composer, noUpload, optionAnswerTo, plainComposer } from '../composer.ts';
import type { LiveConnection } from '../live-connection.ts';

// Texts with the preview of their first link.

const firstLink = (text: string): string => /https?:\/\/[^\s<>"]+/i.exec(text)?.[0] ?? '';

/** Returns the source of a picture, which a request gives as an address, a data URL or bare base64. */
const pictureSource = (image: string): string | Uint8Array =>
  /^https?:/i.test(image) ? image : Buffer.from(image.replace(/^data:[^,]*,/, ''), 'base64');

interface Words {
  readonly title: string;
  readonly description: string;
  readonly pictures: PreviewPictures | null;
}

const wordsOf = async (link: string, preview: NonNullable<TextContent['preview']>, { previews }: LiveConnection): Promise<Words | null> => {
  if (preview === 'auto') return previews.page(link, false);
  const { title, description, image, large } = preview;
  // If the client gives neither texts nor a picture, the preview shows those of the page.
  if (title === '' && description === '' && image === '') return previews.page(link, large);
  return { title, description, pictures: image === '' ? null : await previews.picture(pictureSource(image), large) };
};

/** Uploads the large picture. If the upload fails, the preview has only the small picture. */
const uploaded = async ({ small, large }: PreviewPictures, { sock }: LiveConnection): Promise<WAUrlInfo['highQualityThumbnail']> => {
  if (large === null) return undefined;
  const { jpeg, width, height } = large;
  const image = { image: Buffer.from(jpeg), jpegThumbnail: Buffer.from(small).toString('base64'), width, height };
  const options = { upload: sock.waUploadToServer, mediaTypeOverride: 'thumbnail-link' } as const;
  const prepared = await prepareWAMessageMedia(image, options).catch(() => null);
  return prepared?.imageMessage ?? undefined;
};

/** Builds the preview of the first link. `large`: true if a large picture may be uploaded. The upload is encrypted, and channels do not accept it. */
const linkPreview = async ({ text, preview }: TextContent, connection: LiveConnection, large = true): Promise<WAUrlInfo | null> => {
  const link = firstLink(text);
  if (preview === null || link === '') return null;
  const words = await wordsOf(link, preview, connection);
  if (words === null) return null;
  const { title, description, pictures } = words;
  const highQualityThumbnail = pictures && large ? await uploaded(pictures, connection) : undefined;
  return {
    'canonical-url': link,
    'matched-text': link,
    title,
    description,
    ...(pictures ? { jpegThumbnail: Buffer.from(pictures.small) } : {}),
    ...(highQualityThumbnail ? { highQualityThumbnail } : {}),
  };
};

/** Returns true if the content of a text needs no network request. */
const isPlainText = ({ text, preview }: TextContent): boolean => preview === null || firstLink(text) === '';

/** The alpha channel of an opaque colour, which is the first byte of the platform's colours. */
const opaque = 0xff000000;

const styled = (message: proto.IMessage, { text, style }: TextContent): proto.IMessage => {
  if (style === undefined) return message;
  const { background, font } = style;
  return {
    extendedTextMessage: { text, ...message.extendedTextMessage, backgroundArgb: (opaque + background) >>> 0, textArgb: 0xffffffff, font },
  };
};

export const textComposer: Composer<TextContent> = {
  async content(content, connection) {
    const preview = await linkPreview(content, connection);
    return done(styled(await generateWAMessageContent({ text: content.text, linkPreview: preview }, { upload: noUpload }), content));
  },
  async post(content, connection) {
    const preview = await linkPreview(content, connection, false);
    return done({
      message: await generateWAMessageContent({ text: content.text, linkPreview: preview }, { upload: noUpload }),
      mediaId: '',
    });
  },
  answer: ({ text }, asked, directory) => optionAnswerTo(text, asked, directory),
  draft: (content) => styled({ extendedTextMessage: { text: content.text } }, content),
  isComplete: isPlainText,
};

// Polls. Votes are encrypted under the secret of the poll's message (see `events/answers.ts`).

/** Builds the content of a poll. Phones show the third version as a poll with one answer, and the first version as a poll with several. */
const contentOf = ({ question, options, selectable }: PollContent): proto.IMessage => {
  const poll = { name: question, options: options.map((optionName) => ({ optionName })), selectableOptionsCount: selectable };
  return selectable === 1 ? { pollCreationMessageV3: poll } : { pollCreationMessage: poll };
};

export const pollComposer: Composer<PollContent> = {
  ...plainComposer(contentOf),
  post: async (poll) => done({ message: contentOf(poll), mediaId: '' }),
};

// Contacts, locations, and invitations to groups and channels.

/**
 * Builds a contact card. Phones open a chat with the number in `waid`. The whole name is the given name, because the position of a family name differs
 * between countries.
 */
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

/** Builds a location. The location of an event may lack coordinates. */
const placeOf = ({ latitude, longitude, name, address }: Partial<Place>): proto.Message.ILocationMessage => ({
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

/** Time limit of the look-up of a group's picture. In milliseconds. */
const pictureMs = 5_000;

/** Returns a small picture of the group. Returns null if it has none, or if the account may not see it. */
const pictureOf = async (group: string, { sock, previews }: LiveConnection): Promise<Uint8Array | null> => {
  const url = await sock.profilePictureUrl(group, 'preview', pictureMs).catch(() => undefined);
  return url === undefined ? null : ((await previews.picture(url, false))?.small ?? null);
};

/** The composer of invitations. An invitation shows the name and the picture of the group, if they are known. */
export const groupInviteComposer: Composer<GroupInviteContent> = {
  async content(content, connection) {
    const [group, picture] = await Promise.all([ifKnown(connection.group(content.group)), pictureOf(content.group, connection)]);
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

// Events, and changes of own events. Answers to an event are encrypted under its secret.

const eventOf = (event: EventFacts, joinLink: string): proto.Message.IEventMessage => ({
  isCanceled: event.isCancelled,
  name: event.name,
  ...(event.description === '' ? {} : { description: event.description }),
  ...(event.location === null ? {} : { location: placeOf(event.location) }),
  ...(joinLink === '' ? {} : { joinLink }),
  startTime: event.startsAt,
  ...(event.endsAt === null ? {} : { endTime: event.endsAt }),
  extraGuestsAllowed: event.extraGuestsAllowed,
  isScheduleCall: event.isCall,
  ...(event.remindBefore === null ? {} : { hasReminder: true, reminderOffsetSec: event.remindBefore }),
});

const callLinks = 'https://call.whatsapp.com/video/';
/** Time limit of the request for a call link. In milliseconds. */
const callLinkMs = 10_000;

/** Returns the link of the event. For an event with a call, the platform makes the link. */
const linkOf = async (event: EventFacts, { sock }: LiveConnection): Promise<Result<string>> => {
  if (event.joinLink !== '' || !event.isCall || event.isCancelled) return done(event.joinLink);
  const token = await sock.createCallLink('video', { startTime: event.startsAt }, callLinkMs);
  return token ? done(callLinks + token) : refuse('refused', 'the platform did not make a call link');
};

export const eventComposer: Composer<EventContent> = {
  async content(content, connection) {
    const link = await linkOf(content, connection);
    return link.ok ? done({ eventMessage: eventOf(content, link.value) }) : link;
  },
  draft: (content) => ({ eventMessage: eventOf(content, content.joinLink) }),
  isComplete: ({ isCall, isCancelled, joinLink }) => !isCall || isCancelled || joinLink !== '',
};

/** Returns the secret of a stored event of the account. Returns a text for the client if the message is not such an event, or is in another chat. */
const secretOf = (stored: Message | null, jid: string, { me }: LiveConnection['directory']): Uint8Array | string => {
  const message = stored?.raw ? proto.Message.decode(stored.raw) : null;
  if (stored === null || message === null) return 'the event is unknown';
  const secret = message.messageContextInfo?.messageSecret;
  if (!stored.fromMe || !unwrapped(message)?.eventMessage || !secret) return 'only own events can be changed';
  return [stored.chatId, stored.chatLid].includes(jid) || me.pn === '' ? secret : 'the event is in another chat';
};

export const eventEditComposer: Composer<EventEditContent> = {
  async content(content, connection, jid) {
    const { directory } = connection;
    const stored = await connection.stored(content.target);
    const secret = secretOf(stored, jid, directory);
    if (stored === null || typeof secret === 'string') return refuse('invalid', String(secret));
    const link = await linkOf(content, connection);
    if (!link.ok) return link;
    const lids = isLid(jid) || directory.lid(jid) !== '' || (stored.isGroup && (await connection.group(jid))?.addressing === 'lid');
    const me = lids && directory.me.lid !== '' ? directory.me.lid : directory.me.pn;
    const plain = proto.Message.encode({ eventMessage: eventOf(content, link.value) }).finish();
    return done({
      secretEncryptedMessage: {
        targetMessageKey: { remoteJid: jid, fromMe: true, id: stored.messageId, ...(stored.isGroup ? { participant: me } : {}) },
        secretEncType: proto.Message.SecretEncryptedMessage.SecretEncType.EVENT_EDIT,
        ...sealEdit(plain, 'Event Edit', { messageId: stored.messageId, secret, author: me, writer: me }),
      },
    });
  },
  draft: (content) => ({ eventMessage: eventOf(content, content.joinLink) }),
  isComplete: () => false,
  recorded: (content, { secretEncryptedMessage }) => ({
    message: { eventMessage: eventOf(content, content.joinLink) },
    edited: secretEncryptedMessage?.targetMessageKey?.id ?? shortMessageId(content.target),
  }),
};
