/** Files of messages, requests for older messages, and payment requests. */
import { type Static, Type } from 'typebox';
import type { DownloadWish, Gateway, KeptFile } from '#actors/gateway.ts';
import { historyRequestView, historyStatusView } from '#src/contract/views.ts';
import { isKnown, rangeHeader, rangeOf, sendFile, sendUnchanged } from '../answers.ts';
import { done, mapResult, platformRefusals, refuse, type Route, route } from '../route.ts';
import { FileBytes, FileParams, Flag, OneOf, optional, Text } from '../schemas/common.ts';
import { HistoryAnswer, HistoryBody, historyPage, HistoryStatus, MessageId } from '../schemas/message.ts';

const DownloadBody = Type.Object({
  id: MessageId,
  return_base64: optional(Flag('Give the bytes in the answer too, as `base64Data`')),
  return_link: optional(Flag('Without meaning: the answer always has `fileURL`')),
  generate_mp3: optional(
    Flag('Give sound as MP3. Left out, this is done where the server has ffmpeg; `true` is refused where it has none'),
  ),
  transcribe: optional(Flag('Give what is spoken as `transcription`')),
  openai_apikey: optional(Text(500, "Key for the transcription; the instance's own one when left out")),
  download_quoted: optional(Flag('The file of the message that this one quotes')),
});

const DownloadAnswer = Type.Object({
  fileURL: Type.String({ description: 'Address of the file; it needs no credential and cannot be guessed' }),
  mimetype: Type.String(),
  cached: Type.Boolean({ description: 'The file was kept already: the platform was not asked' }),
  base64Data: optional(Type.String()),
  transcription: optional(Type.String()),
});

const wishOf = (body: Static<typeof DownloadBody>): DownloadWish => ({
  messageId: String(body.id),
  quoted: body.download_quoted ?? false,
  mp3: body.generate_mp3 === undefined ? 'can' : body.generate_mp3 ? 'must' : 'no',
  transcribe: body.transcribe ?? false,
  apiKey: body.openai_apikey ?? '',
});

/** Encodes bytes as base64 in groups of three bytes. The whole file is therefore never in memory beside its text. */
const base64Of = async (bytes: AsyncIterable<Uint8Array>): Promise<string> => {
  const parts: string[] = [];
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const all = rest.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : Buffer.concat([rest, chunk]);
    const whole = all.length - (all.length % 3);
    parts.push(all.toString('base64', 0, whole));
    rest = Buffer.from(all.subarray(whole));
  }
  return [...parts, rest.toString('base64')].join('');
};

const inBase64 = async (gateway: Gateway, file: KeptFile, most: number) => {
  if (file.size > most) return refuse('tooLarge', `the file has ${file.size} bytes and is too large for base64: read it at its fileURL`);
  const bytes = await gateway.readFile(file);
  return bytes === null ? refuse('notFound', 'the file was removed meanwhile') : done(await base64Of(bytes));
};

/** Makes the rows. `base64Bytes` is the size of the largest file that an answer contains as base64. */
export const downloadRoutes = (base64Bytes: number): readonly Route[] => [
  route({
    on: ['POST /message/download'],
    operationId: 'downloadMessage',
    credential: 'instance',
    tag: 'message',
    summary: 'Get the file of a message. A stored file is also returned while the session is disconnected',
    body: DownloadBody,
    answer: DownloadAnswer,
    invalidTexts: { 'id:required': 'Missing Id in Payload', 'id:minLength': 'Missing Id in Payload' },
    refusals: {
      ...platformRefusals,
      invalid: { example: 'Unsupported media type or no media found in message' },
      notFound: { example: 'Message not found' },
      tooLarge: {},
      notConvertible: {},
    },
    failure: { text: 'Failed to download media' },
    run: async ({ gateway, id, body }) => {
      const found = await gateway.download(id, wishOf(body));
      if (!found.ok) return found;
      const { file, cached, transcription } = found.value;
      const encoded = body.return_base64 === true ? await inBase64(gateway, file, base64Bytes) : null;
      if (encoded?.ok === false) return encoded;
      return done({
        fileURL: file.url,
        mimetype: file.mimetype,
        cached,
        ...(encoded === null ? {} : { base64Data: encoded.value }),
        ...(transcription === undefined ? {} : { transcription }),
      });
    },
  }),
];

// Files by their unguessable names. A caller that knows a name may read the file. There is no list of names.

const noFile = refuse('notFound', 'there is no such file; it may have been removed, ask POST /message/download for it again');

export const fileRoutes: readonly Route[] = [
  route({
    on: ['GET /files/:name'],
    operationId: 'readFile',
    credential: 'none',
    tag: 'message',
    summary: 'Read a file. HTTP ranges and conditional requests are supported',
    params: FileParams,
    answer: FileBytes,
    produces: 'application/octet-stream',
    headers: { ETag: 'The hash of the bytes' },
    refusals: {
      notFound: { text: noFile.refusal.message },
      invalid: { status: 416, example: 'the range is outside of the file' },
    },
    run: async ({ gateway, params, request, reply }) => {
      const file = await gateway.file(params.name);
      if (file === null) return noFile;
      if (isKnown(request.headers, file)) {
        sendUnchanged(reply, file);
        return null;
      }
      const range = rangeOf(rangeHeader(request.headers, file), file.size);
      if (range === 'unsatisfiable') {
        void reply.header('content-range', `bytes */${file.size}`);
        return refuse('invalid', 'the range is outside of the file');
      }
      const bytes = request.method === 'HEAD' ? null : await gateway.readFile(file, range ?? undefined);
      if (bytes === null && request.method !== 'HEAD') return noFile;
      await sendFile(reply, { file, range, bytes });
      return null;
    },
  }),
];

// Older messages, which only the phone has.

const tag = 'message';

/** Converts a time from a client to Unix milliseconds. The client gives the time in Unix seconds, as the platform does, or in Unix milliseconds. */
const milliseconds = (time: number): number => (time < 1e11 ? time * 1000 : time);

export const historyRoutes: readonly Route[] = [
  route({
    on: ['POST /message/history-sync'],
    operationId: 'requestHistory',
    credential: 'instance',
    tag,
    summary: 'Request older messages of a chat from the phone. They are stored and arrive as history events',
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
    summary: 'Show the progress of the history from the phone, and the requests to it',
    answer: HistoryStatus,
    run: async ({ gateway, id }) => done(historyStatusView(await gateway.histories(id))),
  }),
];

// The status of a payment that a message asked for.

const orderStatuses = ['payment_requested', 'preparing_to_ship', 'shipped', 'delivered', 'completed', 'canceled'] as const;

const reason = 'the status of a payment cannot be sent: this build has no message for it';

export const paymentRoutes: readonly Route[] = [
  route({
    on: ['POST /message/payment/status'],
    operationId: 'setPaymentStatus',
    credential: 'instance',
    tag: 'message',
    summary:
      'Tell how far an order is whose payment was asked for. Not supported: answered with 501, because this build has no message for it',
    body: Type.Object({
      id: MessageId,
      status: OneOf(orderStatuses, { description: 'State of the order' }),
      paid: optional(Flag('True once it is paid; unchanged when left out')),
      note: optional(Text(500, 'A remark for the customer')),
    }),
    answer: Type.Object({ response: Type.String() }),
    refusals: { notSupported: { example: reason } },
    run: async () => refuse('notSupported', reason),
  }),
];
