/** Tests the preparation of audio and video with ffmpeg, and the refusals. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import sharp from 'sharp';
import type { MediaKind } from '#actors/model.ts';
import type { TemporaryFolder } from '#src/files/blobs.ts';
import { createMedia } from '#src/media/media.ts';
import { createWorkshop, type WorkshopOptions } from '#src/media/prepare.ts';
import type { MediaWorkshop, PreparedMedia, SourceFile } from '#src/media/prepared.ts';
import { typeOf } from '#src/media/intake.ts';
import { ffmpegPath, synthesize, withFfmpeg } from '#test/support/ffmpeg.ts';
import { filesIn, folderFor, noFiles, refusalOf, sourceFile, valueOf } from './media-files.ts';

const media = createMedia({ threads: 2 });
after(() => media.close());

const workshopFor = (t: TestContext, folder: TemporaryFolder, options: Partial<WorkshopOptions> = {}): MediaWorkshop => {
  const given = {
    media,
    folder,
    jobs: 2,
    timeoutMs: 60_000,
    pictureMs: 30_000,
    maxBytes: 10_000_000,
    maxPixels: 50_000_000,
    maxSide: 9_999,
  };
  const workshop = createWorkshop({ ...given, ffmpeg: ffmpegPath, ...options });
  t.after(() => workshop.close());
  return workshop;
};

const picture = 'testsrc=duration=1.5:size=322x241:rate=12';
const tone = 'sine=frequency=440:duration=2:sample_rate=44100';
const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-vf', 'scale=320:240'];

/** The name of the file, its inputs, and the options that generate it. */
const samples = {
  'plays.mp4': [
    [picture, tone],
    [...h264, '-c:a', 'aac', '-shortest'],
  ],
  'quick.mp4': [
    [picture, tone],
    [...h264, '-c:a', 'aac', '-shortest', '-movflags', '+faststart'],
  ],
  'silent.mp4': [[picture], h264],
  'plays.mov': [
    [picture, tone],
    [...h264, '-c:a', 'aac', '-shortest'],
  ],
  'odd.webm': [
    [picture, tone],
    ['-c:v', 'libvpx', '-deadline', 'realtime', '-c:a', 'libopus', '-shortest'],
  ],
  'old.avi': [
    [picture, tone],
    ['-c:v', 'mpeg4', '-c:a', 'mp3', '-shortest'],
  ],
  'large.mkv': [['testsrc=duration=0.5:size=2000x1000:rate=10'], ['-c:v', 'mpeg4']],
  'moves.gif': [['testsrc=duration=1:size=99x61:rate=10'], []],
  'long.mp4': [['color=black:duration=70:size=32x32:rate=1'], h264],
  'tone.mp3': [[tone], []],
  'tone.m4a': [[tone], ['-c:a', 'aac']],
  'tone.wav': [[tone], []],
  'tone.flac': [[tone], []],
  'voice.ogg': [[tone], ['-c:a', 'libopus', '-ac', '1']],
  'stereo.ogg': [[tone], ['-c:a', 'libopus', '-ac', '2']],
  'vorbis.ogg': [[tone], ['-c:a', 'libvorbis']],
  'voice.webm': [[tone], ['-c:a', 'libopus', '-ac', '1']],
  'rising.wav': [['aevalsrc=sin(2*PI*440*t)*t/4:duration=4:sample_rate=8000'], []],
} as const satisfies Readonly<Record<string, readonly [inputs: readonly string[], output: readonly string[]]>>;

type Sample = keyof typeof samples;

const samplesFolder = mkdtemp(join(tmpdir(), 'dormouse-samples-'));
after(async () => rm(await samplesFolder, { recursive: true, force: true }));

/** Generated samples. Each is generated once, and only read. */
const made = new Map<Sample, Promise<SourceFile>>();
const sampleOf = (name: Sample): Promise<SourceFile> => {
  const make = async (): Promise<SourceFile> => {
    const path = join(await samplesFolder, name);
    const [inputs, output]: readonly [readonly string[], readonly string[]] = samples[name];
    await synthesize(path, inputs, output);
    return { path, size: (await stat(path)).size, mimetype: await typeOf(path) };
  };
  const found = made.get(name) ?? make();
  made.set(name, found);
  return found;
};

/** Returns the streams of a file from ffprobe, such as `h264 320x240 + aac 2`. */
const contentOf = (path: string): string => {
  const prober = join(dirname(ffmpegPath ?? ''), 'ffprobe');
  const json = execFileSync(prober, ['-v', 'error', '-show_streams', '-of', 'json', path], { timeout: 60_000 }).toString();
  const { streams } = JSON.parse(json) as { streams: { codec_name: string; width?: number; height?: number; channels?: number }[] };
  return streams
    .map(({ codec_name, width, height, channels }) => `${codec_name} ${width === undefined ? channels : `${width}x${height}`}`)
    .join(' + ');
};

const near = (actual: number | null, expected: number): void =>
  assert.ok(actual !== null && Math.abs(actual - expected) < 0.2, `${actual} seconds, not ${expected}`);

const tracks: readonly (readonly [sample: Sample, as: MediaKind, same: boolean, mimetype: string, content: string, seconds: number])[] = [
  ['plays.mp4', 'video', true, 'video/mp4', 'h264 320x240 + aac 1', 1.5],
  ['silent.mp4', 'video', true, 'video/mp4', 'h264 320x240', 1.5],
  ['plays.mov', 'video', false, 'video/mp4', 'h264 320x240 + aac 1', 1.5],
  ['odd.webm', 'video', false, 'video/mp4', 'h264 322x240 + aac 2', 1.5],
  ['old.avi', 'video', false, 'video/mp4', 'h264 322x240 + aac 2', 1.5],
  ['large.mkv', 'video', false, 'video/mp4', 'h264 1280x640', 0.5],
  ['moves.gif', 'videoplay', false, 'video/mp4', 'h264 98x60', 1],
  ['silent.mp4', 'videoplay', true, 'video/mp4', 'h264 320x240', 1.5],
  ['plays.mp4', 'ptv', true, 'video/mp4', 'h264 320x240 + aac 1', 1.5],
  ['tone.mp3', 'audio', true, 'audio/mpeg', 'mp3 1', 2],
  ['tone.m4a', 'myaudio', true, 'audio/mp4', 'aac 1', 2],
  ['voice.ogg', 'audio', true, 'audio/ogg; codecs=opus', 'opus 1', 2],
  ['tone.wav', 'audio', false, 'audio/mp4', 'aac 2', 2],
  ['tone.flac', 'myaudio', false, 'audio/mp4', 'aac 2', 2],
  ['vorbis.ogg', 'audio', false, 'audio/mp4', 'aac 2', 2],
  ['plays.mp4', 'audio', false, 'audio/mp4', 'aac 2', 1.5],
  ['voice.ogg', 'ptt', true, 'audio/ogg; codecs=opus', 'opus 1', 2],
  ['stereo.ogg', 'ptt', false, 'audio/ogg; codecs=opus', 'opus 1', 2],
  ['voice.webm', 'ptt', false, 'audio/ogg; codecs=opus', 'opus 1', 2],
  ['tone.mp3', 'ptt', false, 'audio/ogg; codecs=opus', 'opus 1', 2],
  ['plays.mp4', 'ptt', false, 'audio/ogg; codecs=opus', 'opus 1', 1.5],
];

const isPicture = (as: MediaKind): boolean => as === 'video' || as === 'videoplay' || as === 'ptv';

const checkPictures = async ({ width, height, thumbnail }: PreparedMedia, content: string): Promise<void> => {
  assert.ok(content.includes(` ${width}x${height}`), `${width}x${height}`);
  const small = await sharp(thumbnail ?? Buffer.alloc(0)).metadata();
  assert.deepEqual([small.format, Math.max(small.width, small.height)], ['jpeg', 32]);
};

for (const [sample, as, same, mimetype, content, seconds] of tracks) {
  test(`${as}: ${sample} ${same ? 'stays as it is' : `becomes ${content}`}`, withFfmpeg, async (t) => {
    const folder = await folderFor(t);
    const source = await sampleOf(sample);
    const made = valueOf(await workshopFor(t, folder).prepare(source, as));
    assert.deepEqual([made.path === source.path, made.mimetype, contentOf(made.path)], [same, mimetype, content]);
    assert.equal(made.size, (await stat(made.path)).size);
    near(made.seconds, seconds);
    if (isPicture(as)) await checkPictures(made, content);
    assert.equal(made.waveform?.length, as === 'ptt' ? 64 : undefined);
    await made.discard();
    await noFiles(folder);
  });
}

for (const ffmpeg of [ffmpegPath, null]) {
  test(`video: one that was filmed upright has the size that is shown, ${ffmpeg ? 'with' : 'without'} ffmpeg`, withFfmpeg, async (t) => {
    const folder = await folderFor(t);
    const bytes = await readFile((await sampleOf('silent.mp4')).path);
    // The matrix in the header of the track, which is a quarter turn.
    const matrix = bytes.indexOf('tkhd') + 44;
    for (const [index, value] of [0, 0x1_00_00, 0, -0x1_00_00, 0].entries()) bytes.writeInt32BE(value, matrix + index * 4);
    const shown = valueOf(await workshopFor(t, folder, { ffmpeg }).prepare(await sourceFile(folder, bytes), 'video'));
    assert.deepEqual([shown.width, shown.height, shown.seconds], [240, 320, 1.5]);
  });
}

test('ptt: the same sound becomes the same file each time', withFfmpeg, async (t) => {
  const workshop = workshopFor(t, await folderFor(t));
  const made = [await workshop.prepare(await sampleOf('tone.wav'), 'ptt'), await workshop.prepare(await sampleOf('tone.wav'), 'ptt')];
  const [first, second] = await Promise.all(made.map((one) => readFile(valueOf(one).path)));
  assert.deepEqual(first, second);
});

test('ptt: the waveform follows the loudness', withFfmpeg, async (t) => {
  const folder = await folderFor(t);
  const { waveform } = valueOf(await workshopFor(t, folder).prepare(await sampleOf('rising.wav'), 'ptt'));
  const steps = [...(waveform ?? [])];
  assert.ok(Math.max(...steps) === 100 && Math.min(...steps) >= 0);
  const at = (index: number): number => steps[index] ?? Number.NaN;
  for (const [index, expected] of [
    [8, 13],
    [16, 26],
    [32, 52],
    [48, 77],
  ] as const)
    assert.ok(Math.abs(at(index) - expected) < 6, `${at(index)} at ${index}, not about ${expected}`);
});

test('toMp3: every sound becomes an MP3, and an MP3 stays', withFfmpeg, async (t) => {
  const folder = await folderFor(t);
  const workshop = workshopFor(t, folder);
  const source = await sampleOf('voice.ogg');
  const mp3 = valueOf(await workshop.toMp3(source.path));
  assert.deepEqual([mp3.mimetype, contentOf(mp3.path), await typeOf(mp3.path)], ['audio/mpeg', 'mp3 1', 'audio/mpeg']);
  near(mp3.seconds, 2);
  await mp3.discard();
  const same = await sampleOf('tone.mp3');
  assert.equal(valueOf(await workshop.toMp3(same.path)).path, same.path);
  const text = await sourceFile(folder, Buffer.from('text'));
  assert.equal(refusalOf(await workshop.toMp3(text.path)), 'notConvertible: the file is text/plain, which cannot be sent as MP3');
  await noFiles(folder);
});

const cut = async (folder: TemporaryFolder, name: Sample, share: number): Promise<SourceFile> => {
  const bytes = await readFile((await sampleOf(name)).path);
  return sourceFile(folder, bytes.subarray(0, Math.round(bytes.length * share)));
};

const refused: readonly (readonly [
  what: string,
  as: MediaKind,
  make: (folder: TemporaryFolder) => Promise<SourceFile>,
  refusal: RegExp,
])[] = [
  [
    'a text',
    'video',
    (folder) => sourceFile(folder, Buffer.from('no video')),
    /^notConvertible: the file is text\/plain, which cannot be sent as video$/,
  ],
  [
    'a playlist',
    'audio',
    (folder) => sourceFile(folder, Buffer.from('#EXTM3U\n/etc/passwd')),
    /^notConvertible: the file is application\/vnd.apple.mpegurl/,
  ],
  ['an MP3', 'video', () => sampleOf('tone.mp3'), /^notConvertible: the file is audio\/mpeg, which cannot be sent as video$/],
  ['a video without sound', 'ptt', () => sampleOf('silent.mp4'), /^notConvertible: the file is video\/mp4 without sound/],
  ['a GIF', 'video', () => sampleOf('moves.gif'), /^notConvertible: the file is image\/gif, which cannot be sent as video$/],
  ['half a video', 'video', (folder) => cut(folder, 'plays.mp4', 0.5), /^invalid: the file begins like video\/mp4, but it is damaged/],
  ['the head of an MKV', 'video', (folder) => cut(folder, 'large.mkv', 0.02), /^invalid: .*damaged/],
  ['more than a minute', 'ptv', () => sampleOf('long.mp4'), /^tooLarge: a ptv lasts 60 seconds at most; this one lasts 70$/],
];
for (const [what, as, make, refusal] of refused) {
  test(`${as}: ${what} is refused, and nothing is left`, withFfmpeg, async (t) => {
    const folder = await folderFor(t);
    assert.match(refusalOf(await workshopFor(t, folder).prepare(await make(folder), as)), refusal);
    await noFiles(folder);
  });
}

test('ffmpeg: a playlist under the name of a video reads no other file', withFfmpeg, async (t) => {
  const folder = await folderFor(t);
  const victim = await sampleOf('plays.mp4');
  const lists = [
    `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nfile:${victim.path}\n#EXT-X-ENDLIST\n`,
    `ffconcat version 1.0\nfile '${victim.path}'\n`,
    `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n`,
  ];
  for (const list of lists) {
    const path = join(dirname(folder.path), 'list.mp4');
    await writeFile(path, list);
    const lying: SourceFile = { path, size: list.length, mimetype: 'video/mp4' };
    assert.match(refusalOf(await workshopFor(t, folder).prepare(lying, 'video')), /^invalid: .*damaged/);
  }
  await noFiles(folder);
});

test('ffmpeg: the size of its output is limited', withFfmpeg, async (t) => {
  const folder = await folderFor(t);
  const workshop = workshopFor(t, folder, { maxBytes: 8_000 });
  assert.match(refusalOf(await workshop.prepare(await sampleOf('tone.wav'), 'audio')), /^tooLarge: the file is larger than/);
  await noFiles(folder);
});

const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // The process has ended in the meantime.
    return '';
  }
};

/** Returns the running commands from /proc, because a small Linux image has no `ps`. */
const commands = (): string[] =>
  existsSync('/proc/self/cmdline')
    ? readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map(commandOf)
    : spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout.split('\n');

const runningIn = (folder: string): string[] => commands().filter((line) => line.includes(folder) && line.includes('ffmpeg'));

test('ffmpeg: an abort, a deadline and a stop kill it and leave nothing', withFfmpeg, async (t) => {
  const folder = await folderFor(t);
  const path = join(dirname(folder.path), 'heavy.mkv');
  await synthesize(path, ['testsrc2=duration=60:size=640x360:rate=30'], ['-c:v', 'mpeg4', '-q:v', '8']);
  const heavy: SourceFile = { path, size: (await stat(path)).size, mimetype: await typeOf(path) };
  const isWorking = async (): Promise<void> => {
    while ((await filesIn(folder)).length === 0) await delay(10);
    assert.notDeepEqual(runningIn(folder.path), []);
  };
  const workshop = workshopFor(t, folder);
  const controller = new AbortController();
  const given = workshop.prepare(heavy, 'video', { signal: controller.signal });
  await isWorking();
  controller.abort();
  assert.match(refusalOf(await given), /^unavailable: the file was not waited for/);
  assert.deepEqual([runningIn(folder.path), await filesIn(folder)], [[], []]);

  assert.match(refusalOf(await workshopFor(t, folder, { timeoutMs: 700 }).prepare(heavy, 'video')), /^limited: .*in time$/);
  assert.deepEqual([runningIn(folder.path), await filesIn(folder)], [[], []]);

  const stopped = workshop.prepare(heavy, 'video');
  await isWorking();
  await workshop.close();
  assert.equal(refusalOf(await stopped), 'unavailable: the server is stopping');
  assert.deepEqual([runningIn(folder.path), await filesIn(folder)], [[], []]);
});

const without: readonly (readonly [sample: Sample, as: MediaKind, outcome: RegExp | string, seconds?: number])[] = [
  ['plays.mp4', 'video', 'video/mp4', 1.5],
  ['silent.mp4', 'videoplay', 'video/mp4', 1.5],
  ['tone.mp3', 'audio', 'audio/mpeg', 2],
  ['tone.m4a', 'audio', 'audio/mp4', 2],
  ['voice.ogg', 'ptt', 'audio/ogg; codecs=opus', 2],
  ['long.mp4', 'ptv', /^tooLarge: a ptv lasts 60/],
  ['tone.mp3', 'ptt', /^notConvertible: the file is audio\/mpeg .* takes ffmpeg, and this server has none$/],
  ['stereo.ogg', 'ptt', /^notConvertible: .* ffmpeg/],
  ['tone.wav', 'audio', /^notConvertible: .* ffmpeg/],
  ['odd.webm', 'video', /^notConvertible: .* ffmpeg/],
  ['moves.gif', 'videoplay', /^notConvertible: .* ffmpeg/],
];
for (const [sample, as, outcome, seconds] of without) {
  test(`without ffmpeg: ${sample} as ${as} ${typeof outcome === 'string' ? 'goes out as it is' : 'is refused'}`, withFfmpeg, async (t) => {
    const folder = await folderFor(t);
    const source = await sampleOf(sample);
    const result = await workshopFor(t, folder, { ffmpeg: null }).prepare(source, as);
    if (typeof outcome !== 'string') return assert.match(refusalOf(result), outcome);
    const made = valueOf(result);
    assert.deepEqual([made.path, made.mimetype, made.waveform], [source.path, outcome, null]);
    assert.deepEqual([made.width, made.height], isPicture(as) ? [320, 240] : [null, null]);
    near(made.seconds, seconds ?? 0);
    await noFiles(folder);
  });
}

test('without ffmpeg: a damaged file and another kind are refused as with ffmpeg', async (t) => {
  const folder = await folderFor(t);
  const workshop = workshopFor(t, folder, { ffmpeg: null });
  const text = await sourceFile(folder, Buffer.from('text'));
  assert.match(refusalOf(await workshop.prepare(text, 'ptt')), /^notConvertible: the file is text\/plain, which cannot be sent as ptt$/);
  assert.match(refusalOf(await workshop.prepare({ ...text, mimetype: 'audio/mpeg' }, 'audio')), /^invalid: .*damaged/);
  assert.match(refusalOf(await workshop.prepare({ ...text, mimetype: 'video/mp4' }, 'video')), /^invalid: .*damaged/);
});

for (const ffmpeg of [ffmpegPath, null]) {
  test(`video: one that ends in the middle is refused, ${ffmpeg ? 'with' : 'without'} ffmpeg`, withFfmpeg, async (t) => {
    const folder = await folderFor(t);
    const workshop = workshopFor(t, folder, { ffmpeg });
    for (const name of ['plays.mp4', 'quick.mp4'] as const)
      for (const share of [0.02, 0.5, 0.95])
        assert.match(refusalOf(await workshop.prepare(await cut(folder, name, share), 'video')), /^invalid: .*damaged/, `${name} ${share}`);
    const quick = await sampleOf('quick.mp4');
    const padded = await sourceFile(folder, Buffer.concat([await readFile(quick.path), Buffer.alloc(3, 1)]));
    assert.equal(valueOf(await workshop.prepare(padded, 'video')).path, padded.path, 'what stands behind the end does no harm');
    await noFiles(folder);
  });
}
