/** Texts: the content of the message, with the preview of its first link. */
import { type AnyMessageContent, type WAUrlInfo } from '@whiskeysockets/baileys';
import type { TextContent } from '#actors/model.ts';
import type { LiveConnection } from '../connection/live-connection.ts';

const firstLink = (text: string): string => /https?:\/\/[^\s<>"]+/i.exec(text)?.[0] ?? '';

/** A picture as clients write it: a data URL or bare base64. Null for an address. */
const inlinePicture = (image: string): Buffer | null =>
  /^https?:/i.test(image) ? null : Buffer.from(image.replace(/^data:[^,]*,/, ''), 'base64');

const linkPreview = async ({ text, preview }: TextContent, connection: LiveConnection): Promise<WAUrlInfo | null> => {
  const link = firstLink(text);
  if (preview === null || link === '') return null;
  const fetched =
    preview === 'auto'
      ? await connection.fetchPreview(link)
      : /^https?:/i.test(preview.image)
        ? await connection.fetchPreview(preview.image)
        : null;
  const words = preview === 'auto' ? fetched : preview;
  if (words === null) return null;
  const inline = preview === 'auto' || preview.image === '' ? null : inlinePicture(preview.image);
  const picture = inline ?? (fetched?.jpeg ? Buffer.from(fetched.jpeg) : null);
  return {
    'canonical-url': link,
    'matched-text': link,
    title: words.title,
    description: words.description,
    ...(picture === null ? {} : { jpegThumbnail: picture }),
  };
};

/** The content of a text needs nothing from the network. */
export const isPlainText = ({ text, preview }: TextContent): boolean => preview === null || firstLink(text) === '';

export const textContent = async (content: TextContent, connection: LiveConnection): Promise<AnyMessageContent> => ({
  text: content.text,
  linkPreview: await linkPreview(content, connection),
});
