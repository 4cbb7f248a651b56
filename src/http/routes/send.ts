/** Sends: what the client wrote becomes a command; the answer is the message. */
import type { Static } from 'typebox';
import type { Send, SendOptions, TextContent } from '#actors/gateway.ts';
import { messageView } from '#src/contract/views.ts';
import { mapResult } from '../outcome.ts';
import { platformRefusals, type Route, route } from '../route.ts';
import { SendTextBody, SentAnswer } from '../schemas/message.ts';

type Body = Static<typeof SendTextBody>;

const missing = 'Missing number or text';

const payloadKeys = Object.keys(SendTextBody.properties) as readonly (keyof Body)[];

/** What comes back as `sendPayload`: the fields that mean something; base64 pictures are left out. */
const payloadOf = (body: Body): Readonly<Record<string, unknown>> => {
  const payload: Record<string, unknown> = {};
  for (const key of payloadKeys) if (body[key] !== undefined) payload[key] = body[key];
  if (body.linkPreviewImage !== undefined && !/^https?:/i.test(body.linkPreviewImage)) delete payload['linkPreviewImage'];
  return payload;
};

const optionsOf = (body: Body): SendOptions => ({
  delay: body.delay ?? 0,
  readChat: body.readchat ?? false,
  readMessages: body.readmessages ?? false,
  trackSource: body.track_source ?? '',
  trackId: String(body.track_id ?? ''),
  async: body.async ?? false,
  label: '/send/text',
  payload: payloadOf(body),
});

const previewOf = (body: Body): TextContent['preview'] => {
  const { linkPreviewTitle: title = '', linkPreviewDescription: description = '', linkPreviewImage: image = '' } = body;
  if (body.linkPreview !== true) return null;
  const large = body.linkPreviewLarge ?? false;
  return title === '' && description === '' && image === '' && !large ? 'auto' : { title, description, image, large };
};

const listOf = (text = ''): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const sendOf = (body: Body, content: Send['content']): Send => ({
  number: String(body.number).trim(),
  content,
  replyTo: body.replyid ?? '',
  mentions: listOf(body.mentions),
  forward: body.forward ?? false,
});

export const sendRoutes: readonly Route[] = [
  route({
    on: ['POST /send/text'],
    operationId: 'sendText',
    credential: 'instance',
    tag: 'send',
    summary: 'Send a text',
    body: SendTextBody,
    answer: SentAnswer,
    invalidTexts: { 'number:required': missing, 'number:minLength': missing, 'text:required': missing, 'text:minLength': missing },
    refusals: {
      ...platformRefusals,
      limited: { example: 'the asynchronous queue is full (10000 messages)' },
      notFound: { example: 'instance not found' },
    },
    run: async ({ gateway, id, body }) => {
      const message = body.async === true ? 'Message queued successfully' : 'Message sent successfully';
      const owner = (): string => gateway.view(id)?.record.owner ?? '';
      return mapResult(
        await gateway.send(id, sendOf(body, { kind: 'text', text: body.text, preview: previewOf(body) }), optionsOf(body)),
        (sent) => ({
          ...messageView(sent, owner()),
          response: { status: 'success', message },
        }),
      );
    },
  }),
];
