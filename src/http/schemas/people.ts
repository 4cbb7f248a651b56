/** Shapes of questions about people and groups. */
import { Type } from 'typebox';
import { fields, LooseText, optional } from './common.ts';

/** The platform's own client asks about no more in one request. */
const mostNumbers = 500;

export const CheckBody = Type.Object({
  numbers: Type.Array(LooseText(100, 'A number in any spelling, or the id of a group'), { minItems: 1, maxItems: mostNumbers }),
});

const CheckedNumber = Type.Object({
  query: Type.String({ description: 'As it was asked' }),
  ...fields('jid lid', Type.String()),
  isInWhatsapp: optional(Type.Boolean({ description: 'Of a group: the account is in it. Left out when the platform did not say' })),
  verifiedName: Type.String({ description: 'Of a verified business, as far as it is known' }),
  groupName: Type.String(),
  error: Type.String({ description: 'Why there is no answer; empty when there is one' }),
});

export const CheckAnswer = Type.Array(CheckedNumber);
