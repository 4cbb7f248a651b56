/** The API representation of the events of `News`, and of batches of older messages (docs/event-bodies.md). */
import type { Call, ConnectionChange, Label, News, PresenceChange } from '#actors/model.ts';
import type { HistoryRequest, HistoryView } from '#actors/views.ts';
import { groupChangeView } from './group.ts';
import { passkeyNotice } from './instance.ts';
import { isoTime, timeText } from './formats.ts';

// The events of `News`: `connection`, `presence`, `call`, `groups`, `labels`.

const connectionView = (name: string, { status, qrcode, passkey, lastDisconnect, reason, loggedOut, formerOwner }: ConnectionChange) => ({
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

const presenceView = ({ chatId, isGroup, who, fromMe, state, recording, lastSeen }: PresenceChange) => ({
  State: state,
  Media: recording ? 'audio' : '',
  IsFromMe: fromMe,
  IsGroup: isGroup,
  Chat: chatId,
  chatid: chatId,
  Sender: who.id,
  sender_pn: who.pn,
  sender_lid: who.lid,
  ...(lastSeen === null ? {} : { LastSeen: isoTime(lastSeen) }),
});

/** Makes the view of a current or a past call. */
export const callView = ({ id, chatId, caller, status, isVideo, isGroup, offline, fromMe, seconds, at }: Call) => ({
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

const labelEditView = ({ id, name, color, deleted }: Label) => ({
  type: 'LabelEdit',
  event: { LabelID: id, Action: { name, color, deleted } },
});

/** Makes the body of an event, apart from the envelope. */
export const newsView = (news: News) => {
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

// The `history` event. The body of a batch has a size limit, which does not depend on the size of the part that the platform sent.

/** Largest size of the items in one body, in bytes. The body may have 256 KiB. The remaining 6 KiB are for the envelope and for the numbers of the batch. */
const limit = 250 * 1024;

type Item = Readonly<Record<string, unknown>>;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Returns the item without its contents: long texts are cut, objects and lists are emptied. Clients can fetch the whole item by its id. */
const slim = (item: Item): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      if (typeof value === 'string') return [name, value.slice(0, 100)];
      return [name, typeof value === 'object' && value !== null ? (Array.isArray(value) ? [] : '') : value];
    }),
  );

/** Returns as many fields as fit into `bytes`. Ids come first. */
const fieldsWithin = (item: Item, bytes: number): Item => {
  let room = bytes;
  const fits = ([name, value]: [string, unknown]): boolean => {
    const size = bytesOf({ [name]: value });
    if (size > room) return false;
    room -= size;
    return true;
  };
  return Object.fromEntries(Object.entries(item).filter(fits));
};

/** Shortens the largest items until the batch fits, which is rare. If the batch is still too large, shortens every item to the same number of bytes. */
const fitted = (items: readonly Item[]): readonly Item[] => {
  const sizes = items.map(bytesOf);
  let sum = sizes.reduce((total, size) => total + size + 1, 0);
  if (sum <= limit) return items;
  const fit = [...items];
  const largest = sizes.map((_, at) => at).toSorted((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0));
  for (const at of largest) {
    fit[at] = slim(fit[at] ?? {});
    sum += bytesOf(fit[at]) - (sizes[at] ?? 0);
    if (sum <= limit) return fit;
  }
  return fit.map((item) => fieldsWithin(item, Math.floor(limit / items.length) - 3));
};

/** Makes the body of a batch. `kind` is the name of the event and of its array. */
export const historyView = (kind: string, items: readonly Item[], batchNumber: number, batchTotal: number): Record<string, unknown> => ({
  event: kind,
  batchNumber,
  batchTotal,
  [kind]: fitted(items),
});

// The API representation of requests for older messages.

const detailsOf = ({ chatId, state, answer }: HistoryRequest) => ({
  chatid: chatId,
  state,
  messages: answer?.messages ?? 0,
  more: answer?.more ?? true,
});

const sentences: Readonly<Record<HistoryRequest['state'], string>> = {
  pending: 'History requested: the messages come as events',
  answered: 'History received',
  unanswered: 'The phone has not answered: it may be off',
};

/** Makes the view of a request. `next_request` is the body of a request for the messages before the requested ones. */
export const historyRequestView = (request: HistoryRequest, { mode, count }: { readonly mode: string; readonly count: number }) => ({
  success: true,
  mode,
  message: sentences[request.state],
  request_id: request.id,
  details: detailsOf(request),
  next_request: { number: request.chatId, mode: 'history', count },
});

export const historyStatusView = ({ initial, requests }: HistoryView) => ({
  initial,
  requests: requests.map((request) => ({ request_id: request.id, ...detailsOf(request), created: request.at })),
});
