/** Tests every kind of media as the phone of the recipient decrypts and shows it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Attachment, MediaKind } from '#actors/model.ts';
import { until } from '#test/support/until.ts';
import { friend, MediaScene } from './media-scene.ts';

let scene: MediaScene;
before(async () => {
  scene = await MediaScene.open('5511900000811');
});
after(() => scene.close());

const thumbnail = Buffer.from('a small picture').toString('base64');
const waveform = Buffer.from(Array.from({ length: 64 }, (_, at) => at)).toString('base64');
const picture = { mimetype: 'image/jpeg', thumbnail, width: 640, height: 480 };
const film = { mimetype: 'video/mp4', thumbnail, width: 320, height: 240, seconds: 3.4 };
const voice = { mimetype: 'audio/ogg; codecs=opus', seconds: 7.2, waveform };

interface Row {
  readonly as: MediaKind;
  readonly file: Partial<Attachment>;
  readonly viewOnce?: true;
  /** The field of the message that the phone decrypted. */
  readonly field: string;
  readonly shown: Readonly<Record<string, unknown>>;
  readonly messageType: string;
  readonly mediaType: string;
  /** True if the kind has a caption. */
  readonly captioned?: true;
}

const looks = { thumbnail, width: 640, height: 480 };
const filmLooks = { thumbnail, width: 320, height: 240, seconds: 3 };

const rows: readonly Row[] = [
  {
    as: 'image',
    file: picture,
    field: 'imageMessage',
    shown: { ...looks, marks: [] },
    messageType: 'ImageMessage',
    mediaType: 'image',
    captioned: true,
  },
  {
    as: 'video',
    file: film,
    field: 'videoMessage',
    shown: { ...filmLooks, marks: [] },
    messageType: 'VideoMessage',
    mediaType: 'video',
    captioned: true,
  },
  {
    as: 'videoplay',
    file: film,
    field: 'videoMessage',
    shown: { ...filmLooks, marks: ['gif'] },
    messageType: 'VideoMessage',
    mediaType: 'gif',
    captioned: true,
  },
  { as: 'ptv', file: film, field: 'ptvMessage', shown: { ...filmLooks, marks: ['ptv'] }, messageType: 'PtvMessage', mediaType: 'video' },
  {
    as: 'audio',
    file: { mimetype: 'audio/mpeg', seconds: 61 },
    field: 'audioMessage',
    shown: { seconds: 61, waveform: '', marks: [] },
    messageType: 'AudioMessage',
    mediaType: 'audio',
  },
  {
    as: 'ptt',
    file: voice,
    field: 'audioMessage',
    shown: { seconds: 7, waveform, marks: ['ptt'] },
    messageType: 'AudioMessage',
    mediaType: 'ptt',
  },
  {
    as: 'myaudio',
    file: voice,
    field: 'audioMessage',
    shown: { seconds: 7, waveform, marks: ['ptt'] },
    messageType: 'AudioMessage',
    mediaType: 'ptt',
  },
  {
    as: 'sticker',
    file: { mimetype: 'image/webp', width: 512, height: 512, isAnimated: true },
    field: 'stickerMessage',
    shown: { width: 512, marks: ['animated'] },
    messageType: 'StickerMessage',
    mediaType: 'sticker',
  },
  {
    as: 'document',
    file: { mimetype: 'application/pdf', filename: 'report.pdf' },
    field: 'documentMessage',
    shown: { fileName: 'report.pdf', marks: [] },
    messageType: 'DocumentMessage',
    mediaType: 'document',
    captioned: true,
  },
  {
    as: 'image',
    file: picture,
    viewOnce: true,
    field: 'viewOnceMessageV2',
    shown: { ...looks, marks: ['viewOnce'] },
    messageType: 'ImageMessage',
    mediaType: 'image',
    captioned: true,
  },
  {
    as: 'video',
    file: film,
    viewOnce: true,
    field: 'viewOnceMessageV2',
    shown: { ...filmLooks, marks: ['viewOnce'] },
    messageType: 'VideoMessage',
    mediaType: 'video',
    captioned: true,
  },
  {
    as: 'ptt',
    file: voice,
    viewOnce: true,
    field: 'viewOnceMessageV2Extension',
    shown: { seconds: 7, waveform, marks: ['viewOnce', 'ptt'] },
    messageType: 'AudioMessage',
    mediaType: 'ptt',
  },
];

for (const { as, file, viewOnce = false, field, shown, messageType, mediaType, captioned = false } of rows) {
  test(`media: ${as}${viewOnce ? ' to be viewed once' : ''} arrives unchanged, and is shown as such`, async () => {
    const attached = await scene.file(70_000, file);
    const { message, seen } = await scene.sent(scene.sendOf({ as, file: attached, caption: 'look', viewOnce }));
    assert.equal(seen.error, undefined);
    assert.equal(seen.hidden, undefined);
    assert.equal(seen.kind, field);
    assert.equal(seen.text, captioned ? 'look' : '');
    const { bytes, sha256, mimetype } = seen.media ?? {};
    assert.deepEqual({ bytes, sha256, mimetype }, { bytes: 70_000, sha256: attached.hash, mimetype: attached.mimetype });
    assert.deepEqual(Object.fromEntries(Object.entries(seen.media ?? {}).filter(([name]) => name in shown)), shown);
    assert.deepEqual([message.messageType, message.type, message.mediaType], [messageType, 'media', mediaType]);
    assert.equal(message.text, captioned ? 'look' : '');
  });
}

for (const { as, file, viewOnce = false, messageType, captioned = false } of rows) {
  test(`media: the draft of ${as}${viewOnce ? ' to be viewed once' : ''} has its type and no content yet`, async () => {
    const send = scene.sendOf({ as, file: await scene.file(10, file), caption: 'look', viewOnce });
    const draft = scene.instance.link.draft(send, { jid: '5511900000811@s.whatsapp.net', lid: '', name: '' });
    assert.ok(draft.ok);
    assert.deepEqual([draft.value.messageType, draft.value.text, draft.value.raw], [messageType, captioned ? 'look' : '', null]);
  });
}

test('media: it can be viewed once in a group, with mentions, forwarded', async () => {
  const { sandbox } = scene.bench.running;
  const group = await sandbox.createGroup({
    subject: 'Media',
    creator: friend,
    participants: ['5511900000811', '5511900000813'],
    addressing: 'lid',
  });
  const file = await scene.file(5_000, film);
  const send = scene.sendOf({ as: 'video', file, viewOnce: true }, { number: group.jid, mentions: ['all'], forward: true });
  const { seen } = await scene.sent(send);
  assert.equal(seen.hidden, undefined);
  assert.equal(seen.media?.sha256, file.hash);
  const { viewOnceMessageV2 } = seen.content as {
    viewOnceMessageV2: { message: { videoMessage: { contextInfo: { mentionedJid: string[]; isForwarded: boolean } } } };
  };
  const { mentionedJid, isForwarded } = viewOnceMessageV2.message.videoMessage.contextInfo;
  assert.deepEqual([mentionedJid.length, isForwarded], [3, true]);
});

for (const as of ['video', 'ptv'] as const) {
  test(`media: ${as} that a phone requests again is shown with its kind`, async () => {
    await scene.fault('garble', { number: '5511900000811' });
    const file = await scene.file(5_000, film);
    const { message } = await scene.sent(scene.sendOf({ as, file, viewOnce: as === 'video' }));
    scene.instance.entries.add({ kind: 'queued', message, chat: { chatId: message.chatId } });
    const seen = await until(
      () => scene.bench.running.sandbox.received(friend).find(({ id, error }) => id === message.messageId && error === undefined),
      'the phone can read it',
    );
    assert.deepEqual([seen.hidden, seen.media?.sha256, seen.media?.marks], [undefined, file.hash, [as === 'ptv' ? 'ptv' : 'viewOnce']]);
  });
}
