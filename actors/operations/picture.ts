/** Operations on pictures. */
import type { Picture, PictureKind } from '../model.ts';

export interface PictureOperations {
  /** Asks for the picture of a person or group, by chat id. A hidden or absent picture is an ordinary answer. */
  'picture.look': { readonly input: { readonly id: string; readonly kind: PictureKind }; readonly answer: Picture };
}
