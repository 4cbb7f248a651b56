/** People, businesses and the settings of accounts: the files of one folder share a gateway. */
import { runTogether } from '#test/support/together.ts';

runTogether('test/e2e/together/people');
