/** Facts of an audio or video file, from ffprobe or from the program's own readers. */

export interface TrackFacts {
  readonly seconds: number | null;
  /** null when the file has no moving pictures; a cover of a song is none. */
  readonly video: {
    /** The codec in ffmpeg's words, such as `h264`; '' if it is not known. */
    readonly codec: string;
    /** '' when it is not known. */
    readonly pixels: string;
    readonly width: number | null;
    readonly height: number | null;
  } | null;
  readonly audio: { readonly codec: string; readonly channels: number | null } | null;
}

/** Seconds to the millisecond. */
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
