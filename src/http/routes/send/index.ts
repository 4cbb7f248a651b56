/** Every send of the interface. */
import type { Route } from '../../route.ts';
import { cardRows } from './cards.ts';
import { eventRows } from './event.ts';
import { textRows } from './text.ts';

export const sendRoutes: readonly Route[] = [...textRows, ...cardRows, ...eventRows];
