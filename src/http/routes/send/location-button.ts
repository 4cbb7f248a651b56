/** A button by which the other side sends the place where it is. */
import { Type } from 'typebox';
import { done } from '#actors/gateway.ts';
import { sendRow } from './row.ts';

const missing = 'Missing required fields or invalid coordinates';

export const locationButtonRows = [
  sendRow({
    on: 'POST /send/location-button',
    operationId: 'sendLocationButton',
    summary:
      'Ask for the place with a button; the answer is a location that quotes the message. Not guaranteed: the platform may refuse or hide it',
    sent: 'Location sent successfully',
    fields: {
      text: Type.String({
        minLength: 1,
        maxLength: 65_536,
        description: 'Text above the button, with placeholders',
        examples: ['Where shall we deliver?'],
      }),
    },
    invalidTexts: { 'number:required': missing, 'number:minLength': missing, 'text:required': missing, 'text:minLength': missing },
    content: ({ text }) => done({ kind: 'placeRequest', text }),
  }),
];
