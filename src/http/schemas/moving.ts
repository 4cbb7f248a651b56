/** Shapes of imports and exports. */
import { Type } from 'typebox';
import { exportParts, importOutcomes } from '#actors/gateway.ts';
import { Flag, OneOf, optional, Text } from './common.ts';

export const ImportQuery = Type.Object({
  from: Type.String({
    maxLength: 40,
    description: 'The store that the upload is, as `npm run import -- --help` lists them',
    examples: ['folder'],
  }),
  dryRun: optional(Flag('Only say what would happen')),
  into: optional(
    Text(200, 'Id or name of the instance to be filled; without it the name of the session, and a new instance where there is none'),
  ),
  only: optional(Text(10_000, 'Names of sessions in the source, with commas between; all without it')),
});

export const ImportHeaders = Type.Object({
  'x-passphrase': optional(Text(1_000, 'Passphrase of an archive, or the key of sealed fields of the source')),
});

/** The body is read as a stream, so it is not validated in advance. */
export const Upload = Type.Unsafe<unknown>({
  type: ['string', 'object'],
  description: 'A file, or several as a tar archive, which may be compressed with gzip',
  format: 'binary',
  examples: ['the bytes of auth_info.tar.gz'],
});

export const ImportedSession = Type.Object(
  {
    name: Type.String({ description: 'The name of the session in the source; empty if the rest of the source cannot be read' }),
    outcome: OneOf(importOutcomes, {
      description: '`ready`: a dry run found nothing wrong. `here`: an instance has this session already',
    }),
    instance: Type.String({ description: 'Id of the instance; empty when there is none' }),
    token: Type.String({ description: 'Token of the instance; empty when there is none' }),
    number: Type.String({ description: 'Digits of the account' }),
    keys: Type.Integer({ description: 'Keys that were read' }),
    chats: Type.Integer({ description: 'Chats of the archive that this import added or completed' }),
    messages: Type.Integer({ description: 'Messages of the archive that this import added' }),
    reason: Type.String({ description: 'Reason of a refusal, or the place of the session' }),
    notes: Type.Array(Type.String(), { description: 'Steps before the session is connected' }),
    lost: Type.Array(Type.String(), { description: 'Settings of the source that are not taken over' }),
  },
  {
    examples: [
      {
        name: 'shop',
        outcome: 'imported',
        instance: 'r183e2ef9597845',
        token: '3f1cPq0eXb7yJ5uKd2wZtG8vRnM4aL6sHhCoEiTB',
        number: '5511988887777',
        keys: 843,
        chats: 0,
        messages: 0,
        reason: 'the instance r183e2ef9597845 has it',
        notes: ['the source does not say whether it is connected there: stop it there before you connect it here'],
        lost: ['webhook: it has no counterpart of webhookBase64'],
      },
    ],
  },
);

export const ImportAnswer = Type.Object({ dryRun: Type.Boolean(), sessions: Type.Array(ImportedSession) });

export const ExportBody = Type.Object({
  instances: optional(
    Type.Array(Type.String({ maxLength: 100 }), {
      maxItems: 10_000,
      description: 'Ids or names of instances. Without it, all paired instances',
    }),
  ),
  passphrase: Type.String({
    minLength: 12,
    maxLength: 1_000,
    description: 'Seals the archive',
    examples: ['correct horse battery staple'],
  }),
  with: optional(
    Type.Array(OneOf(exportParts), {
      maxItems: exportParts.length,
      description:
        '`messages`: the archive also has chats with lead fields and settings, messages and contacts. Versions that do not know this part refuse such an archive',
    }),
  ),
  stop: optional(Flag('Close the sessions first, without a logout; their instances stay disconnected')),
});

export const Archive = Type.String({ description: 'The sealed archive', format: 'binary' });
