/** Every send of the interface. */
import type { Route } from '../../route.ts';
import { textRows } from './text.ts';

export const sendRoutes: readonly Route[] = [...textRows];
