/** Tests audio and video through `/send/media`, as the phone of the recipient gets them. ffmpeg converts the files if this machine has it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ReceivedMessage } from '#src/sandbox/interface.ts';
import type { Account } from '#test/support/account.ts';
import { ffmpegPath, synthesize, withFfmpeg } from '#test/support/ffmpeg.ts';
import { contact, Scene } from '#test/support/scene.ts';

const tone = 'sine=frequency=440:duration=3';
const film = 'testsrc=size=320x240:rate=10:duration=3';

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open(ffmpegPath === null ? {} : { FFMPEG_PATH: ffmpegPath });
  account = await scene.paired();
});
after(() => scene.close());

interface Row {
  readonly as: string;
  readonly name: string;
  readonly inputs: readonly string[];
  readonly output: readonly string[];
  readonly viewOnce?: true;
  readonly mimetype: RegExp;
  readonly marks: readonly string[];
}

const h264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-shortest'];

const rows: readonly Row[] = [
  { as: 'ptt', name: 'tone.wav', inputs: [tone], output: [], mimetype: /^audio\/ogg/, marks: ['ptt'] },
  { as: 'myaudio', name: 'tone.wav', inputs: [tone], output: [], mimetype: /^audio\/ogg/, marks: ['ptt'] },
  { as: 'audio', name: 'tone.mp3', inputs: [tone], output: [], mimetype: /^audio\/mpeg/, marks: [] },
  { as: 'video', name: 'film.mp4', inputs: [film, tone], output: h264, viewOnce: true, mimetype: /^video\/mp4/, marks: ['viewOnce'] },
  { as: 'ptv', name: 'film.mp4', inputs: [film, tone], output: h264, mimetype: /^video\/mp4/, marks: ['ptv'] },
  { as: 'videoplay', name: 'film.gif', inputs: [film], output: [], mimetype: /^video\/mp4/, marks: ['gif'] },
];

const shows = ({ media, error, hidden }: ReceivedMessage, { as, mimetype, marks }: Row): void => {
  assert.deepEqual([error, hidden], [undefined, undefined]);
  assert.match(media?.mimetype ?? '', mimetype);
  assert.deepEqual([media?.marks, media?.seconds], [marks, 3]);
  const voice = marks.includes('ptt');
  assert.equal(Buffer.from(media?.waveform ?? '', 'base64').length, voice ? 64 : 0);
  const pictured = !['ptt', 'myaudio', 'audio'].includes(as);
  assert.equal(
    Buffer.from(media?.thumbnail ?? '', 'base64')
      .subarray(0, 2)
      .toString('hex'),
    pictured ? 'ffd8' : '',
  );
};

for (const row of rows) {
  test(`media with ffmpeg: ${row.name} arrives as ${row.as}`, withFfmpeg, async () => {
    const path = join(scene.gateway.dataDir, row.name);
    await synthesize(path, row.inputs, row.output);
    const file = (await readFile(path)).toString('base64');
    const sent = await account.call('POST', '/send/media', { number: contact, type: row.as, file, viewOnce: row.viewOnce ?? false });
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
    const seen = scene.platform.sandbox.received(contact).find(({ id }) => id === sent.body['messageid']);
    assert.ok(seen, 'the phone has it');
    shows(seen, row);
  });
}
