/** Every send of the interface. */
import type { HttpOptions } from '../../options.ts';
import type { Route } from '../../route.ts';
import { cardRows } from './cards.ts';
import { eventRows } from './event.ts';
import { mediaRows } from './media.ts';
import { statusRows } from './status.ts';
import { textRows } from './text.ts';
import { carouselRows } from './carousel.ts';
import { locationButtonRows } from './location-button.ts';
import { menuRows } from './menu.ts';
import { paymentRows } from './payment.ts';

export const sendRoutes = ({ mediaBytes }: Pick<HttpOptions, 'mediaBytes'>): readonly Route[] => [
  ...textRows,
  ...mediaRows(mediaBytes),
  ...cardRows,
  ...eventRows,
  ...statusRows(mediaBytes),
  ...menuRows(mediaBytes),
  ...carouselRows(mediaBytes),
  ...locationButtonRows,
  ...paymentRows,
];
