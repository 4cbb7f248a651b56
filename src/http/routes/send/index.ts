/** Every send of the interface. */
import type { HttpOptions } from '../../options.ts';
import type { Route } from '../../route.ts';
import { cardRows } from './cards.ts';
import { eventRows } from './event.ts';
import { mediaRows } from './media.ts';
import { statusRows } from './status.ts';
import type { SendRoute } from './row.ts';
import { textRows } from './text.ts';
import { carouselRows } from './carousel.ts';
import { locationButtonRows } from './location-button.ts';
import { menuRows } from './menu.ts';
import { paymentRows } from './payment.ts';

/** The sends that go to a chat. */
export const chatSendRoutes = ({ mediaBytes }: Pick<HttpOptions, 'mediaBytes'>): readonly SendRoute[] => [
  ...textRows,
  ...mediaRows(mediaBytes),
  ...cardRows,
  ...eventRows,
  ...menuRows(mediaBytes),
  ...carouselRows(mediaBytes),
  ...locationButtonRows,
  ...paymentRows,
];

export const sendRoutes = (options: Pick<HttpOptions, 'mediaBytes'>): readonly Route[] => [
  ...chatSendRoutes(options),
  ...statusRows(options.mediaBytes),
];
