/** The tappable parts of a message, and the answer of a tap: native flows, and the older buttons, lists and templates. */
import type { proto } from '@whiskeysockets/baileys';

/** `id`: what a tap answers; null for what opens something on the phone. */
export interface Tappable {
  readonly id: string | null;
  readonly text: string;
  readonly description: string;
  /** A row of a list. */
  readonly row: boolean;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parameters are JSON that another client wrote. The platform allows 262,144 characters. */
export const paramsOf = (text: string | null | undefined): Json => {
  if (!text || text.length > 262_144) return {};
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? json : {};
  } catch {
    return {};
  }
};

const textAt = (json: Json, name: string): string => (typeof json[name] === 'string' ? json[name] : '');
const listAt = (json: Json, name: string): readonly Json[] => (Array.isArray(json[name]) ? json[name].filter(isObject) : []);

const button = (id: string | null | undefined, text: string | null | undefined): Tappable => ({
  id: id ?? null,
  text: text ?? '',
  description: '',
  row: false,
});

const flowTappables = ({
  name,
  buttonParamsJson,
}: proto.Message.InteractiveMessage.NativeFlowMessage.INativeFlowButton): readonly Tappable[] => {
  const params = paramsOf(buttonParamsJson);
  if (name !== 'single_select') return [button(name === 'quick_reply' ? textAt(params, 'id') : null, textAt(params, 'display_text'))];
  return listAt(params, 'sections').flatMap((section) =>
    listAt(section, 'rows').map((row) => ({
      id: textAt(row, 'id'),
      text: textAt(row, 'title'),
      description: textAt(row, 'description'),
      row: true,
    })),
  );
};

const interactiveTappables = ({ nativeFlowMessage, carouselMessage }: proto.Message.IInteractiveMessage): readonly Tappable[] => [
  ...(nativeFlowMessage?.buttons ?? []).flatMap(flowTappables),
  ...(carouselMessage?.cards ?? []).flatMap((card) => (card.nativeFlowMessage?.buttons ?? []).flatMap(flowTappables)),
];

const listTappables = ({ sections }: proto.Message.IListMessage): readonly Tappable[] =>
  (sections ?? []).flatMap(({ rows }) =>
    (rows ?? []).map(({ rowId, title, description }) => ({
      id: rowId ?? '',
      text: title ?? '',
      description: description ?? '',
      row: true,
    })),
  );

/** In the order of the message; nothing for messages without anything to tap. */
export const tappablesOf = ({ interactiveMessage, buttonsMessage, listMessage }: proto.IMessage): readonly Tappable[] => {
  if (interactiveMessage) return interactiveTappables(interactiveMessage);
  if (listMessage) return listTappables(listMessage);
  return (buttonsMessage?.buttons ?? []).map(({ buttonId, buttonText }) => button(buttonId ?? '', buttonText?.displayText));
};

/** The labels as the interface lists options; buttons without a label of their own are left out. */
export const labelsOf = (message: proto.IMessage): string =>
  tappablesOf(message)
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('|');

/** The name of a native flow says nothing about what was tapped: its id is among the parameters. */
export const answeredId = ({ nativeFlowResponseMessage }: proto.Message.IInteractiveResponseMessage): string => {
  const params = paramsOf(nativeFlowResponseMessage?.paramsJson);
  return textAt(params, 'id') || (nativeFlowResponseMessage?.name ?? '');
};
