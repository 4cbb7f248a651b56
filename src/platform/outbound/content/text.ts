/** Texts: the content of the message, with the preview of its first link. */
import { generateWAMessageContent, prepareWAMessageMedia, type proto, type WAUrlInfo } from '@whiskeysockets/baileys';
import { done, type PollContent, type TextContent } from '#actors/model.ts';
import type { PreviewPictures } from '#src/media/media.ts';
import { answerTo } from '../answers.ts';
import { type Composer, noUpload, plainComposer } from '../composer.ts';
import type { LiveConnection } from '../live-connection.ts';

const firstLink = (text: string): string => /https?:\/\/[^\s<>"]+/i.exec(text)?.[0] ?? '';

/** A picture as clients write it: an address, a data URL or bare base64. */
const pictureSource = (image: string): string | Uint8Array =>
  /^https?:/i.test(image) ? image : Buffer.from(image.replace(/^data:[^,]*,/, ''), 'base64');

interface Words {
  readonly title: string;
  readonly description: string;
  readonly pictures: PreviewPictures | null;
}

const wordsOf = async (link: string, preview: NonNullable<TextContent['preview']>, { previews }: LiveConnection): Promise<Words | null> => {
  if (preview === 'auto') return previews.page(link, false);
  const { title, description, image, large } = preview;
  // A client that gives no words and no picture of its own wants those of the page.
  if (title === '' && description === '' && image === '') return previews.page(link, large);
  return { title, description, pictures: image === '' ? null : await previews.picture(pictureSource(image), large) };
};

/** Uploads the large picture. A preview whose upload fails is shown small. */
const uploaded = async ({ small, large }: PreviewPictures, { sock }: LiveConnection): Promise<WAUrlInfo['highQualityThumbnail']> => {
  if (large === null) return undefined;
  const { jpeg, width, height } = large;
  const image = { image: Buffer.from(jpeg), jpegThumbnail: Buffer.from(small).toString('base64'), width, height };
  const options = { upload: sock.waUploadToServer, mediaTypeOverride: 'thumbnail-link' } as const;
  const prepared = await prepareWAMessageMedia(image, options).catch(() => null);
  return prepared?.imageMessage ?? undefined;
};

/** `large`: whether a large picture may be uploaded, which is encrypted. */
const linkPreview = async ({ text, preview }: TextContent, connection: LiveConnection, large = true): Promise<WAUrlInfo | null> => {
  const link = firstLink(text);
  if (preview === null || link === '') return null;
  const words = await wordsOf(link, preview, connection);
  if (words === null) return null;
  const { title, description, pictures } = words;
  const highQualityThumbnail = pictures && large ? await uploaded(pictures, connection) : undefined;
  return {
    'canonical-url': link,
    'matched-text': link,
    title,
    description,
    ...(pictures ? { jpegThumbnail: Buffer.from(pictures.small) } : {}),
    ...(highQualityThumbnail ? { highQualityThumbnail } : {}),
  };
};

/** The content of a text needs nothing from the network. */
const isPlainText = ({ text, preview }: TextContent): boolean => preview === null || firstLink(text) === '';

/** Colours of the platform begin with how opaque they are. */
const opaque = 0xff000000;

const styled = (message: proto.IMessage, { text, style }: TextContent): proto.IMessage => {
  if (style === undefined) return message;
  const { background, font } = style;
  return {
    extendedTextMessage: { text, ...message.extendedTextMessage, backgroundArgb: (opaque + background) >>> 0, textArgb: 0xffffffff, font },
  };
};

export const textComposer: Composer<TextContent> = {
  async content(content, connection) {
    const preview = await linkPreview(content, connection);
    return done(styled(await generateWAMessageContent({ text: content.text, linkPreview: preview }, { upload: noUpload }), content));
  },
  async post(content, connection) {
    const preview = await linkPreview(content, connection, false);
    return done({
      message: await generateWAMessageContent({ text: content.text, linkPreview: preview }, { upload: noUpload }),
      mediaId: '',
    });
  },
  answer: ({ text }, asked, directory) => answerTo(text, asked, directory),
  draft: (content) => styled({ extendedTextMessage: { text: content.text } }, content),
  isComplete: isPlainText,
};

// Polls. Votes come back encrypted under the secret that every message carries: see `events/answers.ts`.

/** Phones show the third form as a poll of one answer, the first one as a poll of several. */
const contentOf = ({ question, options, selectable }: PollContent): proto.IMessage => {
  const poll = { name: question, options: options.map((optionName) => ({ optionName })), selectableOptionsCount: selectable };
  return selectable === 1 ? { pollCreationMessageV3: poll } : { pollCreationMessage: poll };
};

export const pollComposer: Composer<PollContent> = {
  ...plainComposer(contentOf),
  post: async (poll) => done({ message: contentOf(poll), mediaId: '' }),
};
