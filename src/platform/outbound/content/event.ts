/** Events, and changes of own events. Answers of people come back encrypted under the secret of the event. */
import { proto } from '@whiskeysockets/baileys';
import { done, refuse, type EventContent, type EventEditContent, type EventFacts, type Message, type Result } from '#actors/model.ts';
import type { LiveConnection } from '../live-connection.ts';
import { unwrapped } from '../../events/message-kinds.ts';
import { isLid, shortMessageId } from '../../wire/jid.ts';
import type { Composer } from '../composer.ts';
import { sealEdit } from '../../wire/secret-edits.ts';
import { placeOf } from './cards.ts';

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
/** Milliseconds. */
const callLinkMs = 10_000;

/** The link of the event; a call without one gets it from the platform. */
const linkOf = async (event: EventFacts, { sock }: LiveConnection): Promise<Result<string>> => {
  if (event.joinLink !== '' || !event.isCall || event.isCancelled) return done(event.joinLink);
  const token = await sock.createCallLink('video', { startTime: event.startsAt }, callLinkMs);
  return token ? done(callLinks + token) : refuse('refused', 'the platform made no link to a call');
};

export const eventComposer: Composer<EventContent> = {
  async content(content, connection) {
    const link = await linkOf(content, connection);
    return link.ok ? done({ eventMessage: eventOf(content, link.value) }) : link;
  },
  draft: (content) => ({ eventMessage: eventOf(content, content.joinLink) }),
  isComplete: ({ isCall, isCancelled, joinLink }) => !isCall || isCancelled || joinLink !== '',
};

/** The secret of a stored event of the account; a sentence when it is none. */
const secretOf = (stored: Message | null, jid: string, { me }: LiveConnection['directory']): Uint8Array | string => {
  const message = stored?.raw ? proto.Message.decode(stored.raw) : null;
  if (stored === null || message === null) return 'the event is unknown';
  const secret = message.messageContextInfo?.messageSecret;
  if (!stored.fromMe || !unwrapped(message)?.eventMessage || !secret) return 'only own events can be changed';
  return [stored.chatId, stored.chatLid].includes(jid) || me.pn === '' ? secret : 'the event stands in another chat';
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
