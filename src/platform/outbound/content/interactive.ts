/** Buttons, lists, carousels and requests for the place. The node that makes phones show them is in `stanza.ts`. */
import { proto } from '@whiskeysockets/baileys';
import { type ButtonsContent, type CarouselContent, done, type ListContent, type PlaceRequestContent } from '#actors/model.ts';
import type { Composer } from '../composer.ts';
import { buttonFlow, flow, interactive, interactiveMessage, listFlow } from './native-flow.ts';

/** A kind of content that needs nothing but itself. */
const plain = <Content>(of: (content: Content) => proto.IMessage): Composer<Content> => ({
  content: async (content) => done(of(content)),
  draft: of,
  isComplete: () => true,
});

const { ButtonsMessage, InteractiveMessage } = proto.Message;

const legacyButtons = ({ text, footer, buttons }: ButtonsContent): proto.IMessage => ({
  buttonsMessage: {
    contentText: text,
    ...(footer === '' ? {} : { footerText: footer }),
    headerType: ButtonsMessage.HeaderType.EMPTY,
    buttons: buttons.flatMap((button) =>
      button.kind === 'reply'
        ? [{ buttonId: button.id, buttonText: { displayText: button.text }, type: ButtonsMessage.Button.Type.RESPONSE }]
        : [],
    ),
  },
});

export const buttonsComposer = plain<ButtonsContent>((content) =>
  content.legacy ? legacyButtons(content) : interactiveMessage(interactive(content, content.buttons.map(buttonFlow))),
);

export const listComposer = plain<ListContent>((content) =>
  interactiveMessage(interactive(content, [listFlow(content.button, content.sections)])),
);

/** Phones draw nothing to be moved aside when there is one card: it becomes the message itself. The context must be there for iPhones. */
export const carouselComposer = plain<CarouselContent>(({ text, footer, cards }) => {
  const [first] = cards;
  if (cards.length === 1 && first)
    return interactiveMessage(interactive({ text: `${text}\n\n${first.text}`, footer }, first.buttons.map(buttonFlow)));
  return interactiveMessage({
    body: { text },
    ...(footer === '' ? {} : { footer: { text: footer } }),
    contextInfo: {},
    carouselMessage: {
      cards: cards.map((card) => interactive(card, card.buttons.map(buttonFlow))),
      messageVersion: 1,
      carouselCardType: InteractiveMessage.CarouselMessage.CarouselCardType.HSCROLL_CARDS,
    },
  });
});

export const placeRequestComposer = plain<PlaceRequestContent>(({ text }) =>
  interactiveMessage(interactive({ text }, [flow('send_location', { display_text: 'Send location' })])),
);
