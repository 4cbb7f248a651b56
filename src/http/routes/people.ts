/** People and groups: who exists. */
import { checkedNumberView } from '#src/contract/views.ts';
import { mapResult } from '../outcome.ts';
import { platformRefusals, type Route, route } from '../route.ts';
import { tooMany } from './send/row.ts';
import { CheckAnswer, CheckBody } from '../schemas/people.ts';

const common = { credential: 'instance', tag: 'chat' } as const;

/** Lists of numbers come with all kinds of punctuation; ids of the platform have a suffix. */
const plainNumber = (written: string | number): string => {
  const text = String(written).trim();
  return /^\+?[\d\s().-]+$/.test(text) ? text.replaceAll(/\D/g, '') : text;
};

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
];
