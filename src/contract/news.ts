/** Events of which nothing is stored, as the interface spells them (contract/events.md): `connection`, `presence`, `call`, `groups`, `labels`. */
import type { Call, ConnectionChange, Label, News, PresenceChange } from '#actors/model.ts';
import { groupChangeView } from './group.ts';
import { passkeyNotice } from './passkey.ts';
import { timeText } from './time.ts';

export type Payload = Readonly<Record<string, unknown>>;

const connectionView = (
  name: string,
  { status, qrcode, passkey, lastDisconnect, reason, loggedOut, formerOwner }: ConnectionChange,
): Payload => ({
  ...(loggedOut === true ? { type: 'LoggedOut' } : {}),
  ...(formerOwner === undefined ? {} : { type: 'AccountChanged', formerOwner }),
  instance: {
    name,
    status,
    ...(qrcode === undefined ? {} : { qrcode }),
    ...(passkey === undefined ? {} : { passkey: passkeyNotice(passkey) }),
    ...(lastDisconnect === undefined ? {} : { lastDisconnect: timeText(lastDisconnect) }),
    ...(reason === undefined ? {} : { lastDisconnectReason: reason }),
  },
});

const presenceView = ({ chatId, isGroup, who, fromMe, state, recording, lastSeen }: PresenceChange): Payload => ({
  State: state,
  Media: recording ? 'audio' : '',
  IsFromMe: fromMe,
  IsGroup: isGroup,
  Chat: chatId,
  chatid: chatId,
  Sender: who.id,
  sender_pn: who.pn,
  sender_lid: who.lid,
  ...(lastSeen === null ? {} : { LastSeen: new Date(lastSeen).toISOString() }),
});

/** A call that happens now, or one of the past. */
export const callView = ({ id, chatId, caller, status, isVideo, isGroup, offline, fromMe, seconds, at }: Call): Payload => ({
  id,
  chatid: chatId,
  from: caller.id,
  sender_pn: caller.pn,
  sender_lid: caller.lid,
  status,
  isVideo,
  isGroup,
  ...(offline === undefined ? {} : { offline }),
  ...(fromMe === undefined ? {} : { fromMe }),
  ...(seconds === undefined ? {} : { seconds }),
  timestamp: at,
});

const labelEditView = ({ id, name, color, deleted }: Label): Payload => ({
  type: 'LabelEdit',
  event: { LabelID: id, Action: { name, color, deleted } },
});

/** The event's own keys. */
export const newsView = (news: News): Payload => {
  switch (news.type) {
    case 'connection':
      return connectionView(news.name, news.connection);
    case 'presence':
      return { event: presenceView(news.presence) };
    case 'call':
      return { call: callView(news.call) };
    case 'groups':
      return groupChangeView(news.group);
    case 'labels':
      return labelEditView(news.label);
  }
};
