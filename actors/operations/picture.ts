/** What the platform can be asked about pictures. */
import type { Picture, PictureKind } from '../model.ts';

export interface PictureOperations {
  /** Asks for the picture of a person or group, by the id of the chat. One that is hidden or absent is an answer. */
  'picture.look': { readonly input: { readonly id: string; readonly kind: PictureKind }; readonly answer: Picture };
}
