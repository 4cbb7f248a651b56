/** The account at the platform: its profile, and who may see or do what. */
import { type BodyLimit, mapResult, platformRefusals, type Refusals, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/account.ts';
import { CallAnswer, CallBody, RejectBody } from '../schemas/account.ts';

// Shared parts of rows that take a picture of a person or group.

/** Holds a photograph of a phone as base64. */
export const pictureBodyLimit: BodyLimit = { bytes: 8_388_608 };

/** The refusals of a picture itself. */
export const pictureRefusals = {
  tooLarge: {},
  notConvertible: {},
  limited: {},
  invalid: { example: 'the file begins like image/jpeg, but it is damaged' },
} as const satisfies Refusals;

/** The picture as it was given; '' to take the present one away. */
export const pictureSource = (image: string): string => (/^(?:remove|delete)?$/i.test(image.trim()) ? '' : image);

const common = { credential: 'instance', tag: 'instance' } as const;

/** Unix seconds. */
const seconds = (now: number): number => Math.floor(now / 1000);

export const accountRoutes: readonly Route[] = [
  route({
    on: ['POST /profile/name'],
    operationId: 'renameProfile',
    ...common,
    summary: 'Change the name of the account that others see',
    body: shape.ProfileNameBody,
    answer: shape.ProfileNameAnswer,
    refusals: platformRefusals,
    async run({ gateway, now, id, body }) {
      const name = body.name.trim();
      return mapResult(await gateway.perform(id, 'account.rename', { name }), () => ({
        success: true,
        message: 'Profile name changed',
        profile: { name, updated_at: seconds(now) },
      }));
    },
  }),
  route({
    on: ['POST /profile/image'],
    operationId: 'setProfilePicture',
    ...common,
    summary: 'Set the picture of the account, or take it away',
    body: shape.ProfilePictureBody,
    answer: shape.ProfilePictureAnswer,
    bodyLimit: pictureBodyLimit,
    refusals: { ...platformRefusals, ...pictureRefusals },
    async run({ gateway, now, id, body }) {
      const source = pictureSource(body.image);
      const isRemoved = source === '';
      return mapResult(await gateway.setOwnPicture(id, source), () => ({
        success: true,
        message: isRemoved ? 'Profile image removed' : 'Profile image changed',
        profile: { image_updated: !isRemoved, image_removed: isRemoved, updated_at: seconds(now) },
      }));
    },
  }),
  route({
    on: ['GET /instance/privacy'],
    operationId: 'getPrivacy',
    ...common,
    summary: 'Ask the platform who may see or do what of the account',
    answer: shape.PrivacyAnswer,
    refusals: platformRefusals,
    run: ({ gateway, id }) => gateway.perform(id, 'account.privacy', null),
  }),
  route({
    on: ['POST /instance/privacy'],
    operationId: 'changePrivacy',
    ...common,
    summary: 'Change who may see or do what of the account; what is left out stays',
    body: shape.PrivacyBody,
    examples: { body: { last: 'contacts', readreceipts: 'all' } },
    answer: shape.PrivacyAnswer,
    refusals: platformRefusals,
    async run({ gateway, id, body }) {
      const change = Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(shape.PrivacyCategories, name)));
      if (Object.keys(change).length === 0)
        return refuse('invalid', `name at least one of ${Object.keys(shape.PrivacyCategories).join(', ')}`);
      return gateway.perform(id, 'account.changePrivacy', change);
    },
  }),
];

// Calls: refused when they ring; none can be placed.

const ofCalls = { credential: 'instance', tag: 'call' } as const;

export const callRoutes: readonly Route[] = [
  route({
    on: ['POST /call/make'],
    operationId: 'makeCall',
    ...ofCalls,
    summary: 'Call somebody. Not supported: answered with 501, because the client library has no sound',
    body: CallBody,
    answer: CallAnswer,
    invalidTexts: {
      'number:required': 'missing number in payload',
      'number:minLength': 'missing number in payload',
      call_duration: 'invalid call_duration',
    },
    refusals: { ...platformRefusals, invalid: { text: 'invalid number JID' } },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'call.make', { number: String(body.number) }), () => ({ response: 'Call successful' })),
  }),
  route({
    on: ['POST /call/reject'],
    operationId: 'rejectCall',
    ...ofCalls,
    summary: 'Refuse a call that rings: the one of an id, the one of a number, or without both the last one',
    body: RejectBody,
    answer: CallAnswer,
    refusals: { ...platformRefusals, notFound: { example: 'no such call is ringing' } },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'call.reject', { number: String(body.number ?? ''), id: body.id ?? '' }), () => ({
        response: 'Call rejected',
      })),
  }),
];
