/** People and groups: who exists, and what is known of them. */
import type { PictureKind } from '#actors/gateway.ts';
import { avatarView, chatDetailsView, checkedNumberView } from '#src/contract/views.ts';
import { mapResult, platformRefusals, type Route, route } from '../route.ts';
import { tooMany } from './send/row.ts';
import { AvatarAnswer, AvatarBody, CheckAnswer, CheckBody, DetailsAnswer, DetailsBody } from '../schemas/people.ts';

const common = { credential: 'instance', tag: 'chat' } as const;

/** Lists of numbers come with all kinds of punctuation; ids of the platform have a suffix. */
const plainNumber = (written: string | number): string => {
  const text = String(written).trim();
  return /^\+?[\d\s().-]+$/.test(text) ? text.replaceAll(/\D/g, '') : text;
};

const kindOf = (preview: boolean | undefined): PictureKind => (preview === true ? 'preview' : 'image');

export const peopleRoutes: readonly Route[] = [
  route({
    on: ['POST /chat/check'],
    operationId: 'checkNumbers',
    ...common,
    summary: 'Tell which numbers have accounts and which groups the account is in. What is known is not asked again; the rest is paced',
    body: CheckBody,
    answer: CheckAnswer,
    invalidTexts: { 'numbers:required': 'Missing numbers in payload', 'numbers:minItems': 'Missing numbers in payload' },
    refusals: { ...platformRefusals, limited: { ...tooMany, example: 'too many new numbers were looked up: try again later' } },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.checkNumbers(id, body.numbers.map(plainNumber)), (all) =>
        all.map((one, at) => ({ ...checkedNumberView(one), query: String(body.numbers[at]) })),
      ),
  }),
  route({
    on: ['POST /chat/details'],
    operationId: 'getChatDetails',
    ...common,
    summary: 'Show everything that is known of a chat, with its picture, whether it is a business, and the groups that both are in',
    body: DetailsBody,
    answer: DetailsAnswer,
    invalidTexts: { '*': 'Invalid request payload' },
    refusals: {
      ...platformRefusals,
      limited: tooMany,
      notFound: { example: 'the number 5511999999999@s.whatsapp.net is not on WhatsApp' },
    },
    run: async ({ gateway, id, body }) => {
      const owner = gateway.view(id)?.record.owner ?? '';
      const details = await gateway.chatDetails(id, plainNumber(body.number), kindOf(body.preview));
      return mapResult(details, (known) => chatDetailsView(known, owner));
    },
  }),
  route({
    on: ['POST /chat/avatar'],
    operationId: 'getAvatar',
    ...common,
    summary: 'Tell where the picture of a person or group is, as far as the account may see it',
    body: AvatarBody,
    answer: AvatarAnswer,
    refusals: { ...platformRefusals, limited: { ...tooMany, example: 'too many pictures were looked up: try again later' } },
    run: async ({ gateway, id, body }) => {
      const kind = kindOf(body.preview);
      return mapResult(await gateway.picture(id, plainNumber(body.number), kind, body.force ?? false), (picture) =>
        avatarView(picture, kind),
      );
    },
  }),
];
