/** Figures of nodes by the minute. */
import { Migration } from '@mikro-orm/migrations';

export class Figures extends Migration {
  override up(): void {
    this.addSql(`create table node_figure (
      minute int not null,
      node text not null,
      span_ms int not null,
      received int not null,
      sent int not null,
      delivered int not null,
      failed int not null,
      reconnects int not null,
      memory_bytes bigint not null,
      loop_ms int not null,
      constraint node_figure_pkey primary key (minute, node)
    )`);
  }

  override down(): void {
    this.addSql('drop table node_figure');
  }
}
