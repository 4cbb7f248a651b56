/** Messages of campaigns, read and checked as the bodies of the sends: what a send refuses, a campaign refuses with the same text. */
import { type TSchema, Type } from 'typebox';
import { type CampaignSend, done, refuse, type Result } from '#actors/gateway.ts';
import { type InputCheck, inputCheck } from '../../body.ts';
import { invalidInput } from '../../invalid-text.ts';
import { lenientReader } from '../../lenient.ts';
import { mapResult } from '../../route.ts';
import { type CampaignType, campaignTypes } from '../../schemas/campaign.ts';
import type { SendRoute } from '../send/row.ts';

type Body = Readonly<Record<string, unknown>>;

/** The body with `numbers` as a list, where they are one text with commas, semicolons or line breaks. */
export const listedNumbers = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const numbers = body?.['numbers'];
  if (typeof numbers !== 'string') return body;
  const list = numbers.split(/[,;\n]/).map((one) => one.trim());
  return { ...body, numbers: list.filter((one) => one !== '') };
};

const media = 'POST /send/media';
const menu = 'POST /send/menu';

/** The send of each kind. */
const sends: Readonly<Record<CampaignType, `POST /send/${string}`>> = {
  text: 'POST /send/text',
  image: media,
  video: media,
  videoplay: media,
  audio: media,
  document: media,
  contact: 'POST /send/contact',
  location: 'POST /send/location',
  list: menu,
  button: menu,
  poll: menu,
  carousel: menu,
  ptt: media,
  myaudio: media,
  sticker: media,
  button_legacy: menu,
  event: 'POST /send/event',
  'location-button': 'POST /send/location-button',
  'pix-button': 'POST /send/pix-button',
  'request-payment': 'POST /send/request-payment',
  'group-invite': 'POST /send/group-invite',
};

const carousel = 'POST /send/carousel';

/** Fields of a send that make no sense for many: there is nobody to quote, and a campaign is a queue of its own. */
const unused: ReadonlySet<string> = new Set(['number', 'type', 'replyid', 'async']);

/** Its type and what it means; the send of its kind checks the rest. */
const described = (schema: TSchema): TSchema => {
  const { type, items, description, examples } = schema as Readonly<Record<string, unknown>>;
  const itemType = (items as { readonly type?: unknown } | undefined)?.type;
  return Type.Unsafe({
    ...(type === undefined ? {} : { type }),
    ...(type === 'array' ? { items: itemType === 'string' ? { type: itemType } : { type: 'object', additionalProperties: true } } : {}),
    ...(description === undefined ? {} : { description }),
    ...(examples === undefined ? {} : { examples }),
  });
};

interface Checked {
  readonly row: SendRoute;
  readonly read: (body: unknown) => unknown;
  readonly check: InputCheck;
}

export interface CampaignMessages {
  /** The fields of all sends, each of which may be missing. */
  readonly fields: Readonly<Record<string, TSchema>>;
  /** The message in a body, without its recipient; `label` and `payload` are what the message says of the call. */
  read(
    body: Body & { readonly type: CampaignType },
    now: number,
    said: { readonly label: string; readonly payload?: unknown },
  ): Result<CampaignSend>;
}

export const campaignMessages = (rows: readonly SendRoute[]): CampaignMessages => {
  const checked = new Map<string, Checked>();
  const fields: Record<string, TSchema> = { buttonText: Type.Optional(Type.String({ description: 'The older name of `listButton`' })) };
  for (const address of new Set([...campaignTypes.map((type) => sends[type]), carousel])) {
    const row = rows.find(({ on }) => on[0] === address);
    if (row === undefined) throw new Error(`campaigns need ${address}`);
    checked.set(address, { row, read: lenientReader(row.body) ?? ((body) => body), check: inputCheck(row.body) });
    for (const [name, schema] of Object.entries(row.body.properties))
      if (!unused.has(name)) fields[name] ??= Type.Optional(described(schema));
  }

  const fit = ({ row, read, check }: Checked, given: Body): Result<Body> => {
    const body = read(given) as Body;
    const findings = check(body);
    return findings.length === 0 ? done(body) : refuse('invalid', invalidInput(findings, 'message', row.invalidTexts).error);
  };

  return {
    fields,
    read({ type, ...given }, now, { label, payload }) {
      const one = checked.get(type === 'carousel' && given['carousel'] !== undefined ? carousel : sends[type])!;
      const { buttonText, ...rest } = given;
      // The number stands for the recipient's, which the payload gets with its turn.
      const whole = { listButton: buttonText, ...rest, type, number: '0', replyid: undefined, async: false };
      const body = fit(one, Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined)));
      if (!body.ok) return body;
      return mapResult(one.row.prepare(body.value, now), ({ send, options }) => {
        const { number: _nobody, content, mentions, forward, replyTo } = send;
        const { async: _never, once: _key, payload: own, ...how } = options;
        return { content, mentions, forward, replyTo, ...how, label, payload: payload ?? own };
      });
    },
  };
};
