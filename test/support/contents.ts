/** One message of every kind that a contact can write, by the name of its case in the golden file. */
import type { Content } from '#src/sandbox/interface.ts';

const file = {
  url: 'https://mmg.whatsapp.net/file',
  fileSha256: 'AQID',
  fileLength: 12,
  mediaKey: 'BAUG',
  fileEncSha256: 'BwgJ',
  directPath: '/file',
  mediaKeyTimestamp: 1_700_000_000,
};
const jpegThumbnail = '/9j/';
const vcard = 'BEGIN:VCARD\nVERSION:3.0\nFN:Eva\nTEL;type=CELL;waid=5511977770001:+55 11 97777-0001\nEND:VCARD';
const raw = (message: Readonly<Record<string, unknown>>): Content => ({ kind: 'message', message });

/** Kinds that do not refer to another message. */
export const kinds: Readonly<Record<string, Content>> = {
  Conversation: { kind: 'text', text: 'Oi' },
  ImageMessage: raw({
    imageMessage: {
      ...file,
      mimetype: 'image/jpeg',
      caption: 'look',
      height: 3,
      width: 4,
      jpegThumbnail,
      contextInfo: { isForwarded: true, forwardingScore: 2 },
    },
  }),
  VideoMessage: raw({ videoMessage: { ...file, mimetype: 'video/mp4', caption: 'watch', height: 3, width: 4, seconds: 9, jpegThumbnail } }),
  'VideoMessage as gif': raw({ videoMessage: { ...file, mimetype: 'video/mp4', seconds: 2, gifPlayback: true, gifAttribution: 1 } }),
  'AudioMessage as ptt': raw({
    audioMessage: { ...file, mimetype: 'audio/ogg; codecs=opus', seconds: 5, ptt: true, waveform: 'AAECAw==' },
  }),
  AudioMessage: { kind: 'audio', data: Buffer.from('sound').toString('base64'), seconds: 7 },
  DocumentMessage: raw({
    documentMessage: {
      ...file,
      mimetype: 'application/pdf',
      title: 'contract',
      caption: 'read this',
      pageCount: 3,
      fileName: 'contract.pdf',
      jpegThumbnail,
    },
  }),
  StickerMessage: raw({
    stickerMessage: {
      ...file,
      mimetype: 'image/webp',
      height: 64,
      width: 64,
      isAnimated: true,
      isAvatar: false,
      isAiSticker: false,
      isLottie: false,
    },
  }),
  ContactMessage: { kind: 'contact', displayName: 'Eva', vcard },
  LocationMessage: { kind: 'location', latitude: -23.5, longitude: -46.25 },
  ListResponseMessage: raw({
    listResponseMessage: {
      title: 'Second row',
      listType: 1,
      singleSelectReply: { selectedRowId: 'row-2' },
      contextInfo: { stanzaId: '3EB0AAAAAAAAAAAAAAAA', participant: '5511990000001@s.whatsapp.net' },
      description: 'of the list',
    },
  }),
  PollCreationMessageV3: { kind: 'poll', name: 'When?', options: ['now', 'later'] },
};

/** Pairs of a message and a second message that refers to the first. */
export const aboutAnother: Readonly<Record<string, readonly [id: string, first: Content, second: (id: string) => Content]>> = {
  ExtendedTextMessage: [
    'quoted',
    { kind: 'text', text: 'Oi' },
    (id) =>
      raw({
        extendedTextMessage: {
          text: 'See https://example.com',
          previewType: 0,
          contextInfo: {
            stanzaId: id,
            participant: '5511988880001@s.whatsapp.net',
            quotedMessage: { conversation: 'Oi' },
            mentionedJid: ['5511988880002@s.whatsapp.net'],
          },
        },
      }),
  ],
  PollUpdateMessage: [
    'poll',
    { kind: 'poll', name: 'When?', options: ['now', 'later'] },
    (messageId) => ({ kind: 'pollVote', messageId, options: ['later'] }),
  ],
  'an edit': ['edited', { kind: 'text', text: 'Oi' }, (messageId) => ({ kind: 'edit', messageId, text: 'Oi!' })],
};
