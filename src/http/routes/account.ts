/** The account at the platform: its profile, its privacy settings, and calls. */
import { type BodyLimit, mapResult, performs, platformRefusals, type Refusals, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/account.ts';
import { CallAnswer, CallBody, RejectBody } from '../schemas/account.ts';

// Shared parts of routes that accept a picture of a person or group.

/** The largest body with a picture. A phone's photograph as base64 fits. In bytes. */
export const pictureBodyLimit: BodyLimit = { bytes: 8_388_608 };

/** The refusals for a picture that the gateway cannot use. */
export const pictureRefusals = {
  tooLarge: {},
  notConvertible: {},
  limited: {},
  invalid: { example: 'the file begins like image/jpeg, but it is damaged' },
} as const satisfies Refusals;

/** Returns the picture from the client; '' to remove the current picture. */
export const pictureSource = (image: string): string => (/^(?:remove|delete)?$/i.test(image.trim()) ? '' : image);

const tag = 'instance';

/** Converts Unix milliseconds to Unix seconds. */
const seconds = (now: number): number => Math.floor(now / 1000);

export const accountRoutes: readonly Route[] = [
  performs({
    on: ['POST /profile/name'],
    operationId: 'renameProfile',
    tag,
    summary: 'Change the name of the account that others see',
    body: shape.ProfileNameBody,
    answer: shape.ProfileNameAnswer,
    operation: 'account.rename',
    input: ({ body }) => ({ name: body.name.trim() }),
    shown: (_, { body, now }) => ({
      success: true,
      message: 'Profile name changed',
      profile: { name: body.name.trim(), updated_at: seconds(now) },
    }),
  }),
  route({
    on: ['POST /profile/image'],
    operationId: 'setProfilePicture',
    credential: 'instance',
    tag,
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
  performs({
    on: ['GET /instance/privacy'],
    operationId: 'getPrivacy',
    tag,
    summary: 'Read the privacy settings of the account from the platform',
    answer: shape.PrivacyAnswer,
    operation: 'account.privacy',
    input: () => null,
    shown: (settings) => settings,
  }),
  performs({
    on: ['POST /instance/privacy'],
    operationId: 'changePrivacy',
    tag,
    summary: 'Change the privacy settings of the account. Absent settings stay unchanged',
    body: shape.PrivacyBody,
    examples: { body: { last: 'contacts', readreceipts: 'all' } },
    answer: shape.PrivacyAnswer,
    operation: 'account.changePrivacy',
    input({ body }) {
      const change = Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(shape.PrivacyCategories, name)));
      if (Object.keys(change).length === 0)
        return refuse('invalid', `name at least one of ${Object.keys(shape.PrivacyCategories).join(', ')}`);
      return change;
    },
    shown: (settings) => settings,
  }),
];

// The gateway can reject calls, and cannot place calls.

export const callRoutes: readonly Route[] = [
  performs({
    on: ['POST /call/make'],
    operationId: 'makeCall',
    tag: 'call',
    summary: 'Call a person. Not supported: answered with 501, because the client library has no sound',
    body: CallBody,
    answer: CallAnswer,
    invalidTexts: {
      'number:required': 'missing number in payload',
      'number:minLength': 'missing number in payload',
      call_duration: 'invalid call_duration',
    },
    refusals: { invalid: { text: 'invalid number JID' } },
    operation: 'call.make',
    input: ({ body }) => ({ number: String(body.number) }),
    shown: () => ({ response: 'Call successful' }),
  }),
  performs({
    on: ['POST /call/reject'],
    operationId: 'rejectCall',
    tag: 'call',
    summary: 'Reject a ringing call, by id or by number. Without both, the last call is rejected',
    body: RejectBody,
    answer: CallAnswer,
    refusals: { notFound: { example: 'no such call is ringing' } },
    operation: 'call.reject',
    input: ({ body }) => ({ number: String(body.number ?? ''), id: body.id ?? '' }),
    shown: () => ({ response: 'Call rejected' }),
  }),
];
