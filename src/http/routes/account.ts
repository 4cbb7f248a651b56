/** The account at the platform: its profile, and who may see or do what. */
import { mapResult, platformRefusals, refuse, type Route, route } from '../route.ts';
import { pictureBodyLimit, pictureRefusals, pictureSource } from './picture.ts';
import * as shape from '../schemas/account.ts';

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
