/** Messages with buttons, lists or cards, as a phone shows them: native flows, carousels, and the older buttons and lists. */
import { normalizeMessageContent, type proto } from '@whiskeysockets/baileys';

/** A row of an opened list. */
interface RowView {
  readonly section: string;
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

/** A button. `name` is the name of its native flow. For older messages, it is `quick_reply` for a button and `single_select` for a list. */
interface ButtonView {
  readonly name: string;
  readonly text: string;
  /** The id that a tap sends. Absent for lists, and for buttons that open something on the phone. */
  readonly id?: string;
  /** Rows of a list. */
  readonly rows?: readonly RowView[];
  /** The URL, phone number, code or order that a tap opens or copies. */
  readonly opens?: unknown;
}

interface CardView {
  readonly title: string;
  readonly text: string;
  readonly footer: string;
  /** The name of the message field with the picture, video or document above the text. */
  readonly media?: string;
  readonly buttons: readonly ButtonView[];
}

export interface InteractiveView extends CardView {
  readonly form: 'native' | 'buttons' | 'list';
  readonly cards: readonly CardView[];
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const said = (value: unknown): value is string => typeof value === 'string' && value !== '';
const textAt = (json: Json, name: string): string => (said(json[name]) ? json[name] : '');
const listAt = (json: Json, name: string): readonly Json[] => (Array.isArray(json[name]) ? json[name].filter(isObject) : []);

/** Reads a button. Returns null if a parameter is missing or invalid, because phones do not show such a button. */
type Reader = (params: Json) => Omit<ButtonView, 'name'> | null;

const labelled =
  (field: string): Reader =>
  (params) =>
    said(params['display_text']) && said(params[field]) ? { text: params['display_text'], opens: params[field] } : null;

const list: Reader = (params) => {
  const rows = listAt(params, 'sections').flatMap((section) =>
    listAt(section, 'rows').map((row) => ({
      section: textAt(section, 'title'),
      id: textAt(row, 'id'),
      title: textAt(row, 'title'),
      description: textAt(row, 'description'),
    })),
  );
  const whole = said(params['title']) && rows.length > 0 && rows.every(({ id, title }) => id !== '' && title !== '');
  return whole ? { text: textAt(params, 'title'), rows } : null;
};

/** The required fields of each payment method. */
const paymentFields: Readonly<Record<string, readonly string[]>> = {
  pix_static_code: ['merchant_name', 'key', 'key_type'],
  pix_dynamic_code: ['code', 'merchant_name', 'key', 'key_type'],
  payment_link: ['uri'],
  boleto: ['digitable_line'],
};

const isAmount = (value: unknown): boolean => isObject(value) && Number.isSafeInteger(value['value']) && value['offset'] === 100;

const isPaymentMethod = (setting: Json): boolean => {
  const type = textAt(setting, 'type');
  if (type === 'cards') return isObject(setting['cards']);
  const details = setting[type];
  return isObject(details) && Object.hasOwn(paymentFields, type) && (paymentFields[type]?.every((field) => said(details[field])) ?? false);
};

/** Makes the reader of a button for payments. `text` is the label of the button in the language of the phone. */
const payment =
  (text: string): Reader =>
  (params) => {
    const settings = listAt(params, 'payment_settings');
    const order = params['order'];
    const whole =
      params['currency'] === 'BRL' &&
      isAmount(params['total_amount']) &&
      said(params['reference_id']) &&
      isObject(order) &&
      isAmount(order['subtotal']) &&
      listAt(order, 'items').every((item) => said(item['name']) && isAmount(item['amount'])) &&
      settings.length > 0 &&
      settings.every(isPaymentMethod);
    return whole ? { text, opens: params } : null;
  };

/** Functions that read a button, by the name of its native flow. */
const readers: Readonly<Record<string, Reader>> = {
  quick_reply: (params) => (said(params['display_text']) && said(params['id']) ? { text: params['display_text'], id: params['id'] } : null),
  cta_url: labelled('url'),
  cta_call: labelled('phone_number'),
  cta_copy: labelled('copy_code'),
  single_select: list,
  send_location: (params) => (said(params['display_text']) ? { text: params['display_text'] } : null),
  payment_info: payment('Copy the PIX key'),
  review_and_pay: payment('Review and pay'),
};

const parsed = (text: string | null | undefined): Json => {
  try {
    const json: unknown = JSON.parse(text ?? '');
    return isObject(json) ? json : {};
  } catch {
    return {};
  }
};

type Native = proto.Message.InteractiveMessage.INativeFlowMessage;

/** Reads the buttons of a native flow. Returns null if phones cannot show one of the buttons. */
const nativeButtons = (flow: Native | null | undefined): readonly ButtonView[] | null => {
  const read = (flow?.buttons ?? []).map(({ name, buttonParamsJson }): ButtonView | null => {
    const shown = readers[name ?? '']?.(parsed(buttonParamsJson)) ?? null;
    return shown === null ? null : { name: name ?? '', ...shown };
  });
  return read.every((button) => button !== null) ? read : null;
};

const cardOf = ({ header, body, footer, nativeFlowMessage }: proto.Message.IInteractiveMessage): CardView | null => {
  const buttons = nativeButtons(nativeFlowMessage);
  if (buttons === null) return null;
  const media = (['imageMessage', 'videoMessage', 'documentMessage'] as const).find((field) => header?.[field]);
  return {
    title: header?.title ?? '',
    text: body?.text ?? '',
    footer: footer?.text ?? '',
    ...(media === undefined ? {} : { media }),
    buttons,
  };
};

const nativeView = (message: proto.Message.IInteractiveMessage): InteractiveView | null => {
  const whole = cardOf(message);
  const cards = (message.carouselMessage?.cards ?? []).map(cardOf);
  if (whole === null || !cards.every((card) => card !== null)) return null;
  if (cards.length > 10 || cards.some(({ buttons }) => buttons.length < 1 || buttons.length > 3)) return null;
  return whole.buttons.length === 0 && cards.length === 0 ? null : { form: 'native', ...whole, cards };
};

const buttonsView = ({ contentText, footerText, buttons }: proto.Message.IButtonsMessage): InteractiveView => ({
  form: 'buttons',
  title: '',
  text: contentText ?? '',
  footer: footerText ?? '',
  buttons: (buttons ?? []).map(({ buttonId, buttonText }) => ({
    name: 'quick_reply',
    text: buttonText?.displayText ?? '',
    id: buttonId ?? '',
  })),
  cards: [],
});

const listView = ({ title, description, footerText, buttonText, sections }: proto.Message.IListMessage): InteractiveView => ({
  form: 'list',
  title: title ?? '',
  text: description ?? '',
  footer: footerText ?? '',
  buttons: [
    {
      name: 'single_select',
      text: buttonText ?? '',
      rows: (sections ?? []).flatMap((section) =>
        (section.rows ?? []).map((row) => ({
          section: section.title ?? '',
          id: row.rowId ?? '',
          title: row.title ?? '',
          description: row.description ?? '',
        })),
      ),
    },
  ],
  cards: [],
});

/**
 * Reads the tappable parts of a message. Returns undefined for a message without such parts, and null for a message that phones cannot show because its
 * parameters are invalid.
 */
export const interactiveOf = (message: proto.IMessage | undefined): InteractiveView | null | undefined => {
  const content = normalizeMessageContent(message) ?? {};
  if (content.interactiveMessage) return nativeView(content.interactiveMessage);
  if (content.buttonsMessage) return buttonsView(content.buttonsMessage);
  return content.listMessage ? listView(content.listMessage) : undefined;
};
