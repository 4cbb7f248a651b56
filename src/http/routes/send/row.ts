/** The row of a send: the fields of one kind of content, and the function that turns the fields into content. All other parts are the same for all sends. */
import type { FastifyRequest } from 'fastify';
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { contentWarning, type Message, type Result, type Send, type SendContent, type SendOptions } from '#actors/gateway.ts';
import { messageView } from '#src/contract/views.ts';
import { commaList, type InvalidTexts } from '../../body.ts';
import { platformFields } from '../../errors.ts';
import {
  type BodyLimit,
  type Call,
  mapResult,
  platformRefusals,
  type RefusalAnswer,
  type Refusals,
  type Route,
  route,
} from '../../route.ts';
import { platformErrorFields } from '../../schemas/errors.ts';
import { Recipient, sendHeaders, sendOptions, SentAnswer, uncertainFields } from '../../schemas/send.ts';

// The stored form of each kind of message, for the documents. A test sends the example bodies and compares the results.

/** The name of a kind, and an outline of its content: the names of its fields, and the name of a button. */
interface Stored {
  readonly messageType: string;
  readonly content: string;
}

/** Describes a stored message with one kind of button. */
const nativeFlow = (button: string): Stored => ({
  messageType: 'NativeFlowMessage',
  content: `{body: {text}, nativeFlowMessage: {buttons: [{name: "${button}", buttonParamsJSON}], messageParamsJSON, messageVersion}}`,
});

const stored = {
  '/send/text': { messageType: 'ExtendedTextMessage', content: '{text}' },
  '/send/media': {
    messageType: 'ImageMessage',
    content:
      '{mimetype, fileLength, fileSHA256, URL, directPath, mediaKey, fileEncSHA256, mediaKeyTimestamp, JPEGThumbnail, width, height}',
  },
  '/send/contact': { messageType: 'ContactMessage', content: '{displayName, vcard}' },
  '/send/location': { messageType: 'LocationMessage', content: '{degreesLatitude, degreesLongitude}' },
  '/send/group-invite': { messageType: 'GroupInviteMessage', content: '{groupJID, inviteCode, inviteExpiration}' },
  '/send/event': { messageType: 'EventMessage', content: '{isCanceled, name, startTime, endTime, extraGuestsAllowed, isScheduleCall}' },
  '/send/menu': nativeFlow('quick_reply'),
  '/send/carousel': nativeFlow('quick_reply'),
  '/send/location-button': nativeFlow('send_location'),
  '/send/request-payment': nativeFlow('review_and_pay'),
  '/send/pix-button': nativeFlow('payment_info'),
  '/send/status': { messageType: 'ExtendedTextMessage', content: '{text, backgroundArgb, textArgb, font}' },
} as const satisfies Readonly<Record<string, Stored>>;

type SendPath = keyof typeof stored;

/** Returns the sentence on the answer to the example body of this send. */
export const storedText = (path: SendPath): string => {
  const { messageType, content } = stored[path];
  return `The answer to the example has the \`messageType\` \`${messageType}\` and the \`content\` \`${content}\``;
};

type Common = TObject<{ number: typeof Recipient } & typeof sendOptions>;

type Body<Fields extends TProperties> = Static<TObject<Fields>> & Static<Common>;

interface SendSpec<Fields extends TProperties> {
  readonly on: `POST ${SendPath}`;
  readonly operationId: string;
  readonly summary: string;
  /** `response.message` of a message that was sent. */
  readonly sent: string;
  /** Fields of the body in addition to those of all sends. */
  readonly fields: Fields;
  /** Returns the fields that `sendPayload` leaves out, because they contain files as base64. */
  readonly unstored?: (body: Body<Fields>) => readonly (keyof Fields & string)[];
  readonly invalidTexts?: InvalidTexts;
  readonly refusals?: Refusals;
  /** The largest body; the setting BODY_LIMIT if absent. */
  readonly bodyLimit?: BodyLimit;
  /** Returns true if `replyid` names a message to be quoted. Default: true. */
  readonly quotes?: (body: Body<Fields>) => boolean;
  /** Returns a warning about fields that are not part of the content, or null. */
  readonly warning?: (body: Body<Fields>) => string | null;
  /** Fields of `response` beside status and message. */
  readonly response?: {
    readonly shape: Readonly<Record<string, TSchema>>;
    readonly of: (sent: Message) => Readonly<Record<string, unknown>>;
  };
  /** Makes the content. Refuses (`invalid`) fields that are valid alone but not together. `now` is in Unix milliseconds. */
  content(body: Body<Fields>, now: number): Result<SendContent>;
}

/** Returns the known fields of a body, except those in `left`. */
export const picked = (body: Readonly<Record<string, unknown>>, known: readonly string[], left: readonly string[] = []) =>
  Object.fromEntries(known.filter((key) => body[key] !== undefined && !left.includes(key)).map((key) => [key, body[key]]));

const sendOf = (body: Static<Common>, content: SendContent, quotes: boolean): Send => ({
  number: String(body.number).trim(),
  content,
  replyTo: quotes ? (body.replyid ?? '') : '',
  mentions: commaList(body.mentions ?? ''),
  forward: body.forward ?? false,
});

/** Serialises a value. Equal values give the same JSON, whatever the order of their fields. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );

type Options = Partial<Omit<Static<Common>, 'number'>>;

const optionsOf = (body: Options, label: string, payload: unknown): SendOptions => ({
  delay: body.delay ?? 0,
  readChat: body.readchat ?? false,
  readMessages: body.readmessages ?? false,
  trackSource: body.track_source ?? '',
  trackId: String(body.track_id ?? ''),
  async: body.async ?? false,
  label,
  payload,
});

const uncertain: RefusalAnswer = {
  fields: uncertainFields,
  details: ({ messageId }) => (messageId === undefined ? {} : { messageid: messageId }),
};

/** The refusal for a limit of the gateway or of the platform. For a limit of the platform it includes the platform's code. */
export const tooMany: RefusalAnswer = {
  example: 'the asynchronous queue is full (10000 messages)',
  fields: platformErrorFields,
  details: (refusal) => (refusal.code === undefined ? {} : platformFields(refusal)),
};

/** The refusal for an idempotency key that was used before with another request. */
export const otherRequest: RefusalAnswer = { example: 'the Idempotency-Key was used with another request' };

/** The refusals of every send. */
export const sendRefusals: Refusals = {
  ...platformRefusals,
  unknown: uncertain,
  conflict: otherRequest,
  forbidden: { example: 'the account is not a member of this group' },
  limited: tooMany,
  notFound: { example: 'the number 5511999999999@s.whatsapp.net is not on WhatsApp' },
};

export interface Sending {
  /** Name of the operation, which answers contain as `sendFunction`. */
  readonly label: string;
  readonly body: Options;
  /** Fields of the body that the send reads. */
  readonly known: readonly string[];
  /** Fields that `sendPayload` leaves out. */
  readonly left: readonly string[];
  readonly send: Send;
}

/** Returns the idempotency key of the client with the request as canonical JSON; empty without a key. `fields` are the fields that the send reads. */
export const onceOf = (request: FastifyRequest, label: string, fields: Readonly<Record<string, unknown>>): Pick<SendOptions, 'once'> => {
  const key = request.headers['idempotency-key'];
  return typeof key === 'string' ? { once: { key, request: canonical([label, fields]) } } : {};
};

/** Sends a message of any kind. Returns the message and the owner of the instance. */
export const sendThrough = async (
  { gateway, id, request }: Pick<Call<unknown, unknown, unknown>, 'gateway' | 'id' | 'request'>,
  { label, body, known, left, send }: Sending,
): Promise<Result<{ readonly sent: Message; readonly owner: string }>> => {
  const given = body as Readonly<Record<string, unknown>>;
  const options = { ...optionsOf(body, label, picked(given, known, left)), ...onceOf(request, label, picked(given, known)) };
  return mapResult(await gateway.send(id, send, options), (sent) => ({ sent, owner: gateway.view(id)?.record.owner ?? '' }));
};

/** Returns the field `warning` of an answer, if a part of the content is left out or not shown by some phones. */
export const warningOf = (warning: string | null): { readonly warning?: string } => (warning === null ? {} : { warning });

export const queued = 'Message queued successfully';

/** The message in a body, ready to be sent. */
interface PreparedSend {
  readonly send: Send;
  readonly options: SendOptions;
}

/** A send whose body other routes can read too. */
export interface SendRoute extends Route {
  readonly body: TObject;
  /** Reads a body that fits the shape. Refuses (`invalid`) a body whose fields do not fit together. */
  prepare(body: unknown, now: number): Result<PreparedSend>;
}

/** Makes the row of a send. */
export const sendRow = <const Fields extends TProperties>(spec: SendSpec<Fields>): SendRoute => {
  const body = Type.Object({ number: Recipient, ...spec.fields, ...sendOptions });
  const known = Object.keys(body.properties);
  const label = spec.on.slice('POST '.length) as SendPath;
  const answer = SentAnswer(spec.response?.shape);
  const prepare: SendRoute['prepare'] = (given, now) => {
    const whole = given as Body<Fields>;
    const left = spec.unstored?.(whole) ?? [];
    return mapResult(spec.content(whole, now), (content) => ({
      send: sendOf(whole, content, spec.quotes?.(whole) ?? true),
      options: optionsOf(whole, label, picked(whole, known, left)),
    }));
  };
  const row = route({
    on: [spec.on],
    operationId: spec.operationId,
    credential: 'instance',
    tag: 'send',
    summary: spec.summary,
    requestHeaders: sendHeaders,
    body,
    answer,
    answerText: storedText(label),
    ...(spec.invalidTexts ? { invalidTexts: spec.invalidTexts } : {}),
    ...(spec.bodyLimit === undefined ? {} : { bodyLimit: spec.bodyLimit }),
    refusals: { ...sendRefusals, ...spec.refusals },
    run: async (call) => {
      const whole = call.body as Body<Fields>;
      const content = spec.content(whole, call.now);
      if (!content.ok) return content;
      const message = whole.async === true ? queued : spec.sent;
      const send = sendOf(whole, content.value, spec.quotes?.(whole) ?? true);
      const left = spec.unstored?.(whole) ?? [];
      return mapResult(await sendThrough(call, { label, body: whole, known, left, send }), ({ sent, owner }) => ({
        ...messageView(sent, owner),
        response: { status: 'success', message, ...spec.response?.of(sent) },
        ...warningOf(spec.warning?.(whole) ?? contentWarning(content.value)),
      }));
    },
  });
  return { ...row, body, prepare };
};
