/** Shapes of questions about people and groups. */
import { Type } from 'typebox';
import type { chatDetailsView } from '#src/contract/views.ts';
import { Chat } from './chat.ts';
import { fields, Flag, like, LooseText, numberExample, OneOf, optional, ref } from './common.ts';

/** The platform's own client asks about no more in one request. */
const mostNumbers = 500;

export const CheckBody = Type.Object({
  numbers: Type.Array(like(LooseText(100, 'A number in any spelling, or the id of a group'), numberExample), {
    minItems: 1,
    maxItems: mostNumbers,
    description: 'Numbers and groups to look up, answered in this order',
  }),
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

const number = like(LooseText(100, 'A number in any spelling, or the id of a person or group', 1), numberExample);
const preview = optional(Flag('The small picture in place of the whole one'));

export const DetailsBody = Type.Object({ number, preview });

const details = {
  is_business: optional(
    Type.Boolean({ description: 'A verified business; left out when that is not known and the pace of lookups allows no question' }),
  ),
  business_name: optional(Type.String()),
};

export const DetailsAnswer = Type.Unsafe<ReturnType<typeof chatDetailsView>>(Type.Intersect([ref(Chat), Type.Object(details)]));

export const AvatarBody = Type.Object({ number, preview, force: optional(Flag('Ask the platform again; honoured every 20 s')) });

export const AvatarAnswer = Type.Object({
  image: Type.String({ description: 'Address of the whole picture; empty with `preview`' }),
  imagePreview: Type.String({ description: 'Address of the small picture; empty without `preview`' }),
  status: OneOf(['there', 'hidden', 'absent'], { description: '`hidden`: the account may not see it' }),
});
