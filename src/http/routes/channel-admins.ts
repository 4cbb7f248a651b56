/** Administration of a channel: invitations of admins, their rights, the owner. */
import type { InvalidTexts } from '../invalid-text.ts';
import type { Address, Route } from '../route.ts';
import { PhoneField, TransferFields } from '../schemas/channel.ts';
import { changeRow } from './channel.ts';

const noPhone = 'phone is required';
const phone: InvalidTexts = { 'phone:required': noPhone, 'phone:minLength': noPhone };
const forbidden = { example: 'the account is not the owner of this channel' } as const;
const invalid = { example: noPhone } as const;
const conflict = { example: 'this person is an admin already' } as const;

const dropRow = (on: Address, operationId: string, summary: string, what: 'right' | 'invitation'): Route =>
  changeRow({
    on,
    operationId,
    summary,
    fields: PhoneField,
    invalidTexts: phone,
    refusals: { forbidden, invalid },
    change: (gateway, id, channelId, body) => gateway.perform(id, 'channel.dropAdmin', { channelId, person: String(body.phone), what }),
  });

export const channelAdminRoutes: readonly Route[] = [
  changeRow({
    on: 'POST /newsletter/admin/invite',
    operationId: 'inviteChannelAdmin',
    summary: 'Invite somebody to be an admin of a channel; the invitation is sent as a message',
    fields: PhoneField,
    invalidTexts: phone,
    refusals: { forbidden, invalid, conflict, limited: {} },
    change: (gateway, id, channelId, body) => gateway.inviteChannelAdmin(id, channelId, String(body.phone), body),
  }),
  changeRow({
    on: 'POST /newsletter/admin/accept',
    operationId: 'acceptChannelAdmin',
    summary: 'Accept an invitation to be an admin of a channel',
    fields: {},
    refusals: {
      notFound: { example: 'the account is not invited to be an admin of this channel' },
      conflict: { example: 'the invitation has run out' },
    },
    change: (gateway, id, channelId) => gateway.perform(id, 'channel.acceptAdmin', { channelId }),
  }),
  dropRow('POST /newsletter/admin/remove', 'removeChannelAdmin', 'Take the right of an admin from somebody', 'right'),
  dropRow('POST /newsletter/admin/revoke', 'revokeChannelAdmin', 'Take an invitation to be an admin back', 'invitation'),
  changeRow({
    on: 'POST /newsletter/owner/transfer',
    operationId: 'transferChannel',
    summary: 'Make an admin the owner of a channel; the account stays an admin, unless it quits',
    fields: TransferFields,
    invalidTexts: phone,
    refusals: { forbidden, invalid, conflict: { example: 'only an admin of the channel can become its owner' } },
    change: (gateway, id, channelId, { phone: person, quitAdmin = false }) =>
      gateway.perform(id, 'channel.transfer', { channelId, person: String(person), quit: quitAdmin }),
  }),
];
