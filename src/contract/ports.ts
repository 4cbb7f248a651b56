/** The ports of the actors that the contract fills. */
import { chatbotFields } from './chatbot.ts';
import { envelopeView } from './envelope.ts';
import { placeholderText } from './placeholders.ts';
import { toldEvent } from './told-event.ts';

export const contractPorts = { envelope: envelopeView, placeholder: placeholderText, readEvent: toldEvent, chatbotFields };
