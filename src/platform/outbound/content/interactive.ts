/** Buttons, lists, carousels and requests for the place. The node that makes phones show them is in `stanza.ts`. */
import { proto } from '@whiskeysockets/baileys';
import { type ButtonsContent, type CarouselContent, done, type ListContent, type PlaceRequestContent } from '#actors/model.ts';
import { type Composer, plainComposer } from '../composer.ts';
import { draftHead, uploadedHead } from './head.ts';
import { buttonFlow, flow, type HeadMessage, interactive, interactiveMessage, listFlow } from './native-flow.ts';

const { ButtonsMessage, InteractiveMessage } = proto.Message;

const legacyButtons = ({ text, footer, buttons }: ButtonsContent, head: HeadMessage | null): proto.IMessage => ({
  buttonsMessage: {
    contentText: text,
    ...(footer === '' ? {} : { footerText: footer }),
    ...head,
    headerType: head === null ? ButtonsMessage.HeaderType.EMPTY : ButtonsMessage.HeaderType.IMAGE,
    buttons: buttons.flatMap((button) =>
      button.kind === 'reply'
        ? [{ buttonId: button.id, buttonText: { displayText: button.text }, type: ButtonsMessage.Button.Type.RESPONSE }]
        : [],
    ),
  },
});

/** Apps that show a part of the buttons show the first ones: replies come before links. */
const inOrder = (buttons: ButtonsContent['buttons']): ButtonsContent['buttons'] => [
  ...buttons.filter(({ kind }) => kind === 'reply'),
  ...buttons.filter(({ kind }) => kind !== 'reply'),
];

const buttonsMessage = (content: ButtonsContent, head: HeadMessage | null): proto.IMessage =>
  content.legacy ? legacyButtons(content, head) : interactiveMessage(interactive(content, inOrder(content.buttons).map(buttonFlow), head));

export const buttonsComposer: Composer<ButtonsContent> = {
  uploads: true,
  async content(content, connection, jid) {
    const head = await uploadedHead(content.head, connection, jid);
    return head.ok ? done(buttonsMessage(content, head.value)) : head;
  },
  draft: (content) => buttonsMessage(content, draftHead(content.head)),
  isComplete: ({ head }) => head === null,
};

export const listComposer = plainComposer<ListContent>((content) =>
  interactiveMessage(interactive(content, [listFlow(content.button, content.sections)])),
);

/** Phones draw nothing to be moved aside when there is one card without a picture: it becomes the message itself. The context must be there for iPhones. */
const carouselMessage = ({ text, footer, cards }: CarouselContent, heads: readonly (HeadMessage | null)[]): proto.IMessage => {
  const [first] = cards;
  if (cards.length === 1 && first?.head === null)
    return interactiveMessage(interactive({ text: `${text}\n\n${first.text}`, footer }, first.buttons.map(buttonFlow)));
  return interactiveMessage({
    body: { text },
    ...(footer === '' ? {} : { footer: { text: footer } }),
    contextInfo: {},
    carouselMessage: {
      cards: cards.map((card, index) => interactive(card, card.buttons.map(buttonFlow), heads[index] ?? null)),
      messageVersion: 1,
      carouselCardType: InteractiveMessage.CarouselMessage.CarouselCardType.HSCROLL_CARDS,
    },
  });
};

export const carouselComposer: Composer<CarouselContent> = {
  uploads: true,
  async content(content, connection, jid) {
    const heads: (HeadMessage | null)[] = [];
    for (const card of content.cards) {
      const head = await uploadedHead(card.head, connection, jid);
      if (!head.ok) return head;
      heads.push(head.value);
    }
    return done(carouselMessage(content, heads));
  },
  draft: (content) =>
    carouselMessage(
      content,
      content.cards.map(({ head }) => draftHead(head)),
    ),
  isComplete: ({ cards }) => cards.every(({ head }) => head === null),
};

export const placeRequestComposer = plainComposer<PlaceRequestContent>(({ text }) =>
  interactiveMessage(interactive({ text }, [flow('send_location', { display_text: 'Send location' })])),
);
