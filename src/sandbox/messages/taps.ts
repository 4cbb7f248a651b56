/** The messages that a phone sends when its owner taps a button or a row: one of four forms of answer, or the place. */
import { proto } from '@whiskeysockets/baileys';
import { SandboxError, type Content } from '../face.ts';
import { interactiveOf } from '../interactive.ts';

type Tap = Extract<Content, { readonly kind: 'tap' }>;

/** The tappable parts of a message, with their answers. */
interface Option {
  readonly name: string;
  readonly id: string | undefined;
  readonly text: string;
  readonly description: string;
}

const optionsOf = (message: proto.IMessage | undefined): { readonly form: 'native' | 'buttons' | 'list'; readonly options: Option[] } => {
  const view = interactiveOf(message);
  if (!view) throw new SandboxError(400, 'this message has nothing to tap');
  const buttons = [...view.buttons, ...view.cards.flatMap((card) => card.buttons)];
  const options = buttons.flatMap(({ name, text, id, rows }): Option[] =>
    rows === undefined
      ? [{ name, id, text, description: '' }]
      : rows.map((row) => ({ name, id: row.id, text: row.title, description: row.description })),
  );
  return { form: view.form, options };
};

const { ButtonsResponseMessage, ListResponseMessage, InteractiveResponseMessage } = proto.Message;

const answers: Readonly<Record<NonNullable<Tap['form']>, (option: Option, contextInfo: proto.IContextInfo) => proto.IMessage>> = {
  native: ({ name, id, text, description }, contextInfo) => ({
    interactiveResponseMessage: {
      body: { text, format: InteractiveResponseMessage.Body.Format.DEFAULT },
      contextInfo,
      nativeFlowResponseMessage: {
        name: name === 'single_select' ? 'menu_options' : name,
        paramsJson: JSON.stringify(name === 'single_select' ? { id, title: text, description } : { id }),
        version: 3,
      },
    },
  }),
  buttons: ({ id = '', text }, contextInfo) => ({
    buttonsResponseMessage: {
      selectedButtonId: id,
      selectedDisplayText: text,
      type: ButtonsResponseMessage.Type.DISPLAY_TEXT,
      contextInfo,
    },
  }),
  list: ({ id = '', text, description }, contextInfo) => ({
    listResponseMessage: {
      title: text,
      description,
      listType: ListResponseMessage.ListType.SINGLE_SELECT,
      singleSelectReply: { selectedRowId: id },
      contextInfo,
    },
  }),
  template: ({ id = '', text }, contextInfo) => ({
    templateButtonReplyMessage: { selectedId: id, selectedDisplayText: text, contextInfo },
  }),
};

/** `contextInfo` quotes the tapped message. */
export const composeTap = (tap: Tap, tapped: proto.IMessage | undefined, contextInfo: proto.IContextInfo): proto.IMessage => {
  const { form, options } = optionsOf(tapped);
  const option = options.find(({ id, text }) => id === tap.option || text === tap.option);
  if (!option) throw new SandboxError(400, `nothing to tap is called ${tap.option.slice(0, 80)}`);
  if (option.name === 'send_location') {
    const { latitude: degreesLatitude = 0, longitude: degreesLongitude = 0 } = tap;
    return { locationMessage: { degreesLatitude, degreesLongitude, contextInfo } };
  }
  if (option.id === undefined) throw new SandboxError(400, `${tap.option.slice(0, 80)} opens something on the phone and answers nothing`);
  return answers[tap.form ?? form](option, contextInfo);
};
