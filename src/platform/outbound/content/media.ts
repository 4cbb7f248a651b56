/** The composer of media. It uploads the file, and builds the message for the kind of media. */
import type { proto } from '@whiskeysockets/baileys';
import { type Attachment, done, isTaken, type MediaContent, type MediaKind, refuse } from '#actors/model.ts';
import type { Composer } from '../composer.ts';
import type { ChannelUploadType, UploadType } from '../upload/sealed-file.ts';
import type { Uploaded } from '../upload/uploads.ts';

type Content = proto.IMessage;

/** Returns the fields of a file that all kinds share. */
const fileOf = (file: Attachment, uploaded: Uploaded | null) => ({
  mimetype: file.mimetype,
  fileLength: file.size,
  fileSha256: Buffer.from(file.hash, 'hex'),
  ...(uploaded && { url: uploaded.url, directPath: uploaded.directPath }),
  ...(uploaded?.mediaKey && {
    mediaKey: uploaded.mediaKey,
    fileEncSha256: uploaded.fileEncSha256,
    mediaKeyTimestamp: uploaded.at,
  }),
});

/** Removes null and empty fields, because null in a message differs from an absent field. */
const known = <T extends Readonly<Record<string, unknown>>>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== '')) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

const bytesOf = (base64: string | null): Buffer | null => (base64 === null ? null : Buffer.from(base64, 'base64'));

type Maker = (content: MediaContent, file: Attachment, sealed: ReturnType<typeof fileOf>) => Content;

const shown = ({ thumbnail, width, height }: Attachment) => known({ jpegThumbnail: bytesOf(thumbnail), width, height });

const lengthOf = ({ seconds }: Attachment) => known({ seconds: seconds === null ? null : Math.max(1, Math.round(seconds)) });

const video: Maker = ({ as, caption }, file, sealed) => ({
  videoMessage: {
    ...sealed,
    ...shown(file),
    ...lengthOf(file),
    ...known({ caption }),
    ...(as === 'videoplay' ? { gifPlayback: true } : {}),
  },
});

const audio: Maker = (_content, file, sealed) => ({ audioMessage: { ...sealed, ...lengthOf(file), ptt: false } });

const voice: Maker = (_content, file, sealed) => ({
  audioMessage: { ...sealed, ...lengthOf(file), ptt: true, ...known({ waveform: bytesOf(file.waveform) }) },
});

/** A kind of media: the upload types in chats and in channels, and the function that builds its content. */
interface Kind {
  readonly upload: UploadType;
  /** Absent if channels do not accept the kind. */
  readonly post?: ChannelUploadType;
  readonly make: Maker;
}

const kinds: Readonly<Record<MediaKind, Kind>> = {
  image: {
    upload: 'image',
    post: 'newsletter-image',
    make: ({ caption }, file, sealed) => ({ imageMessage: { ...sealed, ...shown(file), ...known({ caption }) } }),
  },
  video: { upload: 'video', post: 'newsletter-video', make: video },
  videoplay: { upload: 'video', post: 'newsletter-gif', make: video },
  ptv: { upload: 'video', make: (_content, file, sealed) => ({ ptvMessage: { ...sealed, ...shown(file), ...lengthOf(file) } }) },
  audio: { upload: 'audio', post: 'newsletter-audio', make: audio },
  myaudio: { upload: 'audio', post: 'newsletter-ptt', make: voice },
  ptt: { upload: 'audio', post: 'newsletter-ptt', make: voice },
  sticker: {
    upload: 'image',
    post: 'newsletter-sticker',
    make: (_content, file, sealed) => ({
      stickerMessage: { ...sealed, ...known({ width: file.width, height: file.height }), isAnimated: file.isAnimated },
    }),
  },
  document: {
    upload: 'document',
    post: 'newsletter-document',
    make: ({ caption }, file, sealed) => ({
      documentMessage: {
        ...sealed,
        ...known({ fileName: file.filename, title: file.filename, jpegThumbnail: bytesOf(file.thumbnail), caption }),
      },
    }),
  },
};

/** Wraps the content of a view-once message. Audio has a different wrapper. */
const forOnce = (content: Content): Content => {
  const { imageMessage, videoMessage, audioMessage } = content;
  if (imageMessage) return { viewOnceMessageV2: { message: { imageMessage: { ...imageMessage, viewOnce: true } } } };
  if (videoMessage) return { viewOnceMessageV2: { message: { videoMessage: { ...videoMessage, viewOnce: true } } } };
  return audioMessage ? { viewOnceMessageV2Extension: { message: { audioMessage: { ...audioMessage, viewOnce: true } } } } : content;
};

const make = (content: MediaContent, file: Attachment, uploaded: Uploaded | null): Content => {
  const plain = kinds[content.as].make(content, file, fileOf(file, uploaded));
  return content.viewOnce ? forOnce(plain) : plain;
};

export const mediaComposer: Composer<MediaContent> = {
  uploads: true,
  async content(content, { uploads, directory }) {
    const { as, file } = content;
    if (!isTaken(file)) return refuse('invalid', 'the file was not accepted');
    const uploaded = await uploads.upload(directory.me.pn, file, kinds[as].upload);
    return uploaded.ok ? done(make(content, file, uploaded.value)) : uploaded;
  },
  async post(content, { uploads, directory }) {
    const { as, file } = content;
    const type = kinds[as].post;
    if (!isTaken(file) || type === undefined) return refuse('invalid', 'the file cannot be posted in a channel');
    const uploaded = await uploads.upload(directory.me.pn, file, type);
    return uploaded.ok ? done({ message: make(content, file, uploaded.value), mediaId: uploaded.value.handle }) : uploaded;
  },
  draft: (content) => (isTaken(content.file) ? make(content, content.file, null) : {}),
  isComplete: () => false,
};
