/** Example answers of the sends in the documents: the stored form of each example body. A test sends these bodies and compares. */
import type { TSchema } from 'typebox';
import { exampleOf } from '../../openapi.ts';
import type { AnswerOf } from '../../route.ts';
import { Message } from '../../schemas/message.ts';

/** Fields that follow from the kind of message; those left out are as in the example of `Message`. */
interface Stored {
  readonly messageType: string;
  readonly text: string;
  readonly convertOptions?: string;
  readonly fileURL?: string;
  readonly chatid?: string;
  readonly content: unknown;
}

type Button = readonly [name: string, params: Readonly<Record<string, unknown>>];

/** A message with buttons. */
const nativeFlow = (text: string, convertOptions: string, ...buttons: readonly Button[]): Stored => ({
  messageType: 'NativeFlowMessage',
  text,
  convertOptions,
  content: {
    body: { text },
    nativeFlowMessage: {
      buttons: buttons.map(([name, params]) => ({ name, buttonParamsJSON: JSON.stringify(params) })),
      messageParamsJSON: '',
      messageVersion: 1,
    },
  },
});

const vcard = [
  'BEGIN:VCARD',
  'VERSION:3.0',
  'PRODID:-//vcard-creator//vcard-creator 1.0.0//EN',
  'REV:2026-02-03T19:16:18.000Z',
  'N:;Ana Silva;;;',
  'FN:Ana Silva',
  'TEL;type=CELL;type=VOICE;waid=5511999999999:+5511999999999',
  'TEL;type=CELL;type=VOICE;waid=5511888888888:+5511888888888',
  'END:VCARD',
  '',
].join('\r\n');

const pixKey = '123e4567-e89b-42d3-a456-426614174000';
/** Cents, as the platform writes amounts. */
const cents = (value: number) => ({ value, offset: 100 });

const order = (reference: string, item: string, amount: number, ...further: readonly object[]) => ({
  currency: 'BRL',
  total_amount: cents(amount),
  reference_id: reference,
  type: 'physical-goods',
  order: { status: 'pending', subtotal: cents(amount), order_type: 'ORDER', items: [{ name: item, amount: cents(amount), quantity: 1 }] },
  payment_settings: [{ type: 'pix_static_code', pix_static_code: { merchant_name: 'Shop', key: pixKey, key_type: 'EVP' } }, ...further],
});
const noCards = { type: 'cards', cards: { enabled: false } };

const question = 'Shall we deliver today?';
const reply = (text: string, id: string): Button => ['quick_reply', { display_text: text, id }];

const stored = {
  '/send/text': { messageType: 'ExtendedTextMessage', text: 'Hello', content: { text: 'Hello' } },
  '/send/media': {
    messageType: 'ImageMessage',
    text: '',
    fileURL: 'https://example.com/files/0f3c…',
    content: {
      mimetype: 'image/jpeg',
      fileLength: 48_213,
      fileSHA256: 'a3+kNPkqi4CqsC2b8aEuSf/K5CTkATocT2i2fj0rvNA=',
      URL: 'https://mmg.whatsapp.net/v/t62.7118-24/1.enc?ccb=11-4',
      directPath: '/v/t62.7118-24/1.enc?ccb=11-4',
      mediaKey: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
      fileEncSHA256: '9+hKkWroZNoCL7U3YwL4lsqi6plztfVGUHmH+0T/TDg=',
      mediaKeyTimestamp: 1_770_146_178,
      JPEGThumbnail: '/9j/2wBDABALDA4MChAODQ4S…',
      height: 900,
      width: 1200,
    },
  },
  '/send/contact': {
    messageType: 'ContactMessage',
    text: 'Ana Silva\n+5511999999999\n+5511888888888',
    content: { displayName: 'Ana Silva', vcard },
  },
  '/send/location': { messageType: 'LocationMessage', text: '', content: { degreesLatitude: -23.5616, degreesLongitude: -46.6562 } },
  '/send/group-invite': {
    messageType: 'GroupInviteMessage',
    text: '',
    content: { groupJID: '120363000000000001@g.us', inviteCode: 'AbCdEfGhIjKlMnOp', inviteExpiration: 4_102_444_800 },
  },
  '/send/event': {
    messageType: 'EventMessage',
    text: 'Launch',
    content: {
      isCanceled: false,
      name: 'Launch',
      startTime: 1_800_000_000,
      endTime: 1_800_003_600,
      extraGuestsAllowed: false,
      isScheduleCall: false,
    },
  },
  '/send/menu': nativeFlow(question, 'Yes|No', reply('Yes', 'yes'), reply('No', 'no')),
  '/send/carousel': nativeFlow('New this week\n\nA mug of two colours', 'Order', reply('Order', 'Order')),
  '/send/location-button': nativeFlow('Where shall we deliver?', 'Send location', ['send_location', { display_text: 'Send location' }]),
  '/send/request-payment': nativeFlow('', '', ['review_and_pay', order('A4592417E2A1', 'Order', 19_990, noCards)]),
  '/send/pix-button': nativeFlow('', '', ['payment_info', order('3A1E999D7A94', 'Shop', 0)]),
  '/send/status': {
    messageType: 'ExtendedTextMessage',
    text: 'Open today',
    chatid: 'status@broadcast',
    content: { text: 'Open today', textArgb: 0xff_ff_ff_ff, backgroundArgb: 0xff_24_36_40, font: 0 },
  },
} as const satisfies Readonly<Record<string, Stored>>;

export type SendPath = keyof typeof stored;

const shared = new Map<string, TSchema>([['Message', Message]]);

/** The answer to the example of this body, in the shape of `answer`. `sent`: the words of success. */
export const sentExample = <Answer extends TSchema>(path: SendPath, body: TSchema, answer: Answer, sent: string): AnswerOf<Answer> => {
  const usual = exampleOf(answer, shared) as AnswerOf<Answer> & { readonly response: object };
  return {
    ...usual,
    response: { ...usual.response, message: sent },
    ...stored[path],
    sendFunction: path,
    sendPayload: exampleOf(body, shared),
  };
};
