/** Media: a file from an address or in the body, with a caption. */
import { Type } from 'typebox';
import { done, mediaKinds, type MediaKind, refuse } from '#actors/gateway.ts';
import { Flag, OneOf, optional, Text } from '../../schemas/common.ts';
import type { BodyLimit } from '../../route.ts';
import { sendRow } from './row.ts';

const invalid = 'Invalid media type or file format';

/** Kinds that the platform can show once. */
const onceKinds: readonly MediaKind[] = ['image', 'video', 'videoplay', 'audio', 'myaudio', 'ptt'];

export const isAddress = (source: string): boolean => /^\s*https?:/i.test(source);

/** Returns true for a file that the body itself contains. `sendPayload` leaves such a file out. */
export const isBare = (source: string): boolean => source !== '' && !isAddress(source);

/**
 * Returns the limit of a body with a file. The file is base64, often with line breaks. The limit also has room for texts and for a thumbnail of up to a
 * megabyte.
 */
export const bodyLimitOf = (fileBytes: number): BodyLimit => ({
  bytes: Math.ceil(fileBytes * 1.4) + 2_097_152,
  setting: 'MEDIA_MAX_BYTES',
});

/** The refusals of a file that cannot be sent. */
export const fileRefusals = {
  tooLarge: { lead: 'File size exceeds limit' },
  notConvertible: { lead: 'Unsupported media format' },
} as const;

/** Makes the rows. `fileBytes` is the size of the largest file, in bytes. */
export const mediaRows = (fileBytes: number) => [
  sendRow({
    on: 'POST /send/media',
    operationId: 'sendMedia',
    summary: 'Send a picture, video, audio, document or sticker',
    sent: 'Media sent successfully',
    bodyLimit: bodyLimitOf(fileBytes),
    fields: {
      type: OneOf(mediaKinds, { description: 'Form in which the file is shown', examples: ['image'] }),
      file: Type.String({
        minLength: 1,
        description: 'URL, data URL or base64 of the file',
        examples: ['https://example.com/picture.jpg'],
      }),
      text: optional(Text(65_536, 'Caption, with placeholders such as {{name}}')),
      caption: optional(Text(65_536, 'The same as `text`, where that is missing')),
      docName: optional(Text(255, 'Name of a document')),
      mimetype: optional(Text(255, 'Type of a document that its content does not tell')),
      thumbnail: optional(
        Type.String({ description: 'URL, data URL or base64 of a picture to show in place of the own one, up to 1 MiB' }),
      ),
      viewOnce: optional(Flag('Recipients can open it once: pictures, videos and audio')),
    },
    unstored: (body) => (['file', 'thumbnail'] as const).filter((field) => !isAddress(body[field] ?? '')),
    invalidTexts: {
      'number:required': invalid,
      'number:minLength': invalid,
      'type:required': invalid,
      'file:required': invalid,
      'file:minLength': invalid,
      type: invalid,
      file: invalid,
    },
    refusals: {
      ...fileRefusals,
      refused: { example: 'Failed to upload media: mmg.whatsapp.net answered 507, mmg-fallback.whatsapp.net answered 507' },
    },
    response: {
      shape: { fileUrl: Type.String({ description: 'Address of the stored file', examples: ['https://example.com/files/0f3c…'] }) },
      of: ({ fileUrl }) => ({ fileUrl }),
    },
    content({ type: as, file, text, caption, docName = '', mimetype = '', thumbnail = '', viewOnce = false }) {
      if (viewOnce && !onceKinds.includes(as)) return refuse('invalid', `viewOnce is for ${onceKinds.join(', ')}`);
      const given = { source: file, as, thumbnail, mimetype: mimetype.trim(), filename: docName.trim() };
      return done({ kind: 'media', as, file: given, caption: text || caption || '', viewOnce });
    },
  }),
];
