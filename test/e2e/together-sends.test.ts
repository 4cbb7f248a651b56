/** Kinds of messages and posts, and what becomes of a chat: the files of one folder share a gateway. */
import { runTogether } from '#test/support/together.ts';

runTogether('test/e2e/together/sends');
