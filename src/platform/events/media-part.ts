/** Reads the address and the key of a message's file from the encoded message. */
import { type MediaType, proto } from '@whiskeysockets/baileys';
import type { Message } from '#actors/model.ts';
import type { MediaFacts } from '#actors/ports.ts';
import { numberOf } from './library-values.ts';
import { contextOf, kindOf, unwrapped } from './message-kinds.ts';

/** The kind of key that opens the file, by the field of the protocol's `Message`. */
const keyKinds: Readonly<Partial<Record<keyof proto.IMessage, MediaType>>> = {
  imageMessage: 'image',
  videoMessage: 'video',
  ptvMessage: 'video',
  audioMessage: 'audio',
  documentMessage: 'document',
  stickerMessage: 'sticker',
};

/** The fields that all media messages share. */
interface MediaFields {
  readonly url?: string | null;
  readonly directPath?: string | null;
  readonly mediaKey?: Uint8Array | null;
  readonly fileSha256?: Uint8Array | null;
  readonly fileEncSha256?: Uint8Array | null;
  readonly fileLength?: number | bigint | null;
  readonly mimetype?: string | null;
  readonly fileName?: string | null;
}

export interface MediaPart {
  readonly keyKind: MediaType;
  readonly url: string;
  readonly directPath: string;
  /** Null in channels, whose files are not encrypted. */
  readonly mediaKey: Uint8Array | null;
  /** Hashes of the file and of its encrypted form; null if the sender did not send them. */
  readonly sha256: Buffer | null;
  readonly encryptedSha256: Buffer | null;
  readonly facts: MediaFacts;
}

const hashOf = (bytes: Uint8Array | null | undefined): Buffer | null => (bytes?.length === 32 ? Buffer.from(bytes) : null);

const readable = (raw: Uint8Array): proto.IMessage | null => {
  try {
    return proto.Message.decode(raw);
  } catch {
    return null;
  }
};

/** The part of a message that has a file, or of the message that it quotes. Null when there is none. */
export const mediaPartOf = (message: Pick<Message, 'raw'>, quoted: boolean): MediaPart | null => {
  const whole = unwrapped(message.raw === null ? null : readable(message.raw));
  const outer = whole === undefined ? null : kindOf(whole);
  const content = quoted ? unwrapped(contextOf(outer?.value)?.quotedMessage) : whole;
  const kind = content === undefined ? null : kindOf(content);
  const keyKind = kind === null ? undefined : keyKinds[kind.key];
  if (kind === null || keyKind === undefined) return null;
  const fields = kind.value as MediaFields;
  const { url, directPath, mediaKey, mimetype, fileName } = fields;
  if (!directPath && !url) return null;
  const sha256 = hashOf(fields.fileSha256);
  return {
    keyKind,
    url: url ?? '',
    directPath: directPath ?? '',
    mediaKey: mediaKey?.length ? mediaKey : null,
    sha256,
    encryptedSha256: hashOf(fields.fileEncSha256),
    facts: {
      hash: sha256?.toString('hex') ?? '',
      kind: kind.facts.mediaType,
      size: numberOf(fields.fileLength),
      mimetype: mimetype ?? '',
      filename: (fileName ?? '').split(/[/\\]/).at(-1) ?? '',
    },
  };
};

/** Reads the facts that a message tells about its file. */
export const mediaFacts = (message: Pick<Message, 'raw'>, quoted: boolean): MediaFacts | null =>
  mediaPartOf(message, quoted)?.facts ?? null;
