/** Requests for older messages, as the interface spells them. */
import type { HistoryRequest, HistoryView } from '#actors/views.ts';

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

/** `next_request` is the body that asks for what stands before these messages. */
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
