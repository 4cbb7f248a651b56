/** The contents of messages: contents without a file, contents with one file, and contents that people answer by a tap. */

// Text messages and their link previews.

/** The appearance of the text of a status post. */
interface TextStyle {
  /** The background colour: red, green and blue as one number, such as `0xF0B330`. */
  readonly background: number;
  /** The platform's number of the font. */
  readonly font: number;
}

export interface TextContent {
  readonly kind: 'text';
  readonly text: string;
  /** The style of a status post. Other texts have none. */
  readonly style?: TextStyle;
  /** The link preview; null for none. 'auto' fetches the preview from the first link in the text. */
  readonly preview:
    | null
    | 'auto'
    | {
        readonly title: string;
        readonly description: string;
        /** URL, data URL or base64. */ readonly image: string;
        readonly large: boolean;
      };
}

export interface PollContent {
  readonly kind: 'poll';
  readonly question: string;
  readonly options: readonly string[];
  /** The largest number of options that one person may choose; 0 for all. */
  readonly selectable: number;
}

// Small cards: a contact, a location, and invitations to a group or a channel.

export interface ContactContent {
  readonly kind: 'contact';
  readonly name: string;
  /** Digits with the country code. At least one number. */
  readonly phones: readonly string[];
  /** `organization`, `email` and `url`: '' if unknown. */
  readonly organization: string;
  readonly email: string;
  readonly url: string;
}

/** A place on the map. `latitude` and `longitude` are in degrees. */
export interface Place {
  readonly latitude: number;
  readonly longitude: number;
  /** The name and the address of the place; '' for none. */
  readonly name: string;
  readonly address: string;
}

export interface LocationContent extends Place {
  readonly kind: 'location';
}

export interface GroupInviteContent {
  readonly kind: 'groupInvite';
  /** `…@g.us` */
  readonly group: string;
  readonly code: string;
  /** The end of the invitation. In Unix seconds. */
  readonly expiresAt: number;
  /** '' for none. */
  readonly text: string;
}

/** An invitation that makes a person an admin of a channel when the person accepts. */
export interface ChannelInviteContent {
  readonly kind: 'channelInvite';
  /** `…@newsletter` */
  readonly channel: string;
  readonly name: string;
  /** The end of the invitation. In Unix seconds. */
  readonly expiresAt: number;
  /** '' for none. */
  readonly text: string;
}

// Events: invitations that people accept or decline.

export interface EventFacts {
  readonly name: string;
  /** The description; '' for none. The field `joinLink` is also '' for none. */
  readonly description: string;
  /** The start of the event. In Unix seconds. */
  readonly startsAt: number;
  /** The end of the event; null if the event has no end. In Unix seconds. */
  readonly endsAt: number | null;
  /** The place, which may have a name without coordinates; null for none. */
  readonly location: (Omit<Place, 'latitude' | 'longitude'> & Partial<Pick<Place, 'latitude' | 'longitude'>>) | null;
  readonly joinLink: string;
  /** True if the event is a call. The platform creates a link if the client gives none. */
  readonly isCall: boolean;
  readonly isCancelled: boolean;
  readonly extraGuestsAllowed: boolean;
  /** The time of the reminder, in seconds before the start; null for no reminder. */
  readonly remindBefore: number | null;
}

export interface EventContent extends EventFacts {
  readonly kind: 'event';
}

/** New facts that replace all facts of an own event. With `isCancelled`, the event is cancelled. */
export interface EventEditContent extends EventFacts {
  readonly kind: 'eventEdit';
  /** The id, in any form, of the message with the event. */
  readonly target: string;
}

// Media: one file, and the form in which the platform shows the file.

/** The ways to send a file. `videoplay`: plays without sound, like a GIF. `ptt` and `myaudio`: voice messages. `ptv`: a round video message. */
export const mediaKinds = ['image', 'video', 'videoplay', 'document', 'audio', 'myaudio', 'ptt', 'ptv', 'sticker'] as const;

export type MediaKind = (typeof mediaKinds)[number];

/** A file as the client names it. The gateway has not yet fetched or checked the file. */
export interface GivenFile {
  /** URL, data URL or base64. */
  readonly source: string;
  readonly as: MediaKind;
  /** URL, data URL or base64 of a picture that replaces the generated thumbnail; '' for none. */
  readonly thumbnail: string;
  /** The MIME type of a document whose content does not identify its type; '' for none. */
  readonly mimetype: string;
  /** The name of a document; '' for the name of the source. */
  readonly filename: string;
}

/** A file that an instance keeps. Two instances with the same bytes have one `KeptFile` each, with unrelated names. */
export interface KeptFile {
  /** An unguessable name (128 bits). The name authorises reading the file. */
  readonly name: string;
  /** Absolute URL of the file. */
  readonly url: string;
  /** SHA-256 of the bytes, in hex. */
  readonly hash: string;
  /** The size in bytes. */
  readonly size: number;
  readonly mimetype: string;
  /** '' if the file has no name. */
  readonly filename: string;
}

/** A file that the gateway keeps for the instance, ready to be sent. Plain data, because messages in the asynchronous queue contain attachments. */
export interface Attachment extends KeptFile {
  /** A small JPEG in base64; null if the file has no picture. */
  readonly thumbnail: string | null;
  /** The displayed width and height; null if unknown, or if the file is neither a picture nor a video. In pixels. */
  readonly width: number | null;
  readonly height: number | null;
  readonly seconds: number | null;
  /** The waveform: 64 values from 0 to 100, in base64; null for all files except voice messages. */
  readonly waveform: string | null;
  readonly isAnimated: boolean;
}

export interface MediaContent {
  readonly kind: 'media';
  readonly as: MediaKind;
  /** The file. A `GivenFile` becomes an `Attachment` before the message is accepted, so composed and stored messages hold an `Attachment`. */
  readonly file: GivenFile | Attachment;
  readonly caption: string;
  readonly viewOnce: boolean;
}

export const isTaken = (file: GivenFile | Attachment): file is Attachment => !('source' in file);

/** A file on the local disk that no instance keeps yet. */
export interface TakenFile {
  /** The path, in a temporary folder of the data folder. */
  readonly path: string;
  /** The size, which is never 0. In bytes. */
  readonly size: number;
  /** SHA-256 of the bytes in hex. The gateway stores equal bytes once. */
  readonly hash: string;
  /** The MIME type that the content shows; `application/octet-stream` for unknown content. The file name and response headers are ignored. */
  readonly mimetype: string;
  /** The name at the source, without folders; '' if the source gave none. */
  readonly filename: string;
  /** Removes the file unless it was moved away. Idempotent, never rejects. */
  discard(): Promise<void>;
  /** Notes that the file was moved away. `discard` then removes nothing. */
  moved?(): void;
}

// Messages that people answer by a tap: buttons, lists, carousels, location requests, payments.

/** A button. A tap on a `reply` button sends its `id` back. The other kinds open an address, call a number or copy a code on the phone, and send nothing. */
export type Button =
  | { readonly kind: 'reply'; readonly text: string; readonly id: string }
  | { readonly kind: 'url'; readonly text: string; readonly url: string }
  /** Digits with a leading `+`. */
  | { readonly kind: 'call'; readonly text: string; readonly phone: string }
  | { readonly kind: 'copy'; readonly text: string; readonly code: string };

/** A picture, video or document that is shown above the text. */
export interface Head {
  readonly as: 'image' | 'video' | 'document';
  /** A given file becomes an `Attachment` before the message is accepted, as in `MediaContent`. */
  readonly file: GivenFile | Attachment;
}

export interface ButtonsContent {
  readonly kind: 'buttons';
  readonly head: Head | null;
  readonly text: string;
  readonly footer: string;
  readonly buttons: readonly Button[];
  /** True for the form that is older than native flows. The old form has reply buttons only, and the platform refuses the old form for most accounts. */
  readonly legacy: boolean;
}

export interface ListRow {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

export interface ListSection {
  /** The title; '' for rows above the first section. */
  readonly title: string;
  readonly rows: readonly ListRow[];
}

export interface ListContent {
  readonly kind: 'list';
  readonly text: string;
  readonly footer: string;
  /** Label of the button that opens the list. */
  readonly button: string;
  readonly sections: readonly ListSection[];
}

export interface Card {
  readonly head: Head | null;
  readonly text: string;
  readonly buttons: readonly Button[];
}

export interface CarouselContent {
  readonly kind: 'carousel';
  readonly text: string;
  readonly footer: string;
  readonly cards: readonly Card[];
}

/** A request to the other party to share the current location. */
export interface PlaceRequestContent {
  readonly kind: 'placeRequest';
  readonly text: string;
}

export interface PixKey {
  readonly type: 'CPF' | 'CNPJ' | 'PHONE' | 'EMAIL' | 'EVP';
  readonly key: string;
  /** The name of the payee on the phone; '' for the profile name. */
  readonly name: string;
}

/** A PIX key to copy, without an amount. */
export interface PixContent {
  readonly kind: 'pix';
  readonly pix: PixKey;
}

/** An order with at least one way to pay. */
export interface PaymentContent {
  readonly kind: 'payment';
  readonly head: Head | null;
  readonly title: string;
  readonly text: string;
  readonly footer: string;
  readonly item: string;
  /** The reference of the order; '' for a generated reference. */
  readonly reference: string;
  /** The amount in hundredths of a Real; null for the total of `order`. */
  readonly cents: number | null;
  /** The id of a stored message with an order, in any form; '' for none. */
  readonly order: string;
  readonly pix: PixKey | null;
  readonly link: string;
  /** Digits of a bank slip (boleto). */
  readonly boleto: string;
}

export type InteractiveContent = ButtonsContent | ListContent | CarouselContent | PlaceRequestContent | PixContent | PaymentContent;
