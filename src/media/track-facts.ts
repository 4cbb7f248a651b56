/** The facts of an audio or video file, from ffprobe or from a parser in this process. */
import { type FileHandle, open } from 'node:fs/promises';

export interface TrackFacts {
  readonly seconds: number | null;
  /** The facts of the moving pictures; null if there are none. The cover of a song does not count. */
  readonly video: {
    /** The codec with ffmpeg's name, such as `h264`; '' if unknown. */
    readonly codec: string;
    /** The pixel format with ffmpeg's name; '' if unknown. */
    readonly pixels: string;
    readonly width: number | null;
    readonly height: number | null;
  } | null;
  readonly audio: { readonly codec: string; readonly channels: number | null } | null;
}

/** Rounds seconds to milliseconds. */
export const wholeMs = (seconds: number): number => Math.round(seconds * 1_000) / 1_000;

interface ProbeStream {
  readonly codec_type?: string;
  readonly codec_name?: string;
  readonly pix_fmt?: string;
  readonly width?: number;
  readonly height?: number;
  readonly channels?: number;
  readonly duration?: string;
  readonly disposition?: { readonly attached_pic?: number };
  readonly side_data_list?: readonly { readonly rotation?: number }[];
  readonly tags?: { readonly rotate?: string };
}

interface Probe {
  readonly streams?: readonly ProbeStream[];
  readonly format?: { readonly duration?: string };
}

const secondsOf = (...texts: readonly (string | undefined)[]): number | null => {
  const seconds = texts.map(Number).find((value) => Number.isFinite(value) && value > 0);
  return seconds === undefined ? null : wholeMs(seconds);
};

/** The fields that `ffprobe` prints. */
export const probeEntries =
  'format=duration:stream=codec_type,codec_name,pix_fmt,width,height,channels,duration:stream_disposition=attached_pic:stream_side_data=rotation:stream_tags=rotate';

const turnsBy = ({ side_data_list: list = [], tags }: ProbeStream): number =>
  list.find(({ rotation }) => rotation !== undefined)?.rotation ?? Number(tags?.rotate ?? 0);

/** Reads the JSON of `ffprobe`. Returns null if it found no playable track. */
export const factsOfProbe = (json: string): TrackFacts | null => {
  const { streams = [], format } = JSON.parse(json) as Probe;
  const moving = streams.find((stream) => stream.codec_type === 'video' && stream.disposition?.attached_pic !== 1);
  const sound = streams.find((stream) => stream.codec_type === 'audio');
  if (!moving && !sound) return null;
  const isTurned = moving !== undefined && Math.abs(turnsBy(moving)) % 180 === 90;
  const [width, height] = isTurned ? [moving.height, moving.width] : [moving?.width, moving?.height];
  return {
    seconds: secondsOf(format?.duration, moving?.duration, sound?.duration),
    video: moving ? { codec: moving.codec_name ?? '', pixels: moving.pix_fmt ?? '', width: width ?? null, height: height ?? null } : null,
    audio: sound ? { codec: sound.codec_name ?? '', channels: sound.channels ?? null } : null,
  };
};

// Reads the index of an MP4 or QuickTime file (ISO/IEC 14496-12), without ffmpeg.

/** Largest size of an index. The index of an hour of video has some megabytes. In bytes. */
const largestIndex = 33_554_432;
const mostBoxes = 4_096;

/** ffmpeg's names of codecs. The key is the name of the sample description in the file. */
const codecs: Readonly<Record<string, string>> = { avc1: 'h264', avc3: 'h264', mp4a: 'aac', Opus: 'opus', '.mp3': 'mp3' };

interface Box {
  readonly type: string;
  /** The position of the content, which goes up to `end`. */
  readonly start: number;
  readonly end: number;
}

/** Reads the head of a box at the position `at` of `bytes`. Its position in the file is `at + offset`. Returns null if the head is not valid. */
const boxAt = (bytes: Buffer, at: number, limit: number, offset = 0): Box | null => {
  if (at + 8 > bytes.length) return null;
  const short = bytes.readUInt32BE(at);
  if (short === 1 && at + 16 > bytes.length) return null;
  const size = short === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : short === 0 ? limit - at - offset : short;
  const head = short === 1 ? 16 : 8;
  const end = at + offset + size;
  return size < head || end > limit ? null : { type: bytes.toString('latin1', at + 4, at + 8), start: at + offset + head, end };
};

/**
 * Reads the index, which is the box `moov`. Returns null if the file has no index, the index is too large, or the file ends inside a box. Invalid bytes
 * after the index and the media data (`mdat`) are ignored.
 */
const readIndex = async (file: FileHandle, size: number): Promise<Buffer | null> => {
  let index: Box | null = null;
  let hasData = false;
  const head = Buffer.alloc(16);
  for (let at = 0, count = 0; at < size; count += 1) {
    const { bytesRead } = await file.read(head, 0, 16, at);
    const box = boxAt(head.subarray(0, bytesRead), 0, size, at);
    if (index && hasData && !box) break;
    if (!box || count > mostBoxes) return null;
    if (box.type === 'moov') index = box;
    if (box.type === 'mdat') hasData = true;
    at = box.end;
  }
  if (!index || index.end - index.start > largestIndex) return null;
  const { buffer } = await file.read(Buffer.alloc(index.end - index.start), 0, index.end - index.start, index.start);
  return buffer;
};

const childrenOf = (bytes: Buffer, start: number, end: number): readonly Box[] => {
  const found: Box[] = [];
  for (let at = start; at < end && found.length < mostBoxes;) {
    const box = boxAt(bytes, at, end);
    if (!box) break;
    found.push(box);
    at = box.end;
  }
  return found;
};

/** Returns the content of the first box on a path of types; null if there is none. */
const inside = (bytes: Buffer, path: readonly string[]): Buffer | null => {
  let [start, end] = [0, bytes.length];
  for (const type of path) {
    const box = childrenOf(bytes, start, end).find((child) => child.type === type);
    if (!box) return null;
    [start, end] = [box.start, box.end];
  }
  return bytes.subarray(start, end);
};

/**
 * Reads the length from `mvhd` or `mdhd`. The box has a version, times, a scale and a length. Version 1 has longer fields for the times and the
 * length.
 */
const secondsIn = (header: Buffer | null): number | null => {
  if (!header || header.length < 32) return null;
  const isLong = header[0] === 1;
  const scale = header.readUInt32BE(isLong ? 20 : 12);
  const length = isLong ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  const isKnown = scale > 0 && length > 0 && length !== 0xff_ff_ff_ff;
  return isKnown ? wholeMs(length / scale) : null;
};

/** Returns the displayed width and height. `tkhd` ends with a matrix of nine numbers, the width and the height, in 16.16 fixed point. */
const shapeOf = (header: Buffer | null): { readonly width: number | null; readonly height: number | null } => {
  if (!header || header.length < 84) return { width: null, height: null };
  const at = header.length - 8;
  const [width, height] = [header.readUInt32BE(at) >>> 16, header.readUInt32BE(at + 4) >>> 16];
  const isTurned = header.readInt32BE(at - 36) === 0 && header.readInt32BE(at - 32) !== 0;
  return isTurned ? { width: height, height: width } : { width, height };
};

interface Track {
  readonly handler: string;
  readonly codec: string;
  readonly bytes: Buffer;
  /** The number of channels in the first sample description. */
  readonly channels: number | null;
}

const trackOf = (bytes: Buffer): Track => {
  const handler = inside(bytes, ['mdia', 'hdlr'])?.toString('latin1', 8, 12) ?? '';
  const described = inside(bytes, ['mdia', 'minf', 'stbl', 'stsd']);
  const name = described?.toString('latin1', 12, 16) ?? '';
  const channels = handler === 'soun' && described && described.length >= 34 ? described.readUInt16BE(32) : null;
  return { handler, codec: codecs[name] ?? '', bytes, channels };
};

const indexOf = async (path: string): Promise<Buffer | null> => {
  const file = await open(path);
  try {
    return await readIndex(file, (await file.stat()).size);
  } finally {
    await file.close();
  }
};

/** Returns true if the file has an index, and neither the index nor the media data is cut off. Players and ffmpeg accept a truncated file at first. */
export const isWholeMp4 = async (path: string): Promise<boolean> => (await indexOf(path)) !== null;

/** Reads the facts of an MP4. Returns null if the file is damaged or not playable. */
export const mp4Facts = async (path: string): Promise<TrackFacts | null> => {
  const index = await indexOf(path);
  if (!index) return null;
  const tracks = childrenOf(index, 0, index.length)
    .filter(({ type }) => type === 'trak')
    .map(({ start, end }) => trackOf(index.subarray(start, end)));
  const video = tracks.find(({ handler }) => handler === 'vide');
  const audio = tracks.find(({ handler }) => handler === 'soun');
  if (!video && !audio) return null;
  return {
    seconds: secondsIn(inside(index, ['mvhd'])),
    video: video ? { codec: video.codec, pixels: '', ...shapeOf(inside(video.bytes, ['tkhd'])) } : null,
    audio: audio ? { codec: audio.codec, channels: audio.channels } : null,
  };
};
