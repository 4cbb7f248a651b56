/** Messages that people answer by a tap: buttons, lists, carousels, a request for the place, payments. */

import type { Attachment, GivenFile } from './media.ts';

/** `id`: what comes back as the answer. The other three open something on the phone and answer nothing. */
export type Button =
  | { readonly kind: 'reply'; readonly text: string; readonly id: string }
  | { readonly kind: 'url'; readonly text: string; readonly url: string }
  /** Digits with a leading `+`. */
  | { readonly kind: 'call'; readonly text: string; readonly phone: string }
  | { readonly kind: 'copy'; readonly text: string; readonly code: string };

/** A picture, video or document above the text. */
export interface Head {
  readonly as: 'image' | 'video' | 'document';
  /** Taken before the message is accepted, as in `MediaContent`. */
  readonly file: GivenFile | Attachment;
}

export interface ButtonsContent {
  readonly kind: 'buttons';
  readonly head: Head | null;
  readonly text: string;
  readonly footer: string;
  readonly buttons: readonly Button[];
  /** The form before native flows: replies only, and the platform refuses it for most accounts. */
  readonly legacy: boolean;
}

export interface ListRow {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

export interface ListSection {
  /** '' for rows above the first section. */
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

/** Asks for the place where the other side is. */
export interface PlaceRequestContent {
  readonly kind: 'placeRequest';
  readonly text: string;
}

export interface PixKey {
  readonly type: 'CPF' | 'CNPJ' | 'PHONE' | 'EMAIL' | 'EVP';
  readonly key: string;
  /** Who gets the money, as the phone shows it; '' for the name of the profile. */
  readonly name: string;
}

/** A PIX key to copy, without an amount. */
export interface PixContent {
  readonly kind: 'pix';
  readonly pix: PixKey;
}

/** An order to be paid, by the ways that are given; at least one. */
export interface PaymentContent {
  readonly kind: 'payment';
  readonly head: Head | null;
  readonly title: string;
  readonly text: string;
  readonly footer: string;
  readonly item: string;
  /** Of the order; '' for one that is made up. */
  readonly reference: string;
  /** In hundredths of a Real; null for the total of `order`. */
  readonly cents: number | null;
  /** Id of a stored message with an order, in any form; '' for none. */
  readonly order: string;
  readonly pix: PixKey | null;
  readonly link: string;
  /** Digits of a bank slip (boleto). */
  readonly boleto: string;
}

export type InteractiveContent = ButtonsContent | ListContent | CarouselContent | PlaceRequestContent | PixContent | PaymentContent;
