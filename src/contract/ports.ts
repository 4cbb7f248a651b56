/** The ports of the actors that the contract fills. */
import { envelopeView } from './envelope.ts';
import { placeholderText } from './placeholders.ts';

export const contractPorts = { envelope: envelopeView, placeholder: placeholderText };
