/** Older messages, which only the phone has. */
import { historyRequestView, historyStatusView } from '#src/contract/views.ts';
import { done, mapResult, platformRefusals, type Route, route } from '../route.ts';
import { HistoryAnswer, HistoryBody, historyPage, HistoryStatus } from '../schemas/message.ts';

const tag = 'message';

/** Seconds, as the platform counts, or milliseconds. */
const milliseconds = (time: number): number => (time < 1e11 ? time * 1000 : time);

export const historyRoutes: readonly Route[] = [
  route({
    on: ['POST /message/history-sync'],
    operationId: 'requestHistory',
    credential: 'instance',
    tag,
    summary: 'Ask the phone for older messages of a chat; they are stored and arrive as history events',
    body: HistoryBody,
    answer: HistoryAnswer,
    refusals: {
      ...platformRefusals,
      invalid: { example: 'number is required' },
      notFound: { text: 'message not found' },
      conflict: { example: 'this requestId was used before' },
    },
    run: async ({ gateway, id, body }) => {
      const { mode = 'history', count = historyPage.usual, timestamp, sync = false, timeoutMs = historyPage.wait } = body;
      const ask = {
        number: String(body.number),
        messageId: String(body.messageid ?? ''),
        at: timestamp === undefined ? null : milliseconds(timestamp),
        fromMe: body.fromMe ?? false,
        count: Math.min(count, historyPage.most),
        requestId: body.requestId ?? '',
        exact: mode === 'exact',
        alternates: body.fallbackMode !== 'exact',
        wait: sync ? timeoutMs : 0,
      };
      return mapResult(await gateway.requestHistory(id, ask), (request) => historyRequestView(request, { mode, count: ask.count }));
    },
  }),
  route({
    on: ['GET /instance/history-sync/status'],
    operationId: 'showHistory',
    credential: 'instance',
    tag,
    summary: 'Show how far the phone has handed over its past, and what it was asked for',
    answer: HistoryStatus,
    run: async ({ gateway, id }) => done(historyStatusView(await gateway.histories(id))),
  }),
];
