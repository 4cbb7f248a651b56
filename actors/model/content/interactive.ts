/** Messages that people answer by a tap: buttons, lists, carousels, location requests, payments. */

import type { Attachment, GivenFile } from './media.ts';

/** A button. A tap on a `reply` button sends its `id` back. The other kinds open something on the phone and send nothing. */
export type Button =
  | { readonly kind: 'reply'; readonly text: string; readonly id: string }
  | { readonly kind: 'url'; readonly text: string; readonly url: string }
  /** Digits with a leading `+`. */
  | { readonly kind: 'call'; readonly text: string; readonly phone: string }
  | { readonly kind: 'copy'; readonly text: string; readonly code: string };

/** A picture, video or document above the text. */
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
  /** True for the form that is older than native flows. The old form has reply buttons only, and the platform refuses it for most accounts. */
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
  /** The reference of the order; '' for a generated one. */
  readonly reference: string;
  /** The amount in hundredths of a Real; null for the total of `order`. */
  readonly cents: number | null;
  /** Id of a stored message with an order, in any form; '' for none. */
  readonly order: string;
  readonly pix: PixKey | null;
  readonly link: string;
  /** Digits of a bank slip (boleto). */
  readonly boleto: string;
}

export type InteractiveContent = ButtonsContent | ListContent | CarouselContent | PlaceRequestContent | PixContent | PaymentContent;
