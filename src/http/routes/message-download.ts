/** Files of messages. */
import { type Static, Type } from 'typebox';
import type { DownloadWish, Gateway, KeptFile } from '#actors/gateway.ts';
import { done, platformRefusals, refuse, type Route, route } from '../route.ts';
import { Flag, optional, Text } from '../schemas/common.ts';
import { MessageId } from '../schemas/message.ts';

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

/** Encodes bytes as base64 in groups of three bytes, so that the whole file is never in memory beside its text. */
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

/** `base64Bytes`: the largest file that is given in an answer. */
export const downloadRoutes = (base64Bytes: number): readonly Route[] => [
  route({
    on: ['POST /message/download'],
    operationId: 'downloadMessage',
    credential: 'instance',
    tag: 'message',
    summary: 'Give the file of a message; one that is kept already is given while the session is disconnected too',
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
