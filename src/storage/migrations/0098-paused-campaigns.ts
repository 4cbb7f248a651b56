/** Campaigns that were paused long ago are found by their age. */
import { Migration } from '@mikro-orm/migrations';

export class PausedCampaigns extends Migration {
  override up(): void {
    this.addSql(`create index campaign_paused on campaign (updated) where status = 'paused'`);
  }

  override down(): void {
    this.addSql('drop index campaign_paused');
  }
}
